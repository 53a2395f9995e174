/** Threads that host actors and threads that sign end while the real program is at work. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import { roundsOf } from '../project/rounds.ts';
import { Service, temporaryRoot } from './service.ts';
import { brokenPromises } from './signing/evidence.ts';
import { give, type Load } from './soak/load.ts';

interface RuntimeBody {
  readonly shards: readonly {
    readonly thread: string | null;
    readonly losses: number;
    readonly lastLoss: { readonly why: string } | null;
  }[];
  readonly pool: { readonly threads: number; readonly busy: number };
}

/** Each costs seconds: programs with several threads are started. */
const COUNTS = [4, 2].slice(0, roundsOf(1, 2));

for (const shards of COUNTS) {
  test.serial(
    `files dropped and uploaded while ${shards} threads of actors end are all signed, each once`,
    async (t) => {
      const root = await temporaryRoot(t);
      const load: Load = { accepted: [], dropped: [] };
      const service = await Service.start(t, {
        root,
        settings: {
          'Runtime:Shards': shards,
          'Pipeline:MaxConcurrency': 4,
          'Pipeline:PollIntervalSeconds': 1,
        },
        // Every thread, and the one in its place, ends before one step and the next after one.
        faults: `step.computed.before-commit/job=exit:${80 / shards},step.committed.before-reply/job=exit:${140 / shards}`,
      });
      await give(service, load, 'ended', 60);
      t.is(load.accepted.length, 30, 'no client sees that a thread was lost with an upload');
      await service.until('everything to be signed and put away', async () => {
        await service.idle();
        return (await brokenPromises(service, load)).length === 0 ? true : undefined;
      });
      const { shards: all } = await service.json<RuntimeBody>('/api/runtime');
      const losses = all.reduce((sum, one) => sum + one.losses, 0);
      t.true(losses >= shards, `${losses} threads were lost`);
      t.regex(all.find(({ lastLoss }) => lastLoss)?.lastLoss?.why ?? '', /^The thread ended \(70\)/);
      const metrics = await (await service.fetch('/api/metrics')).text();
      t.true(metrics.includes(`\nbatch_actor_threads_lost_total ${losses}\n`), 'the metric counts them');
      t.regex(service.printed, /A thread that hosts actors was lost and is replaced/);
      const ready = await service.until('all threads to be there', async () => {
        const answer = await service.fetch('/api/ready');
        return answer.ok
          ? ((await answer.json()) as { checks: { name: string; detail: string }[] })
          : undefined;
      });
      t.is(ready.checks.filter(({ name }) => name.startsWith('actors:')).length, shards);
      t.is(await service.stop(), 0);
    },
  );
}

test.serial(
  'the pipeline actor moves to the thread that replaces its own, still paused, and no request to it is refused',
  async (t) => {
    const root = await temporaryRoot(t);
    const service = await Service.start(t, {
      root,
      settings: { 'Runtime:Shards': 2 },
      // Every second step of the pipeline that a thread computes ends the thread.
      faults: 'step.computed.before-commit/pipeline=exit:2',
    });
    const ask = async (action: 'pause' | 'resume') =>
      (await service.fetch(`/api/pipeline/${action}`, { method: 'POST' })).status;
    const paused = async () => (await service.json<{ paused: boolean }>('/api/pipeline/state')).paused;
    t.is(await ask('pause'), 200);
    await writeFile(join(root, 'input', 'waits.txt'), 'waits');
    await service.until('the file to be queued', async () =>
      (await service.count('Queued')) === 1 ? true : undefined,
    );
    t.true(await paused());
    // The end of this effect is a step, too: together with the request it would end a third thread, and the request
    // is given up then.
    await service.until('the event of the pause to be stored', async () => {
      const { effects } = await service.json<{ effects: readonly unknown[] }>('/api/actors/pipeline/main');
      return effects.length === 0 ? true : undefined;
    });
    t.is(await ask('resume'), 200, 'nobody sees that a thread was lost with the request');
    t.false(await paused());
    await service.until('the file to be signed', async () =>
      (await service.count('Completed')) === 1 ? true : undefined,
    );
    const { shards } = await service.json<RuntimeBody>('/api/runtime');
    t.true(shards.some(({ losses }) => losses > 0));
    t.true(
      shards.some(({ losses }) => losses === 0),
      'the other threads are as they were',
    );
    t.is(await service.stop(), 0);
  },
);

