/** Loads a signing key with its certificates and checks, once, that they can sign. */
import { createHash, type KeyObject, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { type Certificate, readableCertificates } from '../certificates/certificate.ts';
import { CryptoError, type Signer } from '../types.ts';
import { type LocalKey, localKey } from './local-key.ts';
import { certificatesIn } from './pem.ts';
import { openPfx } from './pfx.ts';
import { readPrivateKey } from './private-key.ts';

/** Where a key is kept. */
export type KeySource =
  | {
      readonly source: 'Pem';
      /** File with the signer's certificate and any of its chain, in any order; PEM, or one in DER. */
      readonly certificatePath: string;
      readonly keyPath: string;
      readonly password?: string;
    }
  | {
      readonly source: 'Pfx';
      readonly path: string;
      /** @default '' */
      readonly password?: string;
      /** SHA-1 of the signer's certificate in hex, colons and spaces allowed; needed when there are several keys. */
      readonly thumbprint?: string;
    };

/** A signer as loaded, with what only start-up and readiness ask for. */
export interface LoadedSigner extends Signer {
  readonly key: LocalKey;
  /** DER of the self-signed certificate at the top of the chain, when the source holds it. */
  readonly root: Buffer | undefined;
  /** End of the certificate's validity, milliseconds since the epoch. */
  readonly notAfter: number;
  /** Subject on one line. */
  readonly subject: string;
  /** SHA-1 of the certificate, upper-case hex, as other programs name it. */
  readonly thumbprint: string;
}

/**
 * @param now milliseconds since the epoch
 * @throws {CryptoError} `key.unreadable` (file or format), `key.password`, `key.not-found` (no key, or none with the
 *   thumbprint), `key.ambiguous` (several keys), `key.mismatch` (no certificate fits), `key.unsupported`,
 *   `certificate.malformed`, `certificate.expired`, `certificate.not-yet-valid`
 */
export async function loadSigner(source: KeySource, now: number): Promise<LoadedSigner> {
  const { keys, certificates } = source.source === 'Pfx' ? await fromPfx(source) : await fromPem(source);
  // A stranger among the certificates that can't be read is no reason to refuse the others.
  const parsed = certificates.flatMap(readableCertificates);
  if (parsed.length === 0) {
    throw new CryptoError('certificate.malformed', 'No certificate that can be read was found.');
  }
  const pairs = keys.flatMap((key) => pairOf(key, parsed));
  const pair = choose(pairs, keys, source.source === 'Pfx' ? source.thumbprint : undefined);
  return signerOf(pair, parsed, now);
}

interface Material {
  readonly keys: readonly KeyObject[];
  readonly certificates: readonly Buffer[];
}

async function fromPem(source: KeySource & { readonly source: 'Pem' }): Promise<Material> {
  const [certificates, key] = await Promise.all([
    contentsOf(source.certificatePath),
    contentsOf(source.keyPath),
  ]);
  return {
    keys: [readPrivateKey(key.toString('latin1'), source.password)],
    certificates: certificatesIn(certificates),
  };
}

async function fromPfx(source: KeySource & { readonly source: 'Pfx' }): Promise<Material> {
  return openPfx(await contentsOf(source.path), source.password ?? '');
}

async function contentsOf(path: string): Promise<Buffer> {
  try {
    return await readFile(path);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown error';
    throw new CryptoError('key.unreadable', `${path} can't be read: ${code}.`);
  }
}

interface Pair {
  readonly key: KeyObject;
  readonly certificate: Certificate;
}

function pairOf(key: KeyObject, certificates: readonly Certificate[]): Pair[] {
  const certificate = certificates.find(({ der }) => new X509Certificate(der).checkPrivateKey(key));
  return certificate === undefined ? [] : [{ key, certificate }];
}

function choose(pairs: readonly Pair[], keys: readonly KeyObject[], thumbprint: string | undefined): Pair {
  if (keys.length === 0) throw new CryptoError('key.not-found', 'There is no private key inside.');
  if (thumbprint !== undefined) {
    const wanted = thumbprint.replace(/[\s:]/g, '').toUpperCase();
    const named = pairs.find(({ certificate }) => thumbprintOf(certificate.der) === wanted);
    if (named === undefined) {
      throw new CryptoError('key.not-found', `No key has a certificate with the thumbprint ${wanted}.`);
    }
    return named;
  }
  const [pair] = pairs;
  if (pair === undefined) throw new CryptoError('key.mismatch', 'No certificate belongs to the private key.');
  if (pairs.length > 1) {
    throw new CryptoError('key.ambiguous', `There are ${pairs.length} keys; name one by its thumbprint.`);
  }
  return pair;
}

function signerOf(
  { key: keyObject, certificate }: Pair,
  all: readonly Certificate[],
  now: number,
): LoadedSigner {
  const key = localKey(keyObject);
  if (now < certificate.notBefore) {
    const from = new Date(certificate.notBefore).toISOString();
    throw new CryptoError('certificate.not-yet-valid', `The certificate is valid from ${from}.`);
  }
  if (now > certificate.notAfter) {
    const until = new Date(certificate.notAfter).toISOString();
    throw new CryptoError('certificate.expired', `The certificate expired at ${until}.`);
  }
  const { keyUsage } = certificate;
  if (keyUsage !== undefined && !keyUsage.digitalSignature && !keyUsage.nonRepudiation) {
    throw new CryptoError('key.unsupported', 'The certificate does not allow its key to sign documents.');
  }
  const above = issuersOf(certificate, all);
  const top = above[above.length - 1];
  const root = top !== undefined && isSelfIssued(top) ? top.der : undefined;
  return {
    key,
    certificate: certificate.der,
    chain: above.map(({ der }) => der).filter((der) => der !== root),
    keyType: key.type,
    keyBits: key.bits,
    fingerprint: certificate.fingerprint,
    root,
    notAfter: certificate.notAfter,
    subject: new X509Certificate(certificate.der).subject.replaceAll('\n', ', '),
    thumbprint: thumbprintOf(certificate.der),
  };
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

function thumbprintOf(der: Buffer): string {
  return createHash('sha1').update(der).digest('hex').toUpperCase();
}
