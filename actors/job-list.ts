/**
 * Pages of jobs, newest first, over the ranges that `registry.ts` writes. A filter picks some of the
 * (profile, state) ranges; they are merged by order, piece by piece, so that memory stays bounded however deep
 * the page is, and others get their turn between two pieces.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { JobState } from '../machines/job.ts';
import { JOB_STATES } from '../machines/job.ts';
import type { ActorStore, Row } from '../runtime/index.ts';
import type { JobQuery } from './api.ts';
import type { JobCounts } from './job-counts.ts';

/** Rows read at once: a millisecond or two of this thread's time. */
const PIECE = 512;

/** Ids of one page and how many jobs match in all. */
export async function listJobs(
  store: ActorStore,
  counts: JobCounts,
  query: JobQuery,
): Promise<{ readonly ids: readonly string[]; readonly totalCount: number }> {
  const offset = (query.page - 1) * query.pageSize;
  const states = query.statuses.length > 0 ? query.statuses : undefined;
  const wanted = query.profile?.toLowerCase();
  const profiles =
    wanted === undefined ? undefined : counts.profiles().filter((name) => name.toLowerCase() === wanted);
  const totalCount = counts.count(states, profiles);
  if (offset >= totalCount) return { ids: [], totalCount };
  if (!states && !profiles) {
    const rows = await store.rows({ view: 'jobs', reverse: true, offset, limit: query.pageSize });
    return { ids: rows.map((row) => row.value as string), totalCount };
  }
  const ranges: Range[] = [];
  for (const profile of profiles ?? counts.profiles()) {
    for (const state of states ?? JOB_STATES) {
      if (counts.count([state], [profile]) > 0) ranges.push(new Range(store, profile, state));
    }
  }
  return { ids: await mergedPage(ranges, offset, query.pageSize), totalCount };
}

async function mergedPage(
  ranges: readonly Range[],
  offset: number,
  limit: number,
): Promise<readonly string[]> {
  const only = ranges[0];
  if (ranges.length === 1 && only) return only.page(offset, limit);
  const ids: string[] = [];
  for (let position = 0; position < offset + limit; position += 1) {
    let newest: Range | undefined;
    for (const range of ranges) {
      if (range.head === undefined) await range.fill();
      if (
        range.head !== undefined &&
        (newest?.head === undefined || orderOf(range.head) > orderOf(newest.head))
      ) {
        newest = range;
      }
    }
    const row = newest?.take();
    if (row === undefined) break;
    if (position >= offset) ids.push(row.value as string);
  }
  return ids;
}

/** Jobs' order is the last part of the key. */
function orderOf(row: Row): number {
  return row.key[2] as number;
}

/** One (profile, state) range, read from its newest end in pieces. */
class Range {
  readonly #store: ActorStore;
  readonly #prefix: readonly [string, JobState];
  #piece: readonly Row[] = [];
  #at = 0;
  #last: Row['key'] | undefined;
  #exhausted = false;

  constructor(store: ActorStore, profile: string, state: JobState) {
    this.#store = store;
    this.#prefix = [profile, state];
  }

  get head(): Row | undefined {
    return this.#piece[this.#at];
  }

  take(): Row | undefined {
    const row = this.head;
    this.#at += 1;
    return row;
  }

  /** Makes `head` the next row, reading on behind the last one where the piece at hand is used up. */
  async fill(): Promise<void> {
    if (this.#exhausted || this.head !== undefined) return;
    if (this.#last !== undefined) await nextTurn();
    const after = this.#last === undefined ? {} : { after: this.#last };
    this.#piece = await this.#store.rows({ ...this.#newestFirst(), ...after, limit: PIECE });
    this.#at = 0;
    this.#last = this.#piece.at(-1)?.key;
    this.#exhausted = this.#piece.length === 0;
  }

  async page(offset: number, limit: number): Promise<readonly string[]> {
    const rows = await this.#store.rows({ ...this.#newestFirst(), offset, limit });
    return rows.map((row) => row.value as string);
  }

  #newestFirst() {
    return { view: 'jobs-by', prefix: this.#prefix, reverse: true };
  }
}
