/**
 * Finds jobs over the rows that `job-index.ts` describes. A filter picks ranges and asks their rows the rest; ranges
 * are merged by order, piece by piece, so that memory stays bounded however deep the page is, no job is loaded that
 * is not shown, and others get their turn between two pieces.
 *
 * Totals are exact. Counters know them for state, profile and format; any other filter counts the rows it reads,
 * which is all of the ranges it picked: some 3 µs a row.
 */
import type { JobId } from '../machines/ids.ts';
import type { JobState } from '../machines/job-context.ts';
import { JOB_STATES } from '../machines/job-context.ts';
import type { ActorStore } from '../runtime/index.ts';
import type { JobFilter, JobQuery } from './api.ts';
import type { JobCounts } from './job-counts.ts';
import { factsOf, type JobFacts, jobIdOf } from './job-index.ts';
import { firstOrderAt } from './job-order.ts';
import { countRows, MergedRows, OrderedRows, type OrderedRowsOptions } from './ordered-rows.ts';

/** The filter value for jobs that came through no folder. Source: batch-gaps §11, "Labels". */
const NO_FOLDER = '(upload)';

/** What bulk actions ask for besides. */
export interface JobSearch extends JobFilter {
  readonly errorCode?: string | undefined;
}

/** What a filter comes to. */
interface Selection {
  readonly ranges: readonly Pick<OrderedRowsOptions, 'view' | 'prefix'>[];
  readonly bounds: { readonly from?: number; readonly below?: number };
  /** What the rows are asked; undefined = all of them match. */
  readonly fits: ((facts: JobFacts) => boolean) | undefined;
  /** How many match, where counters know. */
  readonly total: number | undefined;
}

/** Ids of one page, newest first, and how many jobs match in all. */
export async function listJobs(
  store: ActorStore,
  counts: JobCounts,
  query: JobQuery,
): Promise<{ readonly ids: readonly JobId[]; readonly totalCount: number }> {
  const offset = (query.page - 1) * query.pageSize;
  const { ranges, bounds, fits, total } = select(counts, query);
  if (total !== undefined && offset >= total) return { ids: [], totalCount: total };
  const expected = query.pageSize;
  const rows = ranges.map(
    (range) => new OrderedRows(store, { ...range, ...bounds, newestFirst: true, expected }),
  );
  const merged = new MergedRows(rows, true);
  const ids: JobId[] = [];
  // Only where the total says that the page begins inside the range may rows be passed over unseen.
  let matched = fits || total === undefined ? 0 : await merged.skip(offset);
  while (ids.length < query.pageSize) {
    const row = await merged.next();
    if (row === undefined) break;
    if (fits && !fits(factsOf(row.value))) continue;
    matched += 1;
    if (matched > offset) ids.push(jobIdOf(row));
  }
  if (total !== undefined) return { ids, totalCount: total };
  const left = await countRows(rows, (row) => !fits || fits(factsOf(row.value)));
  return { ids, totalCount: matched + left };
}

/**
 * Ids of the oldest matching jobs, at most `limit`, and how many match in all.
 * `passes`: asked of each job that matches otherwise.
 */
export async function findOldest(
  store: ActorStore,
  counts: JobCounts,
  search: JobSearch,
  limit: number,
  passes: (id: JobId) => Promise<boolean> = async () => true,
): Promise<{ readonly ids: readonly JobId[]; readonly matched: number }> {
  const { ranges, bounds, fits } = select(counts, search);
  const merged = new MergedRows(
    ranges.map((range) => new OrderedRows(store, { ...range, ...bounds, newestFirst: false })),
    false,
  );
  const ids: JobId[] = [];
  let matched = 0;
  for (let row = await merged.next(); row !== undefined; row = await merged.next()) {
    const id = jobIdOf(row);
    if ((fits && !fits(factsOf(row.value))) || !(await passes(id))) continue;
    matched += 1;
    if (ids.length < limit) ids.push(id);
  }
  return { ids, matched };
}

/** Ids of all matching jobs, newest first. */
export async function* matchingJobs(
  store: Pick<ActorStore, 'rows'>,
  counts: JobCounts,
  search: JobSearch,
): AsyncGenerator<JobId> {
  const { ranges, bounds, fits } = select(counts, search);
  const merged = new MergedRows(
    ranges.map((range) => new OrderedRows(store, { ...range, ...bounds, newestFirst: true })),
    true,
  );
  for (let row = await merged.next(); row !== undefined; row = await merged.next()) {
    if (!fits || fits(factsOf(row.value))) yield jobIdOf(row);
  }
}

function select(counts: JobCounts, search: JobSearch): Selection {
  const { parentJobId, createdFrom, createdTo } = search;
  const states = search.statuses.length > 0 ? search.statuses : undefined;
  const named = search.profile?.toLowerCase();
  const profiles =
    named === undefined ? undefined : counts.profiles().filter((name) => name.toLowerCase() === named);
  const bounds = {
    ...(createdFrom !== undefined && { from: firstOrderAt(createdFrom) }),
    ...(createdTo !== undefined && { below: firstOrderAt(createdTo) }),
  };
  const questions = questionsOf(search);
  if (parentJobId !== undefined) {
    if (states) questions.push(({ state }) => state !== undefined && states.includes(state));
    if (profiles) questions.push(({ profile }) => profile !== undefined && profiles.includes(profile));
    const ranges = [{ view: 'jobs-of', prefix: [parentJobId] }];
    return { ranges, bounds, fits: allOf(questions), total: undefined };
  }
  const formats = search.formats?.length ? search.formats : undefined;
  const bounded = createdFrom !== undefined || createdTo !== undefined;
  const counted = !bounded && questions.length === (formats ? 1 : 0);
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
    fits: allOf(questions),
    total: counted ? count(states, profiles) : undefined,
  };
}

type Question = (facts: JobFacts) => boolean;

/** What the rows themselves have to be asked. */
function questionsOf({ formats, sources, folder, fileName, errorCode }: JobSearch): Question[] {
  const questions: Question[] = [];
  if (formats?.length) questions.push((facts) => formats.includes(facts.format));
  if (sources?.length) questions.push((facts) => sources.includes(facts.source));
  if (folder !== undefined) {
    const wanted = folder.toLowerCase() === NO_FOLDER ? null : folder.toLowerCase();
    questions.push((facts) => (facts.folder?.toLowerCase() ?? null) === wanted);
  }
  if (fileName !== undefined && fileName !== '') {
    const part = folded(fileName);
    questions.push((facts) => folded(facts.fileName).includes(part));
  }
  if (errorCode !== undefined) questions.push((facts) => facts.errorCode === errorCode);
  return questions;
}

function allOf(questions: readonly Question[]): Question | undefined {
  if (questions.length === 0) return undefined;
  return (facts) => questions.every((question) => question(facts));
}

/** One spelling for names that differ in case, or in how their accents are encoded. */
function folded(name: string): string {
  return name.normalize('NFC').toLowerCase();
}
