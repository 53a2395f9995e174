/** Revocation status by the given responses. Uses neither the network nor a clock. */

import { Asn1Error } from '../asn1/read.ts';
import type { AlgorithmUse } from '../core/validation-report.ts';
import { type Certificate, readableCertificates } from '../x509/certificate.ts';
import { ALL_REASONS, HOLD_REASON } from '../x509/distribution-points.ts';
import { nameKey } from '../x509/names.ts';
import { keyBits, signatureMethod } from '../x509/signature-value.ts';
import { algorithmsOn } from '../x509/structure-signature.ts';
import type { Evidence } from './authorities.ts';
import { type Crl, readCrl } from './crl.ts';
import { crlSignerOf, scopeOf, statementsOf, type UsableCrl } from './crl-answers.ts';
import { type OcspAnswer, readOcsp, responderOf, type SingleAnswer } from './ocsp.ts';
import type { Revocation } from './revocation-reasons.ts';

export type RevocationStatus =
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
 * @param evidence also contains the responder's certificate and its revocation information; unreadable bytes are
 *   ignored
 * @param at milliseconds since the epoch
 */
export function revocationStatus(
  certificate: Certificate,
  issuer: Certificate,
  evidence: Evidence,
  at: number,
  options: StatusOptions = {},
): RevocationStatus {
  const { now = Number.POSITIVE_INFINITY, above = [] } = options;
  let known: readonly Certificate[] | undefined;
  const others = (): readonly Certificate[] => {
    known ??= [...(options.others ?? []), ...certificatesIn(evidence)];
    return known;
  };
  const request = { certificate, issuer, above, others, evidence, at, now };
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
}

interface StatusRequest {
  readonly certificate: Certificate;
  readonly issuer: Certificate;
  readonly above: readonly Certificate[];
  readonly others: () => readonly Certificate[];
  readonly evidence: Evidence;
  readonly at: number;
  readonly now: number;
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
  // CRLs for some reasons prove a status only combined (RFC 5280 §6.3.3).
  let reasons = 0;
  for (const { untimely, source, reasons: coveredReasons = ALL_REASONS } of newestFirst) {
    if (untimely === undefined) {
      reasons |= coveredReasons;
      if (reasons === ALL_REASONS) return { status: 'good', source };
    } else problems.add(untimely);
  }
  if (reasons !== 0) problems.add('the CRLs tell about some reasons only');
  if (problems.size === 0) problems.add('there is no answer about it');
  return { status: 'unknown', reason: [...problems].slice(0, 5).join('; ') };
}

function untimely(
  kind: string,
  { certificate, at }: StatusRequest,
  thisUpdate: number,
  nextUpdate: number | undefined,
  expiredSince: number | undefined,
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

function* ocspAnswers(request: StatusRequest, problems: Set<string>): Generator<Answer> {
  const { certificate, issuer, evidence, now } = request;
  const limit = answerLimit();
  for (const der of evidence.ocsps) {
    const answer = readable(der, readOcsp, problems);
    const single = answer?.singles.find((one) => one.isAbout(certificate, issuer));
    if (answer === undefined || single === undefined || single.status === 'unknown') continue;
    const unusable =
      answer.unusable ?? single.unusable ?? (single.thisUpdate > now ? 'it is from later' : undefined);
    if (unusable !== undefined) {
      problems.add(`an OCSP answer can't be used: ${unusable}`);
      continue;
    }
    if (!limit.mayCheck()) return void problems.add(TOO_MANY);
    const responder = responderOf(
      answer,
      issuer,
      () => certificatesIn(evidence),
      (one) => revocationOfResponder(one, request),
    );
    if (typeof responder === 'string') problems.add(responder);
    else {
      limit.authentic();
      yield ocspAnswer(request, answer, single, responder);
    }
  }
}

function ocspAnswer(
  request: StatusRequest,
  answer: OcspAnswer,
  single: SingleAnswer,
  signer: Certificate,
): Answer {
  const { thisUpdate, nextUpdate, revocation, archiveCutoff } = single;
  return {
    revocation,
    untimely: untimely('the OCSP answer', request, thisUpdate, nextUpdate, archiveCutoff),
    source: {
      kind: 'ocsp',
      der: answer.der,
      thisUpdate,
      nextUpdate,
      signer,
      algorithms: [
        ...answerAlgorithms(answer, signer, 'ocsp'),
        ...(signer === request.issuer ? [] : algorithmsOn(signer, request.issuer)),
      ],
    },
  };
}

/**
 * Revocation status of a responder without the no-check extension, by CRL only, so that it can't vouch for itself.
 */
function revocationOfResponder(responder: Certificate, request: StatusRequest): string | undefined {
  const { ocspNoCheck, crlUrls, ocspUrls } = responder;
  if (ocspNoCheck || (crlUrls.length === 0 && ocspUrls.length === 0)) return undefined;
  const problems = new Set<string>();
  const own = { ...request, certificate: responder };
  const verdict = decide([...crlAnswers(own, problems)], request.at, problems);
  if (verdict.status === 'good') return undefined;
  return verdict.status === 'revoked' ? 'is revoked' : 'has no revocation answer of its own';
}

function* crlAnswers(request: StatusRequest, problems: Set<string>): Generator<Answer> {
  const lists = [...usableCrls(request, problems)];
  const statements = statementsOf(lists);
  if (lists.length > 0 && statements.length === 0) {
    problems.add('a CRL lists only what changed since another list, which is not at hand');
  }
  for (const { revocation, newest, reasons } of statements) {
    const { crl, signer } = newest;
    const { thisUpdate, nextUpdate, expiredSince } = crl;
    yield {
      revocation,
      reasons,
      untimely: untimely('the CRL', request, thisUpdate, nextUpdate, expiredSince),
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

const NAMES = { ocsp: 'OCSP answer', crl: 'CRL' } as const;

const cache = new WeakMap<Crl | OcspAnswer, Map<Certificate, readonly AlgorithmUse[]>>();

/** Algorithms that a signed response relies on, computed once for each of its signers. */
function answerAlgorithms(
  answer: Crl | OcspAnswer,
  signer: Certificate,
  kind: RevocationSource['kind'],
): readonly AlgorithmUse[] {
  const bySigner = cache.get(answer) ?? new Map<Certificate, readonly AlgorithmUse[]>();
  cache.set(answer, bySigner);
  let algorithms = bySigner.get(signer);
  if (algorithms === undefined) {
    algorithms = algorithmsOf(answer, signer, NAMES[kind]);
    bySigner.set(signer, algorithms);
  }
  return algorithms;
}

function algorithmsOf({ signature }: Crl | OcspAnswer, signer: Certificate, what: string): AlgorithmUse[] {
  const scheme = signatureMethod(signature.algorithm.id)?.scheme ?? signature.algorithm.id;
  const bits = keyBits(signer.publicKey);
  const uses = [{ name: scheme, ...(bits === undefined ? {} : { bits }), where: `signature of the ${what}` }];
  if (signature.hash === undefined || scheme === 'ed25519') return uses;
  return [...uses, { name: signature.hash, where: `digest of the ${what}` }];
}
