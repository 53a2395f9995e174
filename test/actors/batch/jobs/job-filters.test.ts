import { join } from 'node:path';
import { createRuntime } from '@sealwright/runtime';
import { openLmdbStore } from '@sealwright/runtime/lmdb';
import { MemoryStore, SimulatedClock, seededIds } from '@sealwright/runtime/testing';
import test from 'ava';
import { JobCounts } from '../../../../actors/batch/job-records/job-counts.ts';
import { JobFactory, type NewJob } from '../../../../actors/batch/job-records/job-factory.ts';
import { JOB } from '../../../../actors/batch/job-records/kinds.ts';
import { JobColumns, type JobFilter } from '../../../../actors/batch/jobs/job-columns.ts';
import { findOldest, listJobs } from '../../../../actors/batch/jobs/job-list.ts';
import { definitions } from '../../../../actors/batch/registry.ts';
import { firstOrderNumberAt, OrderNumbers } from '../../../../actors/shared/ids/order-numbers.ts';
import { JOB_FORMATS } from '../../../../contracts/batch/words.ts';
import type { JobContext, JobState } from '../../../../machines/batch/job-context.ts';
import type { FolderName, JobId, ProfileName } from '../../../../machines/ids.ts';
import { folderFor } from '../../../runtime/folder.ts';

const HOUR = 3_600_000;
const START = Date.UTC(2026, 10, 20);

/** Jobs of every kind on a real store, and what a plain filter over all of them finds. */
async function manyJobs(
  store: MemoryStore | ReturnType<typeof openLmdbStore>,
  setBack: (index: number) => number = () => 0,
) {
  const clock = new SimulatedClock(START);
  const ids = seededIds(5);
  const counts = new JobCounts({});
  const columns = new JobColumns(store, counts);
  // Built while there is nothing: it learns of every job by its steps.
  await columns.page({ statuses: [], fileName: 'file' }, { offset: 0, limit: 1 });
  const log = { debug() {}, info() {}, warn() {}, error() {} };
  const actors = await createRuntime({
    store,
    clock,
    ids,
    log,
    actors: definitions,
    start: 'never',
    onCommitted: (step) => {
      counts.move(step.counters);
      columns.observe(step);
    },
  });
  const maker = new JobFactory({ actors, ids }, new OrderNumbers(clock, 0));
  const jobs: { readonly id: JobId; state: JobState; readonly context: JobContext }[] = [];
  for (let index = 0; index < 60; index += 1) {
    const parent = index % 7 === 6 ? jobs[index - 6] : undefined;
    const folder = index % 3 === 0 ? null : ((index % 3 === 1 ? 'north' : 'south') as FolderName);
    const job: NewJob = {
      fileName: index % 5 === 0 ? `Größe-${index}.PDF` : `file-${index}.pdf`,
      originalPath: join('/in', `${index}.pdf`),
      format: JOB_FORMATS[index % 3] ?? 'Pades',
      profileName: (index % 4 === 0 ? 'invoices' : 'default') as ProfileName,
      source: parent ? 'Retry' : folder ? 'Watcher' : 'Upload',
      folder,
      parentJobId: parent?.id ?? null,
      seen: null,
      message: 'made',
    };
    const made = await maker.create(job);
    if (!made.accepted) throw new Error(made.reason);
    const { id } = made;
    if (index % 2 === 0) await actors.send(JOB, id, { type: 'CLAIM' });
    if (index % 4 === 0) await actors.send(JOB, id, { type: 'FAIL', code: 'pdf.broken', message: 'Broken.' });
    if (index % 8 === 1) await actors.send(JOB, id, { type: 'CANCEL', reason: null });
    const now = await actors.read(JOB, id);
    if (!now) throw new Error('gone');
    jobs.push({ id: id as JobId, state: now.state as JobState, context: now.context });
    clock.advance(index % 9 === 0 ? HOUR : 0);
    clock.setWallClock(-setBack(index));
  }
  return { jobs, counts, columns };
}

/** Without accents: the files of this test have no other than dots. */
function plain(text: string): string {
  return text.normalize('NFD').replaceAll('\u0308', '').toLowerCase();
}

function matches(
  filter: JobFilter,
  job: { readonly state: JobState; readonly context: JobContext },
): boolean {
  const { state, context } = job;
  const { statuses, profile, formats, sources, folder, fileName, createdFrom, createdTo, parentJobId } =
    filter;
  return (
    (statuses.length === 0 || statuses.includes(state)) &&
    (profile === undefined || context.profileName === profile.toLowerCase()) &&
    (!formats?.length || formats.includes(context.format)) &&
    (!sources?.length || sources.includes(context.source)) &&
    (folder === undefined || (context.folder ?? '(upload)') === folder.toLowerCase()) &&
    (fileName === undefined || plain(context.fileName).includes(plain(fileName))) &&
    (createdFrom === undefined || context.createdAt >= createdFrom) &&
    (createdTo === undefined || context.createdAt < createdTo) &&
    (parentJobId === undefined || context.parentJobId === parentJobId)
  );
}

