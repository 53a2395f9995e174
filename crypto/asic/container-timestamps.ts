/** Containers whose files have time-stamp tokens instead of signatures (EN 319 162-1 §4.3.3.2 and §4.4.4.2). */

import { type Finding, failed, warned } from '../core/validation-report.ts';
import { joinEvidence } from '../evidence/embedded-evidence.ts';
import { type ImprintSource, imprintOf } from '../evidence/timestamp-reader.ts';
import {
  evidenceInTimestamp,
  levelOf,
  type SignatureInfo,
  type TimestampInfo,
  timestampInfo,
} from '../validation/signature-info.ts';
import { timestampSignature } from '../validation/timestamp-signature.ts';
import type { Certificate } from '../x509/certificate.ts';
import { hashNamed } from '../x509/signature-algorithms.ts';
import type { Container } from './container.ts';
import { type CoveringSignature, forContainer } from './coverage.ts';
import { type ListedMembers, listedMembers, type MemberDigests } from './listed-members.ts';

/** Limit of time-stamp tokens of one container; each costs a public-key operation. */
const MAX_TOKENS = 32;

interface FoundTimestamps {
  readonly signatures: readonly CoveringSignature[];
  readonly findings: readonly Finding[];
  /** Members about time-stamps with a known role. */
  readonly accounted: readonly string[];
}

/** Examines the tokens of ASiC-S: each covers the one file. */
export function timestampsOverFile(
  container: Container,
  files: readonly string[],
  digests: MemberDigests,
  given: readonly Certificate[],
): FoundTimestamps {
  const [object] = container.named('data');
  const imprint: ImprintSource = (algorithm) => {
    const hash = hashNamed(algorithm);
    return hash === undefined || object === undefined ? undefined : digests.of(object, hash);
  };
  const covered = new Set(object === undefined ? [] : [object]);
  const looked = files.slice(0, MAX_TOKENS);
  return {
    signatures: looked.map((file) =>
      forContainer(file, tokenFacts(container.bytes(file), imprint, given), { covered, container }),
    ),
    findings: tooMany(files),
    accounted: files,
  };
}

/** Examines the tokens of ASiC-E: each covers a manifest that lists files. */
export function timestampsOverManifests(
  container: Container,
  manifests: readonly ListedMembers[],
  given: readonly Certificate[],
): FoundTimestamps {
  const stamped = manifests.filter(({ proof }) => /\.tst$/i.test(proof ?? '') && container.has(proof ?? ''));
  const signatures = stamped.slice(0, MAX_TOKENS).map((manifest) => {
    const { proof = '', bytes, findings, algorithms, good, manifestName } = manifest;
    const facts = tokenFacts(container.bytes(proof), imprintOf(bytes), given);
    const whole = {
      ...facts,
      findings: [...facts.findings, ...findings],
      algorithms: [...facts.algorithms, ...algorithms],
    };
    return {
      ...forContainer(proof, whole, { covered: good, container, between: [manifestName] }),
      types: manifest.types,
    };
  });
  return {
    signatures,
    findings: tooMany(stamped),
    accounted: stamped.flatMap(({ proof = '', manifestName }) => [proof, manifestName]),
  };
}

function tooMany({ length }: readonly unknown[]): Finding[] {
  if (length <= MAX_TOKENS) return [];
  return [failed('timestamp.count', `More than ${MAX_TOKENS} time-stamps are not looked at.`, 'GENERIC')];
}

function tokenFacts(der: Buffer, imprint: ImprintSource, given: readonly Certificate[]): SignatureInfo {
  const place = {
    format: 'Cades',
    name: 'time-stamp',
    scope: { kind: 'container', description: 'time-stamped files' },
  } as const;
  return timestampSignature(timestampInfo('content', der, imprint, given), place, given);
}

// Archive time-stamps over containers (EN 319 162-1 Annex A.7), assigned to the signatures they prove.

/** Limit of archive time-stamps; each costs a public-key operation, and archives are renewed every few years. */
const MAX_ARCHIVES = 32;

/** One archive manifest with its time-stamp. */
interface ArchiveProof {
  readonly listed: ListedMembers;
  readonly stamp: TimestampInfo;
}

interface ContainerArchives {
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
    findings.push(warned('timestamp.count', message));
  }
  for (const name of names.slice(0, MAX_ARCHIVES)) {
    const listed = listedMembers(container, name, digests);
    const { proof, bytes } = listed;
    const faults = listed.findings.filter(({ status }) => status === 'failed');
    if (proof === undefined || !container.has(proof)) {
      findings.push(
        ...faults,
        failed('container.archive', 'An archive manifest has no time-stamp.', 'FORMAT_FAILURE', name),
      );
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
  return failed(
    'timestamp.partial',
    'The archive manifest leaves out a part of the signature.',
    'SIG_CONSTRAINTS_FAILURE',
    missing.slice(0, 5).join(', '),
  );
}
