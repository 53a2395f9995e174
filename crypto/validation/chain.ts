/**
 * Validation of a certificate for its use at the proven time: path, validity, purpose, revocation and algorithms (EN 319 102-1
 * §5.2.6, and §5.6.2 for past times).
 */
import type {
  AlgorithmUse,
  CertificateRecord,
  SubIndication,
  ValidationResults,
} from '../core/validation-report.ts';
import type { WorkBudget } from '../core/work-budget.ts';
import type { Evidence } from '../evidence/authorities.ts';
import {
  type RevocationSource,
  type RevocationStatus,
  revocationStatus,
} from '../evidence/revocation-status.ts';
import { listedAnchors, responderStanding } from '../qualification/signature-qualification.ts';
import { type Certificate, readableCertificates, readCertificate } from '../x509/certificate.ts';
import { shownName } from '../x509/display-name.ts';
import { companyNumber, holderName, issuerName, personNumber } from '../x509/holder.ts';
import { nameFields } from '../x509/names.ts';
import { type PathDefectKind, pathDefects } from '../x509/path-defects.ts';
import { PathSearch } from '../x509/path-search.ts';
import { algorithmsOn } from '../x509/signed-structure.ts';
import { algorithmText, algorithmTime, strengthOf } from './algorithms.ts';
import { type Check, ResultsBuilder } from './signature-info.ts';
import type { TrustSettings } from './trust.ts';

interface ChainRequest {
  readonly certificate: Certificate;
  /** Candidates for intermediate certificates. */
  readonly others: readonly Certificate[];
  readonly evidence: Evidence;
  readonly trust: TrustSettings;
  readonly purpose: Purpose;
  /** Earliest proven time of existence of the data it signed, milliseconds since the epoch. */
  readonly time: number;
  /** Earliest proven time of existence of a revocation response. */
  readonly evidenceTime: (der: Buffer) => number;
  /** Time of validation; responses from after it are ignored. */
  readonly now: number;
  /** Time that a time-stamp names, when it is the authority of one. */
  readonly genTime?: number | undefined;
  /** Latest time at which the data is proven not to exist yet (a time-stamp over the content only). */
  readonly notBefore?: number | undefined;
  /** Budget for examined certificates and responses. */
  readonly work?: WorkBudget | undefined;
}

export interface ChainVerdict {
  /** Undefined when every check passes. */
  readonly subIndication: SubIndication | undefined;
  readonly results: ValidationResults;
  /** SHA-256, in hexadecimal, of the anchor of the path that passes. */
  readonly anchor?: string | undefined;
}

/**
 * Validates every path to an anchor until one passes; when none does, reports the most likely one.
 * @throws {WorkBudgetExceeded}
 */
export function validateChain(request: ChainRequest): ChainVerdict {
  let likely: ResultsBuilder | undefined;
  const { anchors: own, intermediates } = trustedCertificates(request.trust);
  const others = [...intermediates, ...request.others];
  const { certificate, work } = request;
  const listed = listedIn(request);
  const search = new PathSearch({ certificate, others, anchors: [...own, ...listed], work });
  for (const path of search.paths()) {
    const anchor = path.at(-1);
    const isIn = (all: readonly Certificate[]) => all.some((one) => one.fingerprint === anchor?.fingerprint);
    const isListed = anchor !== undefined && isIn(listed) && !isIn(own);
    const above = isListed ? issuerOf(anchor, [...own, ...others, ...listed], work) : undefined;
    const results = validatePath(path, request, above);
    if (results.verdict().subIndication === undefined)
      return { ...verdictOf(results), anchor: anchor?.fingerprint };
    likely ??= results;
  }
  const isAccepted =
    likely === undefined && request.trust.acceptedUnproven?.includes(certificate.fingerprint);
  if (isAccepted === true && request.purpose === 'signature') return verdictOf(validateAlone(request));
  return verdictOf(likely ?? withoutPath(request, search.reason));
}

