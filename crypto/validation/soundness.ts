/** Integrity check before a signature is extended, common to all formats: broken signatures stay unchanged. */

import type { Finding } from '../core/validation-report.ts';
import type { SignatureInfo } from './signature-info.ts';

/** Sub-indications that show changed content of a signature or of one of its time-stamps. */
const BROKEN: ReadonlySet<Finding['subIndication']> = new Set([
  undefined,
  'FORMAT_FAILURE',
  'HASH_FAILURE',
  'SIG_CRYPTO_FAILURE',
]);

/** Findings by which nothing is known of a signature: it may be good, and nobody here can tell. */
const UNJUDGED: ReadonlySet<string> = new Set([
  'algorithm.agreement',
  'algorithm.unsupported',
  'attributes.signed',
  'digest.algorithm',
  'structure.cms',
]);

/**
 * Reason, without full stop, why a signature must not be extended: its value, its available content, later changes,
 * or one of its time-stamps is invalid. Undefined when it is intact, independent of trust.
 */
export function integrityFailure({ findings, timestamps }: SignatureInfo): string | undefined {
  // A document time-stamp is judged as a separate signature.
  const own = timestamps.filter(({ kind }) => kind !== 'document');
  const all = [...findings, ...own.flatMap((stamp) => stamp.findings)];
  const broken = all.find(
    ({ status, type, subIndication }) =>
      status === 'failed' && (BROKEN.has(subIndication) || UNJUDGED.has(type)),
  );
  if (broken === undefined) return undefined;
  const message = broken.message.replace(/\.$/, '');
  return broken.detail === undefined ? message : `${message} (${broken.detail.replace(/\.$/, '')})`;
}
