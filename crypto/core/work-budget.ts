/**
 * Limits the work that one file may cost. Validation counts steps: its revisions, signatures, time-stamps and paths
 * together; a step is about a microsecond of processor time, so the limit is a few seconds for any file. Readers count
 * bytes, and charge the steps of a validation too.
 */
import { type Finding, failed } from './validation-report.ts';

/** Bytes that are hashed in one step. */
export const BYTES_HASHED_PER_STEP = 500;

/** Steps for a file of any size. */
const BASE = 4_000_000;
/** Additional bytes of a file that allow one step more. */
const BYTES_PER_STEP = 4;

/** The work budget of one file is spent. The results of completed checks remain valid; other checks were not made. */
class WorkBudgetExceeded extends Error {
  constructor() {
    super('Validating the file takes more work than is done for one file.');
  }
}

interface WorkBudgetOptions {
  /** Units that may be spent. */
  readonly limit: number;
  /** Budget that is charged too, before this one. */
  readonly whole?: WorkBudget | undefined;
  /** Converts units of this budget to units of `whole`. @default the same */
  readonly toWhole?: (units: number) => number;
  /** Error of a spent budget. @default WorkBudgetExceeded */
  readonly exceeded?: () => Error;
}

export class WorkBudget {
  readonly #options: WorkBudgetOptions;
  #left: number;

  constructor(options: WorkBudgetOptions) {
    this.#options = options;
    this.#left = options.limit;
  }

  /** Returns the budget of a validation, in steps. @param size of the file, bytes */
  static forFile(size: number): WorkBudget {
    return new WorkBudget({ limit: BASE + size / BYTES_PER_STEP });
  }

  /** Reserves a share of the remaining units; units spent there are spent here too. */
  part(share: number): WorkBudget {
    return new WorkBudget({ limit: this.#left * share, whole: this });
  }

  /** @throws {WorkBudgetExceeded} or the error of the options */
  spend(units: number): void {
    const { whole, toWhole, exceeded } = this.#options;
    whole?.spend(toWhole?.(units) ?? units);
    this.#left -= units;
    if (this.#left < 0) throw exceeded?.() ?? new WorkBudgetExceeded();
  }

  /** Spends units when enough are left. */
  trySpend(units: number): boolean {
    if (this.#left < units) return false;
    this.spend(units);
    return true;
  }

  /** Charges the larger budget alone, in its units. @throws {WorkBudgetExceeded} */
  spendWhole(units: number): void {
    this.#options.whole?.spend(units);
  }
}

/** Leaves the unexamined parts INDETERMINATE. */
export const WORK_BUDGET_EXCEEDED: Finding = failed('file.work', new WorkBudgetExceeded().message, 'GENERIC');

/** Returns the result of `look`, or of `otherwise` when the budget is exceeded. @throws other errors of `look` */
export function withinWorkBudget<T>(look: () => T, otherwise: () => T): T {
  try {
    return look();
  } catch (error) {
    if (!(error instanceof WorkBudgetExceeded)) throw error;
    return otherwise();
  }
}
