/** Benchmark of pages of long lists: filters, far pages and searches over the rows of a store and tables in memory. */
import type { Row } from '@sealwright/runtime';
import { openLmdbStore } from '@sealwright/runtime/lmdb';
import { EventLog } from '../actors/batch/job-records/events.ts';
import { JobCounts } from '../actors/batch/job-records/job-counts.ts';
import { JobColumns, type JobFilter } from '../actors/batch/jobs/job-columns.ts';
import { listJobs, matchingJobs } from '../actors/batch/jobs/job-list.ts';
import { RowLists } from '../actors/shared/lists/row-lists.ts';
import type { JobState } from '../machines/batch/job-context.ts';
import type { Bench, BenchContext } from './frame/bench.ts';
import { LatencyRecorder } from './frame/latency.ts';
import { addressOf, newborn } from './step/actor.ts';

/** Records of one step. */
const GROUP = 2_000;
const AIM = { of: 'p50', atMost: 10, source: 'docs/decisions/0251-lists-in-columns.md' } as const;
const ROWS_AIM = { of: 'p50', atMost: 50, source: 'docs/decisions/0410-one-port-for-lists.md' } as const;
const PAGE_SIZE = 25;
/** Matches that a bounded total would count. */
const MOST_COUNTED = 10_000;
const STATES: readonly JobState[] = ['Completed', 'Completed', 'Completed', 'Failed', 'Queued'];
const KINDS = ['JobFailed', 'LoggedIn', 'LoggedOut', 'JobFailed'] as const;

export const bench: Bench = {
  name: 'lists',
  question: 'how long a page of a list of very many records takes',
  limits: ['the rows read until 10,001 matches, as a list with bounded totals would, without a table'],
  run,
};

type Store = ReturnType<typeof openLmdbStore>;

async function run(context: BenchContext): Promise<void> {
  const count = context.settings.documents;
  const store = openLmdbStore({ folder: context.temporaryFolder() });
  try {
    await fill(store, count, context);
    await jobs(store, count, context);
    await events(store, count, context);
    await people(store, count, context);
  } finally {
    await store.close();
  }
}

async function fill(store: Store, count: number, context: BenchContext): Promise<void> {
  for (let done = 0; done < count; done += GROUP) {
    context.progress('storing', done, count);
    const numbers = Array.from({ length: Math.min(GROUP, count - done) }, (_, n) => done + n);
    const counters: { [name: string]: number } = { people: numbers.length };
    for (const n of numbers)
      for (const name of [`jobs/${stateOf(n)}/default/Pades`, `events/${kindOf(n)}`])
        counters[name] = (counters[name] ?? 0) + 1;
    const step = newborn(done);
    await store.commit({
      ...step,
      actor: { ...step.actor, address: { ...addressOf(0), id: `rows-${done}` } },
      effects: [],
      rows: { put: numbers.flatMap(rowsAt), remove: [] },
      counters,
    });
  }
}

function stateOf(n: number): JobState {
  return STATES[n % STATES.length] ?? 'Queued';
}

function kindOf(n: number): (typeof KINDS)[number] {
  return KINDS[n % KINDS.length] ?? 'JobFailed';
}

function idOf(n: number): string {
  return `${(n * 7919).toString(16).padStart(8, '0')}-0000-4000-8000-${n.toString(16).padStart(12, '0')}`;
}

function rowsAt(n: number): readonly Row[] {
  const id = idOf(n);
  const fileName = `invoice-${n % 9973}-${n % 31}.pdf`;
  const value = { id, format: 'Pades', source: 'Upload', folder: null, fileName };
  const person = { name: `Person ${n % 4999}`, email: `p${n}@example.org`, identifier: null };
  return [
    { view: 'jobs', key: [n], value },
    { view: 'jobs-by', key: ['default', stateOf(n), n], value },
    { view: 'events', key: [n, id], value: id },
    { view: 'events-by', key: [kindOf(n), n, id], value: id },
    { view: 'users', key: [n >> 1, id], value: person },
  ];
}

