/**
 * Queries jobs over the rows of `job-index.ts`. A filter selects ranges and tests their rows; the ranges are merged by
 * order in batches, so that memory is bounded for any page, only shown jobs are loaded, and other work runs between two
 * batches.
 *
 * Totals are exact: from counters for state, profile and format, else by counting. Pages of lists come from
 * `job-columns.ts` where that table is complete: counting rows takes about 3 µs per row.
 */
import { type ActorStore, contextOf, type JournalLine, type Row } from '@sealwright/runtime';
import { type HistoryProof, HistoryProofs } from '@sealwright/runtime/history';
import type { JobDetail } from '../../../contracts/batch/jobs.ts';
import { JOB_STATES } from '../../../contracts/batch/words.ts';
import type { JobState } from '../../../machines/batch/job-context.ts';
import type { JobId } from '../../../machines/ids.ts';
import { firstOrderNumberAt } from '../../shared/ids/order-numbers.ts';
import { pageOf, type TablePart } from '../../shared/lists/list.ts';
import {
  mergedPieces,
  mergedRows,
  type NumberBounds,
  type RowRange,
} from '../../shared/lists/stored-rows.ts';
import { foldText } from '../../shared/tables/texts.ts';
import { JobCounts } from '../job-records/job-counts.ts';
import { createdAtOf, type JobRow, jobIdOf, jobRowOf, largestLead } from '../job-records/job-index.ts';
import { jobDetail } from '../job-records/job-view.ts';
import { JOB } from '../job-records/kinds.ts';
import { type JobColumns, type JobFilter, NO_FOLDER } from './job-columns.ts';

/** Exports all jobs of a store for reports. */
interface ExportedJob {
  readonly job: JobDetail;
  /** Entries of the hash chain of its history. */
  readonly journal: readonly JournalLine[];
  /** Proof of its history; undefined while no checkpoint covers it. */
  readonly proof: HistoryProof | undefined;
}

/**
 * Yields the matching jobs with their history, newest first. Works while the service runs: jobs cleared meanwhile are
 * left out.
 */
export async function* exportJobs(
  store: Pick<ActorStore, 'load' | 'journal' | 'rows' | 'counters'>,
  filter: JobFilter,
): AsyncGenerator<ExportedJob> {
  const counts = new JobCounts(await store.counters('jobs/'));
  const proofs = new HistoryProofs(store);
  for await (const id of matchingJobs(store, counts, filter)) {
    const address = { kind: JOB.kind, id };
    const actor = await store.load(address);
    const context = actor && contextOf(JOB, actor);
    if (actor === undefined || context === undefined) continue;
    const journal = await store.journal(address);
    const job = jobDetail({ id, state: actor.state, context }, journal);
    yield { job, journal, proof: await proofs.of(address) };
  }
}

export interface JobQuery extends JobFilter {
  /** From 1. */
  readonly page: number;
  readonly pageSize: number;
}

/** Additional filters of bulk actions. */
export interface JobSearch extends JobFilter {
  readonly errorCode?: string | undefined;
  /** Exclusive: selects the jobs that existed at some moment, regardless of the clock. */
  readonly beforeOrder?: number | undefined;
}

/** Ranges and predicates of a filter. */
interface Selection {
  readonly ranges: readonly RowRange[];
  readonly bounds: NumberBounds;
  /** False where the clock was set back, and the bounds hold more than the times of creation select. */
  readonly isExact: boolean;
  /** Test of a row; undefined = all rows match. */
  readonly fits: RowPredicate | undefined;
  /** Number of matches, when counters provide it. */
  readonly total: number | undefined;
  /** Number of rows of the ranges, when counters provide it. */
  readonly size: number | undefined;
}

