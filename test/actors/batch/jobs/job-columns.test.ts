/** The table that answers lists. Source: docs/decisions/0251-lists-in-columns.md. */

import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Row, RowQuery, Step } from '@sealwright/runtime';
import { MemoryStore } from '@sealwright/runtime/testing';
import test from 'ava';
import { JobCounts } from '../../../../actors/batch/job-records/job-counts.ts';
import { JobColumns } from '../../../../actors/batch/jobs/job-columns.ts';
import { listJobs } from '../../../../actors/batch/jobs/job-list.ts';
import { A, stepOf } from '../../../contract/steps.ts';

const JOBS = 2_000;

class CountingStore extends MemoryStore {
  read = 0;
  isDown = false;
  onRead: () => void = () => {};

  override async rows(query: RowQuery): Promise<readonly Row[]> {
    if (this.isDown) throw new Error('The store is down.');
    const rows = await super.rows(query);
    this.read += rows.length;
    this.onRead();
    return rows;
  }
}

/** A store with rows of jobs, each tenth of a name of its own. */
async function manyJobs() {
  const store = new CountingStore();
  const put = Array.from({ length: JOBS }, (_, order) => {
    const value = {
      id: `job-${order}`,
      format: 'Pades',
      source: 'Upload',
      folder: null,
      fileName: nameOf(order),
    };
    return [
      { view: 'jobs', key: [order], value },
      { view: 'jobs-by', key: ['default', order % 2 ? 'Failed' : 'Queued', order], value },
    ];
  }).flat();
  await store.commit(stepOf(A, 0, { rows: { put, remove: [] } }));
  const half = JOBS / 2;
  const counts = new JobCounts({
    'jobs/Queued/default/Pades': half,
    'jobs/Failed/default/Pades': half,
  });
  const columns = new JobColumns(store, counts);
  const search = (fileName: string, page = 1) =>
    listJobs(store, counts, { statuses: [], fileName, page, pageSize: 10 }, columns);
  const found = async (fileName: string) =>
    (await columns.page({ statuses: [], fileName }, { offset: 0, limit: 10 }))?.orders;
  return { store, counts, columns, search, found };
}

function nameOf(order: number): string {
  return order % 1000 === 7 ? `Größe-${order}.pdf` : `file-${order}.pdf`;
}

function jobStep(order: number, fileName: string, more: Partial<Step>, state = 'Queued'): Step {
  const step = stepOf({ kind: 'job', id: `job-${order}` }, more.basedOn ?? 0);
  const context = {
    order,
    fileName,
    profileName: 'default',
    format: 'Pades',
    source: 'Upload',
    folder: null,
  };
  return { ...step, ...more, actor: { ...step.actor, state, context: { ...context, errorCode: null } } };
}

test('a list reads only the rows that it shows', async (t) => {
  const { store, search, counts, columns } = await manyJobs();
  await search('anything');
  store.read = 0;
  const { ids, totalCount } = await search('GRÖSSE'.replace('SS', 'ß'));
  t.is(totalCount, 2);
  t.deepEqual(ids, ['job-1007', 'job-7'] as never);
  const common = await search('file-', 100);
  t.is(common.totalCount, JOBS - 2);
  t.is(common.ids.length, 10);
  const failed = {
    statuses: ['Failed'],
    sources: ['Upload'],
    folder: '(upload)',
    page: 100,
    pageSize: 10,
  } as const;
  const deep = await listJobs(store, counts, { ...failed, createdFrom: 0 }, columns);
  t.is(deep.totalCount, JOBS / 2);
  t.is(deep.ids[0], `job-${JOBS - 1 - 2 * 990}` as never);
  t.true(store.read <= 2 + 10 + 10, `${store.read} rows were read`);
});

test('new jobs are found, changed ones by their new state, and removed ones are not', async (t) => {
  const { counts, columns, found } = await manyJobs();
  t.deepEqual(await found('Größe-1'), [1007]);
  counts.move({ 'jobs/Queued/default/Pades': 1 });
  t.is(await found('Größe-1'), undefined, 'a table that misses a job is not used');
  columns.observe(jobStep(9_000, 'GRÖßE-1 too.pdf', { basedOn: 0 }));
  t.deepEqual(await found('größe-1'), [9_000, 1007]);
  columns.observe(jobStep(9_000, 'GRÖßE-1 too.pdf', { basedOn: 1 }, 'Canceled'));
  const canceled = await columns.page({ statuses: ['Canceled'] }, { offset: 0, limit: 10 });
  t.deepEqual(canceled, { orders: [9_000], totalCount: 1 });
  columns.observe(jobStep(1007, nameOf(1007), { basedOn: 3, ends: true }));
  counts.move({ 'jobs/Failed/default/Pades': -1 });
  t.deepEqual(await found('größe-1'), [9_000]);
});

