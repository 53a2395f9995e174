/** One finding of `sealwright doctor`. */

export interface Finding {
  /** Subject of the check, e.g. `folder:output`. */
  readonly name: string;
  /** `warning`: works today, and needs attention. */
  readonly verdict: 'good' | 'warning' | 'failed';
  /** A sentence about what is. */
  readonly says: string;
  /** Reason; null where all is well. */
  readonly cause: string | null;
  /** Remedy; null if there is no problem. */
  readonly remedy: string | null;
}

export function good(name: string, says: string): Finding {
  return { name, verdict: 'good', says, cause: null, remedy: null };
}

/** Something that is wrong, with what to do about it. */
export function bad(
  verdict: 'warning' | 'failed',
  name: string,
  words: { readonly says: string; readonly cause: string; readonly remedy: string },
): Finding {
  return { name, verdict, ...words };
}

/** The code of a system error. */
export function errorCode(error: unknown): string {
  return String((error as { code?: unknown }).code ?? 'unknown');
}
