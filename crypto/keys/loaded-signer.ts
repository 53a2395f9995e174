/** A key and its certificate put together: what has to be right before anything is signed, and what is odd. */
import { X509Certificate } from 'node:crypto';
import type { Certificate } from '../certificates/certificate.ts';
import { CryptoError } from '../types.ts';
import { thumbprintOf } from './thumbprint.ts';
import type { LocalSigner } from './transfer.ts';

/** Something that does not keep a key from signing, but may keep others from accepting what it signed. */
export interface KeyWarning {
  readonly code: 'chain.incomplete' | 'certificate.weak-digest';
  /** One sentence for people. */
  readonly text: string;
}

/** A signer as loaded, with what only start-up and readiness ask for. */
export interface LoadedSigner extends LocalSigner {
  /** DER of the self-signed certificate at the top of the chain, when the source holds it. */
  readonly root: Buffer | undefined;
  /** End of the certificate's validity, milliseconds since the epoch. */
  readonly notAfter: number;
  /** Subject on one line. */
  readonly subject: string;
  /** SHA-1 of the certificate, upper-case hex, as other programs name it. */
  readonly thumbprint: string;
  readonly warnings: readonly KeyWarning[];
}

/**
 * @param all certificates that came with the key
 * @param now milliseconds since the epoch
 * @throws {CryptoError} `certificate.expired`, `certificate.not-yet-valid`, `key.unsupported`
 */
export function signerOf(
  key: LocalSigner['key'],
  certificate: Certificate,
  all: readonly Certificate[],
  now: number,
): LoadedSigner {
  assertMaySign(certificate, now);
  const above = issuersOf(certificate, all);
  const top = above.at(-1) ?? certificate;
  const root = isSelfIssued(top) ? top : undefined;
  const chain = above.filter((issuer) => issuer !== root);
  return {
    key,
    certificate: certificate.der,
    chain: chain.map(({ der }) => der),
    keyType: key.type,
    keyBits: key.bits,
    fingerprint: certificate.fingerprint,
    root: root === certificate ? undefined : root?.der,
    notAfter: certificate.notAfter,
    subject: oneLine(certificate, 'subject'),
    thumbprint: thumbprintOf(certificate.der),
    warnings: [...(root === undefined ? [incomplete(top)] : []), ...weakDigests([certificate, ...chain])],
  };
}

function assertMaySign({ notBefore, notAfter, keyUsage }: Certificate, now: number): void {
  if (now < notBefore) {
    const from = new Date(notBefore).toISOString();
    throw new CryptoError('certificate.not-yet-valid', `The certificate is valid from ${from}.`);
  }
  if (now > notAfter) {
    const until = new Date(notAfter).toISOString();
    throw new CryptoError('certificate.expired', `The certificate expired at ${until}.`);
  }
  if (keyUsage !== undefined && !keyUsage.digitalSignature && !keyUsage.nonRepudiation) {
    throw new CryptoError('key.unsupported', 'The certificate does not allow its key to sign documents.');
  }
}

/** From the certificate's issuer upwards, as far as certificates are at hand. */
function issuersOf(certificate: Certificate, all: readonly Certificate[]): Certificate[] {
  const path: Certificate[] = [];
  for (let last = certificate; !isSelfIssued(last); ) {
    const issuer = all.find((candidate) => candidate.subject.equals(last.issuer) && last.signedBy(candidate));
    if (issuer === undefined || path.includes(issuer)) break;
    path.push(issuer);
    last = issuer;
  }
  return path;
}

function isSelfIssued({ subject, issuer }: Certificate): boolean {
  return subject.equals(issuer);
}

function incomplete(top: Certificate): KeyWarning {
  const issuer = oneLine(top, 'issuer');
  return {
    code: 'chain.incomplete',
    text: `The chain ends below "${issuer}", whose certificate did not come with the key.`,
  };
}

/** Signatures with MD5 or SHA-1 that RFC 3279 §2.2 names; hardly anybody accepts a chain with them. */
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
