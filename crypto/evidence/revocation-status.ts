/**
 * Revocation status by the given responses. Uses neither the network nor a clock.
 *
 * Status of one certificate by CRLs (RFC 5280 §6.3.3): complete CRLs, delta CRLs combined with them, CRLs for some
 * reasons, indirect CRLs, and CRLs signed with another key than the certificate.
 */
import { Asn1Error } from '../asn1/read.ts';
import type { AlgorithmUse } from '../core/validation-report.ts';
import { type Certificate, readableCertificates } from '../x509/certificate.ts';
import { ALL_REASONS, type CrlPoint, comparableNames, directory, HOLD_REASON } from '../x509/extensions.ts';
import { nameKey } from '../x509/names.ts';
import { algorithmsOn } from '../x509/signed-structure.ts';
import { answerAlgorithms } from './answer-algorithms.ts';
import type { Evidence } from './authorities.ts';
import { type Crl, type Revocation, readCrl } from './crl.ts';
import { type OcspAnswer, readOcsp, responderOf, type SingleAnswer, type StandingOf } from './ocsp.ts';

/** A CRL that applies to the certificate, with its signer. */
interface UsableCrl {
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
  /** The complete CRL that a delta CRL extends. */
  readonly base?: UsableCrl;
  readonly reasons: number;
}

