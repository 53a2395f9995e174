/**
 * Validation of one signature, common to all formats (EN 319 102-1 §5.3, §5.5, §5.6): the findings, the proofs of
 * existence by time-stamps, and trust in the signer at the proven time.
 *
 * Validation of time-stamps, each at the time that a later one proves, and the proofs of existence they give (EN 319
 * 102-1 §5.4 and §5.6.2.3).
 */
import { hash } from 'node:crypto';
import type {
  AlgorithmUse,
  Indication,
  SignatureRecord,
  TimestampRecord,
  ValidationReport,
} from '../core/validation-report.ts';
import { WORK_BUDGET_EXCEEDED, WorkBudget, withinWorkBudget } from '../core/work-budget.ts';
import type { Evidence } from '../evidence/authorities.ts';
import { joinEvidence } from '../evidence/embedded-evidence.ts';
import { timestampSigner } from '../evidence/timestamp-checks.ts';
import type { TimestampToken } from '../evidence/timestamp-reader.ts';
import { qualifySignature, qualifyTimestamp } from '../qualification/signature-qualification.ts';
import { type Certificate, readableCertificates } from '../x509/certificate.ts';
import { keyBits } from '../x509/key-types.ts';
import { HASH_BY_OID, signatureMethod } from '../x509/signature-algorithms.ts';
import { algorithmTime, canBeJudged } from './algorithms.ts';
import {
  certificateRecord,
  checkStrength,
  dateText,
  trustedCertificates,
  UNPROVEN,
  validateChain,
} from './chain.ts';
import { type PolicyCase, policyFindings } from './icp-brasil.ts';
import {
  type FileSignatures,
  ResultsBuilder,
  type SignatureInfo,
  type TimestampInfo,
} from './signature-info.ts';
import type { ValidationRequest } from './trust.ts';