test.serial(
  'one of 200 files repeatedly ends its signing thread, fails alone, and delays no other',
  async (t) => {
    const root = await temporaryRoot(t);
    const limit = 4;
    const service = await Service.start(t, {
      root,
      settings: { 'Pipeline:MaxConcurrency': limit },
      faults: 'pool.sign.signed/poison.txt=exit',
    });
    const uploads: string[] = [];
    for (let n = 0; n < 100; n += 1) {
      await writeFile(join(root, 'input', n === 50 ? 'poison.txt' : `dropped-${n}.txt`), `dropped ${n}`);
      uploads.push((await service.upload(`uploaded-${n}.txt`, `uploaded ${n}`)).jobId);
    }
    await service.until('all 200 to end', async () =>
      (await service.count('Completed')) + (await service.count('Failed')) === 200 ? true : undefined,
    );
    const jobs = await service.jobs();
    const [failed, ...others] = jobs.filter(({ status }) => status === 'Failed');
    t.deepEqual(others, []);
    t.like(await service.job(failed?.id ?? ''), { fileName: 'poison.txt', errorCode: 'pool.worker-lost' });
    t.is(jobs.filter(({ status }) => status === 'Completed').length, 199);
    // Of those that were in one batch with it, some were done: they are not done twice.
    await service.until('everything to be put away', async () =>
      (await brokenPromises(service, { accepted: uploads, dropped: [] })).length === 0 ? true : undefined,
    );
    // Folders are tidied in the pool, too.
    const pool = await service.until('the pool to be idle', async () => {
      const { pool: now } = await service.json<RuntimeBody>('/api/runtime');
      return now.busy === 0 ? now : undefined;
    });
    t.true(pool.threads >= 1 && pool.threads <= limit);

    // What the threads say of themselves: when each began to read a file, and for how long it worked on it.
    const spans = await Promise.all(
      jobs
        .filter(({ status }) => status === 'Completed')
        .map(async ({ id }) => {
          const { context } = await service.json<{
            context: { input: { readAt: number }; times: { sign: number } };
          }>(`/api/actors/job/${id}`);
          return { from: context.input.readAt, to: context.input.readAt + Math.floor(context.times.sign) };
        }),
    );
    t.true(mostAtOnce(spans) <= limit, `${mostAtOnce(spans)} tasks at once`);
    const histories = await Promise.all(
      jobs.map(async ({ id }) => {
        const { history } = await service.json<{ history: { status: string; timestamp: string }[] }>(
          `/api/jobs/${id}`,
        );
        const at = (wanted: readonly string[]) =>
          Date.parse(history.find(({ status }) => wanted.includes(status))?.timestamp ?? '');
        return { from: at(['Processing']), to: at(['Completed', 'Failed']) };
      }),
    );
    t.true(mostAtOnce(histories) <= limit, `${mostAtOnce(histories)} jobs in flight at once`);
    t.is(await service.stop(), 0);
  },
);

/** Times that only touch do not overlap. */
function mostAtOnce(spans: readonly { readonly from: number; readonly to: number }[]): number {
  const moves = spans
    .filter(({ from, to }) => to > from)
    .flatMap(({ from, to }) => [
      { at: from, by: 1 },
      { at: to, by: -1 },
    ]);
  moves.sort((left, right) => left.at - right.at || left.by - right.by);
  let now = 0;
  let most = 0;
  for (const { by } of moves) {
    now += by;
    most = Math.max(most, now);
  }
  return most;
}
