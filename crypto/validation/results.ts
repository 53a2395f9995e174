/** Collects checks into validation results and derives their verdict. */
import type {
  Finding,
  Indication,
  SubIndication,
  ValidationItem,
  ValidationResults,
} from '../core/validation-report.ts';

/** Sub-indications of TOTAL-FAILED (EN 319 102-1 table 5); all others are INDETERMINATE. */
const TOTAL: ReadonlySet<SubIndication> = new Set<SubIndication>([
  'FORMAT_FAILURE',
  'HASH_FAILURE',
  'SIG_CRYPTO_FAILURE',
  'REVOKED',
  'EXPIRED',
  'NOT_YET_VALID',
]);

interface Verdict {
  readonly indication: Indication;
  readonly subIndication?: SubIndication;
}

/** A check to be added to the results. */
export interface Check {
  readonly type: string;
  readonly message: string;
  readonly detail?: string | undefined;
  readonly inner?: ValidationResults | undefined;
}

/** Returns the indication for a sub-indication. */
function indicationOf(subIndication: SubIndication): Indication {
  return TOTAL.has(subIndication) ? 'TOTAL-FAILED' : 'INDETERMINATE';
}

export class ResultsBuilder {
  readonly #passed: ValidationItem[] = [];
  readonly #errors: ValidationItem[] = [];
  readonly #warnings: ValidationItem[] = [];
  #proven: SubIndication | undefined;
  #open: SubIndication | undefined;

  passed(check: Check): void {
    this.#passed.push(itemOf(check));
  }

  warning(check: Check): void {
    this.#warnings.push(itemOf(check));
  }

  failed(subIndication: SubIndication, check: Check): void {
    this.#errors.push(itemOf(check));
    if (TOTAL.has(subIndication)) this.#proven ??= subIndication;
    else this.#open ??= subIndication;
  }

  finding({ status, subIndication, ...check }: Finding): void {
    if (status === 'passed') this.passed(check);
    else if (status === 'warning') this.warning(check);
    else this.failed(subIndication ?? 'FORMAT_FAILURE', check);
  }

  /** Derives the verdict: TOTAL-FAILED outranks INDETERMINATE; otherwise the first failure decides. */
  verdict(): Verdict {
    const subIndication = this.#proven ?? this.#open;
    if (subIndication === undefined) return { indication: 'TOTAL-PASSED' };
    return { indication: indicationOf(subIndication), subIndication };
  }

  results(): ValidationResults {
    return {
      isValid: this.#errors.length === 0,
      passedChecks: this.#passed,
      errors: this.#errors,
      warnings: this.#warnings,
    };
  }
}

function itemOf({ type, message, detail, inner }: Check): ValidationItem {
  return {
    type,
    message,
    ...(detail === undefined ? {} : { detail }),
    ...(inner === undefined ? {} : { inner }),
  };
}
