/** The table of jobs that is kept over a start. Source: docs/decisions/0294-tables-kept-over-a-start.md. */
import { randomUUID } from 'node:crypto';
import { cpSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import type { ActorStore, Row, RowQuery } from '@sealwright/runtime';
import { openLmdbStore } from '@sealwright/runtime/lmdb';
import test, { type ExecutionContext } from 'ava';
import { JobCounts } from '../../../../actors/batch/job-records/job-counts.ts';
import { JobColumns } from '../../../../actors/batch/jobs/job-columns.ts';
import { stepOf } from '../../../contract/steps.ts';
import { ON_POSTGRES, openTestStore } from '../../../postgres/test-store.ts';
import { folderFor } from '../../../runtime/folder.ts';

const PROFILES = ['default', 'Default', 'Größe', '𝒵'];
const STATES = ['Queued', 'Completed', 'Failed'];
const FILTERS = [
  { statuses: [] },
  { statuses: ['Failed' as const] },
  { statuses: [], profile: 'größe' },
  { statuses: ['Completed' as const], fileName: '7' },
  { statuses: [], fileName: 'scan-1' },
];

interface Job {
  readonly order: number;
  readonly profile: string;
  readonly state: string;
  readonly fileName: string;
}

/** Jobs that are written as steps write them, and observed. */
class StoredJobs {
  readonly jobs = new Map<number, Job>();
  #next = 1;
  #revision = 0;

  constructor(
    private readonly store: ActorStore,
    private readonly columns: JobColumns,
    private readonly counts: JobCounts,
    from?: StoredJobs,
  ) {
    if (from === undefined) return;
    this.jobs = from.jobs;
    this.#next = from.#next;
    this.#revision = from.#revision;
  }

  async add(count: number): Promise<void> {
    const writes: Promise<void>[] = [];
    for (let at = 0; at < count; at += 1, this.#next += 1) {
      const order = this.#next;
      const profile = PROFILES[order % PROFILES.length] ?? '';
      writes.push(this.#write(order, { order, profile, state: 'Queued', fileName: `scan-${order}.pdf` }));
    }
    await Promise.all(writes);
  }

  /** Each job of these goes to another state, or is removed. */
  async change(from: number, below: number, step: number, removes: boolean): Promise<void> {
    const writes: Promise<void>[] = [];
    for (let order = from; order < below; order += step) {
      const job = this.jobs.get(order);
      const state = STATES[(STATES.indexOf(job?.state ?? '') + 1) % STATES.length] ?? '';
      if (job !== undefined) writes.push(this.#write(order, removes ? undefined : { ...job, state }));
    }
    await Promise.all(writes);
  }

  async #write(order: number, job: Job | undefined): Promise<void> {
    const before = this.jobs.get(order);
    const counters: Record<string, number> = {};
    const put: Row[] = [];
    const remove: Row[] = [];
    for (const [one, by, rows] of [
      [before, -1, remove],
      [job, 1, put],
    ] as const) {
      if (one === undefined) continue;
      const { profile, state, fileName } = one;
      const name = `jobs/${state}/${profile}/Pades`;
      counters[name] = (counters[name] ?? 0) + by;
      const value = { id: `job-${order}`, format: 'Pades', source: 'Upload', folder: null, fileName };
      rows.push({ view: 'jobs-by', key: [profile, state, order], value });
    }
    if (job === undefined) this.jobs.delete(order);
    else this.jobs.set(order, job);
    // Of one actor in the store: only rows and counters matter.
    const step = stepOf({ kind: 'k', id: '1' }, this.#revision, { rows: { put, remove }, counters });
    this.#revision += 1;
    await this.store.commit(step);
    this.counts.move(counters);
    const { profile: profileName = '', state = '', fileName = '' } = job ?? {};
    this.columns.observe({
      ...step,
      ...(job === undefined && { ends: true }),
      actor: {
        ...step.actor,
        address: { kind: 'job', id: `job-${order}` },
        state,
        context: { order, profileName, fileName, format: 'Pades', source: 'Upload', folder: null },
      },
    });
  }
}

async function openJobs(
  t: ExecutionContext,
  folder: string,
  {
    root,
    from,
    begun = async (_jobs: StoredJobs): Promise<void> => {},
    open = async (options) => openLmdbStore(options),
  }: {
    readonly root: string;
    readonly from?: StoredJobs | undefined;
    /** Called when a mark is begun. */
    readonly begun?: ((_jobs: StoredJobs) => Promise<void>) | undefined;
    readonly open?: typeof openTestStore | undefined;
  },
) {
  const store = await open({ folder });
  const begin = async (name: string) => {
    await store.marks?.begin(name);
    await begun(jobs);
  };
  const counts = new JobCounts(await store.counters('jobs/'));
  const place = {
    root,
    atLeast: 1,
    ids: { uuid: randomUUID },
    clock: { after: () => () => {}, now: () => Date.now() },
  };
  let read = 0;
  const counted = (to: (rows: number) => void): ActorStore =>
    Object.create(store, {
      marks: { value: { ...store.marks, begin } },
      rows: {
        value: async (query: RowQuery) => {
          const rows = await store.rows(query);
          to(rows.length);
          return rows;
        },
      },
    });
  const columns = new JobColumns(
    counted((rows) => {
      read += rows;
    }),
    counts,
    place,
  );
  await columns.prepare(1);
  const loaded = read;
  // The same as a table that is built.
  let all = 0;
  let found = 0;
  const built = new JobColumns(
    counted((rows) => {
      all += rows;
    }),
    counts,
  );
  for (const filter of from === undefined ? [] : FILTERS) {
    const scan = { offset: 0, limit: 100_000 };
    const expected = await built.page(filter, scan);
    t.deepEqual(await columns.page(filter, scan), expected, JSON.stringify(filter));
    found += expected?.totalCount ?? 0;
  }
  t.true(from === undefined || found > 1_500);
  const jobs = new StoredJobs(store, columns, counts, from);
  return { store, columns, jobs, wasLoaded: loaded < all / 2 };
}

test('a backup of the time when a table was being kept does not take it for its own', async (t) => {
  const folder = folderFor(t);
  const root = folderFor(t);
  const backup = folderFor(t);
  const { store, columns, jobs } = await openJobs(t, folder, {
    root,
    from: undefined,
    begun: async () => {
      cpSync(join(folder, 'data.mdb'), join(backup, 'data.mdb'));
      await jobs.change(1, 300, 1, false);
    },
  });
  await jobs.add(1_600);
  await columns.prepare(1);
  await columns.snapshots?.save(0);
  t.true(existsSync(join(root, 'lists', 'jobs.table')));
  await store.close();
  cpSync(backup, folder, { recursive: true, force: true });
  const restored = await openJobs(t, folder, { root, from: jobs });
  t.false(restored.wasLoaded);
  await restored.store.close();
});

test('a table of jobs that was kept finds the same as one that is built, whatever has changed since', async (t) => {
  const folder = folderFor(t);
  const root = folderFor(t);
  let { store, columns, jobs } = await openJobs(t, folder, {
    root,
    from: undefined,
    begun: undefined,
    open: openTestStore,
  });
  await jobs.add(1_500);
  await jobs.change(1, 1_200, 1, false);
  await columns.prepare(1);
  const changes = [
    async () => {},
    () => jobs.add(40),
    () => jobs.change(1_100, 1_300, 1, false),
    () => jobs.change(1, 200, 1, true),
    () => jobs.change(250, 300, 3, false),
    // All of them: as much is read as to build it.
    () => jobs.change(1, 2_000, 1, false),
  ];
  const loaded: boolean[] = [];
  for (const change of changes) {
    // Jobs change while the table is written, and afterwards.
    await Promise.all([columns.snapshots?.save(0), jobs.change(600, 620, 1, false)]);
    await change();
    await store.close();
    const next = await openJobs(t, folder, { root, from: jobs, begun: undefined, open: openTestStore });
    ({ store, columns, jobs } = next);
    loaded.push(next.wasLoaded);
  }
  // PostgreSQL tells of parts with 64 rows: scattered changes are in most of these few.
  t.deepEqual(loaded, [true, true, true, true, !ON_POSTGRES, false]);
  await store.close();
});

test('a start that finds many changed ranges leaves turns of the event loop to others', async (t) => {
  const folder = folderFor(t);
  const root = folderFor(t);
  const { store, columns, jobs } = await openJobs(t, folder, { root });
  await jobs.add(400);
  await columns.prepare(1);
  await columns.snapshots?.save(0);
  const ranges = [...jobs.jobs.values()].map(({ profile, state, order }) => ({
    from: [profile, state, order],
    to: [profile, state, order + 1],
  }));
  const changed = async () => ranges;
  const counts = new JobCounts(await store.counters('jobs/'));
  const place = {
    root,
    atLeast: 1,
    ids: { uuid: randomUUID },
    clock: { after: () => () => {}, now: () => Date.now() },
  };
  const of = Object.create(store, {
    marks: { value: { ...store.marks, changed } },
    rows: { value: (query: RowQuery) => store.rows(query) },
  });
  const again = new JobColumns(of, counts, place);
  let turns = 0;
  let isDone = false;
  const count = (): void => {
    turns += 1;
    if (!isDone) setImmediate(count);
  };
  setImmediate(count);
  await again.prepare(1);
  isDone = true;
  t.is((await again.page({ statuses: [] }, { offset: 0, limit: 1 }))?.totalCount, 400);
  t.true(turns > 100, `${turns} turns`);
  await store.close();
});