/** Services of the trusted lists at which a path may end. */
export function listedIn({
  certificate,
  others,
  trust,
  purpose,
  time,
  genTime = time,
}: Pick<
  ChainRequest,
  'certificate' | 'others' | 'trust' | 'purpose' | 'time' | 'genTime'
>): readonly Certificate[] {
  const { lists } = trust;
  if (lists === undefined) return [];
  const { intermediates } = trustedCertificates(trust);
  const known = { lists, certificate, others: [...intermediates, ...others] };
  return listedAnchors({ ...known, times: [genTime, time] }, purpose);
}

/** Issuer of a listed anchor, where one is at hand: its answers say whether the anchor was revoked. */
function issuerOf(
  anchor: Certificate,
  others: readonly Certificate[],
  work: WorkBudget | undefined,
): Certificate | undefined {
  return others.find((one) => {
    if (one.subjectKey !== anchor.issuerKey) return false;
    work?.spend(STEPS_PER_LINK);
    return anchor.signedBy(one);
  });
}

/** Validates a certificate that was accepted without a path to an anchor. */
function validateAlone(request: ChainRequest): ResultsBuilder {
  const results = new ResultsBuilder();
  checkOwnValidity(request, results);
  results.warning(UNPROVEN);
  checkPurpose(request, results);
  return results;
}

/** Warning about a certificate that was accepted although no root vouches for it. */
export const UNPROVEN = {
  type: 'certificate.unproven',
  message: 'No roots are configured that could vouch for the certificate.',
} as const;

function verdictOf(results: ResultsBuilder): ChainVerdict {
  return { subIndication: results.verdict().subIndication, results: results.results() };
}

/** @param above issuer of a listed anchor */
function validatePath(
  path: readonly Certificate[],
  request: ChainRequest,
  above: Certificate | undefined,
): ResultsBuilder {
  const results = new ResultsBuilder();
  checkOwnValidity(request, results);
  results.passed({
    type: 'chain.path',
    message: 'A path of certificates leads to a trust anchor.',
    detail: path.map((one) => certificateRecord(one).subjectName).join(' < '),
  });
  checkPathDefects(path, request, results);
  checkPurpose(request, results, path.slice(1, -1));
  checkAlgorithms(path, algorithmTime(request.trust, request.time), results);
  checkRevocation(path, request, { results, above });
  return results;
}

function withoutPath(request: ChainRequest, reason: string): ResultsBuilder {
  const results = new ResultsBuilder();
  checkOwnValidity(request, results);
  const message =
    request.trust.anchors.length === 0 && request.trust.lists === undefined
      ? 'No trust anchor is given, so nobody is trusted.'
      : `No path to a trust anchor: ${reason}.`;
  results.failed('NO_CERTIFICATE_CHAIN_FOUND', { type: 'chain.path', message });
  checkPurpose(request, results);
  return results;
}

/** @param authorities between the certificate and the anchor */
function checkPurpose(
  { certificate, purpose }: ChainRequest,
  results: ResultsBuilder,
  authorities: readonly Certificate[] = [],
): void {
  const fault = purposeFault(certificate, purpose) ?? authorityFault(authorities, purpose);
  if (fault === undefined) {
    results.passed({ type: 'certificate.purpose', message: 'The certificate is for what it was used for.' });
  } else {
    results.failed('CHAIN_CONSTRAINTS_FAILURE', fault);
  }
}

function checkOwnValidity({ certificate, time, notBefore }: ChainRequest, results: ResultsBuilder): void {
  const detail = `valid ${dateText(certificate.notBefore)} to ${dateText(certificate.notAfter)}, needed at ${dateText(time)}`;
  const type = 'certificate.validity';
  if (time < certificate.notBefore) {
    const message = 'The signature existed before the certificate was valid.';
    results.failed('NOT_YET_VALID', { type, message, detail });
  } else if (time <= certificate.notAfter) {
    results.passed({ type, message: 'The certificate was valid at the proven time.', detail });
  } else if (notBefore !== undefined && notBefore > certificate.notAfter) {
    results.failed('EXPIRED', {
      type,
      message: 'The signature was made after the certificate expired.',
      detail,
    });
  } else {
    const message = 'The certificate has expired, and nothing proves that the signature is older.';
    results.failed('OUT_OF_BOUNDS_NO_POE', { type, message, detail });
  }
}

