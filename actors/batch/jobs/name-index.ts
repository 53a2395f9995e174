/**
 * In-memory index of the file names of all jobs, for substring searches. Built from the view `jobs` by the first search
 * and updated by each committed step. Names are joined into long strings, which the engine searches at gigabytes per
 * second; rows of the store cost microseconds each.
 *
 * Only an accelerator: when it is incomplete, searches read the rows.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type ActorStore, contextOf, type Step } from '@sealwright/runtime';
import { jobRowOf } from '../job-records/job-index.ts';
import { JOB } from '../job-records/kinds.ts';

/** Names per segment: about 30 KB, searched in microseconds. */
const SEGMENT_SIZE = 1024;
/** Rows read at once. */
const PAGE_SIZE = 512;
/** Segments searched per turn of the event loop. */
const SEGMENTS_PER_TURN = 16;
/** Maximum number of names, about 60 MB at 40 characters each; above it no index is built. */
const MAX_NAMES = 1_000_000;
/** Separator of names; no name contains it. */
const SEPARATOR = '\0';

interface Segment {
  readonly orders: number[];
  /** Offset of each job's name in `text`. */
  readonly starts: number[];
  text: string;
}

/** Normalizes a name: case-folded, one Unicode encoding of accents. */
export function foldName(name: string): string {
  return name.normalize('NFC').toLowerCase();
}

export class NameIndex {
  readonly #store: Pick<ActorStore, 'rows'>;
  /** Current number of jobs. */
  readonly #count: () => number;
  #segments: Segment[] = [];
  #known = new Set<number>();
  #state: 'none' | 'building' | 'ready' | 'too-many' = 'none';
  /** Jobs removed during the build. */
  #removed = new Set<number>();
  #building: Promise<void> | undefined;

  constructor(store: Pick<ActorStore, 'rows'>, count: () => number) {
    this.#store = store;
    this.#count = count;
  }

  /** Processes a committed step. */
  observe(step: Step): void {
    if (this.#state === 'none' || this.#state === 'too-many') return;
    const job = contextOf(JOB, step.actor);
    if (job === undefined) return;
    const { order, fileName } = job;
    if (step.ends) {
      this.#known.delete(order);
      if (this.#state === 'building') this.#removed.add(order);
    } else if (step.basedOn === 0) this.#add(order, fileName);
  }

  /**
   * Orders of the jobs whose name contains the text, case-insensitive, descending. Undefined for an incomplete index.
   */
  async matching(text: string): Promise<readonly number[] | undefined> {
    if (this.#state === 'none') this.#building = this.#build();
    await this.#building;
    if (this.#state !== 'ready' || this.#known.size !== this.#count()) return undefined;
    const part = foldName(text);
    if (part.includes(SEPARATOR)) return [];
    const found: number[] = [];
    let isSorted = true;
    for (const [index, segment] of this.#segments.entries()) {
      if (index % SEGMENTS_PER_TURN === SEGMENTS_PER_TURN - 1) await nextTurn();
      searchSegment(segment, part, (order) => {
        if (!this.#known.has(order)) return;
        isSorted &&= order > (found.at(-1) ?? -1);
        found.push(order);
      });
    }
    // Usually sorted: jobs are added in order of creation.
    return isSorted ? found.reverse() : found.sort((a, b) => b - a);
  }

  async #build(): Promise<void> {
    this.#state = 'building';
    try {
      let after: readonly (string | number)[] | undefined;
      for (;;) {
        const rows = await this.#store.rows({ view: 'jobs', limit: PAGE_SIZE, ...(after && { after }) });
        for (const { key, value } of rows) this.#add(key[0] as number, jobRowOf(value).fileName);
        after = rows.at(-1)?.key;
        if (rows.length < PAGE_SIZE || this.#isTooLarge()) break;
        await nextTurn();
      }
      if (!this.#isTooLarge()) this.#state = 'ready';
    } catch (error) {
      this.#remove('none');
      throw error;
    } finally {
      this.#removed = new Set();
    }
  }

  #isTooLarge(): boolean {
    return this.#state === 'too-many';
  }

  #add(order: number, fileName: string): void {
    if (this.#known.has(order) || this.#removed.has(order)) return;
    if (this.#known.size >= MAX_NAMES) {
      this.#remove('too-many');
      return;
    }
    this.#known.add(order);
    let segment = this.#segments.at(-1);
    if (segment === undefined || segment.orders.length >= SEGMENT_SIZE) {
      segment = { orders: [], starts: [], text: '' };
      this.#segments.push(segment);
    }
    segment.orders.push(order);
    segment.starts.push(segment.text.length);
    segment.text += `${foldName(fileName)}${SEPARATOR}`;
  }

  #remove(state: 'none' | 'too-many'): void {
    this.#segments = [];
    this.#known = new Set();
    this.#state = state;
  }
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
