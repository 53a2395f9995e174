/** Files that participants attach, when the process is killed: each that was answered is kept, and none is doubled. */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { type Client, startProgram, until } from '../../../actors/portal/service.ts';
import { openTestStore } from '../../../postgres/test-store.ts';
import { casesOf } from '../../../project/rounds.ts';
import { temporaryRoot } from '../../../service/service.ts';
import { ticketOf } from '../signing/certificate-client.ts';

const NAMES = ['first', 'second', 'third', 'fourth'];
const ANA = {
  user: { name: 'Ana', email: 'ana@example.org' },
  allowElectronicSignature: true,
  fields: NAMES.map((name) => ({ name, type: 'Attachment', required: true })),
};
const contentOf = (name: string) =>
  Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.from(name.repeat(5_000))]);

interface Detail {
  readonly status: string;
  readonly flowActions: readonly {
    readonly fields: readonly { readonly id: string; readonly name: string }[];
  }[];
  readonly attachments: readonly {
    readonly id: string;
    readonly filename: string;
    readonly fieldId?: string;
  }[];
}

type Link = Awaited<ReturnType<typeof ticketOf>>;

/** Gives the id of the upload; rejects with the cause when a kill cuts the call off. */
async function attach({ url }: Client, { key, ticket }: Link, field: string): Promise<string> {
  const body = new FormData();
  body.set('file', new Blob([new Uint8Array(contentOf(field))]), `${field}.png`);
  const query = new URLSearchParams({ ticket, field });
  const path = `/api/documents/keys/${key}/uploads?${query}`;
  const answer = await fetch(`${url}${path}`, { method: 'POST', body });
  const text = await answer.text();
  if (answer.status !== 200) throw new Error(`${path} answered ${answer.status}: ${text}`);
  const { id, sha256 } = JSON.parse(text) as { id: string; sha256: string };
  if (sha256 !== createHash('sha256').update(contentOf(field)).digest('hex'))
    throw new Error('another content');
  return id;
}

const sign = ({ url }: Client, { key, ticket }: Link, fieldValues: object) =>
  fetch(`${url}/api/documents/keys/${key}/electronic-signature`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ ticket, fieldValues }),
  });

/** Waits for the conclusion; each field has one attachment with the content that was uploaded for it. */
async function assertAttached(t: ExecutionContext, client: Client, id: string): Promise<void> {
  const detail = await until(async () => {
    const now = await client.get<Detail>(`/api/documents/${id}`);
    return now.status === 'Concluded' ? now : undefined;
  });
  const fields = detail.flowActions[0]?.fields ?? [];
  t.deepEqual(
    detail.attachments.map(({ fieldId }) => fields.find((field) => field.id === fieldId)?.name),
    NAMES,
  );
  for (const [index, attachment] of detail.attachments.entries()) {
    const answer = await client.fetch(`/api/documents/${id}/attachments/${attachment.id}/content`);
    t.deepEqual(Buffer.from(await answer.arrayBuffer()), contentOf(NAMES[index] ?? ''));
  }
}

// The upload of the document's file and its use are two steps before those of participants.
for (const faults of casesOf(
  ['step.committed.before-reply/upload=kill:5'],
  ['step.computed.before-commit/upload=kill:5'],
))
  test.serial(
    `a kill by ${faults} keeps each attachment that was answered, and a repeated call adds none`,
    async (t) => {
      const root = await temporaryRoot(t);
      const first = await startProgram(t, { root, faults });
      const id = await first.acme.create([ANA]);
      const link = await ticketOf(first.acme, id, 'ana@example.org');
      const uploads: Record<string, string> = {};
      for (const name of NAMES) {
        const upload = await attach(first.acme, link, name).catch((error: unknown) => {
          // So `fetch` rejects where the connection ends.
          if (error instanceof TypeError) return undefined;
          throw error;
        });
        if (upload === undefined) break;
        uploads[name] = upload;
      }
      t.is(await first.service.ended, 'SIGKILL');
      t.deepEqual(Object.keys(uploads), ['first', 'second']);

      const { acme } = await startProgram(t, { root });
      for (const name of NAMES.slice(2)) uploads[name] = await attach(acme, link, name);
      t.is((await sign(acme, link, uploads)).status, 200);
      await assertAttached(t, acme, id);
    },
  );

for (const point of casesOf(
  ['effect.done.before-outcome/forgetParticipantUploads'],
  ['portal.signature.kept', 'portal.sign.accepted', 'effect.leased.before-run/forgetParticipantUploads'],
))
  test.serial(
    `a kill at ${point} leaves each attachment once, and no upload that was not signed`,
    async (t) => {
      const root = await temporaryRoot(t);
      const first = await startProgram(t, { root, faults: `${point}=kill:1` });
      const id = await first.acme.create([ANA]);
      const link = await ticketOf(first.acme, id, 'ana@example.org');
      const uploads: Record<string, string> = {};
      for (const name of [...NAMES, ...NAMES]) uploads[name] = await attach(first.acme, link, name);
      await sign(first.acme, link, uploads).catch(() => undefined);
      t.is(await first.service.ended, 'SIGKILL');

      const { acme, service } = await startProgram(t, { root });
      // A client repeats the call that was cut off.
      await sign(acme, link, uploads);
      await assertAttached(t, acme, id);
      t.is(await service.stop(), 0);
      const store = await openTestStore({ folder: join(root, 'db') });
      const left = await store.rows({ view: 'participant-uploads', prefix: [id], limit: 10 });
      await store.close();
      t.deepEqual(left, []);
    },
  );
