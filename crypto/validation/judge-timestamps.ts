/**
 * Judges time-stamps, each at the time at which a later one proves that it existed, and gathers what they prove
 * (EN 319 102-1 §5.4 and §5.6.2.3).
 */
import type { Evidence } from '../authorities.ts';
import type { Certificate } from '../certificates/certificate.ts';
import { HASH_BY_OID } from '../cms/hashes.ts';
import { keyBits, signatureMethod } from '../cms/signature-value.ts';
import { timestampSigner } from '../timestamps/check.ts';
import type { TimestampToken } from '../timestamps/token.ts';
import type { Work } from '../work.ts';
import { algorithmTime } from './algorithms.ts';
import { certificateRecord } from './certificate-record.ts';
import { dateText, judgeChain } from './chain.ts';
import { checkStrength } from './check-strength.ts';
import type { AlgorithmUse, SignatureFacts, TimestampFacts } from './facts.ts';
import type { TimestampRecord } from './report.ts';
import { ResultsBuilder } from './results.ts';
import type { ValidationRequest } from './trust.ts';

/** What good time-stamps prove about one signature. */
export interface Proofs {
  /** In the order of the facts. */
  readonly records: readonly TimestampRecord[];
  /** Earliest time the signature is proven to have existed; undefined when nothing proves it. */
  readonly existed: number | undefined;
  /**
   * Earliest time at which an answer about revocation is proven to have existed: that of the oldest good archive
   * time-stamp that covers it, or of validation.
   */
  readonly evidenceTime: (der: Buffer) => number;
  /** Latest time it is proven not to have existed, since it covers a time-stamp over the content. */
  readonly notBefore: number | undefined;
}

/** Clocks of different authorities may differ by this much before their order is doubted. Milliseconds. */
const CLOCK_DIFFERENCE = 60_000;

/** @throws {OutOfWork} */
export function judgeTimestamps(facts: SignatureFacts, request: ValidationRequest, work: Work): Proofs {
  const records: TimestampRecord[] = [];
  const archives: Archive[] = [];
  let existed: number | undefined;
  let notBefore: number | undefined;
  const provenAt = (der: Buffer): number =>
    archives.reduce(
      (time, { genTime, covers }) => (covers(der) ? Math.min(time, genTime) : time),
      request.at,
    );
  // What stands outside of the file is proven by nothing in it.
  const evidenceTime = (der: Buffer): number =>
    isIn(der, request.trust.evidence) ? request.at : provenAt(der);
  // From the newest to the oldest, since what an archive time-stamp proves is needed to judge those before it.
  for (const stamp of [...facts.timestamps].reverse()) {
    work.spend(STEPS_PER_TIMESTAMP);
    const covered = stamp.token === undefined ? request.at : provenAt(stamp.token.der);
    // A time-stamp over the content is inside the signature, so whatever proves the signature proves it too.
    const time = stamp.kind === 'content' ? Math.min(covered, existed ?? covered) : covered;
    const record = judgeTimestamp(stamp, facts, { ...request, time, evidenceTime, work });
    records.unshift(record);
    if (record.indication !== 'TOTAL-PASSED') continue;
    if (stamp.kind === 'content') {
      notBefore = Math.max(record.genTime, notBefore ?? record.genTime);
      continue;
    }
    existed = Math.min(record.genTime, existed ?? record.genTime);
    if (stamp.kind !== 'signature')
      archives.push({ genTime: record.genTime, covers: stamp.covers ?? (() => true) });
  }
  return { records, existed, evidenceTime, notBefore };
}

/** A good archive or document time-stamp. */
interface Archive {
  readonly genTime: number;
  readonly covers: (der: Buffer) => boolean;
}

const STEPS_PER_TIMESTAMP = 100;

function isIn(der: Buffer, evidence: Evidence | undefined): boolean {
  return evidence !== undefined && [...evidence.crls, ...evidence.ocsps].some((one) => one.equals(der));
}

interface StampRequest extends ValidationRequest {
  /** At which the time-stamp itself is proven to have existed, milliseconds since the epoch. */
  readonly time: number;
  readonly evidenceTime: Proofs['evidenceTime'];
  readonly work: Work;
}

function judgeTimestamp(
  { kind, token, findings }: TimestampFacts,
  facts: SignatureFacts,
  request: StampRequest,
): TimestampRecord {
  const { time } = request;
  const results = new ResultsBuilder();
  for (const finding of findings) results.finding(finding);
  if (token === undefined) {
    const { indication, subIndication = 'FORMAT_FAILURE' } = results.verdict();
    const base = { kind, displayName: 'unreadable', genTime: 0, certificate: undefined };
    return { ...base, indication, subIndication, results: results.results() };
  }
  const certificate = timestampSigner(token, facts.certificates);
  checkOrder(token, time, results);
  const strengthTime = algorithmTime(request.trust, time);
  for (const use of algorithmsOf(token, certificate)) checkStrength(use, strengthTime, results);
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
  facts: SignatureFacts,
  { trust, at, time, evidenceTime, work }: StampRequest,
  results: ResultsBuilder,
): void {
  const { subIndication, results: inner } = judgeChain({
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
