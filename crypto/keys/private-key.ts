import { createPrivateKey, type KeyObject } from 'node:crypto';
import { CryptoError } from '../types.ts';

/**
 * Reads a private key from PEM: PKCS#8, encrypted PKCS#8, or the older forms of RSA and EC keys.
 * @throws {CryptoError} `key.password` when a password is missing or wrong, `key.unreadable`
 */
export async function readPrivateKey(pem: string, password: string | undefined): Promise<KeyObject> {
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