function checkPathDefects(
  path: readonly Certificate[],
  { time }: ChainRequest,
  results: ResultsBuilder,
): void {
  const flaws = pathDefects(path, time).filter(
    // Both are separate checks: the signer's validity, and algorithms by date.
    ({ kind, certificate }) => kind !== 'algorithm' && !(isAboutTime(kind) && certificate === path[0]),
  );
  for (const { kind, certificate, reason } of flaws) {
    // An anchor counts by its name and key: path validation asks nothing of its dates (RFC 5280 §6.1.1 d).
    if (kind === 'expired' && certificate === path.at(-1)) {
      results.warning({ type: 'chain.anchor', message: `The trust anchor ${reason}; it still counts.` });
      continue;
    }
    const subIndication = isAboutTime(kind)
      ? 'CERTIFICATE_CHAIN_GENERAL_FAILURE'
      : 'CHAIN_CONSTRAINTS_FAILURE';
    results.failed(subIndication, { type: `chain.${kind}`, message: `The path is not good: ${reason}.` });
  }
}

function isAboutTime(kind: PathDefectKind): boolean {
  return kind === 'expired' || kind === 'not-yet-valid';
}

/** Checks the signature algorithms of the certificates, except the anchor's own signature, which has no effect. */
function checkAlgorithms(path: readonly Certificate[], time: number, results: ResultsBuilder): void {
  for (const [index, certificate] of path.entries()) {
    const issuer = path[index + 1];
    if (issuer === undefined) break;
    for (const use of algorithmsOn(certificate, issuer)) {
      const strength = strengthOf(use, time);
      if (strength.status === 'good') continue;
      const check: Check = {
        type: 'chain.algorithm',
        message: `The certificate of ${certificateRecord(certificate).subjectName} was issued with a weak algorithm.`,
        detail: algorithmText(use),
      };
      results.failed(
        strength.status === 'ended' ? 'CRYPTO_CONSTRAINTS_FAILURE_NO_POE' : 'CRYPTO_CONSTRAINTS_FAILURE',
        check,
      );
    }
  }
}

function checkRevocation(
  path: readonly Certificate[],
  request: ChainRequest,
  { results, above }: { readonly results: ResultsBuilder; readonly above: Certificate | undefined },
): void {
  const { trust, time, notBefore } = request;
  if (trust.revocation === 'none') return;
  for (const { index, certificate, answer, lostAt } of statusesOf(path, request, above)) {
    const { subjectName } = certificateRecord(certificate);
    const reason = answer.status === 'unknown' ? answer.reason : weaknessOf(answer.source, request);
    if (
      lostAt !== undefined &&
      (answer.status === 'unknown' || isUnproven(index, certificate, lostAt, request))
    ) {
      results.failed('REVOKED_CA_NO_POE', lostAuthority(subjectName, lostAt, reason));
    } else if (reason !== undefined) {
      const message = `Nothing says whether ${subjectName} was revoked: ${reason}.`;
      const check = { type: 'revocation.unknown', message };
      if (trust.revocation === 'soft') results.warning(check);
      else results.failed('TRY_LATER', check);
    } else if (answer.status === 'good') {
      const detail = sourceText(answer.source);
      results.passed({
        type: 'revocation.good',
        message: `The certificate of ${subjectName} was not revoked.`,
        detail,
      });
      if (isOlder(answer.source, request)) results.warning(olderAnswer(subjectName, answer.source, time));
    } else if (answer.status === 'revoked') {
      const { at, reason } = answer.revocation;
      const detail = `since ${dateText(at)}, ${reason ?? 'no reason given'}, ${sourceText(answer.source)}`;
      const check = {
        type: 'revocation.revoked',
        message: `The certificate of ${subjectName} was revoked.`,
        detail,
      };
      results.failed(reason === 'certificateHold' ? 'TRY_LATER' : revokedAs(index, at, notBefore), check);
    }
  }
}

