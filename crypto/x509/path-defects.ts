/** Finds the defects of a path whose signatures are valid (RFC 5280 §6.1), without revocation. */
import type { Certificate } from './certificate.ts';
import { holderText } from './holder.ts';
import { constraintFault } from './name-constraints.ts';
import { policyFault } from './path-policies.ts';

export type PathDefectKind =
  | 'not-yet-valid'
  | 'expired'
  | 'algorithm'
  | 'critical-extension'
  | 'not-a-ca'
  | 'key-usage'
  | 'path-length'
  | 'name-constraints'
  | 'policy';

interface PathDefect {
  readonly kind: PathDefectKind;
  /** Certificate with the defect. */
  readonly certificate: Certificate;
  /** Names the certificate and the reason: `the certificate of CN=… expired at …`, no full stop. */
  readonly reason: string;
}

/** Broken signature algorithms: MD2, MD5 and SHA-1 with RSA, SHA-1 with ECDSA and DSA. */
const BROKEN: ReadonlySet<string> = new Set([
  '1.2.840.113549.1.1.2',
  '1.2.840.113549.1.1.4',
  '1.2.840.113549.1.1.5',
  '1.2.840.10045.4.1',
  '1.2.840.10040.4.3',
]);

/**
 * Returns every defect of a path, from its end certificate up; none when the path is valid at that time.
 * @param path end certificate first, anchor last
 * @param at milliseconds since the epoch
 */
export function pathDefects(path: readonly Certificate[], at: number): PathDefect[] {
  return [...timelessDefects(path), ...path.flatMap((certificate) => timeDefect(certificate, at) ?? [])];
}

/** Returns the defects that do not depend on time. */
function timelessDefects(path: readonly Certificate[]): PathDefect[] {
  const flaws: PathDefect[] = [];
  let below = 0;
  for (const [index, certificate] of path.entries()) {
    const isAnchor = index === path.length - 1;
    if (!isAnchor) flaws.push(...certificateDefects(certificate));
    // An anchor counts by its name and key (RFC 5280 §6.1.1 d); one of version 1 can't say that it is an authority's.
    const isOld = isAnchor && !certificate.hasExtensions;
    if (index > 0 && !certificate.ca && !isOld)
      flaws.push(defectOf('not-a-ca', certificate, 'is not that of a CA'));
    if (index > 0) flaws.push(...issuerDefects(certificate, path.slice(0, index), below));
    if (index > 0 && certificate.subjectKey !== certificate.issuerKey) below++;
  }
  const policy = policyFault(path);
  if (policy !== undefined) flaws.push(defectOf('policy', policy.certificate, policy.reason));
  return flaws;
}

/** Returns the defect of a certificate outside of its validity period at that time. */
export function timeDefect(certificate: Certificate, at: number): PathDefect | undefined {
  const { notBefore, notAfter } = certificate;
  if (at < notBefore)
    return defectOf('not-yet-valid', certificate, `is not valid yet, but from ${day(notBefore)}`);
  if (at > notAfter) return defectOf('expired', certificate, `has expired at ${day(notAfter)}`);
  return undefined;
}

function certificateDefects(certificate: Certificate): PathDefect[] {
  const flaws: PathDefect[] = [];
  const [unknown] = certificate.unknownCritical;
  if (unknown !== undefined) {
    flaws.push(
      defectOf(
        'critical-extension',
        certificate,
        `has the critical extension ${unknown}, which is not understood`,
      ),
    );
  }
  if (BROKEN.has(certificate.signatureAlgorithm)) {
    const reason = `is signed with ${certificate.signatureAlgorithm}, which is broken`;
    flaws.push(defectOf('algorithm', certificate, reason));
  }
  return flaws;
}

/** @param below CA certificates between this issuer and the end certificate that count towards pathLenConstraint */
function issuerDefects(issuer: Certificate, lower: readonly Certificate[], below: number): PathDefect[] {
  const flaws: PathDefect[] = [];
  if (issuer.keyUsage !== undefined && !issuer.keyUsage.keyCertSign) {
    flaws.push(defectOf('key-usage', issuer, 'does not allow signing certificates'));
  }
  if (issuer.pathLength !== undefined && below > issuer.pathLength) {
    const reason = `allows ${issuer.pathLength} CAs below it, and there are ${below}`;
    flaws.push(defectOf('path-length', issuer, reason));
  }
  const { nameConstraints } = issuer;
  if (nameConstraints === undefined) return flaws;
  for (const [index, certificate] of lower.entries()) {
    // Self-issued certificates are exempt (RFC 5280 §6.1.3 b): a CA's new key under its old name.
    if (index > 0 && certificate.subjectKey === certificate.issuerKey) continue;
    const fault = constraintFault(certificate, nameConstraints);
    if (fault !== undefined) flaws.push(defectOf('name-constraints', certificate, fault));
  }
  return flaws;
}

function defectOf(kind: PathDefectKind, certificate: Certificate, reason: string): PathDefect {
  return {
    kind,
    certificate,
    reason: `the certificate of ${holderText(certificate)} ${reason}`,
  };
}

function day(time: number): string {
  return new Date(time).toISOString();
}
