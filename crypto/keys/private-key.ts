import { createPrivateKey, type KeyObject } from 'node:crypto';
import { CryptoError } from '../types.ts';

const CURVES: ReadonlySet<string> = new Set(['prime256v1', 'secp384r1', 'secp521r1']);

/**
 * Reads a private key from PEM: PKCS#8, encrypted PKCS#8, or the older forms of RSA and EC keys.
 * @throws {CryptoError} `key.password` when a password is missing or wrong, `key.unreadable`
 */
export function readPrivateKey(pem: string, password: string | undefined): KeyObject {
  const encrypted = /^-----BEGIN ENCRYPTED |^Proc-Type: 4,ENCRYPTED/m.test(pem);
  if (encrypted && password === undefined) {
    throw new CryptoError('key.password', 'The private key is encrypted and no password is given.');
  }
  try {
    return createPrivateKey({ key: pem, format: 'pem', ...(encrypted ? { passphrase: password } : {}) });
  } catch {
    throw encrypted
      ? new CryptoError('key.password', 'The password does not open the private key.')
      : new CryptoError('key.unreadable', 'The private key is not readable as PEM.');
  }
}

/**
 * RSA of 2048 to 4096 bits, or EC on P-256, P-384 or P-521.
 * @throws {CryptoError} `key.unsupported`
 */
export function supportedType(key: KeyObject): 'rsa' | 'ec' {
  const type = key.asymmetricKeyType;
  const details = key.asymmetricKeyDetails ?? {};
  if (type === 'rsa') {
    const bits = details.modulusLength ?? 0;
    if (bits >= 2048 && bits <= 4096) return 'rsa';
    throw new CryptoError('key.unsupported', `RSA keys have 2048 to 4096 bits here, this one has ${bits}.`);
  }
  if (type === 'ec') {
    if (CURVES.has(details.namedCurve ?? '')) return 'ec';
    throw new CryptoError('key.unsupported', `The curve ${details.namedCurve} is not supported.`);
  }
  throw new CryptoError('key.unsupported', `Keys of type ${type} are not supported.`);
}
