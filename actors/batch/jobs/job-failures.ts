/** Groups failed jobs by error code, from the rows of `jobs-by`. */

import { type ActorStore, contextOf, type Row } from '@sealwright/runtime';
import type { FailureGroup, FailureReport } from '../../../contracts/batch/statistics.ts';
import type { JobContext } from '../../../machines/batch/job-context.ts';
import { JOB_REMEDIES } from '../../../machines/batch/job-remedies.ts';
import { mergedRows } from '../../shared/lists/stored-rows.ts';
import type { JobCounts } from '../job-records/job-counts.ts';
import { type JobRow, jobIdOf, jobRowOf } from '../job-records/job-index.ts';
import { JOB } from '../job-records/kinds.ts';

/** Failed jobs that one report reads: 30 ms of work in pieces. */
const MAX_EXAMINED = 10_000;
/** Error codes are a fixed set; this bounds stores that other programs wrote. */
const MAX_GROUPS = 200;
/** Code of jobs without one, which old programs wrote. */
const UNKNOWN = 'unknown';

interface Group {
  count: number;
  readonly newest: Row;
  oldest: Row;
}

/** Groups the newest failed jobs; reads at most `MAX_EXAMINED` rows, and one or two jobs of each group. */
export async function groupFailures(store: ActorStore, counts: JobCounts): Promise<FailureReport> {
  const ranges = counts
    .profiles()
    .filter((profile) => counts.count(['Failed'], [profile]) > 0)
    .map((profile) => ({ view: 'jobs-by', prefix: [profile, 'Failed'] }));
  const groups = new Map<string, Group>();
  let examined = 0;
  let complete = true;
  for await (const row of mergedRows(store, ranges, { newestFirst: true })) {
    if (examined === MAX_EXAMINED) {
      complete = false;
      break;
    }
    examined += 1;
    const code = errorCodeOf(jobRowOf(row.value));
    const group = groups.get(code);
    if (group !== undefined) {
      group.count += 1;
      group.oldest = row;
    } else if (groups.size < MAX_GROUPS) groups.set(code, { count: 1, newest: row, oldest: row });
  }
  const found = await Promise.all([...groups].map(([code, group]) => describe(store, code, group)));
  return {
    groups: found.flat().sort((one, other) => other.count - one.count),
    examined,
    complete,
  };
}

/** A job that was cleared since its row was read leaves no group. */
async function describe(
  store: ActorStore,
  errorCode: string,
  { count, newest, oldest }: Group,
): Promise<readonly FailureGroup[]> {
  const [last, first] = await Promise.all([load(store, newest), load(store, oldest)]);
  if (last === undefined) return [];
  const { id, fileName } = jobRowOf(newest.value);
  return [
    {
      errorCode,
      remedy: JOB_REMEDIES[errorCode] ?? null,
      count,
      oldestAt: (first ?? last).createdAt,
      newestAt: last.createdAt,
      example: { id, fileName, message: last.errorMessage },
    },
  ];
}

async function load(store: ActorStore, row: Row): Promise<JobContext | undefined> {
  const stored = await store.load({ kind: JOB.kind, id: jobIdOf(row) });
  return stored && contextOf(JOB, stored);
}

function errorCodeOf({ errorCode }: JobRow): string {
  return errorCode ?? UNKNOWN;
}
