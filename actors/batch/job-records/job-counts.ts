/**
 * Number of jobs by state, profile and format, in memory: read from the store's counters at start, updated by each
 * committed step. Saves the pipeline and the metrics a range read per query.
 */
import { IN_FLIGHT_STATES, type JobFormat, type JobState } from '../../../machines/batch/job-context.ts';
import type { ServiceRuntime } from '../../hosting/service-plan.ts';
import type { BucketOriginals } from '../objects/bucket-originals.ts';
import type { JobObjects } from '../objects/job-objects.ts';

interface Cell {
  readonly state: JobState;
  readonly profile: string;
  readonly format: JobFormat;
  count: number;
}

/** Holds what the classes of the batch service have in common. */
export interface BatchRuntime extends ServiceRuntime {
  readonly counts: JobCounts;
  /** Undefined: jobs have their files in folders. */
  readonly objects?: JobObjects | undefined;
  /** Undefined: no input is a bucket. */
  readonly originals?: BucketOriginals | undefined;
}

export class JobCounts {
  readonly #cells = new Map<string, Cell>();

  /** @param counters the current counters of the store */
  constructor(counters: { readonly [name: string]: number }) {
    this.move(counters);
  }

  /** Replaces all counts by these counters. */
  reset(counters: { readonly [name: string]: number }): void {
    for (const cell of this.#cells.values()) cell.count = 0;
    this.move(counters);
  }

  /** Applies the counter changes of a committed step; ignores other counters. */
  move(counters: { readonly [name: string]: number }): void {
    for (const name in counters) {
      const by = counters[name] ?? 0;
      const cell = this.#cells.get(name);
      if (cell) {
        cell.count += by;
        continue;
      }
      if (!name.startsWith('jobs/')) continue;
      const [, state, profile, format] = name.split('/');
      if (!state || !profile || !format) continue;
      this.#cells.set(name, { state: state as JobState, profile, format: format as JobFormat, count: by });
    }
  }

  /** Counts jobs by states, profiles and format; undefined = all. */
  count(states?: readonly JobState[], profiles?: readonly string[], format?: JobFormat): number {
    let sum = 0;
    for (const cell of this.#cells.values()) {
      if (states && !states.includes(cell.state)) continue;
      if (profiles && !profiles.includes(cell.profile)) continue;
      if (format && cell.format !== format) continue;
      sum += cell.count;
    }
    return sum;
  }

  /** Jobs that hold a slot. */
  inFlight(): number {
    return this.count(IN_FLIGHT_STATES);
  }

  /** All profiles that have had a job, sorted by name. */
  profiles(): readonly string[] {
    return [...new Set([...this.#cells.values()].map((cell) => cell.profile))].sort();
  }
}
