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
interface CrlStatement {
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

/**
 * Signer of a CRL: the issuer of the certificate, or another key that the same CA, or one above it on the path,
 * certified for CRLs (RFC 5280 §6.3.3 (f)).
 */
interface CrlSignerRequest {
  readonly certificate: Certificate;
  readonly issuer: Certificate;
  /** Certificates above the issuer on the path, the anchor last: trusted like the path. */
  readonly above: readonly Certificate[];
  /** Untrusted candidates for the certificates of CRL keys. */
  readonly others: () => readonly Certificate[];
  /** Reason why the certificate of a CRL key is not accepted; undefined when it is. */
  readonly revocationOf: (signer: Certificate) => string | undefined;
}

/** Limit of keys tried for one CRL; each costs a public-key operation. */
const MAX_CANDIDATES = 8;

/** Returns the signer, or text without full stop why there is none. */
export function crlSignerOf(crl: Crl, request: CrlSignerRequest): Certificate | string {
  const { issuer, above, certificate } = request;
  let reason: string | undefined;
  const own = [issuer, ...above].filter(({ subjectKey }) => subjectKey === crl.issuerKey);
  for (const candidate of own) {
    const fault = mayNotSign(candidate) ?? forgeryOf(crl, candidate);
    if (fault === undefined) return candidate;
    reason ??= fault;
  }
  const candidates = request
    .others()
    .filter((one) => one.subjectKey === crl.issuerKey && one !== certificate && !own.includes(one))
    .sort((one, other) => rank(crl, one) - rank(crl, other));
  for (const candidate of candidates.slice(0, MAX_CANDIDATES)) {
    const fault = objectionTo(crl, candidate, request) ?? forgeryOf(crl, candidate);
    if (fault === undefined) {
      const revoked = request.revocationOf(candidate);
      if (revoked === undefined) return candidate;
      reason = `its signer ${revoked}`;
    } else reason ??= fault;
  }
  return reason ?? 'its issuer is not known';
}

function rank({ authorityKeyId }: Crl, { subjectKeyId }: Certificate): number {
  if (authorityKeyId === undefined || subjectKeyId === undefined) return 1;
  return authorityKeyId.equals(subjectKeyId) ? 0 : 2;
}

function mayNotSign({ keyUsage }: Certificate): string | undefined {
  return keyUsage !== undefined && !keyUsage.cRLSign ? 'its issuer may not sign CRLs' : undefined;
}

function objectionTo(
  { thisUpdate }: Crl,
  candidate: Certificate,
  { issuer, above }: CrlSignerRequest,
): string | undefined {
  if (candidate.keyUsage?.cRLSign !== true) return 'its issuer may not sign CRLs';
  if (candidate.unknownCritical.length > 0)
    return 'its issuer has a critical extension that is not understood';
  if (thisUpdate < candidate.notBefore || thisUpdate > candidate.notAfter) return 'its issuer was not valid';
  const certified = [issuer, ...above].some(
    (one) => one.subjectKey === candidate.issuerKey && one.ca && candidate.signedBy(one),
  );
  return certified ? undefined : 'its issuer is not certified on the path';
}

function forgeryOf(crl: Crl, signer: Certificate): string | undefined {
  const fault = crl.signatureFault(signer);
  return fault === undefined ? undefined : `its signature is not that of the issuer (${fault})`;
}
