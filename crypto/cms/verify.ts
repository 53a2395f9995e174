/**
 * The quick check of a CMS signature: that it is a good CAdES baseline signature of the expected signer, with a reason for
 * every check (EN 319 122-1 §6.3). What it rests on are the same facts that full validation judges.
 */
import { OID } from '../asn1/oids.ts';
import type { Certificate } from '../certificates/certificate.ts';
import { checkChain, checkKeyUsage, checkSigner, checkValidity } from '../certificates/path.ts';
import type { Check } from '../types.ts';
import { algorithmText, isBroken } from '../validation/algorithms.ts';
import type { Finding, SignatureFacts } from '../validation/facts.ts';
import { cmsFacts } from './facts.ts';
import type { HashName } from './hashes.ts';

export interface VerifySignedDataOptions {
  /** Digest of the detached content, made with the named algorithm. */
  readonly contentDigest: (digest: HashName) => Buffer | undefined;
  /** Time at which certificates must be valid, milliseconds since the epoch. */
  readonly at: number;
  /** DER trust anchors; left out, no chain is asked for. */
  readonly anchors?: readonly Buffer[];
  /** Lower-case hex SHA-256 of the certificate that must have signed. */
  readonly expectedSigner?: string;
  /** Whether a signing-time attribute must be there (CAdES) or must not (PAdES). Left out: either way. */
  readonly signingTime?: 'present' | 'absent';
  /** `'if-present'` lets signatures older than CAdES pass without the attribute. @default 'required' */
  readonly signingCertificate?: 'required' | 'if-present';
}

/** What a SignedData turned out to be. */
export interface SignedDataVerdict {
  readonly checks: readonly Check[];
  /** One per SignerInfo, in order. */
  readonly signers: readonly { readonly certificate: Certificate | undefined }[];
}

/**
 * Every check on a detached SignedData. Never throws for bad input: a structure that can't be read is a failed
 * check named `structure`. `der` must be exactly the structure, without padding. What `contentDigest` throws comes
 * through.
 *
 * Checks: structure, detached, and per signer: signer-certificate, signed-attributes, content-type, message-digest,
 * signing-time, signing-certificate, signature-value, certificate-validity, key-usage, chain; then once: signer.
 * @throws {CryptoError} `certificate.malformed` for an anchor that can't be read
 */
export function verifySignedData(der: Buffer, options: VerifySignedDataOptions): Check[] {
  return [...inspectSignedData(der, options).checks];
}

/** As `verifySignedData`, and says who signed. */
export function inspectSignedData(der: Buffer, options: VerifySignedDataOptions): SignedDataVerdict {
  const checks: Check[] = [];
  const facts = cmsFacts(der, {
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
  return type === 'structure.cms' && status === 'failed';
}

/** Names of the checks by the findings they come from. */
const CHECK_NAMES: ReadonlyMap<string, string> = new Map([
  ['structure.cms', 'structure'],
  ['structure.content', 'detached'],
  ['certificate.signer', 'signer-certificate'],
  ['certificate.binding', 'signing-certificate'],
  ['attributes.signed', 'signed-attributes'],
  ['digest.algorithm', 'signed-attributes'],
  ['attributes.content-type', 'content-type'],
  ['digest.content', 'message-digest'],
  ['attributes.signing-time', 'signing-time'],
  ['algorithm.protection', 'signature-value'],
  ['algorithm.agreement', 'signature-value'],
  ['signature.value', 'signature-value'],
]);

function checkOneSigner(facts: SignatureFacts, options: VerifySignedDataOptions, checks: Check[]): void {
  for (const { type, status, message, detail } of facts.findings) {
    const name = CHECK_NAMES.get(type);
    if (name === undefined) continue;
    // What is only worth a warning elsewhere is a failure in a signature that was just made to be a baseline one.
    const ok = status === 'passed' || (status === 'warning' && type === 'certificate.binding');
    checks.push({ name, ok, detail: detail === undefined ? message : `${message} ${detail}` });
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

/** Signers of one structure have no order, so the expected one may be any of them. */
function checkExpected(signers: SignedDataVerdict['signers'], expected: string): Check {
  const certificates = signers.flatMap(({ certificate }) => (certificate === undefined ? [] : [certificate]));
  const certificate = certificates.find(({ fingerprint }) => fingerprint === expected) ?? certificates[0];
  if (certificate !== undefined) return checkSigner(certificate, expected);
  return { name: 'signer', ok: false, detail: `Signed by an unknown certificate, not by ${expected}.` };
}
