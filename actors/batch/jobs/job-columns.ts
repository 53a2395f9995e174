/**
 * The fields that lists of jobs filter by, in memory: exact totals and any page of any filter, without reading rows. Built from
 * the rows by the first list that needs it and updated by each committed step.
 *
 * Only an accelerator: while it is incomplete, lists read the rows. Source: docs/decisions/0251-lists-in-columns.md.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type ActorStore, contextOf, type Step } from '@sealwright/runtime';
import { JOB_STATES } from '../../../contracts/batch/words.ts';
import type { JobFormat, JobSource, JobState } from '../../../machines/batch/job-context.ts';
import type { JobId, Millis } from '../../../machines/ids.ts';
import { Codes, type ColumnScan, OrderedColumns } from '../../shared/ordered-columns.ts';
import { MergedRows, OrderedRows } from '../../shared/ordered-rows.ts';
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

/** Above it nothing is built: about 20 bytes per job and its name. */
const MAX_JOBS = 6_000_000;
/** Rows taken between two turns of the event loop while building. */
const ROWS_PER_TURN = 512;
/** Names per segment: about 30 KB, searched in microseconds. */
const SEGMENT_SIZE = 1024;
/** Segments searched per turn of the event loop. */
const SEGMENTS_PER_TURN = 16;
/** Separator of names; no name contains it. */
const SEPARATOR = '\0';

/** Normalizes a name: case-folded, one Unicode encoding of accents. */
export function foldName(name: string): string {
  return name.normalize('NFC').toLowerCase();
}

/** Fields that lists filter by. */
type Facts = Pick<JobRow, 'format' | 'source' | 'folder' | 'fileName'> & {
  readonly state: JobState;
  readonly profile: string;
  readonly errorCode?: string | null;
};

type ListFilter = JobFilter & { readonly errorCode?: string | undefined };

export interface JobPage {
  /** Order numbers, newest first. */
  readonly orders: readonly number[];
  readonly totalCount: number;
}

export class JobColumns {
  readonly #store: Pick<ActorStore, 'rows'>;
  readonly #counts: JobCounts;
  #table = new JobTable();
  #state: 'none' | 'building' | 'ready' | 'too-many' = 'none';
  #building: Promise<void> | undefined;
  /** Jobs seen while building: newer than the rows. Undefined = removed. */
  #seen = new Map<number, Facts | undefined>();

  constructor(store: Pick<ActorStore, 'rows'>, counts: JobCounts) {
    this.#store = store;
    this.#counts = counts;
  }

