import { type Committed, createRuntime, Retryable, type Step, type StoreNodes } from '@sealwright/runtime';
import { MemoryStore, SimulatedClock, seededIds } from '@sealwright/runtime/testing';
import test from 'ava';
import { JobCounts } from '../../../../actors/batch/job-records/job-counts.ts';
import { JOB } from '../../../../actors/batch/job-records/kinds.ts';
import { InputWaits } from '../../../../actors/batch/pipeline/input-waits.ts';
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
    if (this.willing || step.actor.address.kind !== JOB.kind) return super.commit(step);
    this.refusals += 1;
    throw new Retryable('store.unavailable', 'The disk is full.');
  }
}

/** Lets everything that is only waiting for its turn go on. */
async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

/** A pipeline over jobs whose effects do not run; a job named `poison` throws when its signature comes. */
async function makePipeline({
  store = new UnwillingStore(),
  maxConcurrency = 1,
  nodes = undefined as Pick<StoreNodes, 'count' | 'slot' | 'sync'> | undefined,
  isOwn = (_id: string): boolean => true,
} = {}) {
  const clock = new SimulatedClock();
  const complaints: string[] = [];
  const complain = (text: string) => complaints.push(text);
  const log = { debug() {}, info() {}, warn: complain, error: complain };
  const counts = new JobCounts(await store.counters('jobs/'));
  let observe = (step: Step): void => counts.move(step.counters);
  const actors = await createRuntime({
    store,
    clock,
    ids: seededIds(1),
    log,
    actors: definitions.map((one) => ({
      ...one,
      rows: (actor: { id: string; state: string; context: unknown }) => {
        const { fileName } = (actor.context ?? {}) as Partial<JobContext>;
        if (fileName === 'poison' && actor.state === 'Failed') throw new Error('thrown on purpose');
        return one.rows?.(actor as never) ?? [];
      },
    })) as typeof definitions,
    start: 'never',
    onCommitted: (step) => observe(step),
    restarts: { restarts: 0 },
  });
  const away = new Set<string>();
  const isAway = async (path: string) => away.has(path);
  const outages: InputWaits = new InputWaits({ clock, log }, { isAway }, () => pipeline.wake());
  const pipeline: Pipeline = new Pipeline({
    runtime: { actors, store: Object.assign(store, { nodes }), counts, clock, log } as never,
    remote: { serves: () => false, mayClaim: true, uploads: { waiting: 0 } },
    storage: { held: null },
    maxConcurrency,
    pollEvery: POLL,
    outages,
  });
  observe = (step) => {
    counts.move(step.counters);
    outages.observe(step);
    if (step.actor.address.kind !== JOB.kind) return;
    pipeline.observeJob(step.actor, isOwn(step.actor.address.id));
    if (Object.keys(step.counters).length > 0) pipeline.wake();
  };
  let order = 0;
  return {
    store,
    clock,
    actors,
    counts,
    pipeline,
    complaints,
    away,
    outages,
    async enqueue(id: string, bucket?: string) {
      order += 1;
      await actors.create(JOB, id, {
        fileName: id,
        originalPath: bucket === undefined ? `/in/${id}` : `s3://${bucket}/${id}`,
        format: 'Cades',
        profileName: 'default' as ProfileName,
        source: 'Watcher',
        folder: (bucket ?? 'default') as FolderName,
        parentJobId: null,
        seen: null,
        message: 'Made by a test.',
        order,
        pathKey: id,
        at: clock.now(),
      });
    },
    async stateOf(id: string) {
      return (await actors.read(JOB, id))?.state;
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

test('a node of several begins with the jobs that it made, and goes on with those of others', async (t) => {
  const { pipeline, enqueue, stateOf, actors } = await makePipeline({
    nodes: { count: 3, slot: 0, sync: async () => {} },
    isOwn: (id) => id.startsWith('own'),
  });
  for (const id of ['first', 'second', 'own']) await enqueue(id);
  await pipeline.start();
  await turns(50);
  t.deepEqual(await Promise.all(['first', 'second', 'own'].map(stateOf)), ['Queued', 'Queued', 'Processing']);
  await actors.send(JOB, 'own', { type: 'FAIL', code: null, message: 'by a test' });
  await turns(50);
  t.is(await stateOf('first'), 'Processing');
  await pipeline.stop();
});

test('an old job of another node is claimed although this one always has jobs of its own', async (t) => {
  const { pipeline, enqueue, stateOf, actors } = await makePipeline({
    nodes: { count: 2, slot: 1, sync: async () => {} },
    isOwn: (id) => id.startsWith('own'),
  });
  const own = Array.from({ length: 20 }, (_, at) => `own-${at}`);
  for (const id of ['first', ...own]) await enqueue(id);
  await pipeline.start();
  await turns(50);
  for (const id of own) {
    if ((await stateOf('first')) === 'Processing') break;
    await actors.send(JOB, id, { type: 'FAIL', code: null, message: 'by a test' });
    await turns(50);
  }
  t.is(await stateOf('first'), 'Processing');
  t.is(await stateOf('own-19'), 'Queued');
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
    if (step.actor.address.kind === JOB.kind) await held;
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
  await t.throwsAsync(first.actors.send(JOB, 'poison', failure));
  await turns(50);
  t.truthy((await first.store.load({ kind: JOB.kind, id: 'poison' }))?.stopped);
  t.is(await first.stateOf('b'), 'Processing');
  t.is(first.pipeline.working(), 1);
  t.true(first.complaints.some((line) => line.includes('its slot is given to others')));
  await first.pipeline.stop();

  await first.actors.send(JOB, 'b', failure);
  await first.enqueue('c');
  const second = await makePipeline({ store: first.store });
  await second.pipeline.start();
  await turns(50);
  t.is(await second.stateOf('c'), 'Processing');
  await second.pipeline.stop();
});

test('jobs whose bucket is away wait without a slot, however many they are, until it is back', async (t) => {
  const { store, clock, actors, pipeline, away, enqueue, stateOf } = await makePipeline();
  const path = 's3://b/0';
  away.add(path);
  for (let number = 0; number < 1_100; number += 1) await enqueue(String(number), 'b');
  await pipeline.start();
  await turns(50);
  t.is(await stateOf('0'), 'Processing');
  await actors.send(JOB, '0', { type: 'INPUT_AWAY', message: 'It is away' });
  await enqueue('file');
  await turns(50);
  t.is(await stateOf('file'), 'Processing');
  // Jobs that wait are read once in a poll.
  let reads = 0;
  const rows = store.rows.bind(store);
  store.rows = async (query) => {
    reads += 1;
    return rows(query);
  };
  await actors.send(JOB, 'file', { type: 'FAIL', code: null, message: 'no' });
  await enqueue('next', 'other');
  await turns(50);
  t.is(await stateOf('next'), 'Processing');
  t.true(reads < 5, `${reads} reads`);
  await actors.send(JOB, 'next', { type: 'FAIL', code: null, message: 'no' });
  for (let second = 0; second < 10; second += 1) {
    clock.advance(1_000);
    await turns(50);
  }
  t.is(pipeline.working(), 0);
  await actors.send(JOB, '1', { type: 'CANCEL', reason: null });
  away.clear();
  clock.advance(60_000);
  await turns(50);
  t.is(await stateOf('0'), 'Processing');
  t.is(await stateOf('1'), 'Canceled');
  const { length } = await store.journal({ kind: JOB.kind, id: '0' });
  t.is(length, 4, 'made, claimed, put back and claimed');
  await pipeline.stop();
});

test('a job that its bucket breaks off again and again leaves the slot to the others of the bucket', async (t) => {
  const { clock, actors, pipeline, enqueue, stateOf } = await makePipeline();
  await enqueue('big', 'b');
  await enqueue('small', 'b');
  await pipeline.start();
  for (let second = 0; second < 10; second += 1) {
    await turns(20);
    if ((await stateOf('big')) === 'Processing')
      await actors.send(JOB, 'big', { type: 'INPUT_AWAY', message: 'It breaks off' });
    await turns(20);
    clock.advance(1_000);
  }
  await turns(20);
  t.is(await stateOf('small'), 'Processing');
  await pipeline.stop();
});
