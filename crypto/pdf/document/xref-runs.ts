/** Subsections of a cross-reference section: ranges of consecutive object numbers. */
import type { WorkBudget } from '../../core/work-budget.ts';

export interface Run {
  readonly first: number;
  readonly count: number;
}

/** Finds the subsections of a number. */
export class Runs<R extends Run> {
  readonly #runs: readonly R[];
  readonly #sorted: boolean;
  readonly #budget: WorkBudget;
  constructor(runs: readonly R[], budget: WorkBudget) {
    this.#runs = runs;
    this.#budget = budget;
    let end = 0;
    // Sorted, as written by conforming programs.
    this.#sorted = runs.every((run) => {
      const follows = run.first >= end;
      end = run.first + run.count;
      return follows;
    });
  }

  /** The lowest number. */
  get first(): number {
    return this.#runs.reduce((first, run) => Math.min(first, run.first), Number.POSITIVE_INFINITY);
  }

  /** One more than the highest number. */
  get bound(): number {
    return this.#runs.reduce((bound, run) => Math.max(bound, run.first + run.count), 0);
  }

  /** Returns all subsections that contain a number: more than one only in a malformed section. */
  all(number: number): readonly R[] {
    if (this.#sorted) {
      const run = this.#search(number);
      return run === undefined ? [] : [run];
    }
    this.#budget.spend(this.#runs.length);
    return this.#runs.filter((run) => number >= run.first && number < run.first + run.count);
  }

  #search(number: number): R | undefined {
    let low = 0;
    let high = this.#runs.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      const run = this.#runs[middle];
      if (run === undefined) return undefined;
      if (number < run.first) high = middle;
      else if (number >= run.first + run.count) low = middle + 1;
      else return run;
    }
    return undefined;
  }
}