  /** Processes a committed step. */
  observe(step: Step): void {
    if (this.#state !== 'building' && this.#state !== 'ready') return;
    const job = contextOf(JOB, step.actor);
    if (job === undefined) return;
    const { profileName: profile } = job;
    const facts = step.ends ? undefined : { ...job, profile, state: step.actor.state as JobState };
    if (this.#state === 'building') this.#seen.set(job.order, facts);
    else this.#apply(job.order, facts);
  }

  /** Forgets all: steps of other nodes were missed. */
  reset(): void {
    this.#forget('none');
  }

  /** One page; undefined while the table is incomplete. */
  async page(filter: ListFilter, scan: Omit<ColumnScan, 'chosen' | 'among'>): Promise<JobPage | undefined> {
    if (this.#state === 'none' && this.#counts.count() <= MAX_JOBS) this.#building = this.#build();
    // A page whose total is known reads few rows: it does not wait.
    if (scan.total === undefined) await this.#building;
    if (this.#state !== 'ready' || this.#table.size !== this.#counts.count()) return undefined;
    return this.#table.page(filter, scan);
  }

  /** Never rejects: nobody may wait for it, and where the store fails, reading the rows says so. */
  async #build(): Promise<void> {
    this.#state = 'building';
    const table = this.#table;
    // After a reset, another one may be building.
    const isWanted = (): boolean => this.#state === 'building' && this.#table === table;
    try {
      const ranges = this.#counts
        .profiles()
        .flatMap((profile) => JOB_STATES.map((state) => ({ view: 'jobs-by', prefix: [profile, state] })));
      const merged = new MergedRows(
        ranges.map((range) => new OrderedRows(this.#store, { ...range, newestFirst: false })),
        false,
      );
      for (let taken = 1; ; taken += 1) {
        const row = await merged.next();
        if (!isWanted()) return;
        if (row === undefined) break;
        const [profile, state, order] = row.key as [string, JobState, number];
        this.#apply(order, { ...jobRowOf(row.value), profile, state });
        if (taken % ROWS_PER_TURN === 0) await nextTurn();
      }
      this.#state = 'ready';
      for (const [order, facts] of this.#seen) this.#apply(order, facts);
      this.#seen = new Map();
    } catch {
      if (isWanted()) this.#forget('none');
    }
  }

  #apply(order: number, facts: Facts | undefined): void {
    if (facts === undefined) this.#table.delete(order);
    else if (this.#table.size < MAX_JOBS) this.#table.set(order, facts);
    else this.#forget('too-many');
  }

  #forget(state: 'none' | 'too-many'): void {
    this.#table = new JobTable();
    this.#seen = new Map();
    this.#state = state;
  }
}

class JobTable {
  readonly #rows = new OrderedColumns(6);
  readonly #names = new Names();
  readonly #codes = Array.from({ length: 6 }, () => new Codes());

  get size(): number {
    return this.#rows.size;
  }

  set(order: number, facts: Facts): void {
    const { state, profile, format, source, folder, fileName, errorCode } = facts;
    const values = [state, profile, format, source, folder?.toLowerCase() ?? null, errorCode ?? null];
    if (!this.#rows.has(order)) this.#names.add(order, fileName);
    this.#rows.set(
      order,
      values.map((value, column) => this.#codes[column]?.codeOf(value) ?? 0),
    );
  }

  delete(order: number): void {
    if (this.#rows.delete(order)) this.#names.drop((one) => this.#rows.has(one));
  }

  async page(filter: ListFilter, scan: Omit<ColumnScan, 'chosen' | 'among'>): Promise<JobPage> {
    const { statuses, formats, sources, errorCode } = filter;
    const [profile, folder] = [filter.profile?.toLowerCase(), filter.folder?.toLowerCase()];
    const tests = [
      statuses.length > 0 && among(statuses),
      profile !== undefined && ((text: string | null) => text?.toLowerCase() === profile),
      formats?.length && among(formats),
      sources?.length && among(sources),
      folder !== undefined && ((text: string | null) => (text ?? NO_FOLDER) === folder),
      errorCode !== undefined && among([errorCode]),
    ];
    return this.#rows.page({
      ...scan,
      chosen: tests.map((test, column) => (test ? this.#codes[column]?.select(test) : undefined)),
      ...(filter.fileName && { among: await this.#names.matching(filter.fileName) }),
    });
  }
}

function among(values: readonly string[]): (text: string | null) => boolean {
  return (text) => text !== null && values.includes(text);
}

/** The folded names of jobs, joined into long strings, which the engine searches at gigabytes per second. */
class Names {
  #segments: Segment[] = [];

  add(order: number, name: string): void {
    let segment = this.#segments.at(-1);
    if (segment === undefined || segment.orders.length >= SEGMENT_SIZE) {
      // A text that was appended to keeps all its parts, at three times the size.
      if (segment) segment.text = Buffer.from(segment.text).toString();
      segment = { orders: [], starts: [], text: '' };
      this.#segments.push(segment);
    }
    segment.orders.push(order);
    segment.starts.push(segment.text.length);
    segment.text += `${foldName(name)}${SEPARATOR}`;
  }

  /** Drops the segments of which no job is left. */
  drop(isLeft: (order: number) => boolean): void {
    this.#segments = this.#segments.filter(({ orders }) => orders.some(isLeft));
  }

  /** Orders of the names that contain the text, ascending; those of removed jobs among them. */
  async matching(text: string): Promise<readonly number[]> {
    const part = foldName(text);
    if (part.includes(SEPARATOR)) return [];
    const found: number[] = [];
    let isSorted = true;
    for (const [index, segment] of this.#segments.entries()) {
      if (index % SEGMENTS_PER_TURN === SEGMENTS_PER_TURN - 1) await nextTurn();
      searchSegment(segment, part, (order) => {
        isSorted &&= order > (found.at(-1) ?? -1);
        found.push(order);
      });
    }
    // Usually sorted: jobs are added in order of creation.
    return isSorted ? found : [...new Set(found.sort((a, b) => a - b))];
  }
}

interface Segment {
  readonly orders: number[];
  /** Offset of each job's name in `text`. */
  readonly starts: number[];
  text: string;
}

/** Calls `found` for each name of the segment that contains `part`. */
function searchSegment(
  { text, orders, starts }: Segment,
  part: string,
  found: (order: number) => void,
): void {
  let at = 0;
  for (let hit = text.indexOf(part); hit >= 0; hit = text.indexOf(part, starts[at] ?? text.length)) {
    while ((starts[at + 1] ?? Number.POSITIVE_INFINITY) <= hit) at += 1;
    const order = orders[at];
    if (order === undefined) return;
    found(order);
    at += 1;
    if (at >= orders.length) return;
  }
}
