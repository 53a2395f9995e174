/** Checks of requests by programs without types: what is missing is named here, not by an error inside the engine. */
import { CryptoError } from './types.ts';

/** One line of characters that XML 1.0 has too. */
const CLAIMED_ROLE = /^[^\p{Cc}\p{Cs}\u2028\u2029\ufffe\uffff]{1,2000}$/u;

/** Checks and returns a claimed role. @throws {CryptoError} `request.invalid` */
export function checkedRole(text: string): string {
  if (CLAIMED_ROLE.test(text)) return text;
  throw new CryptoError('request.invalid', 'A claimed role is one line of up to 2,000 characters.');
}

/**
 * Checks the members of a request that every operation needs.
 * @param formats those that the operation has; undefined: it has one, or reads it from the file
 * @throws {CryptoError} `request.invalid`, which names the member
 */
export function assertRequest(
  formats: readonly string[] | undefined,
  request: { readonly format?: string; readonly at?: unknown; readonly signer?: unknown },
  members: readonly ('at' | 'signer')[],
): void {
  const refuse = (what: string): never => {
    throw new CryptoError('request.invalid', what);
  };
  const { format, at, signer } = request ?? {};
  if (formats !== undefined && (format === undefined || !formats.includes(format)))
    refuse(`\`format\` is ${String(format)}, not ${formats.join(', ')}.`);
  if (members.includes('at') && !Number.isFinite(at))
    refuse('`at` is no time in milliseconds, such as Date.now().');
  if (members.includes('signer') && (typeof signer !== 'object' || signer === null))
    refuse('`signer` is missing; `loadSigner` makes one.');
}
