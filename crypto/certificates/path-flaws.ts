/** What is wrong with a path whose signatures are right (RFC 5280 §6.1), without revocation. */
import type { Certificate } from './certificate.ts';
import { constraintFault } from './name-constraints.ts';
import { nameFields } from './names.ts';
import { policyFault } from './policies.ts';

export type PathFlawKind =
  | 'not-yet-valid'
  | 'expired'
  | 'algorithm'
  | 'critical-extension'
  | 'not-a-ca'
  | 'key-usage'
  | 'path-length'
  | 'name-constraints'
  | 'policy';

export interface PathFlaw {
  readonly kind: PathFlawKind;
  /** The certificate that has the flaw. */
  readonly certificate: Certificate;
  /** Which certificate and why: `the certificate of CN=… expired at …`, no full stop. */
  readonly because: string;
}

/** Signature algorithms that no longer prove anything: MD2, MD5 and SHA-1 with RSA, SHA-1 with ECDSA and DSA. */
const BROKEN: ReadonlySet<string> = new Set([
  '1.2.840.113549.1.1.2',
  '1.2.840.113549.1.1.4',
  '1.2.840.113549.1.1.5',
  '1.2.840.10045.4.1',
  '1.2.840.10040.4.3',
]);

/**
 * Every flaw of a path, from its end certificate up; none when it is good at that time.
 * @param path end certificate first, anchor last
 * @param at milliseconds since the epoch
 */
export function pathFlaws(path: readonly Certificate[], at: number): PathFlaw[] {
  return [...timelessFlaws(path), ...path.flatMap((certificate) => timeFlaw(certificate, at) ?? [])];
}

/** The flaws that a path has at any time. */
function timelessFlaws(path: readonly Certificate[]): PathFlaw[] {
  const flaws: PathFlaw[] = [];
  let below = 0;
  for (const [index, certificate] of path.entries()) {
    const isAnchor = index === path.length - 1;
    if (!isAnchor) flaws.push(...ownFlaws(certificate));
    if (index > 0) flaws.push(...issuerFlaws(certificate, path.slice(0, index), below));
    if (index > 0 && certificate.subjectKey !== certificate.issuerKey) below++;
  }
  const policy = policyFault(path);
  if (policy !== undefined) flaws.push(flawOf('policy', policy.certificate, policy.because));
  return flaws;
}

/** Why a certificate is not valid at a time, by its own period. */
export function timeFlaw(certificate: Certificate, at: number): PathFlaw | undefined {
  const { notBefore, notAfter } = certificate;
  if (at < notBefore)
    return flawOf('not-yet-valid', certificate, `is not valid yet, but from ${day(notBefore)}`);
  if (at > notAfter) return flawOf('expired', certificate, `has expired at ${day(notAfter)}`);
  return undefined;
}

function ownFlaws(certificate: Certificate): PathFlaw[] {
  const flaws: PathFlaw[] = [];
  const [unknown] = certificate.unknownCritical;
  if (unknown !== undefined) {
    flaws.push(
      flawOf(
        'critical-extension',
        certificate,
        `has the critical extension ${unknown}, which is not understood`,
      ),
    );
  }
  if (BROKEN.has(certificate.signatureAlgorithm)) {
    const because = `is signed with ${certificate.signatureAlgorithm}, which is broken`;
    flaws.push(flawOf('algorithm', certificate, because));
  }
  return flaws;
}

/** @param below CA certificates between this issuer and the end certificate that count */
function issuerFlaws(issuer: Certificate, lower: readonly Certificate[], below: number): PathFlaw[] {
  const flaws: PathFlaw[] = [];
  if (!issuer.ca) flaws.push(flawOf('not-a-ca', issuer, 'is not that of a CA'));
  if (issuer.keyUsage !== undefined && !issuer.keyUsage.keyCertSign) {
    flaws.push(flawOf('key-usage', issuer, 'does not allow signing certificates'));
  }
  if (issuer.pathLength !== undefined && below > issuer.pathLength) {
    const because = `allows ${issuer.pathLength} CAs below it, and there are ${below}`;
    flaws.push(flawOf('path-length', issuer, because));
  }
  const { nameConstraints } = issuer;
  if (nameConstraints === undefined) return flaws;
  for (const [index, certificate] of lower.entries()) {
    // A CA's new key under its old name is not bound by its own constraints (RFC 5280 §6.1.3 b).
    if (index > 0 && certificate.subjectKey === certificate.issuerKey) continue;
    const fault = constraintFault(certificate, nameConstraints);
    if (fault !== undefined) flaws.push(flawOf('name-constraints', certificate, fault));
  }
  return flaws;
}

function flawOf(kind: PathFlawKind, certificate: Certificate, because: string): PathFlaw {
  return {
    kind,
    certificate,
    because: `the certificate of ${nameFields(certificate.subject).text} ${because}`,
  };
}

function day(time: number): string {
  return new Date(time).toISOString();
}
