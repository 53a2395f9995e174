/**
 * Validation of time-stamps, each at the time that a later one proves, and the proofs of existence they give (EN 319
 * 102-1 §5.4 and §5.6.2.3).
 */

import type { AlgorithmUse, TimestampRecord } from '../core/validation-report.ts';
import type { WorkBudget } from '../core/work-budget.ts';
import type { Evidence } from '../evidence/authorities.ts';
import { timestampSigner } from '../evidence/timestamp-checks.ts';
import type { TimestampToken } from '../evidence/timestamp-reader.ts';
import { HASH_BY_OID } from '../x509/algorithm-identifier.ts';
import type { Certificate } from '../x509/certificate.ts';
import { keyBits, signatureMethod } from '../x509/signature-value.ts';
import { algorithmTime, canBeJudged } from './algorithms.ts';
import { certificateRecord, checkStrength, dateText, validateChain } from './chain.ts';
import { ResultsBuilder } from './results.ts';
import type { SignatureInfo, TimestampInfo } from './signature-info.ts';
import type { ValidationRequest } from './trust.ts';

/** Proofs of existence that valid time-stamps give for one signature. */
export interface ProofsOfExistence {
  /** Records in the order of the time-stamps. */
  readonly records: readonly TimestampRecord[];
  /** Earliest proven time of existence of the signature; undefined without proof. */
  readonly existed: number | undefined;
  /**
   * Earliest proven time of existence of a revocation response: that of the oldest valid archive time-stamp that
   * covers it, or the time of validation.
   */
  readonly evidenceTime: (der: Buffer) => number;
  /** Latest time at which it is proven not to exist yet, because it covers a time-stamp over the content. */
  readonly notBefore: number | undefined;
}

/** Accepted difference between the clocks of authorities before their order is doubted. Milliseconds. */
const CLOCK_DIFFERENCE = 60_000;

/** Validates the time-stamps of a signature. @throws {WorkBudgetExceeded} */
export function validateTimestamps(
  facts: SignatureInfo,
  request: ValidationRequest,
  work: WorkBudget,
): ProofsOfExistence {
  const records: TimestampRecord[] = [];
  const archives: Archive[] = [];
  let existed: number | undefined;
  let notBefore: number | undefined;
  const provenAt = (der: Buffer): number =>
    archives.reduce(
      (time, { genTime, covers }) => (covers(der) ? Math.min(time, genTime) : time),
      request.at,
    );
  // Nothing in the file proves evidence from outside it.
  const evidenceTime = (der: Buffer): number =>
    isIn(der, request.trust.evidence) ? request.at : provenAt(der);
  // Newest first: an archive time-stamp gives the time for judging earlier ones.
  for (const stamp of [...facts.timestamps].reverse()) {
    work.spend(STEPS_PER_TIMESTAMP);
    const covered = stamp.token === undefined ? request.at : provenAt(stamp.token.der);
    // A content time-stamp is inside the signature, so proofs for the signature apply to it.
    const time = stamp.kind === 'content' ? Math.min(covered, existed ?? covered) : covered;
    const record = validateTimestamp(stamp, facts, { ...request, time, evidenceTime, work });
    records.unshift(record);
    const { genTime } = record;
    if (record.indication !== 'TOTAL-PASSED' || genTime === undefined) continue;
    if (stamp.kind === 'content') {
      notBefore = Math.max(genTime, notBefore ?? genTime);
      continue;
    }
    existed = Math.min(genTime, existed ?? genTime);
    if (stamp.kind !== 'signature') archives.push({ genTime, covers: stamp.covers ?? (() => true) });
  }
  return { records, existed, evidenceTime, notBefore };
}

/** A valid archive or document time-stamp. */
interface Archive {
  readonly genTime: number;
  readonly covers: (der: Buffer) => boolean;
}

const STEPS_PER_TIMESTAMP = 100;

function isIn(der: Buffer, evidence: Evidence | undefined): boolean {
  return evidence !== undefined && [...evidence.crls, ...evidence.ocsps].some((one) => one.equals(der));
}