/** Returns the ids of one page, newest first, and the total. @param columns table for lists that rows answer slowly */
export async function listJobs(
  store: ActorStore,
  counts: JobCounts,
  query: JobQuery,
  columns?: Pick<JobColumns, 'page'>,
): Promise<{ readonly ids: readonly JobId[]; readonly totalCount: number }> {
  const { bounds, isExact, ...selection } = await select(store, counts, query);
  const limit = query.pageSize;
  const part = { ...bounds, newestFirst: true, offset: (query.page - 1) * limit, limit };
  const isInTable = columns !== undefined && isExact && query.parentJobId === undefined;
  const table = isInTable ? (wanted: TablePart) => pageOfColumns(store, columns, query, wanted) : undefined;
  const list = { ...selection, itemOf: jobIdOf, table };
  const { items, totalCount } = await pageOf(store, list, part);
  return { ids: items, totalCount };
}

async function pageOfColumns(
  store: ActorStore,
  columns: Pick<JobColumns, 'page'>,
  query: JobQuery,
  part: TablePart,
) {
  const page = await columns.page(query, part);
  if (page === undefined) return undefined;
  const ids = await idsOf(store, page.orders);
  // A job that was cleared meanwhile has no row.
  return { found: ids.map((item) => ({ item, number: 0 })), totalCount: page.totalCount };
}

async function idsOf(store: ActorStore, orders: readonly number[]): Promise<readonly JobId[]> {
  const rows = await Promise.all(
    orders.map((order) => store.rows({ view: 'jobs', prefix: [order], limit: 1 })),
  );
  return rows.flatMap((found) => found.map(jobIdOf));
}

/**
 * Returns the ids of the oldest matching jobs, at most `limit`, and the total. @param passes additional test of each
 * match
 */
export async function findOldest(
  store: ActorStore,
  counts: JobCounts,
  {
    search,
    limit,
    passes = async () => true,
  }: {
    readonly search: JobSearch;
    readonly limit: number;
    readonly passes?: ((id: JobId) => Promise<boolean>) | undefined;
  },
): Promise<{ readonly ids: readonly JobId[]; readonly matched: number }> {
  const { ranges, bounds, fits } = await select(store, counts, search);
  const ids: JobId[] = [];
  let matched = 0;
  for await (const row of mergedRows(store, ranges, bounds)) {
    const id = jobIdOf(row);
    if ((fits && !fits(row)) || !(await passes(id))) continue;
    matched += 1;
    if (ids.length < limit) ids.push(id);
  }
  return { ids, matched };
}

/**
 * Returns the ids of the oldest matching jobs after order `after`, at most `limit`, and the order of the last one.
 */
export async function findFrom(
  store: ActorStore,
  counts: JobCounts,
  {
    search,
    after,
    limit,
    passes,
  }: {
    readonly search: JobSearch;
    readonly after: number;
    readonly limit: number;
    /** Additional test of each match. */
    readonly passes: (id: JobId) => Promise<boolean>;
  },
): Promise<{ readonly ids: readonly JobId[]; readonly after: number }> {
  const { ranges, bounds, fits } = await select(store, counts, search);
  const from = Math.max(bounds.from ?? 0, after + 1);
  const ids: JobId[] = [];
  let last = after;
  for await (const row of mergedRows(store, ranges, { ...bounds, from })) {
    last = row.key.at(-1) as number;
    const id = jobIdOf(row);
    if ((!fits || fits(row)) && (await passes(id))) ids.push(id);
    if (ids.length >= limit) break;
  }
  return { ids, after: last };
}

/** Yields the ids of all matching jobs, newest first. */
export async function* matchingJobs(
  store: Pick<ActorStore, 'rows'>,
  counts: JobCounts,
  search: JobSearch,
): AsyncGenerator<JobId> {
  const { ranges, bounds, fits } = await select(store, counts, search);
  for await (const rows of mergedPieces(store, ranges, { ...bounds, newestFirst: true }))
    for (const row of rows) if (!fits || fits(row)) yield jobIdOf(row);
}