interface PathStatus {
  readonly index: number;
  readonly certificate: Certificate;
  readonly answer: RevocationStatus;
  /** Time since which a key above it may be in other hands; undefined: none is known to be. */
  readonly lostAt: number | undefined;
}

/**
 * Returns the status of each certificate below the anchor, and that of a listed anchor that was revoked. The authorities are asked about first: one that was revoked
 * after the proven time may since have made certificates and answers of any date (EN 319 102-1 §5.6.2.2).
 */
function statusesOf(
  path: readonly Certificate[],
  request: ChainRequest,
  above: Certificate | undefined,
): readonly PathStatus[] {
  const { time, evidence, evidenceTime, work } = request;
  const { lists } = request.trust;
  const found: PathStatus[] = [];
  let lostAt: number | undefined;
  for (let index = path.length - 1; index >= 0; index--) {
    const [certificate, issuer = above] = path.slice(index);
    const isAnchor = index === path.length - 1;
    if (isAnchor && issuer === undefined) continue;
    if (certificate === undefined || issuer === undefined) break;
    work?.spend(STEPS_PER_LINK + STEPS_PER_ANSWER * (evidence.crls.length + evidence.ocsps.length));
    const answer = revocationStatus(certificate, issuer, {
      evidence,
      at: time,
      options: {
        now: request.now + ASKED_SINCE_MS,
        above: path.slice(index + 2),
        others: request.others,
        lostAt,
        provenAt: evidenceTime,
        standingOf: lists && responderStanding(lists),
      },
    });
    // The list vouches for its services: of them, a revocation alone counts.
    if (!isAnchor || answer.status === 'revoked') found.unshift({ index, certificate, answer, lostAt });
    if (answer.lostAt !== undefined) lostAt = Math.min(answer.lostAt, lostAt ?? answer.lostAt);
  }
  return found;
}

/** True for an authority's certificate that may be from after the loss; what was signed names that of the signer. */
function isUnproven(
  index: number,
  { der }: Certificate,
  lostAt: number,
  { evidenceTime }: ChainRequest,
): boolean {
  return index > 0 && evidenceTime(der) >= lostAt;
}

function lostAuthority(subjectName: string, lostAt: number, reason: string | undefined): Check {
  return {
    type: 'revocation.authority',
    message: `An authority above ${subjectName} was revoked, and nothing proves that what it says is older.`,
    detail: `revoked ${dateText(lostAt)}${reason === undefined ? '' : `; ${reason}`}`,
  };
}

/** Tolerance for responses requested during validation or signing, since clocks differ. Milliseconds. */
const ASKED_SINCE_MS = 60_000;
/** Cost of one certificate with its issuer. */
const STEPS_PER_LINK = 20;
/** Cost of one response: most are about other certificates and are skipped. */
const STEPS_PER_ANSWER = 0.5;

/** Rejects a response whose algorithm had ended before the proven existence of the response. */
function weaknessOf(
  source: RevocationSource,
  { trust, evidenceTime, now }: ChainRequest,
): string | undefined {
  const weakAt = (time: number) =>
    source.algorithms.find((use) => strengthOf(use, algorithmTime(trust, time)).status !== 'good');
  // Determines the proven time only for responses that need it.
  const weak = weakAt(now) === undefined ? undefined : weakAt(evidenceTime(source.der));
  return weak === undefined ? undefined : `the ${source.kind.toUpperCase()} rests on ${algorithmText(weak)}`;
}

/**
 * True for a response from before the time it must prove: a revocation between the two is not in it. Sources outside of
 * the file were asked for a newer one.
 */
