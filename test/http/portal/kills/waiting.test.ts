/** A person who signs several documents in one act when the process is killed: each is signed once, and the act is repeated. */
import test from 'ava';
import { mailedCode } from '../../../actors/portal/mails/mailed-code.ts';
import { type Client, rootsLike, startProgram, until } from '../../../actors/portal/service.ts';

const ANA = { name: 'Ana', email: 'ana@example.org' };
const DOCUMENTS = 4;

interface Item {
  readonly documentId: string;
}

const call = (acme: Client, path: string, body: object) => acme.send(`/api/waiting/${path}`, body);

/** The documents wait, and their mails were sent. */
const waitingRoot = rootsLike(async (t, root) => {
  const { acme, service } = await startProgram(t, { root });
  const ids: string[] = [];
  for (let count = 0; count < DOCUMENTS; count += 1)
    ids.push(await acme.create([{ user: ANA, allowElectronicSignature: true }]));
  for (const id of ids)
    await until(async () => {
      const mails = await acme.get<readonly { status: string }[]>(`/api/documents/${id}/mails`);
      return mails.length > 0 && mails.every(({ status }) => status === 'Sent') ? true : undefined;
    });
  await service.stop();
  return { ids };
});

for (const point of [
  'step.computed.before-commit/document=kill:2',
  'step.committed.before-reply/document=kill:1',
  'step.committed.before-reply/document=kill:3',
  'portal.sign.accepted=kill:2',
])
  test.serial(`a kill at ${point} in the middle of an act signs each document once`, async (t) => {
    const { root, ids } = await waitingRoot(t);
    const first = await startProgram(t, { root, faults: point });
    await call(first.acme, 'code', { email: ANA.email });
    const code = await mailedCode(first.service, ANA.email);
    const { ticket } = await first.acme.post<{ ticket: string }>('/api/waiting/session', {
      email: ANA.email,
      code,
    });
    const listed = async (acme: Client) =>
      (await acme.post<{ items: readonly Item[] }>('/api/waiting/documents', { ticket })).items;
    const items = await listed(first.acme);
    t.is(items.length, DOCUMENTS);
    const documents = items;
    const act = (acme: Client) => call(acme, 'signatures', { ticket, typedName: 'Ana', documents });
    await t.throwsAsync(act(first.acme));
    t.is(await first.service.ended, 'SIGKILL');

    const { acme } = await startProgram(t, { root });
    t.true((await listed(acme)).length < DOCUMENTS + 1, 'the session goes on');
    const again = (await (await act(acme)).json()) as { results: readonly { isDone: boolean }[] };
    t.true(
      again.results.every(({ isDone }) => isDone),
      JSON.stringify(again),
    );
    t.deepEqual(await listed(acme), []);
    for (const id of ids) {
      await until(async () => {
        const { status } = await acme.get<{ status: string }>(`/api/documents/${id}`);
        return status === 'Concluded' ? true : undefined;
      });
      const { items: lines } = await acme.get<{ items: readonly { type: string }[] }>(
        `/api/documents/${id}/history?limit=100`,
      );
      t.is(lines.filter(({ type }) => type === 'Signed').length, 1);
    }
  });

test.serial('a kill when a session begins uses up its code, and gives its ticket to nobody', async (t) => {
  const { root } = await waitingRoot(t);
  const first = await startProgram(t, { root, faults: 'step.committed.before-reply/mailbox-session=kill:1' });
  await call(first.acme, 'code', { email: ANA.email });
  const code = await mailedCode(first.service, ANA.email);
  await t.throwsAsync(call(first.acme, 'session', { email: ANA.email, code }));
  t.is(await first.service.ended, 'SIGKILL');
  const { acme } = await startProgram(t, { root });
  t.is((await call(acme, 'session', { email: ANA.email, code })).status, 422);
  t.is((await call(acme, 'code', { email: ANA.email })).status, 429, 'another one after the pause');
});
