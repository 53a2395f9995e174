/** Asks, once, for the evidence that a file does not carry. */
import type { Evidence, EvidenceSource, GatheredEvidence } from '../authorities.ts';
import { NO_EVIDENCE } from '../authorities.ts';
import { joinEvidence } from '../cms/facts-evidence.ts';
import { timestampSigner } from '../timestamps/check.ts';
import { CryptoError } from '../types.ts';
import type { Finding, SignatureFacts } from './facts.ts';
import type { SignatureRecord, ValidationResults } from './report.ts';

/** What may be answered by evidence from outside. */
const OPEN: ReadonlySet<string> = new Set(['revocation.unknown', 'chain.path']);

/** True when something about a signature is open that further certificates or answers could settle. */
export function isOpen({ errors, warnings }: ValidationResults): boolean {
  return [...errors, ...warnings].some(
    ({ type, inner }) => OPEN.has(type) || (inner !== undefined && isOpen(inner)),
  );
}

export interface GatheredFor {
  readonly evidence: Evidence;
  /** The signatures asked about, each with what nobody could say about it. */
  readonly signatures: readonly SignatureFacts[];
}

/**
 * Evidence for all signatures of a file that are open, at the times they are proven for.
 * @param records of the same signatures, in the same order
 */
export async function gatherFor(
  signatures: readonly SignatureFacts[],
  records: readonly SignatureRecord[],
  source: EvidenceSource,
): Promise<GatheredFor> {
  const gathered = await Promise.all(
    signatures.map((facts, index) => {
      const record = records[index];
      return record === undefined || !isOpen(record.results)
        ? { evidence: NO_EVIDENCE, facts }
        : askAbout(facts, record, source);
    }),
  );
  return {
    evidence: joinEvidence(...gathered.map(({ evidence }) => evidence)),
    signatures: gathered.map(({ facts }) => facts),
  };
}

async function askAbout(
  facts: SignatureFacts,
  record: SignatureRecord,
  source: EvidenceSource,
): Promise<{ readonly evidence: Evidence; readonly facts: SignatureFacts }> {
  const stamps = facts.timestamps.flatMap(({ token }) => (token === undefined ? [] : [token]));
  const signers = [facts.certificate, ...stamps.map((token) => timestampSigner(token, facts.certificates))];
  const ends = signers.flatMap((certificate) => (certificate === undefined ? [] : [certificate.der]));
  const others = [...facts.certificates, ...stamps.flatMap(({ certificates }) => certificates)];
  const [own, below] = await Promise.all([
    ask(
      source,
      ends,
      others.map(({ der }) => der),
      record.bestTime,
    ),
    gatherFor(facts.counterSignatures, record.counterSignatures, source),
  ]);
  const told = own.problems.map(
    (message): Finding => ({ status: 'warning', type: 'revocation.online', message }),
  );
  return {
    evidence: joinEvidence(own.evidence, below.evidence),
    facts: { ...facts, findings: [...facts.findings, ...told], counterSignatures: below.signatures },
  };
}

async function ask(
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
