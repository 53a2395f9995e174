/** Archive time-stamps over containers (EN 319 162-1 Annex A.7), given to the signatures they prove. */
import { evidenceInTimestamp, joinEvidence } from '../cms/facts-evidence.ts';
import { levelOf } from '../cms/facts-level.ts';
import { imprintOf } from '../timestamps/imprint.ts';
import type { Finding, SignatureFacts, TimestampFacts } from '../validation/facts.ts';
import { timestampFacts } from '../validation/timestamp-facts.ts';
import type { Container } from './container.ts';
import { type ListedMembers, listedMembers, type MemberDigests } from './listed-members.ts';

/** More are not looked at; each costs a public-key operation, and archives are renewed every few years. */
const MAX_ARCHIVES = 32;

/** One archive manifest with its time-stamp. */
export interface ArchiveProof {
  readonly listed: ListedMembers;
  readonly stamp: TimestampFacts;
}

export interface ContainerArchives {
  /** Oldest first. */
  readonly proofs: readonly ArchiveProof[];
  /** Of manifests that belong to no time-stamp. */
  readonly findings: readonly Finding[];
}

export function containerArchives(container: Container, digests: MemberDigests): ContainerArchives {
  const names = container.named('archive-manifest');
  const findings: Finding[] = [];
  const proofs: ArchiveProof[] = [];
  if (names.length > MAX_ARCHIVES) {
    const message = `More than ${MAX_ARCHIVES} archive time-stamps are not looked at.`;
    findings.push({ status: 'warning', type: 'timestamp.count', message });
  }
  for (const name of names.slice(0, MAX_ARCHIVES)) {
    const listed = listedMembers(container, name, digests);
    const { proof, bytes } = listed;
    const failed = listed.findings.filter(({ status }) => status === 'failed');
    if (proof === undefined || !container.has(proof)) {
      findings.push(...failed, {
        status: 'failed',
        type: 'container.archive',
        message: 'An archive manifest has no time-stamp.',
        detail: name,
        subIndication: 'FORMAT_FAILURE',
      });
      continue;
    }
    const stamp = timestampFacts('archive', container.bytes(proof), imprintOf(bytes));
    proofs.push({ listed, stamp: { ...stamp, findings: [...listed.findings, ...stamp.findings] } });
  }
  const timeOf = ({ stamp }: ArchiveProof): number => stamp.token?.genTime ?? 0;
  return { proofs: proofs.sort((one, other) => timeOf(one) - timeOf(other)), findings };
}

/**
 * The facts of a signature with the archive time-stamps over it. One that leaves a part of the signature out, or an earlier
 * archive time-stamp of it, proves nothing for it.
 * @param parts members that the signature is made of or over, its own file first
 */
export function withArchives(
  facts: SignatureFacts,
  parts: readonly string[],
  proofs: readonly ArchiveProof[],
): SignatureFacts {
  const needed = [...parts];
  const stamps: TimestampFacts[] = [];
  for (const { listed, stamp } of proofs) {
    // Signatures that came later are none of its business.
    if (!listed.names.has(parts[0] ?? '')) continue;
    const missing = needed.filter((part) => !listed.good.has(part));
    stamps.push(missing.length === 0 ? stamp : { ...stamp, findings: [...stamp.findings, partial(missing)] });
    needed.push(listed.manifestName, ...(listed.proof === undefined ? [] : [listed.proof]));
  }
  if (stamps.length === 0) return facts;
  const proven = stamps.map((stamp, index) => ({ ...stamp, covers: coveredBefore(stamps.slice(index)) }));
  const timestamps = [...facts.timestamps, ...proven];
  const evidence = joinEvidence(facts.evidence, ...stamps.map(evidenceInTimestamp));
  const level = facts.level === undefined ? undefined : levelOf(timestamps, facts.evidence);
  return { ...facts, timestamps, evidence, level };
}

/** What stands in a time-stamp itself, or in one after it, came later than what it covers. */
function coveredBefore(later: readonly TimestampFacts[]): NonNullable<TimestampFacts['covers']> {
  return (der) => !later.some(({ token }) => token?.der.includes(der));
}

function partial(missing: readonly string[]): Finding {
  return {
    status: 'failed',
    type: 'timestamp.partial',
    message: 'The archive manifest leaves out a part of the signature.',
    detail: missing.slice(0, 5).join(', '),
    subIndication: 'SIG_CONSTRAINTS_FAILURE',
  };
}
