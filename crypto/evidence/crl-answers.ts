/**
 * Status of one certificate by CRLs (RFC 5280 §6.3.3): complete CRLs, delta CRLs combined with them, CRLs for some
 * reasons, indirect CRLs, and CRLs signed with another key than the certificate.
 */

import type { Certificate } from '../x509/certificate.ts';
import { ALL_REASONS, type CrlPoint, comparableNames, directory } from '../x509/distribution-points.ts';
import { nameKey } from '../x509/names.ts';
import type { Crl } from './crl.ts';
import type { Revocation } from './revocation-reasons.ts';

/** A CRL that applies to the certificate, with its signer. */
export interface UsableCrl {
  readonly crl: Crl;
  readonly signer: Certificate;
  /** Bits of ReasonFlags that it covers; `ALL_REASONS`: all. */
  readonly reasons: number;
  /** Entry of the certificate; a delta CRL can also have the reason `removeFromCRL`. */
  readonly revocation: Revocation | undefined;
}

/** Result of one CRL, or of a complete and a delta CRL combined. */
export interface CrlStatement {
  readonly revocation: Revocation | undefined;
  /** The newest CRL it is based on. */
  readonly newest: UsableCrl;
  readonly reasons: number;
}

/** Returns the covered reasons, or the text why the CRL does not apply to the certificate. */
export function scopeOf(crl: Crl, certificate: Certificate, now: number): string | number {
  if (crl.unusable !== undefined) return crl.unusable;
  if (crl.thisUpdate > now) return 'it is from later';
  const { certificates } = crl.scope;
  if (certificates === 'end' && certificate.ca) return 'it is for end certificates only';
  if (certificates === 'ca' && !certificate.ca) return 'it is for CA certificates only';
  let reasons = 0;
  for (const point of [...certificate.crlPoints, OWN_ISSUER]) {
    if (isOfPoint(crl, certificate, point)) reasons |= point.reasons ?? ALL_REASONS;
  }
  if (reasons === 0) return 'it is for another part of the certificates';
  return reasons & (crl.scope.reasons ?? ALL_REASONS);
}

/** Distribution point that matches any CRL of the certificate's issuer. */
const OWN_ISSUER: CrlPoint = { name: undefined, reasons: undefined, crlIssuers: [] };

/** Checks RFC 5280 §6.3.3 (b)(1) and (b)(2)(i). */
function isOfPoint(crl: Crl, { issuer, issuerKey }: Certificate, { name, crlIssuers }: CrlPoint): boolean {
  const { names, indirect } = crl.scope;
  if (crlIssuers.length === 0) {
    if (crl.issuerKey !== issuerKey) return false;
  } else if (!indirect || !crlIssuers.some((one) => nameKey(one) === crl.issuerKey)) return false;
  if (names === undefined) return true;
  const own =
    name === undefined
      ? [...crlIssuers, ...(crlIssuers.length === 0 ? [issuer] : [])].map(directory)
      : comparableNames(name, crlIssuers[0] ?? issuer);
  return own.some((one) => names.includes(one));
}

/** Combines all CRLs; a delta CRL alone proves only revocations. */
export function statementsOf(lists: readonly UsableCrl[]): CrlStatement[] {
  const complete = lists.filter(({ crl }) => crl.baseNumber === undefined);
  const deltas = lists.filter(({ crl }) => crl.baseNumber !== undefined);
  const alone = complete.map((list) => statement(list.revocation, list));
  const revoking = deltas
    .filter(({ revocation }) => revocation !== undefined && revocation.reason !== 'removeFromCRL')
    .map((delta) => statement(delta.revocation, delta));
  const together = deltas.flatMap((delta) =>
    complete
      .filter((base) => mayComplete(delta.crl, base.crl))
      .map((base) => {
        const removed = delta.revocation?.reason === 'removeFromCRL';
        const revocation = removed ? undefined : (delta.revocation ?? base.revocation);
        return { revocation, newest: delta, reasons: delta.reasons & base.reasons };
      }),
  );
  return [...alone, ...revoking, ...together];
}

function statement(revocation: Revocation | undefined, newest: UsableCrl): CrlStatement {
  return { revocation, newest, reasons: newest.reasons };
}

/** Checks RFC 5280 §5.2.4 and §6.3.3 (c): same issuer, key and scope, and at least the delta's base number. */
function mayComplete(delta: Crl, base: Crl): boolean {
  const { number, authorityKeyId, issuerKey, scope } = base;
  const sameKey =
    authorityKeyId === undefined || delta.authorityKeyId === undefined
      ? authorityKeyId === delta.authorityKeyId
      : authorityKeyId.equals(delta.authorityKeyId);
  return (
    number !== undefined &&
    delta.baseNumber !== undefined &&
    delta.number !== undefined &&
    issuerKey === delta.issuerKey &&
    scope.key === delta.scope.key &&
    sameKey &&
    delta.baseNumber <= number &&
    number <= delta.number
  );
}
