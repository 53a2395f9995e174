/**
 * The real program, killed in the middle of announcing, mailing and calling: every event arrives, in sequence, each
 * with one id and one body; every mail that was asked for is written.
 */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import { Webhook } from 'standardwebhooks';
import { temporaryRoot } from '../../../service/service.ts';
import { type Client, startProgram } from '../service.ts';
import { type ReceivedCall, startReceiver } from './receiver.ts';

const SECRET = `whsec_${Buffer.alloc(32, 3).toString('base64')}`;

interface Detail {
  readonly id: string;
  readonly key: string;
  readonly status: string;
  readonly flowActions: readonly { readonly status: string; readonly user: { readonly email: string } }[];
}

const approver = (name: string, step: number) => ({
  type: 'Approver',
  step,
  user: { name, email: `${name.toLowerCase()}@example.test` },
});

/** Whatever comes of a request that a kill may cut off. */
async function attempt(work: () => Promise<unknown>): Promise<void> {
  await work().catch(() => undefined);
}

/** Approves whatever is pending, until nothing is. */
async function approveAll(client: Client, id: string): Promise<Detail> {
  for (;;) {
    const detail = await client.get<Detail>(`/api/documents/${id}`);
    const pending = detail.flowActions.find(({ status }) => status === 'Pending');
    if (pending === undefined || detail.status !== 'Pending') return detail;
    const { url } = await client.post<{ url: string }>(`/api/documents/${id}/action-url`, {
      emailAddress: pending.user.email,
    });
    const ticket = new URL(url).searchParams.get('ticket');
    await client.post(`/api/documents/keys/${detail.key}/approval`, { ticket });
  }
}

function byDocument(calls: readonly ReceivedCall[]): ReadonlyMap<string, readonly ReceivedCall[]> {
  const groups = new Map<string, ReceivedCall[]>();
  for (const call of calls) {
    const id = String(call.headers['webhook-id']).split('.')[1] ?? '';
    groups.set(id, [...(groups.get(id) ?? []), call]);
  }
  return groups;
}

test('under repeated kills every webhook arrives with one id and one body, in sequence, and no mail is lost', async (t) => {
  const root = await temporaryRoot(t);
  const receiver = await startReceiver(t, (_, response) => setImmediate(() => response.writeHead(204).end()));
  const settings = {
    'Portal:Organizations:0:Name': 'Acme',
    'Portal:Organizations:0:Webhook:Url': receiver.url,
    'Portal:Organizations:0:Webhook:AuthType': 'Bearer',
    'Portal:Organizations:0:Webhook:Token': 'kill-token',
    'Portal:Organizations:0:Webhook:Secret': SECRET,
    'Portal:WebhookAllowPrivate': true,
  };
  for (const faults of [
    'effect.leased.before-run=kill:7',
    'effect.done.before-outcome=kill:5',
    'step.committed.before-reply=kill:25',
  ]) {
    const { service, acme } = await startProgram(t, { root, settings, faults });
    const work = (async () => {
      for (let n = 0; n < 6; n++) {
        await attempt(async () => {
          const id = await acme.create([approver('Ana', 1), approver('Bo', 2)]);
          await approveAll(acme, id);
        });
      }
    })();
    t.is(await service.ended, 'SIGKILL', faults);
    await work;
  }
  const { acme, service } = await startProgram(t, { root, settings });
  // One that was made in peace, too.
  await acme.create([approver('Ana', 1), approver('Bo', 2)]);
  const { items } = await acme.get<{ items: readonly { readonly id: string }[] }>('/api/documents?limit=100');
  t.true(items.length >= 2, `${items.length} documents`);
  for (const { id } of items) {
    await attempt(() => approveAll(acme, id));
    await service.until(`document ${id} to be concluded`, async () => {
      const { status } = await acme.get<Detail>(`/api/documents/${id}`);
      return status === 'Concluded' ? true : undefined;
    });
  }
  const documents = items.map(({ id }) => id);
  const isComplete = (calls: readonly ReceivedCall[] | undefined) =>
    calls?.some(({ body }) => body.startsWith('{"type":"DocumentConcluded"')) === true;
  await service.until('every document to be told of', async () =>
    documents.every((id) => isComplete(byDocument(receiver.calls).get(id))) ? true : undefined,
  );
  const verifier = new Webhook(SECRET);
  for (const [id, calls] of byDocument(receiver.calls)) {
    const firsts = calls.filter(
      (call, at) =>
        calls.findIndex(({ headers }) => headers['webhook-sequence'] === call.headers['webhook-sequence']) ===
        at,
    );
    const sequences = firsts.map(({ headers }) => Number(headers['webhook-sequence']));
    t.deepEqual(
      sequences,
      sequences.map((_, at) => at + 1),
      `document ${id}: without gap, in order`,
    );
    t.deepEqual(
      firsts.map(({ body }) => (JSON.parse(body) as { type: string }).type),
      ['DocumentsCreated', 'DocumentApproved', 'DocumentApproved', 'DocumentConcluded'],
    );
    for (const call of calls) {
      const first = firsts.find(
        ({ headers }) => headers['webhook-sequence'] === call.headers['webhook-sequence'],
      );
      t.is(call.headers['webhook-id'], first?.headers['webhook-id']);
      t.is(call.body, first?.body ?? '');
      t.is(call.headers.authorization, 'Bearer kill-token');
      const headers = Object.fromEntries(
        Object.entries(call.headers).map(([name, value]) => [name, String(value)]),
      );
      t.notThrows(() => verifier.verify(call.body, headers));
    }
  }
  await service.until('every mail to be written', async () => {
    const asked = await mailsTo(root);
    // Each was asked to approve, and notified of the conclusion.
    const wanted = 2 * documents.length;
    return asked('ana') >= wanted && asked('bo') >= wanted ? true : undefined;
  });
  t.is(await service.stop(), 0);
});

/** Number of mails there are to somebody. */
async function mailsTo(root: string): Promise<(name: string) => number> {
  const folder = join(root, 'mail');
  const names = (await readdir(folder)).filter((name) => name.endsWith('.eml'));
  const raws = await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')));
  return (name) => raws.filter((raw) => new RegExp(`^To: .*<${name}@example\\.test>`, 'm').test(raw)).length;
}
