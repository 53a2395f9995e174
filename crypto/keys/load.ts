/** Loads a signing key with its certificates and checks once that they can sign. */
import { type KeyObject, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { localKey } from '../algorithms/local-key.ts';
import { CryptoError } from '../core/types.ts';
import { type Certificate, readableCertificates } from '../x509/certificate.ts';
import { certificatesIn } from '../x509/pem.ts';
import { normalThumbprint, thumbprintOf } from '../x509/thumbprint.ts';
import { type LoadedSigner, signerOf } from './loaded-signer.ts';
import { openPfx } from './pfx.ts';
import { findTokenKey, type TokenSource } from './pkcs11/find-key.ts';
import { readPrivateKey } from './private-key.ts';

export interface PemSource {
  readonly source: 'Pem';
  /** File with the signer's certificate and any of its chain, in any order; PEM, or one certificate in DER. */
  readonly certificatePath: string;
  /** PEM or DER. */
  readonly keyPath: string;
  readonly password?: string;
}

export interface PfxSource {
  readonly source: 'Pfx';
  readonly path: string;
  /** @default '' */
  readonly password?: string;
  /** SHA-1 of the signer's certificate in hex, colons and spaces allowed; needed when there are several keys. */
  readonly thumbprint?: string;
}

/** Location of a key. */
export type KeySource = PemSource | PfxSource | TokenSource;

/**
 * Loads a signer. The validity period of the certificate is not checked: see `validityFault`.
 * @throws {CryptoError} `key.unreadable` (file or format), `key.password`, `key.not-found` (no key, or none with the
 * thumbprint), `key.ambiguous` (several keys), `key.mismatch` (no certificate matches), `key.unsupported`,
 * `key.unavailable` (token or module), `certificate.malformed`
 */
export async function loadSigner(source: KeySource): Promise<LoadedSigner> {
  if (source.source === 'Pkcs11') {
    const { key, certificate, certificates } = findTokenKey(source);
    return signerOf(key, certificate, certificates.flatMap(readableCertificates));
  }
  const { keys, certificates } = source.source === 'Pfx' ? await fromPfx(source) : await fromPem(source);
  // An unreadable, unrelated certificate does not prevent the use of the others.
  const parsed = certificates.flatMap(readableCertificates);
  if (parsed.length === 0) {
    throw new CryptoError('certificate.malformed', 'No certificate that can be read was found.');
  }
  const pairs = keys.flatMap((key) => pairOf(key, parsed));
  const pair = choose(pairs, keys, source.source === 'Pfx' ? source.thumbprint : undefined);
  return signerOf(localKey(pair.key), pair.certificate, parsed);
}

interface KeyMaterial {
  readonly keys: readonly KeyObject[];
  readonly certificates: readonly Buffer[];
}

async function fromPem(source: PemSource): Promise<KeyMaterial> {
  const [certificates, key] = await Promise.all([
    contentsOf(source.certificatePath),
    contentsOf(source.keyPath),
  ]);
  return {
    keys: [await readPrivateKey(key.toString('latin1'), source.password)],
    certificates: certificatesIn(certificates),
  };
}

async function fromPfx(source: PfxSource): Promise<KeyMaterial> {
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
    const wanted = normalThumbprint(thumbprint);
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
