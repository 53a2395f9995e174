/** Whether a certificate is revoked, by the answers at hand. Nobody is asked, and no clock is looked at. */
import { Asn1Error } from '../asn1/error.ts';
import type { Evidence } from '../authorities.ts';
import { type Certificate, readableCertificates } from '../certificates/certificate.ts';
import { algorithmsOn } from '../validation/certificate-algorithms.ts';
import { type Crl, readCrl } from './crl.ts';
import { type OcspAnswer, readOcsp, type SingleAnswer } from './ocsp.ts';
import type { Revocation } from './reasons.ts';
import { responderOf } from './responder.ts';
import { answerAlgorithms, type RevocationSource } from './source.ts';

export type { RevocationSource } from './source.ts';

export type RevocationStatus =
  | { readonly status: 'good'; readonly source: RevocationSource }
  /** `revocation.at` is at or before the time asked for. */
  | { readonly status: 'revoked'; readonly revocation: Revocation; readonly source: RevocationSource }
  /** `because`: a sentence's part for each answer that couldn't be used; says so when there was none. */
  | { readonly status: 'unknown'; readonly because: string };

/** Without nextUpdate newer answers are always to be had (RFC 6960 §4.2.2.1): one this old is no answer. */
const LONGEST_WITHOUT_END = 24 * 3_600_000;

/** Authentic answers of one kind that are looked at for one certificate. */
const MAX_ANSWERS = 200;

/** Answers of one kind about one certificate whose signature is checked; each may cost a public-key operation. */
const MAX_CHECKED = 2000;

/**
 * Status of a certificate at a time, by OCSP answers and CRLs that its issuer signed, or a responder that the issuer
 * authorized (RFC 6960 §4.2.2.2, RFC 5280 §6.3.3).
 *
 * An answer counts when it was fresh at `at` (thisUpdate ≤ at ≤ nextUpdate) or was given later; one given after the
 * certificate expired counts as good only when it says that it still covers expired certificates. A revocation counts
 * however old the answer is, unless it was a hold and a newer answer is good.
 *
 * Only what is about the certificate counts towards the limits. What comes first in the evidence is looked at first, so
 * answers of trusted origin have to stand before those that anybody may have put into a file.
 * @param issuer the certificate above it on its path
 * @param evidence also searched for the responder's certificate and its revocation; bytes that can't be read are passed over
 * @param at milliseconds since the epoch
 * @param options.now answers from after this time are passed over. @default none are
 */
export function revocationStatus(
  certificate: Certificate,
  issuer: Certificate,
  evidence: Evidence,
  at: number,
  options: { readonly now?: number } = {},
): RevocationStatus {
  const now = options.now ?? Number.POSITIVE_INFINITY;
  const request = { certificate, issuer, evidence, at, now };
  const problems = new Set<string>();
  const answers = [...ocspAnswers(request, problems), ...crlAnswers(request, problems)];
  return decide(answers, at, problems);
}

interface StatusRequest {
  readonly certificate: Certificate;
  readonly issuer: Certificate;
  readonly evidence: Evidence;
  readonly at: number;
  readonly now: number;
}

/** One answer that is about the certificate and authentic. */
interface Answer {
  readonly revocation: Revocation | undefined;
  /** Why it proves nothing for the time asked for, unless it says that the certificate is revoked. */
  readonly untimely: string | undefined;
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
          newer.untimely === undefined,
      );
    if (!lifted) return { status: 'revoked', revocation, source };
  }
  for (const { untimely, source } of newestFirst) {
    if (untimely === undefined) return { status: 'good', source };
    problems.add(untimely);
  }
  if (problems.size === 0) problems.add('there is no answer about it');
  return { status: 'unknown', because: [...problems].slice(0, 5).join('; ') };
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
  const end = nextUpdate ?? thisUpdate + LONGEST_WITHOUT_END;
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
 * A responder that says how it could be revoked, and not that nobody need look, needs an answer itself; by CRL, so that
 * it doesn't vouch for itself.
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
  const { certificate, issuer, evidence, now } = request;
  const limit = answerLimit();
  for (const der of evidence.crls) {
    const crl = readable(der, readCrl, problems);
    if (crl === undefined || crl.issuerKey !== certificate.issuerKey) continue;
    const outside = objectionToCrl(crl, certificate, issuer, now);
    if (outside === undefined && !limit.mayCheck()) return void problems.add(TOO_MANY);
    const objection = outside ?? forgeryOf(crl, issuer);
    if (objection !== undefined) {
      problems.add(`a CRL can't be used: ${objection}`);
      continue;
    }
    limit.authentic();
    const revocation = found(crl, certificate, problems);
    if (revocation === 'unreadable') continue;
    const { thisUpdate, nextUpdate, expiredSince } = crl;
    yield {
      revocation,
      untimely: untimely('the CRL', request, thisUpdate, nextUpdate, expiredSince),
      source: {
        kind: 'crl',
        der: crl.der,
        thisUpdate,
        nextUpdate,
        signer: issuer,
        algorithms: answerAlgorithms(crl, issuer, 'crl'),
      },
    };
  }
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

function objectionToCrl(
  crl: Crl,
  certificate: Certificate,
  issuer: Certificate,
  now: number,
): string | undefined {
  if (crl.unusable !== undefined) return crl.unusable;
  if (crl.thisUpdate > now) return 'it is from later';
  const { certificates, urls } = crl.scope;
  if (certificates === 'end' && certificate.ca) return 'it is for end certificates only';
  if (certificates === 'ca' && !certificate.ca) return 'it is for CA certificates only';
  if (urls !== undefined && !urls.some((url) => certificate.crlUrls.includes(url))) {
    return 'it is for another part of the certificates';
  }
  if (issuer.keyUsage !== undefined && !issuer.keyUsage.cRLSign) return 'its issuer may not sign CRLs';
  return undefined;
}

function forgeryOf(crl: Crl, issuer: Certificate): string | undefined {
  const fault = crl.signatureFault(issuer);
  return fault === undefined ? undefined : `its signature is not that of the issuer (${fault})`;
}

function found(
  crl: Crl,
  { serial }: Certificate,
  problems: Set<string>,
): Revocation | undefined | 'unreadable' {
  try {
    return crl.find(serial);
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

/** @throws what is no fault of the bytes */
function unreadable(error: unknown): string {
  if (error instanceof Asn1Error) return `an answer can't be read: ${error.message}`;
  throw error;
}

function certificatesIn({ certificates }: Evidence): Certificate[] {
  return certificates.flatMap(readableCertificates);
}
