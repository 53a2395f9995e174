import { buildRuntime, type Committed, type EffectHandler, Retryable, type Step } from '@sealwright/runtime';
import { MemoryStore, SimulatedClock, seededIds } from '@sealwright/runtime/testing';
import test from 'ava';
import { JobCounts } from '../../../../actors/batch/job-records/job-counts.ts';
import { JOB } from '../../../../actors/batch/job-records/kinds.ts';
import { Pipeline } from '../../../../actors/batch/pipeline/pipeline.ts';
import { definitions } from '../../../../actors/batch/registry.ts';
import type { JobContext } from '../../../../machines/batch/job-context.ts';
import type { FolderName, ProfileName } from '../../../../machines/ids.ts';

const POLL = 2_000;

/** Refuses the steps of jobs on request, asynchronously, as a real store does. */
class UnwillingStore extends MemoryStore {
  willing = true;
  refusals = 0;

  override async commit(step: Step): Promise<Committed> {
    await turns(1);
    if (this.willing || step.actor.address.kind !== JOB) return super.commit(step);
    this.refusals += 1;
    throw new Retryable('store.unavailable', 'The disk is full.');
  }
}

const unused: EffectHandler = {
  after: 'visible',
  run: async () => ({ type: 'NEVER' }),
  failed: () => ({ type: 'NEVER' }),
};

/** Lets everything that is only waiting for its turn go on. */
async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

/** A pipeline over jobs whose effects do not run; a job named `poison` throws when its signature comes. */
async function makePipeline({ store = new UnwillingStore(), maxConcurrency = 1 } = {}) {
  const clock = new SimulatedClock();
  const complaints: string[] = [];
  const complain = (text: string) => complaints.push(text);
  const log = { debug() {}, info() {}, warn: complain, error: complain };
  const counts = new JobCounts(await store.counters('jobs/'));
  let observe = (step: Step): void => counts.move(step.counters);
  const { system } = buildRuntime({
    store,
    clock,
    ids: seededIds(1),
    log,
    definitions: definitions.map((one) => ({
      ...one,
      rows: (actor: { id: string; state: string; context: unknown }) => {
        const { fileName } = (actor.context ?? {}) as Partial<JobContext>;
        if (fileName === 'poison' && actor.state === 'Failed') throw new Error('thrown on purpose');
        return one.rows?.(actor as never) ?? [];
      },
    })) as typeof definitions,
    handlers: Object.fromEntries(
      ['sign', 'release', 'quarantine', 'tidy', 'recordEvent'].map((name) => [name, unused]),
    ),
    onCommitted: (step) => observe(step),
    options: { restarts: { restarts: 0 } },
  });
  const pipeline = new Pipeline(
    { system, store, counts, clock, log },
    { serves: () => false, mayClaim: true, uploads: { waiting: 0 } },
    { held: null },
    maxConcurrency,
    POLL,
  );
  observe = (step) => {
    counts.move(step.counters);
    if (step.actor.address.kind !== JOB) return;
    pipeline.observeJob(step.actor);
    if (Object.keys(step.counters).length > 0) pipeline.wake();
  };
  let order = 0;
  return {
    store,
    clock,
    system,
    counts,
    pipeline,
    complaints,
    async enqueue(id: string) {
      order += 1;
      await system.create(
        { kind: JOB, id },
        {
          fileName: id,
          originalPath: `/in/${id}`,
          format: 'Cades',
          profileName: 'default' as ProfileName,
          source: 'Watcher',
          folder: 'default' as FolderName,
          parentJobId: null,
          seen: null,
          message: 'Made by a test.',
          order,
          pathKey: id,
          at: clock.now(),
        },
      );
    },
    async stateOf(id: string) {
      return (await system.read({ kind: JOB, id }))?.state;
    },
  };
}

test('a refusing store is asked once per poll, and the job is claimed once the store accepts it', async (t) => {
  const { store, clock, pipeline, enqueue, stateOf } = await makePipeline();
  await enqueue('a');
  store.willing = false;
  await pipeline.start();
  await turns(50);
  t.is(store.refusals, 1);
  clock.advance(POLL);
  await turns(50);
  t.is(store.refusals, 2);
  store.willing = true;
  clock.advance(POLL);
  await turns(50);
  t.is(await stateOf('a'), 'Processing');
  await pipeline.stop();
});

test('a stop waits for claims in progress, whose jobs are in flight afterwards', async (t) => {
  const { store, pipeline, enqueue, stateOf } = await makePipeline();
  await enqueue('a');
  let goOn = (): void => {};
  const held = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  const commit = store.commit.bind(store);
  store.commit = async (step) => {
    if (step.actor.address.kind === JOB) await held;
    return commit(step);
  };
  await pipeline.start();
  await turns(50);
  let isStopped = false;
  const stopped = pipeline.stop().then(() => {
    isStopped = true;
  });
  await turns(50);
  t.false(isStopped);
  goOn();
  await stopped;
  t.is(await stateOf('a'), 'Processing');
  t.is(pipeline.working(), 1);
});

test('a job that supervision stopped gives its slot to the next one, also after a restart', async (t) => {
  const first = await makePipeline();
  await first.enqueue('poison');
  await first.enqueue('b');
  await first.pipeline.start();
  await turns(50);
  t.is(await first.stateOf('poison'), 'Processing');
  t.is(await first.stateOf('b'), 'Queued');
  const failure = { type: 'FAIL', code: 'internal', message: 'no' } as const;
  await t.throwsAsync(first.system.send({ kind: JOB, id: 'poison' }, failure));
  await turns(50);
  t.true((await first.system.read({ kind: JOB, id: 'poison' }))?.stopped);
  t.is(await first.stateOf('b'), 'Processing');
  t.is(first.pipeline.working(), 1);
  t.true(first.complaints.some((line) => line.includes('its slot is given to others')));
  await first.pipeline.stop();

  await first.system.send({ kind: JOB, id: 'b' }, failure);
  await first.enqueue('c');
  const second = await makePipeline({ store: first.store });
  await second.pipeline.start();
  await turns(50);
  t.is(await second.stateOf('c'), 'Processing');
  await second.pipeline.stop();
});
