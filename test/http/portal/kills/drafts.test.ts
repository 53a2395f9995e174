/** Documents of a draft that was refused and removed are canceled, also when the process is killed before it does so. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import test from 'ava';
import { until } from '../../../actors/portal/service.ts';
import { casesOf } from '../../../project/rounds.ts';
import { folderFor } from '../../../runtime/folder.ts';
import { clockedPortal } from '../requests/clocked-portal.ts';

const WORKER = new URL('./drafts-worker.js', import.meta.url).pathname;

const LATE = ['portal.create.all', 'effect.done.before-outcome/confirmDraft'] as const;
const LATE_TOO = ['effect.leased.before-run/confirmDraft'] as const;

for (const [what, when, faults] of [
  ...casesOf(LATE, LATE_TOO).map(
    (point) => [`at ${point} of a late call`, 'late', `${point}=kill:1`] as const,
  ),
  ['before the cancellation of a removed draft', 'removed', ''] as const,
])
  test.serial(`a kill ${what} leaves no document of the draft pending`, async (t) => {
    const root = folderFor(t);
    const worker = spawn(process.execPath, [WORKER, root, when], {
      stdio: ['ignore', 'ignore', 'inherit'],
      env: { ...process.env, SEALWRIGHT_FAULTS: faults },
    });
    process.once('exit', () => worker.kill('SIGKILL'));
    const [, signal] = await once(worker, 'exit');
    t.is(signal, 'SIGKILL');

    const { client } = await clockedPortal(t, { root });
    const count = async (status: string) =>
      (await client.get<{ totalCount: number }>(`/api/documents?Status=${status}`)).totalCount;
    await until(async () => ((await count('Canceled')) === 1 ? true : undefined));
    t.is(await count('Pending'), 0);
    t.like(await client.get('/api/document-drafts'), { totalCount: 0 });
    const { items } = await client.get<{ items: { id: string }[] }>('/api/documents');
    const history = await client.get<{ items: { type: string }[] }>(
      `/api/documents/${items[0]?.id}/history?limit=100`,
    );
    t.is(history.items.filter(({ type }) => type === 'Canceled').length, 1);
  });