function isOlder({ der, thisUpdate }: RevocationSource, { time, trust: { asked } }: ChainRequest): boolean {
  if (thisUpdate + ASKED_SINCE_MS >= time) return false;
  return asked === undefined || ![...asked.crls, ...asked.ocsps].some((one) => one.equals(der));
}

function olderAnswer(subjectName: string, source: RevocationSource, time: number): Check {
  return {
    type: 'revocation.older',
    message: `The answer about ${subjectName} is older than the time it is needed for: a revocation in between is not in it.`,
    detail: `${sourceText(source)}, needed at ${dateText(time)}`,
  };
}

function sourceText({ kind, thisUpdate, signer }: RevocationSource): string {
  return `${kind.toUpperCase()} of ${dateText(thisUpdate)} by ${certificateRecord(signer).subjectName}`;
}

function revokedAs(index: number, since: number, notBefore: number | undefined): SubIndication {
  if (index > 0) return 'REVOKED_CA_NO_POE';
  return notBefore !== undefined && notBefore >= since ? 'REVOKED' : 'REVOKED_NO_POE';
}

export function dateText(at: number): string {
  return new Date(at).toISOString();
}

/** Permitted uses of a certificate (RFC 5280 §4.2.1.3, §4.2.1.12; RFC 3161 §2.3). */
type Purpose = 'signature' | 'timestamp';

const TIMESTAMPING = '1.3.6.1.5.5.7.3.8';
const CLIENT_AUTHENTICATION = '1.3.6.1.5.5.7.3.2';

const ANY_PURPOSE = '2.5.29.37.0';

/** Extended key usages for signing documents; one of them suffices. */
const SIGNING: ReadonlySet<string> = new Set([
  ANY_PURPOSE,
  '1.3.6.1.5.5.7.3.4', // e-mail protection
  '1.3.6.1.5.5.7.3.36', // document signing (RFC 9336)
  '1.3.6.1.4.1.311.10.3.12', // document signing, before RFC 9336
  '1.2.840.113583.1.1.5', // authentic documents (PDF readers)
]);

/** Reason why the certificate is not valid for the purpose; undefined when it is. */
function purposeFault(certificate: Certificate, purpose: Purpose): Check | undefined {
  const { keyUsage, extendedKeyUsage } = certificate;
  if (keyUsage !== undefined && !keyUsage.digitalSignature && !keyUsage.nonRepudiation) {
    return fault('certificate.key-usage', 'The key of the certificate is not for signatures.', certificate);
  }
  if (purpose === 'timestamp') {
    const alone = extendedKeyUsage?.length === 1 && extendedKeyUsage[0] === TIMESTAMPING;
    if (alone) return undefined;
    return fault('certificate.purpose', 'The certificate is not one for time-stamps alone.', certificate);
  }
  if (certificate.ca && keyUsage?.keyCertSign === true) {
    return fault(
      'certificate.authority',
      'The certificate is that of an authority, not of a signer.',
      certificate,
    );
  }
  if (extendedKeyUsage === undefined || extendedKeyUsage.some((one) => SIGNING.has(one))) return undefined;
  // Identity cards often have "client authentication" with a key usage for signing only.
  const personal = extendedKeyUsage.includes(CLIENT_AUTHENTICATION) && keyUsage?.nonRepudiation === true;
  if (personal) return undefined;
  return fault(
    'certificate.purpose',
    'The certificate is for other purposes than signing documents.',
    certificate,
  );
}

/** Reason why one of the authorities may not issue certificates for the purpose: its own purposes limit those below it. */
function authorityFault(authorities: readonly Certificate[], purpose: Purpose): Check | undefined {
  const isFor = (one: string) =>
    one === ANY_PURPOSE ||
    (purpose === 'timestamp' ? one === TIMESTAMPING : SIGNING.has(one) || one === CLIENT_AUTHENTICATION);
  const limited = authorities.find(({ extendedKeyUsage }) => extendedKeyUsage?.some(isFor) === false);
  const message = 'An authority on the path issues certificates for other purposes only.';
  return limited && fault('certificate.purpose', message, limited);
}

