/** The fields that lists of jobs filter by, in memory. Source: docs/decisions/0251-lists-in-columns.md. */
import { type ActorStore, contextOf, type Step } from '@sealwright/runtime';
import { JOB_STATES } from '../../../contracts/batch/words.ts';
import type { JobFormat, JobSource, JobState } from '../../../machines/batch/job-context.ts';
import type { JobId, Millis } from '../../../machines/ids.ts';
import { mergedPieces } from '../../shared/lists/stored-rows.ts';
import {
  type Condition,
  containingText,
  MANY_RECORDS,
  ObservedTable,
  type TableScan,
  type TableShape,
} from '../../shared/tables/observed-table.ts';
import type { OrderPage } from '../../shared/tables/row-blocks.ts';
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

const VIEW = 'jobs-by';

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
  #isClosed = false;

  constructor(store: Pick<ActorStore, 'rows' | 'nodes'>, counts: JobCounts) {
    this.#counts = counts;
    this.#table = new ObservedTable(SHAPE, {
      read: () => readJobs(store, counts),
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
    this.#table.reset();
  }

  /** One page, newest first; undefined while the table is incomplete. */
  page(filter: ListFilter, scan: Omit<TableScan, 'groups' | 'newestFirst'>): Promise<OrderPage | undefined> {
    return this.#table.page({ ...scan, groups: groupsOf(filter), newestFirst: true });
  }
}

/** All jobs, ascending: those of each profile in each state, merged. */
async function* readJobs(
  store: Pick<ActorStore, 'rows'>,
  counts: JobCounts,
): AsyncGenerator<readonly (readonly [order: number, facts: Facts])[]> {
  const ranges = counts
    .profiles()
    .flatMap((profile) => JOB_STATES.map((state) => ({ view: VIEW, prefix: [profile, state] })));
  for await (const rows of mergedPieces(store, ranges))
    yield rows.map(({ key, value }) => {
      const [profile, state, order] = key as [string, JobState, number];
      return [order, { ...jobRowOf(value), profile, state }];
    });
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
