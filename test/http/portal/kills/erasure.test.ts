/** An erasure when the process is killed in the middle of it. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import type { ErasureReport } from '../../../../contracts/portal/retention/erasures.ts';
import { rootsLike, startProgram, until } from '../../../actors/portal/service.ts';
import { casesOf } from '../../../project/rounds.ts';

const ANA = { user: { name: 'Ana Silva', email: 'ana@example.org' }, allowElectronicSignature: true };
const DOCUMENTS = 4;

const canceledRoot = rootsLike(async (t, root) => {
  const { acme, service } = await startProgram(t, { root });
  const { id, name, contentType } = await acme.upload();
  const made = await acme.post<{ documentId: string }[]>('/api/documents', {
    files: Array.from({ length: DOCUMENTS }, (_, at) => ({
      id,
      name,
      contentType,
      displayName: `Old ${at}`,
    })),
    flowActions: [ANA],
  });
  for (const { documentId } of made)
    await acme.post(`/api/documents/${documentId}/cancellation`, { reason: 'No.' });
  await service.kill();
  return { ids: made.map(({ documentId }) => documentId) };
});

for (const [point, pass] of casesOf(
  [['portal.erasure.beside', 2]],
  [
    ['portal.erasure.beside', 4],
    ['effect.leased.before-run/erasePeople', 1],
    ['effect.done.before-outcome/erasePeople', 1],
    ['effect.done.before-outcome/erasePeople', 2],
    ['step.committed.before-reply/erasure', 1],
  ],
))
  test.serial(`a kill at ${point} ${pass} erases the person once, and the report has all`, async (t) => {
    const { root, ids } = await canceledRoot(t);
    const first = await startProgram(t, { root, faults: `${point}=kill:${pass}` });
    await first.acme.send('/api/erasures', { email: 'ana@example.org' }).catch(() => undefined);
    t.is(await first.service.ended, 'SIGKILL');

    const { acme, service } = await startProgram(t, { root });
    const report = await until(async () => {
      const { items } = await acme.get<{ items: ErasureReport[] }>('/api/erasures');
      return items.find(({ isDone }) => isDone);
    });
    t.like(report, { erased: DOCUMENTS, kept: 0, refused: 0 });
    t.deepEqual(report.documents.map(({ documentId }) => documentId).sort(), [...ids].sort());
    const kept = readFileSync(join(service.root, 'keys', 'erasures'), 'utf8');
    t.is(kept.trim().split('\n').length, 1);
    t.notRegex(kept, /ana/i);
  });
