/** The fields that lists of jobs filter by, in memory. Source: docs/decisions/0251-lists-in-columns.md. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type ActorStore, contextOf, type KeyRange, type Step } from '@sealwright/runtime';
import { JOB_STATES } from '../../../contracts/batch/words.ts';
import type { JobFormat, JobSource, JobState } from '../../../machines/batch/job-context.ts';
import type { JobId, Millis } from '../../../machines/ids.ts';
import { mergedPieces, type NumberBounds } from '../../shared/lists/stored-rows.ts';
import {
  type Condition,
  containingText,
  ObservedTable,
  type RestoredTable,
  type TableScan,
  type TableShape,
} from '../../shared/tables/observed-table.ts';
import type { OrderPage } from '../../shared/tables/row-blocks.ts';
import {
  KeyBlocks,
  MANY_RECORDS,
  type NumberRange,
  numbersBehind,
  type SnapshotPlace,
  TableSnapshots,
} from '../../shared/tables/table-snapshots.ts';
import { fieldsOf, foldText } from '../../shared/tables/texts.ts';
import type { JobCounts } from '../job-records/job-counts.ts';
import { type JobRow, jobRowOf } from '../job-records/job-index.ts';
import { JOB } from '../job-records/kinds.ts';

export interface JobFilter {
  /** Any of these; empty = all. */
  readonly statuses: readonly JobState[];
  /** Compared without case; a name no job has gives an empty list. */
  readonly profile?: string | undefined;
  /** Any of these; empty or left out = all. */
  readonly formats?: readonly JobFormat[] | undefined;
  /** Any of these; empty or left out = all. */
  readonly sources?: readonly JobSource[] | undefined;
  /** Name of an input folder, compared without case; `(upload)` = files that came through no folder. */
  readonly folder?: string | undefined;
  /** Part of the file name, compared without case. */
  readonly fileName?: string | undefined;
  /** Inclusive. */
  readonly createdFrom?: Millis | undefined;
  /** Exclusive. */
  readonly createdTo?: Millis | undefined;
  readonly parentJobId?: JobId | undefined;
}

/** The filter value for jobs that came through no folder. Source: docs/batch-values.md §11. */
export const NO_FOLDER = '(upload)';

/** Above it nothing is kept. */
const MAX_BYTES = 480_000_000;
/** Estimated memory of a job. */
const BYTES_EACH = 110;
const SNAPSHOT_KEY = 'jobs';

const VIEW = 'jobs-by';

/** Ranges looked at, and read, between two turns of the event loop. */
const RANGES_LOOKED_AT = 512;
const RANGES_READ = 8;

/** Rows of the first read of a range: of many, little has changed. */
const FIRST_ROWS = 32;

/** Fields that lists filter by. */
type Facts = Pick<JobRow, 'format' | 'source' | 'folder' | 'fileName'> & {
  readonly state: JobState;
  readonly profile: string;
  readonly errorCode?: string | null;
};

type ListFilter = JobFilter & { readonly errorCode?: string | undefined };

/** Columns of codes. */
const STATE = 0;
const PROFILE = 1;
const FORMAT = 2;
const SOURCE = 3;
const FOLDER = 4;
const ERROR_CODE = 5;
/** The column of texts. */
const FILE_NAME = 0;

const SHAPE: TableShape<Facts> = {
  format: 'jobs 3',
  codes: 6,
  texts: 1,
  codesOf: ({ state, profile, format, source, folder, errorCode }) => [
    state,
    profile,
    format,
    source,
    folder?.toLowerCase() ?? null,
    errorCode ?? null,
  ],
  textsOf: ({ fileName }) => [fieldsOf([foldText(fileName)])],
};

export class JobColumns {
  readonly #table: ObservedTable<Facts>;
  readonly #counts: JobCounts;
  /** Undefined: every start builds the table, since the store cannot tell what has changed. */
  readonly snapshots: TableSnapshots | undefined;
  #isClosed = false;

  constructor(store: Pick<ActorStore, 'rows' | 'nodes' | 'marks'>, counts: JobCounts, place?: SnapshotPlace) {
    this.#counts = counts;
    this.snapshots =
      place &&
      store.marks &&
      new TableSnapshots('jobs', place, { marks: store.marks, nodes: store.nodes }, () =>
        this.#isSaved() ? [[SNAPSHOT_KEY, this.#table]] : [],
      );
    this.#table = new ObservedTable(SHAPE, {
      read: () => readJobs(store, rangesOf(counts)),
      snapshotPath: this.#isSaved() ? this.snapshots?.pathOf(SNAPSHOT_KEY) : undefined,
      readSince: async (name, table) => {
        const changed = await store.marks?.changed(name, { view: VIEW }, () =>
          keysOf(rangesOf(counts), table),
        );
        return changed && changedJobs(store, rangesOf(counts), changed, table);
      },
      count: () => counts.count(),
      bytesEach: BYTES_EACH,
      mayTake: (bytes) => !this.#isClosed && bytes <= MAX_BYTES,
      nodes: store.nodes,
    });
  }

  /** Processes a committed step. */
  observe(step: Step): void {
    if (!this.#table.observes) return;
    const job = contextOf(JOB, step.actor);
    if (job === undefined) return;
    const { profileName: profile } = job;
    const facts = step.ends ? undefined : { ...job, profile, state: step.actor.state as JobState };
    this.#table.observe(job.order, facts);
  }

  /** Forgets all: steps of other nodes were missed. */
  reset(): void {
    this.#table.reset();
  }

  /** Builds the table before a list needs it, if there are many jobs. */
  async prepare(many = MANY_RECORDS): Promise<void> {
    if (this.#counts.count() >= many) await this.#table.prepare();
  }

  /** Ends what is being built. */
  close(): void {
    this.#isClosed = true;
    this.snapshots?.close();
    this.#table.reset();
  }

  #isSaved(): boolean {
    return this.snapshots !== undefined && this.#counts.count() >= this.snapshots.atLeast;
  }

  /** One page, newest first; undefined while the table is incomplete. */
  page(filter: ListFilter, scan: Omit<TableScan, 'groups' | 'newestFirst'>): Promise<OrderPage | undefined> {
    return this.#table.page({ ...scan, groups: groupsOf(filter), newestFirst: true });
  }
}

