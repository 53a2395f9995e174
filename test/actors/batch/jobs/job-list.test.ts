import type { Row, RowQuery } from '@sealwright/runtime';
import { MemoryStore } from '@sealwright/runtime/testing';
import test from 'ava';
import { JobCounts } from '../../../../actors/batch/job-records/job-counts.ts';
import { listJobs } from '../../../../actors/batch/jobs/job-list.ts';
import type { JobId } from '../../../../machines/ids.ts';
import { A, stepOf } from '../../../contract/steps.ts';

const JOBS = 6_000;
const STATES = ['Queued', 'Completed', 'Failed'] as const;

/** Counts the rows a store has to walk over. */
class WalkedStore extends MemoryStore {
  walked = 0;

  override rows(query: RowQuery): Promise<readonly Row[]> {
    this.walked += (query.offset ?? 0) + query.limit;
    return super.rows(query);
  }
}

test('a deep page over several ranges reads each row once and yields between batches', async (t) => {
  const store = new WalkedStore();
  const put = Array.from({ length: JOBS }, (_, order) => ({
    view: 'jobs-by',
    key: ['default', STATES[order % 3] ?? '', order],
    value: { id: `job-${order}`, format: 'Pades', source: 'Upload', folder: null, fileName: 'a.pdf' },
  }));
  await store.commit(stepOf(A, 0, { rows: { put, remove: [] } }));
  const counts = new JobCounts(
    Object.fromEntries(STATES.map((state) => [`jobs/${state}/default/Pades`, JOBS / 3])),
  );
  const page = { statuses: [...STATES], profile: undefined, page: JOBS / 10 - 1, pageSize: 10 };
  let turns = 0;
  let done = false;
  const others = (async () => {
    for (; !done; turns += 1) await new Promise((resolve) => setImmediate(resolve));
  })();
  const { ids, totalCount } = await listJobs(store, counts, page);
  done = true;
  await others;
  t.is(totalCount, JOBS);
  t.deepEqual(
    ids,
    Array.from({ length: 10 }, (_, index) => `job-${19 - index}` as JobId),
  );
  t.true(store.walked < JOBS + 6 * 512, `${store.walked} rows were walked`);
  t.true(turns >= 9, `others had ${turns} turns`);
});