function fault(type: string, message: string, { extendedKeyUsage }: Certificate): Check {
  return { type, message, detail: extendedKeyUsage?.join(', ') };
}

/** Checks that an algorithm was accepted at the proven time of existence (EN 319 102-1 §5.2.8). */
export function checkStrength(use: AlgorithmUse, time: number, results: ResultsBuilder): void {
  const strength = strengthOf(use, time);
  const text = algorithmText(use);
  const type = 'algorithm.strength';
  const detail = use.where;
  if (strength.status === 'good') {
    results.passed({ type, message: `${text} is strong enough.`, detail });
  } else if (strength.status === 'unknown') {
    results.failed('CRYPTO_CONSTRAINTS_FAILURE', {
      type,
      message: `${text} is not an accepted algorithm.`,
      detail,
    });
  } else if (use.preimage === true) {
    results.warning({ type, message: `${text} is weak.`, detail });
  } else {
    const message = `${text} has proven nothing since ${dateText(strength.end)}, and the signature may be younger.`;
    results.failed('CRYPTO_CONSTRAINTS_FAILURE_NO_POE', { type, message, detail });
  }
}

/** Cache by parsed certificate: formatting names takes longer than a lookup. */
const records = new WeakMap<Certificate, CertificateRecord>();

/** Builds the readable description of a certificate. */
export function certificateRecord(certificate: Certificate): CertificateRecord {
  let record = records.get(certificate);
  if (record === undefined) {
    record = makeRecord(certificate);
    records.set(certificate, record);
  }
  return record;
}

function makeRecord(certificate: Certificate): CertificateRecord {
  const subject = nameFields(certificate.subject);
  const issuer = nameFields(certificate.issuer);
  const mail = certificate.alternativeNames.find((name) => name.kind === 'email');
  const isOfPerson =
    personNumber(certificate) !== undefined &&
    companyNumber(certificate) === undefined &&
    subject.organizationIdentifier === undefined;
  // As it is issued, beside a name that is shown without it.
  const { number } = shownName(subject);
  const isCompanys = number !== undefined && /^[A-Z\d]{12}\d{2}$/.test(number);
  return {
    subjectName: holderName(certificate),
    issuerName: issuerName(certificate),
    emailAddress: (mail?.kind === 'email' ? mail.text : undefined) ?? subject.emailAddress,
    identifier: subject.serialNumber ?? (isCompanys ? undefined : number),
    personNumber: personNumber(certificate),
    companyNumber: companyNumber(certificate),
    // Some authorities write the name of their infrastructure into the certificates of persons.
    companyName:
      isOfPerson && subject.organization === issuer.organization ? undefined : subject.organization,
    companyIdentifier: subject.organizationIdentifier ?? (isCompanys ? number : undefined),
    thumbprint: Buffer.from(certificate.fingerprint, 'hex').toString('base64'),
    validityStart: certificate.notBefore,
    validityEnd: certificate.notAfter,
  };
}

interface TrustedCertificates {
  readonly anchors: readonly Certificate[];
  readonly intermediates: readonly Certificate[];
}

const cache = new WeakMap<readonly Buffer[], readonly Certificate[]>();

const NONE: readonly Buffer[] = [];

/**
 * Parses the certificates of trust settings; each array is parsed once and cached while it is alive.
 * @throws {CryptoError} `certificate.malformed` for an anchor that can't be read
 */
export function trustedCertificates({ anchors, intermediates = NONE }: TrustSettings): TrustedCertificates {
  return {
    anchors: readOnce(anchors, readCertificate),
    intermediates: readOnce(intermediates, readableCertificates),
  };
}

function readOnce(
  list: readonly Buffer[],
  read: (der: Buffer) => Certificate | readonly Certificate[],
): readonly Certificate[] {
  let certificates = cache.get(list);
  if (certificates === undefined) {
    certificates = list.flatMap(read);
    cache.set(list, certificates);
  }
  return certificates;
}
