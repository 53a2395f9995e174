/**
 * Writes a small root of both services as the program of today stores it, for `stored-roots.test.ts` of all days to come.
 * Do it before a change to what actors store, and keep the older ones.
 *
 * node dist/test/runtime/store/earlier/write-stored-root.js test/fixtures/stores/<date>-portal.json.gz
 */
import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mailedCode } from '../../../actors/portal/mails/mailed-code.ts';
import { type Client, type PortalProgram, startProgram } from '../../../actors/portal/service.ts';
import { startReceiver, status } from '../../../actors/portal/webhooks/receiver.ts';
import { contract } from '../../../crypto/pades/validation/attack-files.ts';
import { approveNext, approver, detailOf, hashOf, idOf, settingsFor } from './client-recordings.ts';
import { packRoot } from './stored-root.ts';

const [, , target = ''] = process.argv;
if (target === '') throw new Error('name the file to be written');

const ends: (() => unknown)[] = [];
const t = { teardown: (task: () => unknown) => void ends.unshift(task) };
const root = mkdtempSync(join(tmpdir(), 'sealwright-keep-'));
try {
  // Somebody who takes nothing: all that is announced waits.
  const receiver = await startReceiver(t as Parameters<typeof startReceiver>[0], status(503));
  const program = await startProgram(t, { root, settings: settingsFor(receiver.url) });
  const { service, acme } = program;
  const documents = await makeDocuments(acme);
  const visit = await visitLink(program);
  documents.push(visit.documentId);
  const good = await service.upload('good.pdf', contract());
  const bad = await service.upload('bad.pdf', 'this is no PDF');
  for (const { jobId } of [good, bad]) await service.finished(jobId);
  const mailFolder = join(root, 'mail');
  await service.until('the mails', async () => (readdirSync(mailFolder).length >= 6 ? true : undefined));
  await service.until('every document to be announced', async () =>
    receiver.calls.length >= documents.length ? true : undefined,
  );
  const details = await Promise.all(documents.map((id) => detailOf(acme, id)));
  const jobs = (await service.jobs()).map(({ id, status: state }) => ({ id, status: state }));
  const code = await service.stop();
  if (code !== 0) throw new Error(`the service ended with ${code}`);
  const packed = packRoot(root, {
    commit: execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim(),
    documents: details.map(({ id, key, status: state }) => ({ id, key, status: state })),
    jobs,
    untold: [...new Map(receiver.calls.map((call) => [idOf(call), hashOf(call)]))].map(([id, sha256]) => ({
      id,
      sha256,
    })),
    mails: readdirSync(mailFolder).length,
    visit,
  });
  writeFileSync(target, packed);
  console.log(`${target}: ${packed.length} bytes, ${details.map(({ status: state }) => state).join(', ')}`);
} finally {
  for (const end of ends) await end();
  rmSync(root, { recursive: true, force: true });
}

/** Documents in every state a flow passes: untouched, half done, concluded, refused, cancelled, electronically signed. */
async function makeDocuments(acme: Client): Promise<string[]> {
  const two = [approver('Ana', 1), approver('Bo', 2)];
  const untouched = await acme.create(two);
  const half = await acme.create(two);
  await approveNext(acme, half);
  const concluded = await acme.create([approver('Ana', 1)]);
  await approveNext(acme, concluded);
  const refused = await acme.create(two);
  await acme.post(`/api/documents/${refused}/refusal`, { reason: 'Not like this.' });
  const cancelled = await acme.create(two);
  await acme.post(`/api/documents/${cancelled}/cancellation`, { reason: 'No longer needed.' });
  const signer = { ...approver('Ana', 1), type: 'Signer', allowElectronicSignature: true };
  const signed = await acme.create([signer, approver('Bo', 2)]);
  const { flowActions } = await detailOf(acme, signed);
  const flowActionId = flowActions.find((action) => action.status === 'Pending')?.id;
  await acme.post(`/api/documents/${signed}/electronic-signature`, { flowActionId });
  const all = [untouched, half, concluded, refused, cancelled, signed];
  for (const id of [concluded, signed]) await settled(acme, id);
  return all;
}

/** A link for anybody with one visit, and that visit. */
async function visitLink({ service, acme }: PortalProgram) {
  const { id, name, contentType } = await acme.upload();
  const files = [{ id, displayName: 'Waiver', name, contentType }];
  const document = { files, flowActions: [{ type: 'Approver', title: 'Guest' }] };
  const { id: templateId } = await acme.post<{ id: string }>('/api/templates', { name: 'Waiver', document });
  const wanted = { name: 'Waiver', templateId, role: 'Guest' };
  const { url } = await acme.post<{ url: string }>('/api/public-links', wanted);
  const ticket = new URL(url).searchParams.get('ticket');
  const person = { ticket, name: 'Ana', email: 'visitor@example.org' };
  await acme.send('/api/public-links/code', person);
  const code = await mailedCode(service, person.email);
  const request = { ...person, code, visitId: randomUUID() };
  const { documentId } = await acme.post<{ documentId: string }>('/api/public-links/documents', request);
  return { request, documentId };
}

/** Resolves once no signature is being made. */
async function settled(acme: Client, id: string): Promise<void> {
  for (;;) {
    const { status: state, flowActions } = await detailOf(acme, id);
    if (state === 'Concluded' || flowActions.some((action) => action.status === 'Completed')) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
