/** The index of file names. Source: docs/decisions/0050-large-operations.md. */

import type { Row, RowQuery, Step } from '@sealwright/runtime';
import { MemoryStore } from '@sealwright/runtime/testing';
import test from 'ava';
import { JobCounts } from '../../../../actors/batch/job-records/job-counts.ts';
import { listJobs } from '../../../../actors/batch/jobs/job-list.ts';
import { NameIndex } from '../../../../actors/batch/jobs/name-index.ts';
import { A, stepOf } from '../../../contract/steps.ts';

const JOBS = 5_000;

class CountingStore extends MemoryStore {
  read = 0;

  override async rows(query: RowQuery): Promise<readonly Row[]> {
    const rows = await super.rows(query);
    this.read += rows.length;
    return rows;
  }
}

/** A store with rows of jobs, each tenth of a name of its own. */
async function manyNames() {
  const store = new CountingStore();
  const put = Array.from({ length: JOBS }, (_, order) => ({
    view: 'jobs',
    key: [order],
    value: { id: `job-${order}`, format: 'Pades', source: 'Upload', folder: null, fileName: nameOf(order) },
  }));
  await store.commit(stepOf(A, 0, { rows: { put, remove: [] } }));
  const counts = new JobCounts({ 'jobs/Queued/default/Pades': JOBS });
  const names = new NameIndex(store, () => counts.count());
  const search = (fileName: string, page = 1) =>
    listJobs(store, counts, { statuses: [], fileName, page, pageSize: 10 }, names);
  return { store, counts, names, search };
}

function nameOf(order: number): string {
  return order % 1000 === 7 ? `Größe-${order}.pdf` : `file-${order}.pdf`;
}

function jobStep(order: number, fileName: string, more: Partial<Step>): Step {
  const step = stepOf({ kind: 'job', id: `job-${order}` }, more.basedOn ?? 0);
  return { ...step, ...more, actor: { ...step.actor, context: { order, fileName } } };
}

test('a search by name reads only the rows of its matches', async (t) => {
  const { store, search } = await manyNames();
  await search('anything');
  store.read = 0;
  const { ids, totalCount } = await search('GRÖSSE'.replace('SS', 'ß'));
  t.is(totalCount, 5);
  t.deepEqual(ids, ['job-4007', 'job-3007', 'job-2007', 'job-1007', 'job-7'] as never);
  const common = await search('file-', 100);
  t.is(common.totalCount, JOBS - 5);
  t.is(common.ids.length, 10);
  t.true(store.read <= 5 + 10, `${store.read} rows were read`);
});

test('new jobs are found, and removed ones are not', async (t) => {
  const { counts, names } = await manyNames();
  t.deepEqual(await names.matching('Größe-4'), [4007]);
  counts.move({ 'jobs/Queued/default/Pades': 1 });
  t.is(await names.matching('Größe-4'), undefined, 'an index that misses a job is not used');
  names.observe(jobStep(9_000, 'GRÖßE-4 too.pdf', { basedOn: 0 }));
  t.deepEqual(await names.matching('größe-4'), [9_000, 4007]);
  names.observe(jobStep(4007, nameOf(4007), { basedOn: 3, ends: true }));
  counts.move({ 'jobs/Queued/default/Pades': -1 });
  t.deepEqual(await names.matching('größe-4'), [9_000]);
});

test('a name is found once, by its beginning, middle and end, and never across two names', async (t) => {
  const { names } = await manyNames();
  t.deepEqual(await names.matching('file-4999.pdf'), [4999]);
  t.deepEqual(await names.matching('pdf\0file'), []);
  t.is((await names.matching('f'))?.length, JOBS);
  t.is((await names.matching('e-49'))?.length, 111);
});