for (const [what, setBack] of [
  ['', () => 0],
  [' after the clock was set back twice', (index: number) => ({ 20: 3 * HOUR, 40: HOUR + 1 })[index] ?? 0],
] as const)
  test(`every filter and every pair of filters finds the same jobs as a full scan, page by page and in total${what}`, async (t) => {
    const store = openLmdbStore({ folder: folderFor(t) });
    t.teardown(() => store.close());
    const { jobs, counts, columns } = await manyJobs(store, setBack);
    const late = new JobColumns(store, counts);
    const single: Partial<JobFilter>[] = [
      { statuses: ['Queued'] },
      { statuses: ['Failed', 'Canceled'] },
      { profile: 'INVOICES' },
      { profile: 'nobody' },
      { formats: ['Pades'] },
      { formats: ['Cades', 'Xades'] },
      { sources: ['Retry'] },
      { sources: ['Upload', 'Watcher'] },
      { folder: 'North' },
      { folder: '(upload)' },
      { folder: 'gone' },
      { fileName: 'gRÖSSE'.replace('SS', 'ß') },
      { fileName: 'GROßE' },
      { fileName: 'gro\u0308ße' },
      { fileName: '-1' },
      { createdFrom: START + 2 * HOUR },
      { createdTo: START + 4 * HOUR },
      { parentJobId: jobs[0]?.id },
      { parentJobId: jobs[1]?.id },
    ];
    for (const first of single) {
      for (const second of single) {
        // The times of creation are all that the clock changes.
        if (what !== '' && !('createdFrom' in first || 'createdTo' in first)) continue;
        const filter: JobFilter = { statuses: [], ...first, ...second };
        const expected = jobs
          .filter((job) => matches(filter, job))
          .map(({ id }) => id)
          .reverse();
        for (const index of [undefined, columns, late]) {
          const found: JobId[] = [];
          for (let page = 1; ; page += 1) {
            const { ids, totalCount } = await listJobs(
              store,
              counts,
              { ...filter, page, pageSize: 7 },
              index,
            );
            t.is(totalCount, expected.length, JSON.stringify(filter));
            found.push(...ids);
            if (ids.length < 7) break;
          }
          t.deepEqual(found, expected, JSON.stringify(filter));
        }
        const beyond = await listJobs(store, counts, { ...filter, page: 9, pageSize: 50 });
        t.deepEqual(beyond, { ids: [], totalCount: expected.length }, 'a page behind the last one');
        const oldest = await findOldest(store, counts, { search: filter, limit: 3 });
        t.is(oldest.matched, expected.length);
        t.deepEqual(oldest.ids, [...expected].reverse().slice(0, 3));
      }
    }
  });

test('failed jobs are found by the code of their error', async (t) => {
  const store = new MemoryStore();
  const { jobs, counts } = await manyJobs(store);
  const failed = jobs.filter(({ state }) => state === 'Failed').length;
  const search = { statuses: ['Failed'] as const };
  t.is(
    (await findOldest(store, counts, { search: { ...search, errorCode: 'pdf.broken' }, limit: 100 })).matched,
    failed,
  );
  t.is(
    (await findOldest(store, counts, { search: { ...search, errorCode: 'remote.timeout' }, limit: 100 }))
      .matched,
    0,
  );
});

test('jobs of a clock that was centuries ahead have numbers of their own, and so have later ones', (t) => {
  const clock = new SimulatedClock(Date.UTC(2526));
  const order = new OrderNumbers(clock, firstOrderNumberAt(START));
  const numbers = [
    order,
    order,
    order,
    new OrderNumbers(new SimulatedClock(START), firstOrderNumberAt(START) + 3),
  ].map((one) => one.next().order);
  t.deepEqual(
    numbers,
    [1, 2, 3, 4].map((more) => firstOrderNumberAt(START) + more),
  );
});

test('a clock set back changes no order, and createdAt keeps the clock time', (t) => {
  const clock = new SimulatedClock(START);
  const order = new OrderNumbers(clock, firstOrderNumberAt(START + HOUR));
  const one = order.next();
  const two = order.next();
  const first = one.order;
  const second = two.order;
  t.deepEqual([one.at, two.at], [START, START], 'createdAt is what the clock says');
  t.true(
    first > firstOrderNumberAt(START + HOUR) && second > first,
    'as if made an hour later than the clock says',
  );
});

test('a scan over many jobs reads in batches and yields between them', async (t) => {
  const counts = new JobCounts({ 'jobs/Queued/default/Pades': 5_000 });
  const facts = { format: 'Pades', source: 'Upload', folder: null };
  let reads = 0;
  class Rows extends MemoryStore {
    override async rows(query: Parameters<MemoryStore['rows']>[0]) {
      reads += 1;
      t.true(query.limit <= 512);
      const from = query.after ? (query.after[0] as number) - 1 : 4_999;
      return Array.from({ length: Math.min(query.limit, from + 1) }, (_, index) => ({
        view: 'jobs',
        key: [from - index],
        value: { ...facts, id: `job-${from - index}`, fileName: `${from - index}.pdf` },
      }));
    }
  }
  let turns = 0;
  let done = false;
  const others = (async () => {
    for (; !done; turns += 1) await new Promise((resolve) => setImmediate(resolve));
  })();
  const query = { statuses: [], fileName: '77', page: 1, pageSize: 10 };
  const { ids, totalCount } = await listJobs(new Rows(), counts, query);
  done = true;
  await others;
  t.is(
    totalCount,
    Array.from({ length: 5_000 }, (_, at) => at).filter((at) => `${at}`.includes('77')).length,
  );
  t.is(ids[0], 'job-4977' as JobId);
  t.is(reads, 13, 'pieces of 10, 40, 160, and of 512 from then on');
  t.true(turns >= reads - 1, `others had ${turns} turns`);
});