/** Rows of a profile in a state. */
interface JobRange {
  readonly profile: string;
  readonly state: JobState;
}

function rangesOf(counts: JobCounts): readonly JobRange[] {
  return counts.profiles().flatMap((profile) => JOB_STATES.map((state) => ({ profile, state })));
}

type Jobs<Of> = AsyncGenerator<readonly (readonly [order: number, facts: Of])[]>;

async function* readJobs(
  store: Pick<ActorStore, 'rows'>,
  ranges: readonly JobRange[],
  bounds: NumberBounds = {},
): Jobs<Facts> {
  const merged = ranges.map(({ profile, state }) => ({ view: VIEW, prefix: [profile, state] }));
  for await (const rows of mergedPieces(store, merged, { ...bounds, first: FIRST_ROWS }))
    yield rows.map(({ key, value }) => {
      const [profile, state, order] = key as [string, JobState, number];
      return [order, { ...jobRowOf(value), profile, state }];
    });
}

/** Keys of the rows of the jobs in a snapshot. */
async function keysOf(
  ranges: readonly JobRange[],
  snapshot: Pick<RestoredTable, 'orders'>,
): Promise<KeyBlocks> {
  const parts = new KeyBlocks();
  const inBytes = (left: string, right: string) => Buffer.compare(Buffer.from(left), Buffer.from(right));
  const sorted = ranges.toSorted((a, b) => inBytes(a.profile, b.profile) || inBytes(a.state, b.state));
  for (const { profile, state } of sorted)
    for (const order of await snapshot.orders(rangeGroups({ profile, state }), {}))
      parts.add(() => [profile, state, order]);
  return parts;
}

function rangeGroups({ profile, state }: JobRange): readonly (readonly Condition[])[] {
  return [
    [{ codes: STATE, passes: (text) => text === state }],
    [{ codes: PROFILE, passes: (text) => text === profile }],
  ];
}

/** Jobs whose rows may have changed since the snapshot was saved. */
async function* changedJobs(
  store: Pick<ActorStore, 'rows'>,
  all: readonly JobRange[],
  changed: readonly KeyRange[],
  snapshot: Pick<RestoredTable, 'orders'>,
): Jobs<Facts | undefined> {
  const ranges: (JobRange & NumberRange)[] = [];
  let looked = 0;
  for (const { profile, state } of all)
    for (const range of changed) {
      const bounds = numbersBehind([profile, state], range);
      if (bounds.from < bounds.below) ranges.push({ profile, state, ...bounds });
      looked += 1;
      if (looked % RANGES_LOOKED_AT > 0) continue;
      yield [];
      await nextTurn();
    }
  const gone = new Set<number>();
  for (const [at, { profile, state, ...bounds }] of ranges.entries()) {
    if (at % RANGES_READ === RANGES_READ - 1) {
      yield [];
      await nextTurn();
    }
    for (const order of await snapshot.orders(rangeGroups({ profile, state }), bounds)) gone.add(order);
  }
  // A job that has another state now is in another range.
  for (const [at, range] of ranges.entries()) {
    if (at % RANGES_READ === RANGES_READ - 1) await nextTurn();
    for await (const records of readJobs(store, [range], range)) {
      for (const [order] of records) gone.delete(order);
      yield records;
    }
  }
  yield [...gone].map((order) => [order, undefined] as const);
}

function groupsOf(filter: ListFilter): readonly (readonly Condition[])[] {
  const { statuses, formats = [], sources = [], errorCode, fileName } = filter;
  const profile = filter.profile?.toLowerCase();
  const folder = filter.folder?.toLowerCase();
  const groups: (readonly Condition[])[] = [];
  const require = (codes: number, passes: (text: string | null) => boolean) =>
    groups.push([{ codes, passes }]);
  if (statuses.length > 0) require(STATE, among(statuses));
  if (profile !== undefined) require(PROFILE, (text) => text?.toLowerCase() === profile);
  if (formats.length > 0) require(FORMAT, among(formats));
  if (sources.length > 0) require(SOURCE, among(sources));
  if (folder !== undefined) require(FOLDER, (text) => (text ?? NO_FOLDER) === folder);
  if (errorCode !== undefined) require(ERROR_CODE, among([errorCode]));
  if (fileName) groups.push(containingText(FILE_NAME, foldText(fileName)));
  return groups;
}

function among(values: readonly string[]): (text: string | null) => boolean {
  return (text) => text !== null && values.includes(text);
}
