/**
 * Validation of one signature, common to all formats (EN 319 102-1 §5.3, §5.5, §5.6): the findings, the proofs of
 * existence by time-stamps, and trust in the signer at the proven time.
 */
import type { Indication, SignatureRecord, ValidationReport } from '../core/validation-report.ts';
import { WORK_BUDGET_EXCEEDED, WorkBudget, withinWorkBudget } from '../core/work-budget.ts';
import { joinEvidence } from '../evidence/embedded-evidence.ts';
import { readableCertificates } from '../x509/certificate.ts';
import { algorithmTime, canBeJudged } from './algorithms.ts';
import { certificateRecord, checkStrength, dateText, UNPROVEN, validateChain } from './chain.ts';
import { ResultsBuilder } from './results.ts';
import type { FileSignatures, SignatureInfo } from './signature-info.ts';
import type { ValidationRequest } from './trust.ts';
import { type ProofsOfExistence, validateTimestamps } from './validate-timestamps.ts';

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
  const proofs = validateTimestamps(known, request, work);
  const bestTime = Math.min(proofs.existed ?? request.at, request.at);
  const results = new ResultsBuilder();
  for (const finding of facts.findings) results.finding(finding);
  addTimestampResults(proofs, results);
  for (const use of facts.algorithms) {
    if (!canBeJudged(use, facts.certificate)) continue;
    checkStrength(use, algorithmTime(request.trust, bestTime), results);
  }
  checkSigner(known, request, proofs, bestTime, work, results);
  checkClaimedTime(facts, bestTime, results);
  const counterSignatures = facts.counterSignatures.map((counter) =>
    validateSignature(counter, request, work),
  );
  addCounterSignatureResults(counterSignatures, results);
  return recordOf(facts, results, { bestTime, timestamps: proofs.records, counterSignatures });
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
    scope: facts.scope,
    changes: facts.changes,
    policy: facts.policy,
    ...judged,
    ...(facts.isInContent === true && { isInContent: true }),
    ...(facts.reason === undefined ? {} : { reason: facts.reason }),
    ...(facts.location === undefined ? {} : { location: facts.location }),
    ...(facts.contentIdentifier === undefined ? {} : { contentIdentifier: facts.contentIdentifier }),
    results: results.results(),
  };
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

function checkSigner(
  facts: SignatureInfo,
  { trust, at }: ValidationRequest,
  { notBefore, evidenceTime }: ProofsOfExistence,
  time: number,
  work: WorkBudget,
  results: ResultsBuilder,
): void {
  const { certificate, certificates, evidence, isTimestamp } = facts;
  // A missing certificate already has a finding.
  if (certificate === undefined) return;
  const purpose = isTimestamp ? 'timestamp' : 'signature';
  const chain = validateChain({
    certificate,
    others: certificates,
    evidence,
    trust,
    purpose,
    time,
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
}

function checkClaimedTime({ claimedTime }: SignatureInfo, bestTime: number, results: ResultsBuilder): void {
  if (claimedTime === undefined || claimedTime <= bestTime + CLAIMED_TIME_TOLERANCE_MS) return;
  results.warning({
    type: 'time.claimed',
    message: 'The claimed time of signing is later than the time at which the signature existed.',
    detail: `claimed ${dateText(claimedTime)}, existed ${dateText(bestTime)}`,
  });
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