interface TimestampRequest extends ValidationRequest {
  /** Proven time of existence of the time-stamp, milliseconds since the epoch. */
  readonly time: number;
  readonly evidenceTime: ProofsOfExistence['evidenceTime'];
  readonly work: WorkBudget;
}

function validateTimestamp(
  { kind, token, findings }: TimestampInfo,
  facts: SignatureInfo,
  request: TimestampRequest,
): TimestampRecord {
  const { time } = request;
  const results = new ResultsBuilder();
  for (const finding of findings) results.finding(finding);
  if (token === undefined) {
    const { indication, subIndication = 'FORMAT_FAILURE' } = results.verdict();
    const base = { kind, displayName: 'unreadable', genTime: undefined, certificate: undefined };
    return { ...base, indication, subIndication, results: results.results() };
  }
  const certificate = timestampSigner(token, facts.certificates);
  checkOrder(token, time, results);
  const strengthTime = algorithmTime(request.trust, time);
  for (const use of algorithmsOf(token, certificate)) {
    if (canBeJudged(use, certificate)) checkStrength(use, strengthTime, results);
  }
  if (certificate !== undefined) checkAuthority(token, certificate, facts, request, results);
  const record = certificate === undefined ? undefined : certificateRecord(certificate);
  return {
    kind,
    displayName: record?.subjectName ?? 'unknown authority',
    genTime: token.genTime,
    certificate: record,
    ...results.verdict(),
    results: results.results(),
  };
}

function checkOrder(token: TimestampToken, time: number, results: ResultsBuilder): void {
  const detail = `${dateText(token.genTime)}, known to exist at ${dateText(time)}`;
  const type = 'timestamp.order';
  if (token.genTime > time + CLOCK_DIFFERENCE) {
    const message = 'The time-stamp names a time after the one at which it is known to exist.';
    results.failed('TIMESTAMP_ORDER_FAILURE', { type, message, detail });
  } else {
    results.passed({ type, message: 'The times of the time-stamps follow each other.', detail });
  }
}

function algorithmsOf(token: TimestampToken, certificate: Certificate | undefined): AlgorithmUse[] {
  const uses: AlgorithmUse[] = [{ name: token.imprintAlgorithm, where: 'imprint of the time-stamp' }];
  const [signer] = token.signedData.signers;
  if (signer === undefined) return uses;
  const { digestAlgorithm, signatureAlgorithm } = signer;
  const bits = certificate === undefined ? undefined : keyBits(certificate.publicKey);
  uses.push({ name: HASH_BY_OID.get(digestAlgorithm) ?? digestAlgorithm, where: 'digest of the time-stamp' });
  uses.push({
    name: signatureMethod(signatureAlgorithm.id)?.scheme ?? signatureAlgorithm.id,
    where: 'signature of the time-stamp',
    ...(bits === undefined ? {} : { bits }),
  });
  return uses;
}

function checkAuthority(
  token: TimestampToken,
  certificate: Certificate,
  facts: SignatureInfo,
  { trust, at, time, evidenceTime, work }: TimestampRequest,
  results: ResultsBuilder,
): void {
  const { subIndication, results: inner } = validateChain({
    certificate,
    others: [...token.certificates, ...facts.certificates],
    evidence: facts.evidence,
    trust,
    purpose: 'timestamp',
    time: Math.max(time, token.genTime),
    evidenceTime,
    now: at,
    work,
  });
  const type = 'timestamp.chain';
  if (subIndication !== undefined) {
    results.failed(subIndication, {
      type,
      message: 'The authority of the time-stamp is not trusted.',
      inner,
    });
  } else if (token.genTime < certificate.notBefore) {
    const message = 'The time-stamp names a time before its certificate was valid.';
    results.failed('NOT_YET_VALID', { type, message, inner });
  } else {
    results.passed({ type, message: 'The authority of the time-stamp is trusted.', inner });
  }
}
