/**
 * From the facts about one signature to a verdict with reasons, the same for all formats (EN 319 102-1 §5.3, §5.5, §5.6):
 * what the bytes say, what time-stamps prove, and whether the signer could be trusted at the proven time.
 */
import { readableCertificates } from '../certificates/certificate.ts';
import { joinEvidence } from '../cms/facts-evidence.ts';
import { Work } from '../work.ts';
import { algorithmTime } from './algorithms.ts';
import { certificateRecord } from './certificate-record.ts';
import { dateText, judgeChain } from './chain.ts';
import { checkStrength } from './check-strength.ts';
import type { SignatureFacts } from './facts.ts';
import { judgeTimestamps, type Proofs } from './judge-timestamps.ts';
import type { SignatureRecord } from './report.ts';
import { ResultsBuilder } from './results.ts';
import { TOO_MUCH_WORK, withinWork } from './too-much-work.ts';
import type { ValidationRequest } from './trust.ts';

/**
 * Looks at nothing but its arguments and gives the same verdict for the same ones; what is remembered between calls are
 * parsed certificates and the signatures on them.
 * @throws {CryptoError} `certificate.malformed` for a trust anchor that can't be read
 */
export function judge(
  facts: SignatureFacts,
  request: ValidationRequest,
  work: Work = Work.forFile(0),
): SignatureRecord {
  return withinWork(
    () => judgeWithin(facts, request, work),
    () => openRecord(facts, request),
  );
}

/** @throws {OutOfWork} */
function judgeWithin(facts: SignatureFacts, request: ValidationRequest, work: Work): SignatureRecord {
  const known = withFurtherEvidence(facts, request);
  const proofs = judgeTimestamps(known, request, work);
  const bestTime = Math.min(proofs.existed ?? request.at, request.at);
  const results = new ResultsBuilder();
  for (const finding of facts.findings) results.finding(finding);
  tellTimestamps(proofs, results);
  for (const use of facts.algorithms) checkStrength(use, algorithmTime(request.trust, bestTime), results);
  checkSigner(known, request, proofs, bestTime, work, results);
  checkClaimedTime(facts, bestTime, results);
  const counterSignatures = facts.counterSignatures.map((counter) => judge(counter, request, work));
  tellCounterSignatures(counterSignatures, results);
  return recordOf(facts, results, { bestTime, timestamps: proofs.records, counterSignatures });
}

/** What the bytes alone say, when there is no work left to find out whether anybody is trusted. */
function openRecord(facts: SignatureFacts, { at }: ValidationRequest): SignatureRecord {
  const results = new ResultsBuilder();
  for (const finding of facts.findings) results.finding(finding);
  if (!facts.findings.includes(TOO_MUCH_WORK)) results.finding(TOO_MUCH_WORK);
  return recordOf(facts, results, { bestTime: at, timestamps: [], counterSignatures: [] });
}

function recordOf(
  facts: SignatureFacts,
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
    ...(facts.reason === undefined ? {} : { reason: facts.reason }),
    ...(facts.location === undefined ? {} : { location: facts.location }),
    ...(facts.contentIdentifier === undefined ? {} : { contentIdentifier: facts.contentIdentifier }),
    results: results.results(),
  };
}

/** Before what the file carries, which anybody may have padded: looking stops at a limit. */
function withFurtherEvidence(facts: SignatureFacts, { trust }: ValidationRequest): SignatureFacts {
  if (trust.evidence === undefined) return facts;
  const certificates = trust.evidence.certificates.flatMap(readableCertificates);
  return {
    ...facts,
    certificates: [...certificates, ...facts.certificates],
    evidence: joinEvidence(trust.evidence, facts.evidence),
  };
}

/** A time-stamp that is not good proves nothing; it does not make the signature worse than one without it. */
function tellTimestamps({ records, existed }: Proofs, results: ResultsBuilder): void {
  for (const record of records) {
    const type = `timestamp.${record.kind}`;
    const detail = `${record.displayName}, ${dateText(record.genTime)}`;
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

const TIMESTAMP_PROVES: { readonly [kind in SignatureFacts['timestamps'][number]['kind']]: string } = {
  content: 'A time-stamp proves that the content is older than the signature.',
  signature: 'A time-stamp proves when the signature existed.',
  archive: 'An archive time-stamp proves the signature and the evidence beside it.',
  document: 'A document time-stamp proves the signature and the evidence beside it.',
};

function checkSigner(
  facts: SignatureFacts,
  { trust, at }: ValidationRequest,
  { notBefore, evidenceTime }: Proofs,
  time: number,
  work: Work,
  results: ResultsBuilder,
): void {
  const { certificate, certificates, evidence, isTimestamp } = facts;
  // Without one there is a finding that says so.
  if (certificate === undefined) return;
  const purpose = isTimestamp ? 'timestamp' : 'signature';
  const chain = judgeChain({
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
  if (chain.subIndication === undefined) {
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

function checkClaimedTime({ claimedTime }: SignatureFacts, bestTime: number, results: ResultsBuilder): void {
  if (claimedTime === undefined || claimedTime <= bestTime + CLAIM_TOLERANCE) return;
  results.warning({
    type: 'time.claimed',
    message: 'The claimed time of signing is later than the time at which the signature existed.',
    detail: `claimed ${dateText(claimedTime)}, existed ${dateText(bestTime)}`,
  });
}

/** How far a signer's clock may be ahead before people are told. Milliseconds. */
const CLAIM_TOLERANCE = 5 * 60_000;

/** Somebody else's word about this signature does not change what it is worth. */
function tellCounterSignatures(records: readonly SignatureRecord[], results: ResultsBuilder): void {
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