async function select(
  store: Pick<ActorStore, 'rows'>,
  counts: JobCounts,
  search: JobSearch,
): Promise<Selection> {
  const { parentJobId, createdFrom, createdTo, beforeOrder = Infinity } = search;
  const states = search.statuses.length > 0 ? search.statuses : undefined;
  const named = search.profile?.toLowerCase();
  const profiles =
    named === undefined ? undefined : counts.profiles().filter((name) => name.toLowerCase() === named);
  const bounded = createdFrom !== undefined || createdTo !== undefined || beforeOrder !== Infinity;
  const lead = bounded ? await largestLead(store) : 0;
  const below = Math.min(
    createdTo === undefined ? Infinity : firstOrderNumberAt(createdTo + lead),
    beforeOrder,
  );
  const bounds = {
    ...(createdFrom !== undefined && { from: firstOrderNumberAt(createdFrom) }),
    ...(below !== Infinity && { below }),
  };
  const questions: RowPredicate[] = predicatesOf(search).map(
    (question) => (row) => question(jobRowOf(row.value)),
  );
  const countable = questions.length;
  // Order numbers run ahead of the clock after it was set back.
  const isExact = lead === 0 || (createdFrom === undefined && createdTo === undefined);
  if (lead > 0 && createdFrom !== undefined) questions.push((row) => createdAtOf(row) >= createdFrom);
  if (lead > 0 && createdTo !== undefined) questions.push((row) => createdAtOf(row) < createdTo);
  if (parentJobId !== undefined) {
    questions.push(({ value }) => {
      const { state, profile } = jobRowOf(value);
      if (states && !(state !== undefined && states.includes(state))) return false;
      return !profiles || (profile !== undefined && profiles.includes(profile));
    });
    const ranges = [{ view: 'jobs-of', prefix: [parentJobId] }];
    return { ranges, bounds, isExact, fits: allOf(questions), total: undefined, size: undefined };
  }
  const formats = search.formats?.length ? search.formats : undefined;
  const counted = !bounded && countable === (formats ? 1 : 0);
  const count = (state?: readonly JobState[], profile?: readonly string[]) =>
    formats
      ? formats.reduce((sum, format) => sum + counts.count(state, profile, format), 0)
      : counts.count(state, profile);
  const ranges =
    states || profiles || search.errorCode !== undefined
      ? (profiles ?? counts.profiles()).flatMap((profile) =>
          (states ?? JOB_STATES)
            .filter((state) => count([state], [profile]) > 0)
            .map((state) => ({ view: 'jobs-by', prefix: [profile, state] })),
        )
      : [{ view: 'jobs', prefix: [] }];
  return {
    ranges,
    bounds,
    isExact,
    fits: allOf(questions),
    total: counted ? count(states, profiles) : undefined,
    size: counts.count(states, profiles),
  };
}

type RowPredicate = (row: Row) => boolean;

/** Builds the tests that the fields of rows must pass. */
function predicatesOf({ formats, sources, folder, fileName, errorCode }: JobSearch) {
  const questions: ((facts: JobRow) => boolean)[] = [];
  if (formats?.length) questions.push((facts) => formats.includes(facts.format));
  if (sources?.length) questions.push((facts) => sources.includes(facts.source));
  if (folder !== undefined) {
    const wanted = folder.toLowerCase() === NO_FOLDER ? null : folder.toLowerCase();
    questions.push((facts) => (facts.folder?.toLowerCase() ?? null) === wanted);
  }
  if (fileName !== undefined && fileName !== '') {
    const part = foldText(fileName);
    questions.push((facts) => foldText(facts.fileName).includes(part));
  }
  if (errorCode !== undefined) questions.push((facts) => facts.errorCode === errorCode);
  return questions;
}

function allOf(questions: readonly RowPredicate[]): RowPredicate | undefined {
  if (questions.length === 0) return undefined;
  return (row) => questions.every((question) => question(row));
}