/** Proofs of existence that valid time-stamps give for one signature. */
interface ProofsOfExistence {
  /** Records in the order of the time-stamps. */
  readonly records: readonly TimestampRecord[];
  /** Anchors of the valid time-stamps over the signature, and of those over all. */
  readonly stampRoots: readonly (string | undefined)[];
  readonly archiveRoots: readonly (string | undefined)[];
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
const CLOCK_DIFFERENCE_MS = 60_000;

/** Validates the time-stamps of a signature. @param own what the file alone has. @throws {WorkBudgetExceeded} */
function validateTimestamps(
  facts: SignatureInfo,
  own: SignatureInfo,
  request: ValidationRequest,
  work: WorkBudget,
): ProofsOfExistence {
  const records: TimestampRecord[] = [];
  const stampRoots: (string | undefined)[] = [];
  const archiveRoots: (string | undefined)[] = [];
  const archives: Archive[] = [];
  let existed: number | undefined;
  let notBefore: number | undefined;
  const provenAt = (der: Buffer): number =>
    archives.reduce(
      (time, { genTime, covers }) => (covers(der) ? Math.min(time, genTime) : time),
      request.at,
    );
  // Nothing in the file proves evidence that it does not have.
  const evidenceTime = (der: Buffer): number =>
    isIn(der, request.trust.evidence) && !isOf(der, own) ? request.at : provenAt(der);
  // Newest first: an archive time-stamp gives the time for judging earlier ones.
  for (const stamp of [...facts.timestamps].reverse()) {
    work.spend(STEPS_PER_TIMESTAMP);
    const covered = stamp.token === undefined ? request.at : provenAt(stamp.token.der);
    // A content time-stamp is inside the signature, so proofs for the signature apply to it.
    const time = stamp.kind === 'content' ? Math.min(covered, existed ?? covered) : covered;
    const { record, anchor } = validateTimestamp(stamp, facts, { ...request, time, evidenceTime, work });
    records.unshift(record);
    const { genTime } = record;
    if (record.indication !== 'TOTAL-PASSED' || genTime === undefined) continue;
    if (stamp.kind === 'content') {
      notBefore = Math.max(genTime, notBefore ?? genTime);
      continue;
    }
    (stamp.kind === 'signature' ? stampRoots : archiveRoots).push(anchor);
    existed = Math.min(genTime, existed ?? genTime);
    if (stamp.kind !== 'signature') archives.push({ genTime, covers: stamp.covers ?? (() => true) });
  }
  return { records, stampRoots, archiveRoots, existed, evidenceTime, notBefore };
}

/** A valid archive or document time-stamp. */
interface Archive {
  readonly genTime: number;
  readonly covers: (der: Buffer) => boolean;
}

const STEPS_PER_TIMESTAMP = 100;

function isIn(der: Buffer, evidence: Evidence | undefined): boolean {
  if (evidence === undefined) return false;
  const { certificates, crls, ocsps } = evidence;
  return [...certificates, ...crls, ...ocsps].some((one) => one.equals(der));
}

function isOf(der: Buffer, { evidence, certificates }: SignatureInfo): boolean {
  return isIn(der, evidence) || certificates.some((one) => one.der.equals(der));
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
): { readonly record: TimestampRecord; readonly anchor?: string | undefined } {
  const { time } = request;
  const results = new ResultsBuilder();
  for (const finding of findings) results.finding(finding);
  if (token === undefined) {
    const { indication, subIndication = 'FORMAT_FAILURE' } = results.verdict();
    const base = { kind, displayName: 'unreadable', genTime: undefined, certificate: undefined };
    return { record: { ...base, indication, subIndication, results: results.results() } };
  }
  const certificate = timestampSigner(token, facts.certificates);
  checkOrder(token, time, results);
  const strengthTime = algorithmTime(request.trust, time);
  for (const use of algorithmsOf(token, certificate)) {
    if (canBeJudged(use, certificate)) checkStrength(use, strengthTime, results);
  }
  const anchor = certificate && checkAuthority(token, certificate, { facts, request, results });
  const record = certificate === undefined ? undefined : certificateRecord(certificate);
  const verdict = results.verdict();
  const { lists } = request.trust;
  const others = [...token.certificates, ...facts.certificates];
  const judged = {
    kind,
    displayName: record?.subjectName ?? 'unknown authority',
    genTime: token.genTime,
    certificate: record,
    ...verdict,
    ...(lists !== undefined &&
      certificate !== undefined && {
        qualification: qualifyTimestamp(
          { lists, certificate, others, time: token.genTime, now: request.at, work: request.work },
          verdict.indication,
        ),
      }),
    results: results.results(),
  };
  return { record: judged, anchor };
}

function checkOrder(token: TimestampToken, time: number, results: ResultsBuilder): void {
  const detail = `${dateText(token.genTime)}, known to exist at ${dateText(time)}`;
  const type = 'timestamp.order';
  if (token.genTime > time + CLOCK_DIFFERENCE_MS) {
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

/** @returns the anchor, as `ChainVerdict.anchor` */
function checkAuthority(
  token: TimestampToken,
  certificate: Certificate,
  {
    facts,
    request: { trust, at, time, evidenceTime, work },
    results,
  }: {
    readonly facts: SignatureInfo;
    readonly request: TimestampRequest;
    readonly results: ResultsBuilder;
  },
): string | undefined {
  const {
    subIndication,
    results: inner,
    anchor,
  } = validateChain({
    certificate,
    others: [...token.certificates, ...facts.certificates],
    evidence: facts.evidence,
    trust,
    purpose: 'timestamp',
    time: Math.max(time, token.genTime),
    genTime: token.genTime,
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
  return anchor;
}

/**
 * Validates one signature. Deterministic for equal arguments; only parsed certificates and their signature checks are
 * cached between calls.
 * @throws {CryptoError} `certificate.malformed` for a trust anchor that can't be read
 */
export function validateSignature(
  facts: SignatureInfo,
  request: ValidationRequest,
  work: WorkBudget = WorkBudget.forFile(0),
): SignatureRecord {
  return withinWorkBudget(
    () => validateWithinBudget(facts, request, work),
    () => openRecord(facts, request),
  );
}

/** Validates within the work budget. @throws {WorkBudgetExceeded} */
function validateWithinBudget(
  facts: SignatureInfo,
  request: ValidationRequest,
  work: WorkBudget,
): SignatureRecord {
  const known = withFurtherEvidence(facts, request);
  const proofs = validateTimestamps(known, facts, request, work);
  const bestTime = Math.min(proofs.existed ?? request.at, request.at);
  const results = new ResultsBuilder();
  for (const finding of facts.findings) results.finding(finding);
  addTimestampResults(proofs, results);
  addUnread(facts.evidence, results);
  for (const use of facts.algorithms) {
    if (!canBeJudged(use, facts.certificate)) continue;
    checkStrength(use, algorithmTime(request.trust, bestTime), results);
  }
  const root = checkSigner(known, request, { proofs, time: bestTime, work, results });
  addPolicyResults(facts, { root, proven: bestTime, ...proofs }, results);
  checkClaimedTime(facts, bestTime, request.at, results);
  const counterSignatures = facts.counterSignatures.map((counter) =>
    validateSignature(counter, request, work),
  );
  addCounterSignatureResults(counterSignatures, results);
  const level = levelShown(facts, proofs.records, request);
  const record = recordOf({ ...facts, level }, results, {
    bestTime,
    timestamps: proofs.records,
    counterSignatures,
  });
  return request.trust.lists === undefined ? record : qualified(record, known, { ...request, work });
}

/** Judges by the rules of the policy that the signature names. */
function addPolicyResults(
  { policy, policyUse: use, format, certificate, claimedTime: claimed }: SignatureInfo,
  {
    root,
    proven,
    stampRoots,
    archiveRoots,
  }: Omit<PolicyCase, 'policy' | 'use' | 'format' | 'certificate' | 'claimed'>,
  results: ResultsBuilder,
): void {
  if (policy === undefined) return;
  const found = { policy, use, format, certificate, claimed, root, proven, stampRoots, archiveRoots };
  for (const finding of policyFindings(found)) results.finding(finding);
}

/** Adds what the trusted lists say. */
function qualified(
  record: SignatureRecord,
  { certificate, certificates, isTimestamp }: SignatureInfo,
  { trust, at, work }: ValidationRequest & { readonly work: WorkBudget },
): SignatureRecord {
  if (trust.lists === undefined || certificate === undefined || isTimestamp) return record;
  const others = [...certificates, ...trustedCertificates(trust).intermediates];
  const request = { lists: trust.lists, certificate, others, time: record.bestTime, now: at, work };
  return { ...record, qualification: qualifySignature(request, record.indication) };
}

function addUnread({ unread = 0 }: Evidence, results: ResultsBuilder): void {
  if (unread === 0) return;
  const message = 'Revocation values in the signature cannot be read and are passed over.';
  results.warning({ type: 'revocation.unreadable', message, detail: `${unread} values` });
}

/** Returns B where no trusted time-stamp proves the signature; whether its authority was revoked may be unknown. */
function levelShown(
  { level }: SignatureInfo,
  stamps: readonly TimestampRecord[],
  { trust }: ValidationRequest,
): SignatureInfo['level'] {
  const nobody = trust.anchors.length === 0 && trust.lists === undefined;
  const wanted = trust.levels ?? (nobody ? 'present' : 'trusted');
  if (wanted === 'present' || level === undefined) return level;
  const isTrusted = ({ kind, indication, subIndication }: TimestampRecord): boolean =>
    kind !== 'content' && (indication === 'TOTAL-PASSED' || subIndication === 'TRY_LATER');
  return stamps.some(isTrusted) ? level : 'B';
}

/** Builds the record from findings alone when the work budget is exhausted before trust is decided. */
function openRecord(facts: SignatureInfo, { at }: ValidationRequest): SignatureRecord {
  const results = new ResultsBuilder();
  for (const finding of facts.findings) results.finding(finding);
  if (!facts.findings.includes(WORK_BUDGET_EXCEEDED)) results.finding(WORK_BUDGET_EXCEEDED);
  return recordOf(facts, results, { bestTime: at, timestamps: [], counterSignatures: [] });
}

function recordOf(
  facts: SignatureInfo,
  results: ResultsBuilder,
  judged: Pick<SignatureRecord, 'bestTime' | 'timestamps' | 'counterSignatures'>,
): SignatureRecord {
  return {
    format: facts.format,
    level: facts.level,
    ...results.verdict(),
    certificate: facts.certificate === undefined ? undefined : certificateRecord(facts.certificate),
    signingTime: facts.claimedTime,
    isTimestamp: facts.isTimestamp,
    name: facts.name,
    ...(facts.value === undefined ? {} : { valueSha256: hash('sha256', facts.value, 'base64') }),
    scope: facts.scope,
    changes: facts.changes,
    policy: facts.policy,
    ...judged,
    ...(facts.isInContent === true && { isInContent: true }),
    ...rolesOf(facts.claimedRoles),
    ...(facts.reason === undefined ? {} : { reason: facts.reason }),
    ...(facts.location === undefined ? {} : { location: facts.location }),
    ...(facts.contentIdentifier === undefined ? {} : { contentIdentifier: facts.contentIdentifier }),
    results: results.results(),
  };
}

const MAX_ROLES = 10;
const MAX_ROLE_CHARACTERS = 2000;

/** Shortens the roles for reports. */
function rolesOf(given: readonly string[] = []): Pick<SignatureRecord, 'claimedRoles'> {
  const roles = given
    .filter((role) => role.trim() !== '')
    .slice(0, MAX_ROLES)
    .map((role) => role.trim().slice(0, MAX_ROLE_CHARACTERS));
  return roles.length === 0 ? {} : { claimedRoles: roles };
}

/** Puts trusted evidence before embedded evidence, which an attacker can pad up to the limits. */
function withFurtherEvidence(facts: SignatureInfo, { trust }: ValidationRequest): SignatureInfo {
  if (trust.evidence === undefined) return facts;
  const certificates = trust.evidence.certificates.flatMap(readableCertificates);
  return {
    ...facts,
    certificates: [...certificates, ...facts.certificates],
    evidence: joinEvidence(trust.evidence, facts.evidence),
  };
}

/** Adds the results of time-stamps: an invalid one proves nothing and does not make the signature worse. */
function addTimestampResults({ records, existed }: ProofsOfExistence, results: ResultsBuilder): void {
  for (const record of records) {
    const type = `timestamp.${record.kind}`;
    const time = record.genTime === undefined ? 'time unknown' : dateText(record.genTime);
    const detail = `${record.displayName}, ${time}`;
    const inner = record.results;
    if (record.indication === 'TOTAL-PASSED') {
      results.passed({ type, message: TIMESTAMP_PROVES[record.kind], detail, inner });
    } else {
      const message = `A time-stamp proves nothing (${record.subIndication ?? record.indication}).`;
      results.warning({ type, message, detail, inner });
    }
  }
  if (existed !== undefined) {
    results.passed({
      type: 'time.proven',
      message: 'The signature existed at a proven time.',
      detail: dateText(existed),
    });
  }
}

const TIMESTAMP_PROVES: { readonly [kind in SignatureInfo['timestamps'][number]['kind']]: string } = {
  content: 'A time-stamp proves that the content is older than the signature.',
  signature: 'A time-stamp proves when the signature existed.',
  archive: 'An archive time-stamp proves the signature and the evidence beside it.',
  document: 'A document time-stamp proves the signature and the evidence beside it.',
};

/** @returns the anchor, as `ChainVerdict.anchor` */
function checkSigner(
  facts: SignatureInfo,
  { trust, at }: ValidationRequest,
  {
    proofs: { notBefore, evidenceTime },
    time,
    work,
    results,
  }: {
    readonly proofs: ProofsOfExistence;
    readonly time: number;
    readonly work: WorkBudget;
    readonly results: ResultsBuilder;
  },
): string | undefined {
  const { certificate, certificates, evidence, isTimestamp, claimedTime } = facts;
  // A missing certificate already has a finding.
  if (certificate === undefined) return undefined;
  const purpose = isTimestamp ? 'timestamp' : 'signature';
  const chain = validateChain({
    certificate,
    others: certificates,
    evidence,
    trust,
    purpose,
    time,
    ...(isTimestamp && { genTime: claimedTime }),
    evidenceTime,
    now: at,
    notBefore,
    work,
  });
  const type = 'chain';
  const inner = chain.results;
  const isUnproven = inner.warnings.some(({ type }) => type === UNPROVEN.type);
  if (chain.subIndication === undefined && isUnproven) {
    results.warning({ ...UNPROVEN, inner });
  } else if (chain.subIndication === undefined) {
    results.passed({ type, message: 'The signer is trusted.', inner });
  } else {
    const [first] = inner.errors;
    const message =
      first === undefined
        ? 'The signer is not trusted.'
        : `The signer is not trusted: ${lowered(first.message)}`;
    results.failed(chain.subIndication, { type, message, inner });
  }
  return chain.anchor;
}

/** Warns about a claimed time that cannot be right: nothing proves it, so it decides nothing. */
function checkClaimedTime(
  { claimedTime, certificate, isTimestamp }: SignatureInfo,
  bestTime: number,
  at: number,
  results: ResultsBuilder,
): void {
  if (claimedTime === undefined) return;
  const type = 'time.claimed';
  const claimed = `claimed ${dateText(claimedTime)}`;
  if (claimedTime > at + CLAIMED_TIME_TOLERANCE_MS) {
    const message = 'The claimed time of signing is in the future.';
    results.warning({ type, message, detail: `${claimed}, validated at ${dateText(at)}` });
  } else if (claimedTime > bestTime + CLAIMED_TIME_TOLERANCE_MS) {
    const message = 'The claimed time of signing is later than the time at which the signature existed.';
    results.warning({ type, message, detail: `${claimed}, existed ${dateText(bestTime)}` });
  }
  if (certificate === undefined || isTimestamp) return;
  const { notBefore, notAfter } = certificate;
  const detail = `${claimed}, valid ${dateText(notBefore)} to ${dateText(notAfter)}`;
  if (claimedTime < notBefore - CLAIMED_TIME_TOLERANCE_MS) {
    const message = 'The claimed time of signing is before the certificate was valid.';
    results.warning({ type: 'time.certificate', message, detail });
  } else if (claimedTime > notAfter) {
    const message = 'The claimed time of signing is after the certificate had expired.';
    results.warning({ type: 'time.certificate', message, detail });
  }
}

/** Accepted lead of a signer's clock before a warning is given. Milliseconds. */
const CLAIMED_TIME_TOLERANCE_MS = 5 * 60_000;

/** Adds results of counter-signatures, which do not change the verdict. */
function addCounterSignatureResults(records: readonly SignatureRecord[], results: ResultsBuilder): void {
  for (const { indication, subIndication, name, results: inner } of records) {
    const type = 'counter-signature';
    if (indication === 'TOTAL-PASSED') {
      results.passed({ type, message: 'A counter-signature is good.', detail: name, inner });
    } else {
      const message = `A counter-signature is not good (${subIndication ?? indication}).`;
      results.warning({ type, message, detail: name, inner });
    }
  }
}

function lowered(sentence: string): string {
  return sentence.charAt(0).toLowerCase() + sentence.slice(1);
}

/**
 * Validates all signatures of a file. @throws {CryptoError} `certificate.malformed` for a trust anchor that can't be read
 */
export function validateSignatures(
  format: ValidationReport['format'],
  facts: FileSignatures,
  request: ValidationRequest,
): ValidationReport {
  const work = facts.work ?? WorkBudget.forFile(0);
  const signatures = facts.signatures.map((signature) => validateSignature(signature, request, work));
  const results = new ResultsBuilder();
  for (const finding of facts.findings) results.finding(finding);
  if (signatures.length > 0) {
    results.passed({
      type: 'file.signatures',
      message: 'The file has signatures.',
      detail: `${signatures.length}`,
    });
  } else if (results.verdict().indication === 'TOTAL-PASSED') {
    results.failed('GENERIC', { type: 'file.signatures', message: 'The file has no signature.' });
  }
  return {
    format,
    indication: worst([results.verdict(), ...signatures.flatMap(withCounterSignatures)]),
    signatures,
    results: results.results(),
  };
}

/** Lists a signature with its counter-signatures: they count for the file, not for the countersigned signature. */
function withCounterSignatures(signature: SignatureRecord): SignatureRecord[] {
  return [signature, ...signature.counterSignatures.flatMap(withCounterSignatures)];
}

/** Returns the worst indication: failed before indeterminate before passed. */
function worst(verdicts: readonly Pick<SignatureRecord, 'indication'>[]): Indication {
  const has = (indication: Indication) => verdicts.some((verdict) => verdict.indication === indication);
  if (has('TOTAL-FAILED')) return 'TOTAL-FAILED';
  return has('INDETERMINATE') ? 'INDETERMINATE' : 'TOTAL-PASSED';
}
