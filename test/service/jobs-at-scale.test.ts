import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import { type Job, Service, temporaryRoot } from './service.ts';

interface List {
  readonly totalCount: number;
  readonly items: readonly Job[];
}

function keyed(key: string, content: string): RequestInit {
  const form = new FormData();
  form.set('file', new Blob([content]), 'a.txt');
  return { method: 'POST', body: form, headers: { 'Idempotency-Key': key } };
}

test.serial(
  'a repeated upload whose answer was lost with the process is answered with its job',
  async (t) => {
    const root = await temporaryRoot(t);
    const first = await Service.start(t, { root, faults: 'upload.committed=kill:1' });
    await t.throwsAsync(first.fetch('/api/files', keyed('order-17', 'once')));
    t.is(await first.ended, 'SIGKILL');
    const second = await Service.start(t, { root });
    await second.idle();
    const [job] = await second.jobs();
    const other = await second.fetch('/api/files', keyed('order-17', 'another file'));
    t.is(other.status, 422, 'the key belongs to another file');
    const again = await second.fetch('/api/files', keyed('order-17', 'once'));
    t.is(again.status, 202);
    t.like(await again.json(), { jobId: job?.id, fileName: 'a.txt', status: 'Queued' });
    t.is((await second.jobs()).length, 1);
    t.is((await second.finished(job?.id ?? '')).status, 'Completed');
    await second.kill();
  },
);

test.serial(
  'filters, bulk actions, clearing, profiles and statistics work on the running service',
  async (t) => {
    const root = await temporaryRoot(t);
    const service = await Service.start(t, { root });
    await service.upload('good.txt', 'x');
    await service.upload('Broken-1.xml', '<a');
    await service.upload('broken-2.xml', '<a');
    await writeFile(join(root, 'input', 'watched.txt'), 'y');
    await service.until('four jobs to end', async () =>
      (await service.json<List>('/api/jobs?status=Completed,Failed')).totalCount === 4 ? true : undefined,
    );
    const count = async (query: string) => (await service.json<List>(`/api/jobs?${query}`)).totalCount;
    t.is(await count('fileName=BROKEN'), 2);
    t.is(await count('format=xades&status=failed'), 2);
    t.is(await count('source=Watcher'), 1);
    t.is(await count('folder=default'), 1);
    t.is(await count('folder=(upload)&format=Cades'), 1);
    t.is(await count('createdTo=2020-01-01'), 0);
    t.is(await count('createdFrom=2020-01-01'), 4);
    const post = (path: string, body: object) =>
      service.json<{ readonly matched: number; readonly created: number; readonly canceled: number }>(path, {
        method: 'POST',
        body: JSON.stringify(body),
        headers: { 'content-type': 'application/json' },
      });
    await post('/api/pipeline/pause', {});
    t.like(await post('/api/jobs/retry', { countOnly: true }), { matched: 2, created: 0 });
    t.like(await post('/api/jobs/retry', { limit: 1 }), { matched: 2, created: 1 });
    const { items } = await service.json<List>('/api/jobs?source=Retry');
    const parent = (await service.json<{ readonly parentJobId: string }>(`/api/jobs/${items[0]?.id}`))
      .parentJobId;
    t.is(await count(`parentJobId=${parent}`), 1);
    t.like(await post('/api/jobs/cancel', { reason: 'not now' }), { matched: 1, canceled: 1 });
    const figures = await service.json<{ completed: number; failed: number; canceled: number }>(
      '/api/statistics?window=15m',
    );
    t.like(figures, { completed: 2, failed: 2, canceled: 1 });
    const { profiles } = await service.json<{ profiles: { name: string; default: boolean }[] }>(
      '/api/profiles',
    );
    t.deepEqual(
      profiles.map((profile) => [profile.name, profile.default]),
      [['default', true]],
    );
    await service.until('everything to be cleared', async () => {
      await service.json('/api/jobs', { method: 'DELETE' });
      return (await count('')) === 0 ? true : undefined;
    });
    const events = await service.json<{ items: { message: string }[] }>('/api/events?kind=JobsCleared');
    t.true(
      events.items.some(({ message }) => /^Finished jobs cleared: \d+ deleted, \d+ skipped\.$/.test(message)),
    );
    await service.kill();
    const again = await Service.start(t, { root });
    await again.json('/api/pipeline/resume', { method: 'POST' });
    await again.idle();
    t.is(
      (await again.json<List>('/api/jobs')).totalCount,
      0,
      'what failed and was canceled is not taken again',
    );
    await again.kill();
  },
);