/** Returns the covered reasons, or the text why the CRL does not apply to the certificate. */
function scopeOf(crl: Crl, certificate: Certificate, now: number): string | number {
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
function statementsOf(lists: readonly UsableCrl[]): CrlStatement[] {
  const complete = lists.filter(({ crl }) => crl.baseNumber === undefined);
  const deltas = lists.filter(({ crl }) => crl.baseNumber !== undefined);
  // An entry that lifts a hold belongs into a delta CRL; in a complete one it says the same (§6.3.3 (k)).
  const alone = complete.map((list) =>
    statement(list.revocation?.reason === 'removeFromCRL' ? undefined : list.revocation, list),
  );
  const revoking = deltas
    .filter(({ revocation }) => revocation !== undefined && revocation.reason !== 'removeFromCRL')
    .map((delta) => statement(delta.revocation, delta));
  const together = deltas.flatMap((delta) =>
    complete
      .filter((base) => mayComplete(delta.crl, base.crl))
      .map((base) => {
        const removed = delta.revocation?.reason === 'removeFromCRL';
        const revocation = removed ? undefined : (delta.revocation ?? base.revocation);
        return { revocation, newest: delta, base, reasons: delta.reasons & base.reasons };
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
function crlSignerOf(crl: Crl, request: CrlSignerRequest): Certificate | string {
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

export type RevocationStatus = KnownStatus & {
  /** Earliest revocation after the requested time by which the key may be in other hands; undefined without one. */
  readonly lostAt?: number | undefined;
};

type KnownStatus =
  | { readonly status: 'good'; readonly source: RevocationSource }
  /** `revocation.at` is at or before the requested time. */
  | { readonly status: 'revoked'; readonly revocation: Revocation; readonly source: RevocationSource }
  /** `reason`: part of a sentence for each unusable response; states when there was none. */
  | { readonly status: 'unknown'; readonly reason: string };

/** Maximum age of a response without nextUpdate: newer ones are always available (RFC 6960 §4.2.2.1). */
const MAX_AGE_WITHOUT_NEXT_UPDATE_MS = 24 * 3_600_000;

/** Limit of authentic responses of one kind for one certificate. */
const MAX_ANSWERS = 200;

/** Limit of signature checks on responses of one kind for one certificate; each can cost a public-key operation. */
const MAX_CHECKED = 2000;

/**
 * Determines the status of a certificate at a time from OCSP responses and CRLs that its issuer signed, or a
 * responder that the issuer authorized (RFC 6960 §4.2.2.2, RFC 5280 §6.3.3).
 *
 * A response counts when it was valid at `at` (thisUpdate ≤ at ≤ nextUpdate) or was issued later; one issued after
 * the certificate expired counts as good only when it states that it covers expired certificates. A revocation counts
 * however old the response is, unless it was a hold and a newer response is good.
 *
 * Only responses about the certificate count towards the limits. They are examined in order, so trusted responses
 * must come before those embedded in a file.
 * @param issuer the certificate above it on its path
 */
export function revocationStatus(
  certificate: Certificate,
  issuer: Certificate,
  {
    evidence,
    at,
    options = {},
  }: {
    /** Also contains the responder's certificate and its revocation information; unreadable bytes are ignored. */
    readonly evidence: Evidence;
    /** Milliseconds since the epoch. */
    readonly at: number;
    readonly options?: StatusOptions | undefined;
  },
): RevocationStatus {
  const { now = Number.POSITIVE_INFINITY, above = [], lostAt, provenAt = () => at, standingOf } = options;
  let known: readonly Certificate[] | undefined;
  const others = (): readonly Certificate[] => {
    known ??= [...(options.others ?? []), ...certificatesIn(evidence)];
    return known;
  };
  const request = { certificate, issuer, above, others, evidence, at, now, lostAt, provenAt, standingOf };
  const problems = new Set<string>();
  const answers = [...ocspAnswers(request, problems), ...crlAnswers(request, problems)];
  return decide(answers, at, problems);
}

interface StatusOptions {
  /** Responses issued after this time are ignored. @default none is ignored */
  readonly now?: number;
  /** Certificates above the issuer on the path, the anchor last. @default none */
  readonly above?: readonly Certificate[];
  /** Candidates for certificates of CRL keys in addition to the evidence. @default none */
  readonly others?: readonly Certificate[];
  /**
   * Time since which keys above the certificate may be in other hands: an answer that is not proven to be older says only
   * that a certificate is revoked (EN 319 102-1 §5.6.2.2). @default never
   */
  readonly lostAt?: number | undefined;
  /** Earliest proven time of existence of an answer. @default the requested time */
  readonly provenAt?: (der: Buffer) => number;
  /** Standing of a responder by trusted lists. @default no list says anything */
  readonly standingOf?: StandingOf | undefined;
}

interface StatusRequest {
  readonly certificate: Certificate;
  readonly issuer: Certificate;
  readonly above: readonly Certificate[];
  readonly others: () => readonly Certificate[];
  readonly evidence: Evidence;
  readonly at: number;
  readonly now: number;
  readonly lostAt: number | undefined;
  readonly provenAt: (der: Buffer) => number;
  readonly standingOf: StandingOf | undefined;
}

/** One authentic response about the certificate. */
interface Answer {
  readonly revocation: Revocation | undefined;
  /** Reason why it proves nothing for the requested time, unless it says that the certificate is revoked. */
  readonly untimely: string | undefined;
  /** Bits of ReasonFlags that it covers. @default all */
  readonly reasons?: number;
  readonly source: RevocationSource;
}

/** Reasons that suspect no key (ITU-T X.509 §9.5.3.1); a hold is lifted or becomes another reason. */
const UNSUSPICIOUS: ReadonlySet<string> = new Set([
  'affiliationChanged',
  'superseded',
  'cessationOfOperation',
  'certificateHold',
  'removeFromCRL',
]);

function lossAfter(answers: readonly Answer[], at: number): number | undefined {
  const losses = answers.flatMap(({ revocation }) =>
    revocation === undefined || revocation.at <= at || UNSUSPICIOUS.has(revocation.reason)
      ? []
      : [revocation.at],
  );
  return losses.length === 0 ? undefined : Math.min(...losses);
}

function decide(answers: readonly Answer[], at: number, problems: Set<string>): RevocationStatus {
  const newestFirst = [...answers].sort((one, other) => other.source.thisUpdate - one.source.thisUpdate);
  for (const { revocation, source } of newestFirst) {
    if (revocation === undefined || revocation.at > at) continue;
    const lifted =
      revocation.reason === 'certificateHold' &&
      newestFirst.some(
        (newer) =>
          newer.source.thisUpdate > source.thisUpdate &&
          newer.revocation === undefined &&
          newer.untimely === undefined &&
          ((newer.reasons ?? ALL_REASONS) & HOLD_REASON) !== 0,
      );
    if (!lifted) return { status: 'revoked', revocation, source };
  }
  const lostAt = lossAfter(answers, at);
  // CRLs for some reasons prove a status only combined (RFC 5280 §6.3.3).
  let reasons = 0;
  for (const { untimely, source, reasons: coveredReasons = ALL_REASONS } of newestFirst) {
    if (untimely === undefined) {
      reasons |= coveredReasons;
      if (reasons === ALL_REASONS) return { status: 'good', source, lostAt };
    } else problems.add(untimely);
  }
  if (reasons !== 0) problems.add('the CRLs tell about some reasons only');
  if (problems.size === 0) problems.add('there is no answer about it');
  return { status: 'unknown', reason: [...problems].slice(0, 5).join('; '), lostAt };
}

function untimely(
  kind: string,
  { certificate, at }: StatusRequest,
  {
    thisUpdate,
    nextUpdate,
    expiredSince,
  }: {
    readonly thisUpdate: number;
    readonly nextUpdate: number | undefined;
    readonly expiredSince: number | undefined;
  },
): string | undefined {
  const day = (time: number) => new Date(time).toISOString();
  if (
    thisUpdate > certificate.notAfter &&
    (expiredSince === undefined || expiredSince > certificate.notAfter)
  ) {
    return `${kind} of ${day(thisUpdate)} is from after the certificate expired`;
  }
  if (thisUpdate >= at) return undefined;
  const end = nextUpdate ?? thisUpdate + MAX_AGE_WITHOUT_NEXT_UPDATE_MS;
  return at <= end ? undefined : `${kind} was good until ${day(end)} only`;
}

/** Reason why an answer may be made with a key in other hands. */
function doubtOf(kind: string, { lostAt, provenAt }: StatusRequest, ...ders: Buffer[]): string | undefined {
  if (lostAt === undefined || ders.every((der) => provenAt(der) < lostAt)) return undefined;
  return `nothing proves that ${kind} is from before the revocation of its authority`;
}

function* ocspAnswers(request: StatusRequest, problems: Set<string>): Generator<Answer> {
  const { certificate, issuer, above, evidence, standingOf } = request;
  const limit = answerLimit();
  for (const der of evidence.ocsps) {
    const answer = readable(der, readOcsp, problems);
    // All of them: one that says "revoked" counts wherever it stands.
    const singles = answer?.singles.filter((one) => one.isAbout(certificate, issuer)) ?? [];
    const usable = answer === undefined ? [] : usableSingles(answer, singles, request, problems);
    if (answer === undefined || usable.length === 0) continue;
    if (!limit.mayCheck()) return void problems.add(TOO_MANY);
    const responder = responderOf(answer, {
      issuer,
      others: () => certificatesIn(evidence),
      revocationOf: (one, standing) =>
        revocationOfResponder(one, standing === 'granted', answer.der, request),
      standingOf: standingOf && ((one) => standingOf(one, [issuer, ...above], answer.producedAt)),
    });
    if (typeof responder === 'string') problems.add(responder);
    else {
      limit.authentic();
      for (const single of usable) yield ocspAnswer(request, answer, single, responder);
    }
  }
}

function usableSingles(
  answer: OcspAnswer,
  singles: readonly SingleAnswer[],
  { now }: StatusRequest,
  problems: Set<string>,
): readonly SingleAnswer[] {
  return singles.filter((single) => {
    if (single.status === 'unknown') {
      problems.add('an OCSP answer does not know the certificate');
      return false;
    }
    const unusable =
      answer.unusable ?? single.unusable ?? (single.thisUpdate > now ? 'it is from later' : undefined);
    if (unusable !== undefined) problems.add(`an OCSP answer can't be used: ${unusable}`);
    return unusable === undefined;
  });
}

function ocspAnswer(
  request: StatusRequest,
  answer: OcspAnswer,
  single: SingleAnswer,
  signer: Certificate,
): Answer {
  const { thisUpdate, nextUpdate, revocation, archiveCutoff } = single;
  const kind = 'the OCSP answer';
  return {
    revocation,
    untimely:
      untimely(kind, request, { thisUpdate, nextUpdate, expiredSince: archiveCutoff }) ??
      doubtOf(kind, request, answer.der),
    source: {
      kind: 'ocsp',
      der: answer.der,
      thisUpdate,
      nextUpdate,
      signer,
      algorithms: [
        ...answerAlgorithms(answer, signer, 'ocsp'),
        // Of a responder that a list names, nothing rests on its certificate.
        ...(signer === request.issuer || signer.issuerKey !== request.issuer.subjectKey
          ? []
          : algorithmsOn(signer, request.issuer)),
      ],
    },
  };
}

/**
 * Revocation status of a responder without the no-check extension, by CRL only, so that it can't vouch for itself. A list
 * vouches for its responders: of them, a revocation alone counts.
 */
function revocationOfResponder(
  responder: Certificate,
  isListed: boolean,
  answer: Buffer,
  request: StatusRequest,
): string | undefined {
  const { ocspNoCheck, crlUrls, ocspUrls } = responder;
  const missing = isListed ? undefined : 'has no revocation answer of its own';
  if (!isListed && (ocspNoCheck || (crlUrls.length === 0 && ocspUrls.length === 0))) return undefined;
  const issuer = [request.issuer, ...request.above, ...request.others()]
    .filter((one) => one.subjectKey === responder.issuerKey)
    .slice(0, MAX_CANDIDATES)
    .find((one) => responder.signedBy(one));
  if (issuer === undefined) return missing;
  const own = { ...request, certificate: responder, issuer };
  const verdict = decide([...crlAnswers(own, new Set())], request.at, new Set());
  const { status, lostAt = Number.POSITIVE_INFINITY } = verdict;
  if (status === 'unknown') return missing;
  return status === 'good' && request.provenAt(answer) < lostAt ? undefined : 'is revoked';
}

function* crlAnswers(request: StatusRequest, problems: Set<string>): Generator<Answer> {
  const lists = [...usableCrls(request, problems)];
  const statements = statementsOf(lists);
  if (lists.length > 0 && statements.length === 0) {
    problems.add('a CRL lists only what changed since another list, which is not at hand');
  }
  for (const { revocation, newest, base, reasons } of statements) {
    const { crl, signer } = newest;
    const kind = 'the CRL';
    const ders = [crl.der, ...(base === undefined ? [] : [base.crl.der])];
    const { thisUpdate, nextUpdate, expiredSince } = crl;
    yield {
      revocation,
      reasons,
      untimely:
        untimely(kind, request, { thisUpdate, nextUpdate, expiredSince }) ?? doubtOf(kind, request, ...ders),
      source: {
        kind: 'crl',
        der: crl.der,
        thisUpdate,
        nextUpdate,
        signer,
        algorithms: answerAlgorithms(crl, signer, 'crl'),
      },
    };
  }
}

/** Yields authentic CRLs that apply to the certificate. */
function* usableCrls(request: StatusRequest, problems: Set<string>): Generator<UsableCrl> {
  const { certificate, issuer, above, evidence, now } = request;
  const limit = answerLimit();
  const candidates = { certificate, issuer, above, others: request.others };
  for (const der of evidence.crls) {
    const crl = readable(der, readCrl, problems);
    if (crl === undefined || !mayBeAbout(crl, certificate)) continue;
    const reasons = scopeOf(crl, certificate, now);
    if (typeof reasons === 'number' && !limit.mayCheck()) return void problems.add(TOO_MANY);
    const signer =
      typeof reasons === 'string'
        ? reasons
        : crlSignerOf(crl, { ...candidates, revocationOf: (one) => revocationOfCrlSigner(one, request) });
    if (typeof signer === 'string' || typeof reasons === 'string') {
      problems.add(`a CRL can't be used: ${signer}`);
      continue;
    }
    limit.authentic();
    const revocation = foundStatus(crl, certificate, problems);
    if (revocation !== 'unreadable') yield { crl, signer, reasons, revocation };
  }
}

/** Quick test: most CRLs have other issuers. */
function mayBeAbout({ issuerKey }: Crl, certificate: Certificate): boolean {
  return (
    issuerKey === certificate.issuerKey ||
    certificate.crlPoints.some(({ crlIssuers }) => crlIssuers.some((name) => nameKey(name) === issuerKey))
  );
}

/** Reason why a CRL key is not accepted: a CRL signed by the CA itself revokes it. */
function revocationOfCrlSigner(signer: Certificate, request: StatusRequest): string | undefined {
  const issuer = [request.issuer, ...request.above].find(({ subjectKey }) => subjectKey === signer.issuerKey);
  if (issuer === undefined) return 'is not certified on the path';
  const own = { ...request, certificate: signer, issuer, above: [], others: () => [] };
  return [...crlAnswers(own, new Set())].some(({ revocation }) => revocation !== undefined)
    ? 'is revoked'
    : undefined;
}

const TOO_MANY = 'there are more answers than are looked at';

interface AnswerLimit {
  mayCheck(): boolean;
  authentic(): void;
}

function answerLimit(): AnswerLimit {
  let checked = 0;
  let authentic = 0;
  return {
    mayCheck: () => authentic < MAX_ANSWERS && checked++ < MAX_CHECKED,
    authentic: () => void authentic++,
  };
}

function foundStatus(
  crl: Crl,
  { serial, issuerKey }: Certificate,
  problems: Set<string>,
): Revocation | undefined | 'unreadable' {
  try {
    return crl.find(serial, issuerKey);
  } catch (error) {
    problems.add(unreadable(error));
    return 'unreadable';
  }
}

function readable<T>(der: Buffer, read: (der: Buffer) => T, problems: Set<string>): T | undefined {
  try {
    return read(der);
  } catch (error) {
    problems.add(unreadable(error));
    return undefined;
  }
}

/** Describes a parse error. @throws errors that are not about the bytes */
function unreadable(error: unknown): string {
  if (error instanceof Asn1Error) return `an answer can't be read: ${error.message}`;
  throw error;
}

function certificatesIn({ certificates }: Evidence): Certificate[] {
  return certificates.flatMap(readableCertificates);
}

/** The response that a status is based on. */
export interface RevocationSource {
  readonly kind: 'ocsp' | 'crl';
  /** DER of the BasicOCSPResponse or CertificateList. */
  readonly der: Buffer;
  /** Milliseconds since the epoch. */
  readonly thisUpdate: number;
  readonly nextUpdate: number | undefined;
  /** Signer: the issuer, or a delegated OCSP responder. */
  readonly signer: Certificate;
  readonly algorithms: readonly AlgorithmUse[];
}
