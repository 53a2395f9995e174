/**
 * Verification of a just-made CMS signature: a CAdES baseline signature of the expected signer, with a reason for
 * every check (EN 319 122-1 §6.3). It uses the findings of full validation.
 */

import { OID } from '../../asn1/oids.ts';
import type { Check } from '../../core/types.ts';
import type { Finding } from '../../core/validation-report.ts';
import type { Certificate } from '../../x509/certificate.ts';
import { checkChain, checkKeyUsage, checkSigner, checkValidity } from '../../x509/certificate-checks.ts';
import type { HashName } from '../../x509/signature-algorithms.ts';
import { algorithmText, isBroken } from '../algorithms.ts';
import type { SignatureInfo } from '../signature-info.ts';
import { integrityFailure } from '../soundness.ts';
import { inspectCms } from './signed-data-report.ts';

interface VerifySignedDataOptions {
  /** Computes the digest of the detached content with the named algorithm. */
  readonly contentDigest: (digest: HashName) => Buffer | undefined;
  /** Time at which certificates must be valid, milliseconds since the epoch. */
  readonly at: number;
  /** DER of trust anchors; left out, the chain is not checked. */
  readonly anchors?: readonly Buffer[];
  /** Lower-case hex SHA-256 of the certificate that must have signed. */
  readonly expectedSigner?: string;
  /** Requires the signing-time attribute (CAdES) or forbids it (PAdES). Left out: neither. */
  readonly signingTime?: 'present' | 'absent';
  /** `'if-present'` lets signatures older than CAdES pass without the attribute. @default 'required' */
  readonly signingCertificate?: 'required' | 'if-present';
}

/** Result for a SignedData. */
interface SignedDataVerdict {
  readonly checks: readonly Check[];
  /** One per SignerInfo, in order. */
  readonly signers: readonly { readonly certificate: Certificate | undefined }[];
}

/**
 * Verifies a detached SignedData. Never throws for invalid input: an unreadable structure is a failed check named
 * `structure`. `der` must be exactly the structure, without padding. Errors of `contentDigest` are passed on.
 *
 * Checks: structure, detached, and per signer: signer-certificate, signed-attributes, content-type, message-digest,
 * signing-time, signing-certificate, signature-value, counter-signature where one is broken, certificate-validity,
 * key-usage, chain; then once: signer.
 * @throws {CryptoError} `certificate.malformed` for an anchor that can't be read
 */
export function verifySignedData(der: Buffer, options: VerifySignedDataOptions): Check[] {
  return [...inspectSignedData(der, options).checks];
}

/** Verifies as `verifySignedData` does, and returns the signers. */
export function inspectSignedData(der: Buffer, options: VerifySignedDataOptions): SignedDataVerdict {
  const checks: Check[] = [];
  const facts = inspectCms(der, {
    format: 'Cades',
    scope: SCOPE,
    contentType: OID.data,
    contentInside: false,
    signingCertificate: 'required',
    ...options,
  });
  for (const signer of facts) checkOneSigner(signer, options, checks);
  const signers = facts.filter(({ findings }) => !findings.some(isUnreadable));
  if (options.expectedSigner !== undefined) checks.push(checkExpected(signers, options.expectedSigner));
  return { checks, signers };
}

const SCOPE = { kind: 'content', description: 'the content' } as const;

function isUnreadable({ type, status }: Finding): boolean {
  return type.startsWith('structure.') && type !== 'structure.content' && status === 'failed';
}

/** Check names by finding type. */
const CHECK_NAMES: ReadonlyMap<string, string> = new Map([
  ['structure.cms', 'structure'],
  ['structure.signer', 'structure'],
  ['structure.content', 'detached'],
  ['certificate.signer', 'signer-certificate'],
  ['certificate.identifier', 'signer-certificate'],
  ['certificate.binding', 'signing-certificate'],
  ['attributes.signed', 'signed-attributes'],
  ['digest.algorithm', 'signed-attributes'],
  ['attributes.content-type', 'content-type'],
  ['digest.content', 'message-digest'],
  ['attributes.signing-time', 'signing-time'],
  ['algorithm.protection', 'signature-value'],
  ['algorithm.agreement', 'signature-value'],
  ['algorithm.unsupported', 'signature-value'],
  ['signature.value', 'signature-value'],
]);

function checkOneSigner(facts: SignatureInfo, options: VerifySignedDataOptions, checks: Check[]): void {
  for (const { type, status, message, detail } of facts.findings) {
    const name = CHECK_NAMES.get(type);
    if (name === undefined) continue;
    // A warning in general validation is a failure for a baseline signature just made.
    const ok = status === 'passed' || (status === 'warning' && type === 'certificate.binding');
    checks.push({ name, ok, detail: detail === undefined ? message : `${message} ${detail}` });
  }
  for (const counter of facts.counterSignatures) {
    const fault = integrityFailure(counter);
    if (fault !== undefined)
      checks.push({ name: 'counter-signature', ok: false, detail: `${counter.name}: ${fault}.` });
  }
  const { certificate } = facts;
  if (certificate === undefined) return;
  const weak = facts.algorithms.find(isBroken);
  if (weak !== undefined) {
    checks.push({ name: 'signature-value', ok: false, detail: `${algorithmText(weak)} is too weak.` });
  }
  checks.push(checkValidity(certificate, options.at), checkKeyUsage(certificate));
  if (options.anchors !== undefined) {
    const others = facts.certificates.map(({ der }) => der);
    checks.push(checkChain(certificate, others, options.anchors, options.at));
  }
}

/** Checks the expected signer; signers of one structure are unordered, so any of them may match. */
function checkExpected(signers: SignedDataVerdict['signers'], expected: string): Check {
  const certificates = signers.flatMap(({ certificate }) => (certificate === undefined ? [] : [certificate]));
  const certificate = certificates.find(({ fingerprint }) => fingerprint === expected) ?? certificates[0];
  if (certificate !== undefined) return checkSigner(certificate, expected);
  return { name: 'signer', ok: false, detail: `Signed by an unknown certificate, not by ${expected}.` };
}