async function jobs(store: Store, count: number, context: BenchContext): Promise<void> {
  const counts = new JobCounts(await store.counters('jobs/'));
  const columns = new JobColumns(store, counts);
  const list = (filter: Partial<JobFilter>, page: number) => () =>
    listJobs(store, counts, { statuses: [], ...filter, page, pageSize: PAGE_SIZE }, columns);
  const middle = Math.floor(count / PAGE_SIZE / 2);
  await timed('jobs: table made by the first filter', context, list({ fileName: 'zz' }, 1));
  await repeated('jobs: first page', context, list({}, 1));
  await repeated('jobs: page in the middle', context, list({}, middle));
  await repeated('jobs: one state, page in its middle', context, list({ statuses: ['Failed'] }, middle / 5));
  await repeated('jobs: two states, far page', context, list({ statuses: ['Failed', 'Queued'] }, middle / 5));
  await repeated('jobs: part of a name that most have', context, list({ fileName: 'invoice' }, middle));
  await repeated('jobs: part of a name that few have', context, list({ fileName: '-9972-' }, 1));
  const source = { statuses: ['Completed'], sources: ['Upload'] } as const;
  await repeated('jobs: state and source, page in the middle', context, list(source, middle / 2));
  columns.close();
  // What a total that stops at 10,001 costs without a table.
  for (const [name, fileName] of [
    ['many', 'invoice'],
    ['few', '-9972-'],
  ] as const)
    await timed(`jobs: rows until 10,001 matches, of a name that ${name} have`, context, async () => {
      let found = 0;
      for await (const _ of matchingJobs(store, counts, { statuses: [], fileName })) {
        found += 1;
        if (found > MOST_COUNTED) break;
      }
    });
}

async function events(store: Store, count: number, context: BenchContext): Promise<void> {
  const actors = { read: async () => undefined };
  const log = new EventLog({ store, actors } as never);
  const middle = Math.floor(count / PAGE_SIZE / 2);
  const list = (kinds: readonly (typeof KINDS)[number][], page: number) => () =>
    log.list({ kinds, page, pageSize: PAGE_SIZE });
  await repeated('events: first page', context, list([], 1));
  await repeated('events: page in the middle', context, list([], middle), ROWS_AIM);
  await repeated('events: two kinds, first page', context, list(['LoggedIn', 'LoggedOut'], 1));
  await repeated(
    'events: two kinds, page in the middle',
    context,
    list(['LoggedIn', 'LoggedOut'], middle / 2),
    ROWS_AIM,
  );
}

async function people(store: Store, count: number, context: BenchContext): Promise<void> {
  const lists = new RowLists(store);
  const list = {
    view: 'users',
    kind: addressOf(0).kind,
    prefix: [],
    counter: 'people',
    textOf: ({ value }: Pick<Row, 'value'>) => Object.values(value as object).join('\n'),
  };
  const page = (q: string | undefined, offset: number) => () =>
    lists.page(list, { q, newestFirst: false, limit: PAGE_SIZE, offset });
  const middle = Math.floor(count / PAGE_SIZE / 2);
  await repeated('people: page in the middle', context, page(undefined, middle), ROWS_AIM);
  await timed('people: table made by the first search', context, page('zz', 0));
  await repeated('people: text that all have', context, page('example', middle));
  await repeated('people: text that few have', context, page('person 77', 0));
  await repeated('people: text that one has', context, page('p77777@', 0));
}

async function timed(name: string, context: BenchContext, work: () => Promise<unknown>): Promise<void> {
  context.progress(name, 0, 1);
  const from = performance.now();
  await work();
  context.figure(name, performance.now() - from, 'ms');
}

/** Median time of a page, one after the other. */
async function repeated(
  name: string,
  context: BenchContext,
  page: () => Promise<{ readonly totalCount: number }>,
  aim: typeof AIM | typeof ROWS_AIM = AIM,
): Promise<void> {
  context.progress(name, 0, 1);
  for (let round = 0; round < 3; round += 1) await page();
  const recorder = new LatencyRecorder();
  const end = performance.now() + context.settings.seconds * 1000;
  while (performance.now() < end) {
    const from = performance.now();
    await page();
    recorder.record(performance.now() - from);
  }
  const latency = recorder.latency();
  context.figure(name, latency.p50, 'ms', { latency, aim });
}
