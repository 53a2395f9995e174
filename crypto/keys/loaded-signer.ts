/** Combines a key with its certificate: checks that they can sign, and collects warnings. */
import { X509Certificate } from 'node:crypto';
import { CryptoError, type SignerIdentity } from '../core/types.ts';
import { type Certificate, readCertificate, thumbprintOf } from '../x509/certificate.ts';
import { kindOf } from '../x509/key-types.ts';
import type { LocalSigner } from './transfer.ts';

/** A condition that permits signing, but may make verifiers reject the signatures. */
interface KeyWarning {
  readonly code: 'chain.incomplete' | 'certificate.weak-digest' | 'certificate.several';
  /** One sentence for people. */
  readonly text: string;
}

/** A loaded signer, with data for start-up and readiness checks. */
export interface LoadedSigner extends LocalSigner, LoadedIdentity {}

/** A loaded certificate whose key is here or elsewhere. */
export interface LoadedIdentity extends SignerIdentity {
  /** DER of the self-signed certificate at the top of the chain, when the source has it. */
  readonly root: Buffer | undefined;
  /** The certificate's validity, milliseconds since the epoch, both ends inclusive. */
  readonly notBefore: number;
  readonly notAfter: number;
  /** Subject on one line. */
  readonly subject: string;
  /** SHA-1 of the certificate, upper-case hex, as other programs identify it. */
  readonly thumbprint: string;
  readonly warnings: readonly KeyWarning[];
}

/**
 * Combines a key with its certificates. The validity period is not checked: see `validityFault`.
 * @param all certificates from the key's source
 * @throws {CryptoError} `key.unsupported`
 */
export function signerOf(
  key: LocalSigner['key'],
  certificate: Certificate,
  all: readonly Certificate[],
): LoadedSigner {
  return { ...loadedIdentity(certificate, all), key, keyType: key.type, keyBits: key.bits };
}

/**
 * Reads the certificate of a key that is elsewhere.
 * @param all DER; the signer's comes first
 * @throws {CryptoError} `certificate.malformed`, `key.unsupported`
 */
export function identityOf(all: readonly Buffer[]): LoadedIdentity {
  const certificates = all.map(readCertificate);
  const [own] = certificates;
  if (own === undefined) throw new CryptoError('certificate.malformed', 'There is no certificate.');
  return loadedIdentity(own, certificates);
}

function loadedIdentity(certificate: Certificate, all: readonly Certificate[]): LoadedIdentity {
  assertMaySign(certificate);
  const { type, bits } = kindOf(certificate.publicKey);
  const above = issuersOf(certificate, all);
  const top = above.at(-1) ?? certificate;
  const root = isSelfIssued(top) ? top : undefined;
  const chain = above.filter((issuer) => issuer !== root);
  return {
    certificate: certificate.der,
    chain: chain.map(({ der }) => der),
    keyType: type,
    keyBits: bits,
    fingerprint: certificate.fingerprint,
    root: root === certificate ? undefined : root?.der,
    notBefore: certificate.notBefore,
    notAfter: certificate.notAfter,
    subject: oneLine(certificate, 'subject'),
    thumbprint: thumbprintOf(certificate.der),
    warnings: [
      ...(root === undefined ? [incompleteChainWarning(top)] : []),
      ...weakDigests([certificate, ...chain]),
    ],
  };
}

export function maySign({ keyUsage }: Certificate): boolean {
  return keyUsage === undefined || keyUsage.digitalSignature || keyUsage.nonRepudiation;
}

function assertMaySign(certificate: Certificate): void {
  if (!maySign(certificate)) {
    throw new CryptoError('key.unsupported', 'The certificate does not allow its key to sign documents.');
  }
}

/**
 * Returns the issuers from the certificate upwards, as far as certificates are available. Authorities write a name as
 * different types of strings in different certificates (RFC 5280 §7.1).
 */
function issuersOf(certificate: Certificate, all: readonly Certificate[]): Certificate[] {
  const path: Certificate[] = [];
  for (let last = certificate; !isSelfIssued(last); ) {
    const issuer = all.find(
      (candidate) => candidate.subjectKey === last.issuerKey && last.signedBy(candidate),
    );
    if (issuer === undefined || path.includes(issuer)) break;
    path.push(issuer);
    last = issuer;
  }
  return path;
}

function isSelfIssued({ subjectKey, issuerKey }: Certificate): boolean {
  return subjectKey === issuerKey;
}

/** @param count certificates of the key */
export function severalWarning(certificate: Certificate, count: number): KeyWarning {
  const end = new Date(certificate.notAfter).toISOString().slice(0, 10);
  return {
    code: 'certificate.several',
    text: `The key has ${count} certificates. That of "${oneLine(certificate, 'subject')}" with the thumbprint ${thumbprintOf(certificate.der)} is used, which ends on ${end}.`,
  };
}

function incompleteChainWarning(top: Certificate): KeyWarning {
  const issuer = oneLine(top, 'issuer');
  return {
    code: 'chain.incomplete',
    text: `The chain ends below "${issuer}", whose certificate did not come with the key.`,
  };
}

/** Signature algorithms with MD5 or SHA-1 (RFC 3279 §2.2); most verifiers reject chains with them. */
const WEAK_DIGESTS: ReadonlyMap<string, string> = new Map([
  ['1.2.840.113549.1.1.4', 'MD5'],
  ['1.2.840.113549.1.1.5', 'SHA-1'],
  ['1.3.14.3.2.29', 'SHA-1'],
  ['1.2.840.10040.4.3', 'SHA-1'],
  ['1.2.840.10045.4.1', 'SHA-1'],
]);

function weakDigests(certificates: readonly Certificate[]): KeyWarning[] {
  return certificates.flatMap((certificate) => {
    const digest = WEAK_DIGESTS.get(certificate.signatureAlgorithm);
    if (digest === undefined) return [];
    const name = oneLine(certificate, 'subject');
    return [
      {
        code: 'certificate.weak-digest',
        text: `The certificate of "${name}" was signed with ${digest}, which proves nothing any more.`,
      },
    ];
  });
}

function oneLine({ der }: Certificate, which: 'subject' | 'issuer'): string {
  return new X509Certificate(der)[which].replaceAll('\n', ', ');
}
