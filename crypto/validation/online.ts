/** Requests validation material that a file lacks, once per file. */

import { CryptoError } from '../core/types.ts';
import type { Finding, SignatureRecord, ValidationResults } from '../core/validation-report.ts';
import {
  type Evidence,
  type EvidenceSource,
  type GatheredEvidence,
  NO_EVIDENCE,
} from '../evidence/authorities.ts';
import { joinEvidence } from '../evidence/embedded-evidence.ts';
import { timestampSigner } from '../evidence/timestamp-checks.ts';
import type { SignatureInfo } from './signature-info.ts';

/** Findings that further validation material can resolve. */
const OPEN: ReadonlySet<string> = new Set(['revocation.unknown', 'revocation.older', 'chain.path']);

/**
 * True when further certificates or responses could resolve an open check of a signature. A check that passed may hold
 * an open one: soft revocation checks only warn inside of a trusted chain.
 */
export function isOpen({ errors, warnings, passedChecks }: ValidationResults): boolean {
  return (
    [...errors, ...warnings].some(({ type }) => OPEN.has(type)) ||
    [...errors, ...warnings, ...passedChecks].some(({ inner }) => inner !== undefined && isOpen(inner))
  );
}

interface CollectedEvidence {
  readonly evidence: Evidence;
  /** Open signatures, each with its unresolved checks. */
  readonly signatures: readonly SignatureInfo[];
}

/**
 * Collects evidence for all open signatures of a file at their proven times.
 * @param records of the same signatures, in the same order
 */
export async function collectOnlineEvidence(
  signatures: readonly SignatureInfo[],
  records: readonly SignatureRecord[],
  source: EvidenceSource,
): Promise<CollectedEvidence> {
  const gathered = await Promise.all(
    signatures.map((facts, index) => {
      const record = records[index];
      return record === undefined || !isOpen(record.results)
        ? { evidence: NO_EVIDENCE, facts }
        : requestEvidence(facts, record, source);
    }),
  );
  return {
    evidence: joinEvidence(...gathered.map(({ evidence }) => evidence)),
    signatures: gathered.map(({ facts }) => facts),
  };
}

async function requestEvidence(
  facts: SignatureInfo,
  record: SignatureRecord,
  source: EvidenceSource,
): Promise<{ readonly evidence: Evidence; readonly facts: SignatureInfo }> {
  const stamps = facts.timestamps.flatMap(({ token }) => (token === undefined ? [] : [token]));
  const signers = [facts.certificate, ...stamps.map((token) => timestampSigner(token, facts.certificates))];
  const ends = signers.flatMap((certificate) => (certificate === undefined ? [] : [certificate.der]));
  const others = [...facts.certificates, ...stamps.flatMap(({ certificates }) => certificates)];
  const [own, below] = await Promise.all([
    collectFor(
      source,
      ends,
      others.map(({ der }) => der),
      record.bestTime,
    ),
    collectOnlineEvidence(facts.counterSignatures, record.counterSignatures, source),
  ]);
  const warnings = own.problems.map(
    (message): Finding => ({ status: 'warning', type: 'revocation.online', message }),
  );
  return {
    evidence: joinEvidence(own.evidence, below.evidence),
    facts: { ...facts, findings: [...facts.findings, ...warnings], counterSignatures: below.signatures },
  };
}

async function collectFor(
  source: EvidenceSource,
  ends: readonly Buffer[],
  others: readonly Buffer[],
  at: number,
): Promise<GatheredEvidence> {
  if (source.gather !== undefined) return source.gather(ends, others, at);
  try {
    return { evidence: await source.collect(ends, others, at), problems: [] };
  } catch (error) {
    if (!(error instanceof CryptoError)) throw error;
    return { evidence: NO_EVIDENCE, problems: [error.message] };
  }
}
