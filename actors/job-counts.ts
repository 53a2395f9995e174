/**
 * How many jobs stand where, kept in step with the store's own counters: read once at start, moved by each
 * committed step. Saves the pipeline and the metrics a range read per look.
 */
import type { JobFormat, JobState } from '../machines/job-context.ts';
import { IN_FLIGHT_STATES } from '../machines/job-context.ts';

interface Cell {
  readonly state: JobState;
  readonly profile: string;
  readonly format: JobFormat;
  count: number;
}

export class JobCounts {
  readonly #cells = new Map<string, Cell>();

  /** `counters`: the store's, as of now. */
  constructor(counters: { readonly [name: string]: number }) {
    this.move(counters);
  }

  /** Applies what a committed step moved; other counters are ignored. */
  move(counters: { readonly [name: string]: number }): void {
    for (const [name, by] of Object.entries(counters)) {
      const cell = this.#cells.get(name);
      if (cell) {
        cell.count += by;
        continue;
      }
      const [kind, state, profile, format] = name.split('/');
      if (kind !== 'jobs' || !state || !profile || !format) continue;
      this.#cells.set(name, { state: state as JobState, profile, format: format as JobFormat, count: by });
    }
  }

  /** Jobs in any of the states, with any of the profiles, of the format; undefined = all. */
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

  /** Profiles that any job ever had here, in the order of their names. */
  profiles(): readonly string[] {
    return [...new Set([...this.#cells.values()].map((cell) => cell.profile))].sort();
  }
}