test('a job that is seen while the table is built counts as it was seen last', async (t) => {
  const { counts, columns } = await manyJobs();
  const building = columns.page({ statuses: [] }, { offset: 0, limit: 3 });
  columns.observe(jobStep(1_990, 'late.pdf', { basedOn: 2 }, 'Completed'));
  columns.observe(jobStep(1_992, 'gone.pdf', { basedOn: 2, ends: true }));
  columns.observe(jobStep(6_000, 'new.pdf', { basedOn: 0 }));
  counts.move({ 'jobs/Queued/default/Pades': 0 });
  await building;
  const completed = await columns.page({ statuses: ['Completed'] }, { offset: 0, limit: 3 });
  t.deepEqual(completed, { orders: [1_990], totalCount: 1 });
  const all = await columns.page({ statuses: ['Queued'] }, { offset: 0, limit: 5 });
  t.deepEqual(all, { orders: [6_000, 1_998, 1_996, 1_994, 1_988], totalCount: JOBS / 2 - 1 });
});

test('a table that is forgotten while it is built is built again, from rows read since then', async (t) => {
  const { store, counts, columns } = await manyJobs();
  const all = () => columns.page({ statuses: [] }, { offset: 0, limit: 1 });
  let again: Promise<unknown> | undefined;
  store.onRead = () => {
    if (store.read < 0.9 * JOBS || again !== undefined) return;
    columns.reset();
    again = all();
    columns.observe(jobStep(6_000, 'new.pdf', { basedOn: 0 }));
    counts.move({ 'jobs/Queued/default/Pades': 1 });
  };
  await all();
  await again;
  t.deepEqual(await all(), { orders: [6_000], totalCount: JOBS + 1 });
});

test('a table that cannot be built fails nothing, and the next list builds it', async (t) => {
  const { store, counts, columns, search } = await manyJobs();
  store.isDown = true;
  t.is(await columns.page({ statuses: [] }, { offset: 0, limit: 3, total: JOBS }), undefined);
  // A rejection that nobody awaits is reported at the end of the turn.
  await nextTurn();
  await t.throwsAsync(search('Größe'), { message: 'The store is down.' });
  store.isDown = false;
  t.is((await search('Größe')).totalCount, JOBS / 1000);
  store.read = 0;
  t.is((await search('Größe')).totalCount, JOBS / 1000);
  t.is(store.read, JOBS / 1000);

  const many = new JobColumns(store, new JobCounts({ 'jobs/Queued/default/Pades': 6_000_001 }));
  store.read = 0;
  t.is(await many.page({ statuses: [] }, { offset: 0, limit: 3 }), undefined);
  t.is(store.read, 0, 'nothing is built for more jobs than it can have');
  t.is(counts.count(), JOBS);
});

test('removed jobs free their room, and jobs of other nodes that arrive late stand in their place', async (t) => {
  const { counts, columns, found } = await manyJobs();
  await found('x');
  for (let order = 0; order < 1_500; order += 1)
    columns.observe(jobStep(order, nameOf(order), { basedOn: 3, ends: true }));
  for (const order of [1_700.5, 1_499.5]) columns.observe(jobStep(order, 'late.pdf', { basedOn: 0 }));
  counts.move({ 'jobs/Queued/default/Pades': -750 + 2, 'jobs/Failed/default/Pades': -750 });
  t.deepEqual(await found('late'), [1_700.5, 1_499.5]);
  t.deepEqual(await found('größe'), []);
  t.deepEqual(await found('1500'), [1_500]);
  const last = await columns.page({ statuses: [], createdFrom: 0 }, { offset: 500, limit: 10 });
  t.deepEqual(last, { orders: [1_500, 1_499.5], totalCount: 502 });
});

test('a name is found once, by its beginning, middle and end, and never across two names', async (t) => {
  const { columns, found } = await manyJobs();
  t.deepEqual(await found('file-1999.pdf'), [1999]);
  t.deepEqual(await found('pdf\0file'), []);
  const count = async (fileName: string) =>
    (await columns.page({ statuses: [], fileName }, { offset: 0, limit: 1 }))?.totalCount;
  t.is(await count('f'), JOBS);
  t.is(await count('e-19'), 111);
});
