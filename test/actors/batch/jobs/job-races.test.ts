import { setImmediate as nextTurn } from 'node:timers/promises';
import test from 'ava';
import { ON_POSTGRES } from '../../../postgres/test-store.ts';
import { type BatchFixture, batchFixture } from '../batch-harness.ts';

/** Codes of a cancel that came too late. PostgreSQL is asked for the job first, so the claim may be over by then. */
const TOO_LATE = ON_POSTGRES ? ['job.race-lost', 'job.not-queued'] : ['job.race-lost'];

/** Holds up the commit that comes so many steps from now, on this thread; `reached` resolves when it is there. */
function holdCommit(
  { faults }: BatchFixture,
  pass: number,
): { readonly reached: Promise<void>; release(): void } {
  let release = () => {};
  const gate = new Promise<void>((resolve) => {
    release = resolve;
  });
  const reached = new Promise<void>((resolve) => {
    faults.arm(
      'step.computed.before-commit',
      () => {
        resolve();
        return gate;
      },
      pass,
    );
  });
  return { reached, release: () => release() };
}

test('a cancel during the commit of a claim is refused, and the job is signed', async (t) => {
  const it = await batchFixture(t, { watch: false, shards: 1 });
  const { jobs, pipeline } = it.batch;
  await pipeline.pause(null);
  const id = await it.upload('a.txt', 'a');
  // The first step is the pipeline's own, the second the claim.
  const claim = holdCommit(it, 2);
  await pipeline.resume(null);
  await claim.reached;
  t.is((await jobs.get(id)).status, 'Queued');
  const cancel = t.throwsAsync<Error & { code: string }>(jobs.cancel(id, 'too late'));
  await nextTurn();
  claim.release();
  t.true(TOO_LATE.includes((await cancel)?.code ?? ''));
  await it.reach('Completed', 1);
  t.is(it.batch.count(['Canceled']), 0);
  await t.throwsAsync(jobs.cancel(id, null), { code: 'job.not-queued' });
});

test('a claim during the commit of a cancel changes nothing', async (t) => {
  const it = await batchFixture(t, { watch: false, shards: 1 });
  const { jobs, pipeline } = it.batch;
  await pipeline.pause(null);
  const id = await it.upload('a.txt', 'a');
  const next = await it.upload('b.txt', 'b');
  const commit = holdCommit(it, 1);
  const cancel = jobs.cancel(id, 'in time');
  await commit.reached;
  await pipeline.resume(null);
  await it.reach('Completed', 1);
  t.is((await jobs.get(id)).status, 'Queued', 'the claim waits behind the cancel');
  commit.release();
  t.is((await cancel).status, 'Canceled');
  t.deepEqual(
    (await jobs.get(id)).history.map(({ status }) => status),
    ['Queued', 'Canceled'],
  );
  t.is((await jobs.get(next)).status, 'Completed');
});

test('one of two concurrent cancels succeeds, and the other is refused as late', async (t) => {
  const it = await batchFixture(t, { watch: false, start: false });
  const id = await it.upload('a.txt', 'a');
  const { jobs } = it.batch;
  const answers = await Promise.allSettled([jobs.cancel(id, 'one'), jobs.cancel(id, 'two')]);
  t.deepEqual(
    answers.map(({ status }) => status),
    ['fulfilled', 'rejected'],
  );
  const [, second] = answers;
  t.true(second?.status === 'rejected' && TOO_LATE.includes((second.reason as { code: string }).code));
  t.is((await jobs.get(id)).history.at(-1)?.message, 'Operator canceled: one.');
});

test('one of many concurrent retries creates a job, and the others are refused', async (t) => {
  const it = await batchFixture(t, { watch: false });
  const id = await it.upload('broken.pdf', 'no PDF');
  await it.reach('Failed', 1);
  await it.batch.pipeline.pause(null);
  const answers = await Promise.allSettled(Array.from({ length: 5 }, () => it.batch.jobs.retry(id)));
  const codes = answers.map((answer) =>
    answer.status === 'fulfilled' ? 'made' : (answer.reason as { code: string }).code,
  );
  t.is(codes.filter((code) => code === 'made').length, 1);
  t.is(codes.filter((code) => code === 'job.already-processing').length, 4);
  t.is(it.batch.count(), 2);
  const { history } = await it.batch.jobs.get(id);
  t.is(history.filter(({ message }) => message.startsWith('Retried as job ')).length, 1);
});
