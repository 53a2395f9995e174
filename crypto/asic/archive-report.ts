/** Archive time-stamps over containers (EN 319 162-1 Annex A.7), assigned to the signatures they prove. */

import type { Finding } from '../core/finding.ts';
import { joinEvidence } from '../evidence/embedded-evidence.ts';
import { imprintOf } from '../evidence/message-imprint.ts';
import type { SignatureInfo, TimestampInfo } from '../validation/signature-info.ts';
import { levelOf } from '../validation/signed-data/level.ts';
import { evidenceInTimestamp } from '../validation/timestamp-evidence.ts';
import { timestampInfo } from '../validation/timestamp-info.ts';
import type { Container } from './container.ts';
import { type ListedMembers, listedMembers, type MemberDigests } from './listed-members.ts';

/** Limit of archive time-stamps; each costs a public-key operation, and archives are renewed every few years. */
const MAX_ARCHIVES = 32;

/** One archive manifest with its time-stamp. */
export interface ArchiveProof {
  readonly listed: ListedMembers;
  readonly stamp: TimestampInfo;
}

export interface ContainerArchives {
  /** Oldest first. */
  readonly proofs: readonly ArchiveProof[];
  /** Findings about manifests without a time-stamp. */
  readonly findings: readonly Finding[];
}

export function archiveProofsOf(container: Container, digests: MemberDigests): ContainerArchives {
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
    const stamp = timestampInfo('archive', container.bytes(proof), imprintOf(bytes));
    proofs.push({ listed, stamp: { ...stamp, findings: [...listed.findings, ...stamp.findings] } });
  }
  const timeOf = ({ stamp }: ArchiveProof): number => stamp.token?.genTime ?? 0;
  return { proofs: proofs.sort((one, other) => timeOf(one) - timeOf(other)), findings };
}

/**
 * Adds the archive time-stamps over a signature to its report. A time-stamp that omits a part of the signature, or an
 * earlier archive time-stamp of it, proves nothing for it.
 * @param parts members with the signature and the data it covers, its own file first
 */
export function withArchiveProofs(
  facts: SignatureInfo,
  parts: readonly string[],
  proofs: readonly ArchiveProof[],
): SignatureInfo {
  const needed = [...parts];
  const stamps: TimestampInfo[] = [];
  for (const { listed, stamp } of proofs) {
    // Signatures added later are not covered.
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

/** Excludes data in the time-stamp itself and in later ones: it is newer than the covered data. */
function coveredBefore(later: readonly TimestampInfo[]): NonNullable<TimestampInfo['covers']> {
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
