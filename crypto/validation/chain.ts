/**
 * Whether a certificate can be trusted for what it was used for, at the time that use is proven: path, validity, purpose,
 * revocation and algorithms (EN 319 102-1 §5.2.6, and §5.6.2 for times that have passed).
 */
import type { Evidence } from '../authorities.ts';
import type { Certificate } from '../certificates/certificate.ts';
import { type PathFlawKind, pathFlaws } from '../certificates/path-flaws.ts';
import { PathSearch } from '../certificates/path-search.ts';
import { type RevocationSource, revocationStatus } from '../revocation/status.ts';
import type { Work } from '../work.ts';
import { algorithmText, algorithmTime, strengthOf } from './algorithms.ts';
import { algorithmsOn } from './certificate-algorithms.ts';
import { certificateRecord } from './certificate-record.ts';
import { type Purpose, purposeFault } from './purposes.ts';
import type { SubIndication, ValidationResults } from './report.ts';
import { type Check, ResultsBuilder } from './results.ts';
import type { TrustSettings } from './trust.ts';
import { trustedCertificates } from './trusted.ts';

export interface ChainRequest {
  readonly certificate: Certificate;
  /** Certificates that may stand between it and an anchor. */
  readonly others: readonly Certificate[];
  readonly evidence: Evidence;
  readonly trust: TrustSettings;
  readonly purpose: Purpose;
  /** Earliest time at which what it made is proven to have existed, milliseconds since the epoch. */
  readonly time: number;
  /** Earliest time at which an answer is proven to have existed. */
  readonly evidenceTime: (der: Buffer) => number;
  /** Time of validation; answers from after it are passed over. */
  readonly now: number;
  /** Latest time at which it is proven not to have existed yet (a time-stamp over the content alone). */
  readonly notBefore?: number | undefined;
  /** Counts the looks at certificates and answers. */
  readonly work?: Work | undefined;
}

export interface ChainVerdict {
  /** Undefined when all is well. */
  readonly subIndication: SubIndication | undefined;
  readonly results: ValidationResults;
}

/**
 * Every way up to an anchor is looked at until one is good; when none is, the most likely one is reported.
 * @throws {OutOfWork}
 */
export function judgeChain(request: ChainRequest): ChainVerdict {
  let likely: ResultsBuilder | undefined;
  const { anchors, intermediates } = trustedCertificates(request.trust);
  const others = [...intermediates, ...request.others];
  const { certificate, work } = request;
  const search = new PathSearch({ certificate, others, anchors, work });
  for (const path of search.paths()) {
    const results = judgePath(path, request);
    if (results.verdict().subIndication === undefined) return verdictOf(results);
    likely ??= results;
  }
  return verdictOf(likely ?? withoutPath(request, search.because));
}

function verdictOf(results: ResultsBuilder): ChainVerdict {
  return { subIndication: results.verdict().subIndication, results: results.results() };
}

function judgePath(path: readonly Certificate[], request: ChainRequest): ResultsBuilder {
  const results = new ResultsBuilder();
  checkOwnValidity(request, results);
  results.passed({
    type: 'chain.path',
    message: 'A path of certificates leads to a trust anchor.',
    detail: path.map((one) => certificateRecord(one).subjectName).join(' < '),
  });
  checkFlaws(path, request, results);
  checkPurpose(request, results);
  checkAlgorithms(path, algorithmTime(request.trust, request.time), results);
  checkRevocation(path, request, results);
  return results;
}

function withoutPath(request: ChainRequest, because: string): ResultsBuilder {
  const results = new ResultsBuilder();
  checkOwnValidity(request, results);
  const message =
    request.trust.anchors.length === 0
      ? 'No trust anchor is given, so nobody is trusted.'
      : `No path to a trust anchor: ${because}.`;
  results.failed('NO_CERTIFICATE_CHAIN_FOUND', { type: 'chain.path', message });
  checkPurpose(request, results);
  return results;
}

function checkPurpose({ certificate, purpose }: ChainRequest, results: ResultsBuilder): void {
  const fault = purposeFault(certificate, purpose);
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

function checkFlaws(path: readonly Certificate[], { time }: ChainRequest, results: ResultsBuilder): void {
  const flaws = pathFlaws(path, time).filter(
    // Both are checks of their own: the signer's period, and algorithms by date.
    ({ kind, certificate }) => kind !== 'algorithm' && !(isAboutTime(kind) && certificate === path[0]),
  );
  for (const { kind, because } of flaws) {
    const subIndication = isAboutTime(kind)
      ? 'CERTIFICATE_CHAIN_GENERAL_FAILURE'
      : 'CHAIN_CONSTRAINTS_FAILURE';
    results.failed(subIndication, { type: `chain.${kind}`, message: `The path is not good: ${because}.` });
  }
}

function isAboutTime(kind: PathFlawKind): boolean {
  return kind === 'expired' || kind === 'not-yet-valid';
}

/** The algorithms that the signatures on the certificates rest on; the anchor's own signature proves nothing anyway. */
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

function checkRevocation(path: readonly Certificate[], request: ChainRequest, results: ResultsBuilder): void {
  const { trust, time, evidence, notBefore, work } = request;
  if (trust.revocation === 'none') return;
  for (const [index, certificate] of path.entries()) {
    const issuer = path[index + 1];
    if (issuer === undefined) break;
    work?.spend(STEPS_PER_LINK + STEPS_PER_ANSWER * (evidence.crls.length + evidence.ocsps.length));
    const { subjectName } = certificateRecord(certificate);
    const answer = revocationStatus(certificate, issuer, evidence, time, {
      now: request.now + ASKED_SINCE,
    });
    const because = answer.status === 'unknown' ? answer.because : weaknessOf(answer.source, request);
    if (because !== undefined) {
      const message = `Nothing says whether ${subjectName} was revoked: ${because}.`;
      const check = { type: 'revocation.unknown', message };
      if (trust.revocation === 'soft') results.warning(check);
      else results.failed('TRY_LATER', check);
    } else if (answer.status === 'good') {
      const detail = sourceText(answer.source);
      results.passed({ type: 'revocation.good', message: `${subjectName} was not revoked.`, detail });
    } else if (answer.status === 'revoked') {
      const { at, reason } = answer.revocation;
      const detail = `since ${dateText(at)}, ${reason ?? 'no reason given'}, ${sourceText(answer.source)}`;
      const check = { type: 'revocation.revoked', message: `${subjectName} was revoked.`, detail };
      results.failed(reason === 'certificateHold' ? 'TRY_LATER' : revokedAs(index, at, notBefore), check);
    }
  }
}

/**
 * Answers asked for since the time of validation are from a little later, and clocks differ. Milliseconds.
 */
const ASKED_SINCE = 60_000;
/** A certificate and its issuer, whatever is said about them. */
const STEPS_PER_LINK = 20;
/** Most answers are about other certificates, and passed over. */
const STEPS_PER_ANSWER = 0.5;

/** An answer made with an algorithm that had ended before the answer is proven to have existed is none. */
function weaknessOf(
  source: RevocationSource,
  { trust, evidenceTime, now }: ChainRequest,
): string | undefined {
  const weakAt = (time: number) =>
    source.algorithms.find((use) => strengthOf(use, algorithmTime(trust, time)).status !== 'good');
  // Looking for a proof is left for the answers that need one.
  const weak = weakAt(now) === undefined ? undefined : weakAt(evidenceTime(source.der));
  return weak === undefined ? undefined : `the ${source.kind.toUpperCase()} rests on ${algorithmText(weak)}`;
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
