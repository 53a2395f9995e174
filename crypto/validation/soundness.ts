/** Whether something may be built on a signature, the same for all formats: nothing is added to one that is broken. */
import type { Finding, SignatureFacts } from './facts.ts';

/** What proves a signature, or a time-stamp in it, to be one over something else. */
const BROKEN: ReadonlySet<Finding['subIndication']> = new Set([
  undefined,
  'FORMAT_FAILURE',
  'HASH_FAILURE',
  'SIG_CRYPTO_FAILURE',
]);

/**
 * Why nothing can be built on the signature: its value, what it is over as far as that is at hand, what was done after it,
 * or one of its time-stamps is wrong. No full stop. Undefined when it is sound; whether anybody trusts it is not asked.
 */
export function breakIn({ findings, timestamps }: SignatureFacts): string | undefined {
  // A document time-stamp is a signature of its own, sound or broken.
  const own = timestamps.filter(({ kind }) => kind !== 'document');
  const all = [...findings, ...own.flatMap((stamp) => stamp.findings)];
  const broken = all.find(({ status, subIndication }) => status === 'failed' && BROKEN.has(subIndication));
  if (broken === undefined) return undefined;
  const message = broken.message.replace(/\.$/, '');
  return broken.detail === undefined ? message : `${message} (${broken.detail.replace(/\.$/, '')})`;
}
