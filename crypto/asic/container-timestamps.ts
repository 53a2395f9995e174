/** Containers whose files have time-stamp tokens instead of signatures (EN 319 162-1 §4.3.3.2 and §4.4.4.2). */

import { hashNamed } from '../algorithms/hashes.ts';
import { algorithmsOf } from '../cms/value-checks.ts';
import type { Finding } from '../core/finding.ts';
import { type ImprintSource, imprintOf } from '../evidence/message-imprint.ts';
import { timestampSigner } from '../evidence/timestamp-checks.ts';
import { type SignatureInfo, UNKNOWN_SIGNATURE_INFO } from '../validation/signature-info.ts';
import { timestampInfo } from '../validation/timestamp-info.ts';
import type { Container } from './container.ts';
import { type CoveringSignature, forContainer } from './coverage.ts';
import type { ListedMembers, MemberDigests } from './listed-members.ts';

/** Limit of time-stamp tokens of one container; each costs a public-key operation. */
const MAX_TOKENS = 32;

export interface FoundTimestamps {
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
      forContainer(file, tokenFacts(container.bytes(file), imprint), covered, container),
    ),
    findings: tooMany(files),
    accounted: files,
  };
}

/** Examines the tokens of ASiC-E: each covers a manifest that lists files. */
export function timestampsOverManifests(
  container: Container,
  manifests: readonly ListedMembers[],
): FoundTimestamps {
  const stamped = manifests.filter(({ proof }) => proof?.endsWith('.tst') === true && container.has(proof));
  const signatures = stamped.slice(0, MAX_TOKENS).map((manifest) => {
    const { proof = '', bytes, findings, algorithms, good, manifestName } = manifest;
    const facts = tokenFacts(container.bytes(proof), imprintOf(bytes));
    const whole = {
      ...facts,
      findings: [...facts.findings, ...findings],
      algorithms: [...facts.algorithms, ...algorithms],
    };
    return forContainer(proof, whole, good, container, [manifestName]);
  });
  return {
    signatures,
    findings: tooMany(stamped),
    accounted: stamped.flatMap(({ proof = '', manifestName }) => [proof, manifestName]),
  };
}

function tooMany({ length }: readonly unknown[]): Finding[] {
  if (length <= MAX_TOKENS) return [];
  const message = `More than ${MAX_TOKENS} time-stamps are not looked at.`;
  return [{ status: 'failed', type: 'timestamp.count', message, subIndication: 'FORMAT_FAILURE' }];
}

/** Reports a token like a signature of its authority. */
function tokenFacts(der: Buffer, imprint: ImprintSource): SignatureInfo {
  const { token, findings } = timestampInfo('content', der, imprint);
  const certificate = token === undefined ? undefined : timestampSigner(token, []);
  const [signer] = token?.signedData.signers ?? [];
  return {
    ...UNKNOWN_SIGNATURE_INFO,
    format: 'Cades',
    name: 'time-stamp',
    scope: { kind: 'container', description: 'time-stamped files' },
    findings,
    certificate,
    certificates: token?.certificates ?? [],
    claimedTime: token?.genTime,
    algorithms:
      token === undefined || signer === undefined
        ? []
        : [
            { name: token.imprintAlgorithm, where: 'imprint of the time-stamp' },
            ...algorithmsOf(signer, certificate),
          ],
    isTimestamp: true,
  };
}
