/** A pass of retention when the process is killed while it plans deletions. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { rootsLike, startProgram, until } from '../../../actors/portal/service.ts';
import { casesOf } from '../../../project/rounds.ts';
import { ADMINISTRATOR, register } from '../accounts/users.ts';

const ANA = { user: { name: 'Ana', email: 'ana@example.org' }, allowElectronicSignature: true };
/** More than one batch of a pass. */
const DOCUMENTS = 40;

const ruledRoot = rootsLike(async (t, root) => {
  const program = await startProgram(t, { root });
  const { acme, service } = program;
  await register(program, 'boss@example.org', ADMINISTRATOR, 'Boss');
  const { id, name, contentType } = await acme.upload();
  const made = await acme.post<{ documentId: string }[]>('/api/documents', {
    files: Array.from({ length: DOCUMENTS }, (_, at) => ({
      id,
      name,
      contentType,
      displayName: `Old ${at}`,
    })),
    flowActions: [ANA],
    disableNotifications: true,
  });
  for (const { documentId } of made)
    await acme.post(`/api/documents/${documentId}/cancellation`, { reason: 'No.' });
  await acme.post('/api/retention', { noticeDays: 1, rules: [{ days: 1 }] }, 'PUT');
  await service.kill();
  return { ids: made.map(({ documentId }) => documentId) };
});

for (const [point, pass] of casesOf(
  [['portal.retention.some', 1]],
  [
    ['portal.retention.some', 2],
    ['step.committed.before-reply/document', 5],
    ['effect.done.before-outcome/retain', 1],
    ['effect.leased.before-run/retain', 1],
  ],
))
  test.serial(`a kill at ${point} ${pass} plans each document once, and one mail tells all`, async (t) => {
    const { root, ids } = await ruledRoot(t);
    const ended = startProgram(t, { root, faults: `${point}=kill:${pass}` }).then(
      ({ service }) => service.ended,
      (error: Error) => /ended with (\w+)/.exec(error.message)?.[1],
    );
    t.is(await ended, 'SIGKILL');

    const { acme, service } = await startProgram(t, { root });
    const told = () =>
      (existsSync(join(service.root, 'mail')) ? readdirSync(join(service.root, 'mail')) : [])
        .map((name) => readFileSync(join(service.root, 'mail', name), 'utf8'))
        .filter((text) => /^To: .*boss@/m.test(text) && /will be deleted/.test(text));
    const [mail = ''] = await until(async () => (told().length > 0 ? told() : undefined));
    t.regex(mail, new RegExp(`: ${DOCUMENTS}`));
    t.is(told().length, 1);
    const planned = await acme.get<{ items: { id: string }[]; totalCount: number }>(
      '/api/retention/documents?list=Planned&limit=100',
    );
    t.is(planned.totalCount, DOCUMENTS);
    t.deepEqual(planned.items.map(({ id }) => id).sort(), [...ids].sort());
    for (const id of ids.slice(0, 3)) {
      const { items } = await acme.get<{ items: { message: string }[] }>(`/api/documents/${id}/history`);
      t.is(items.filter(({ message }) => message.startsWith('Will be deleted')).length, 1);
    }
  });
