import { createPrivateKey, type KeyObject } from 'node:crypto';
import { Asn1Error } from '../asn1/error.ts';
import { enter, octets, readElement } from '../asn1/read.ts';
import { TAG } from '../asn1/tags.ts';
import { CryptoError } from '../types.ts';
import { decryptWithPassword } from './password-encryption.ts';

/**
 * Reads a private key from PEM: PKCS#8, encrypted PKCS#8, or the older forms of RSA and EC keys.
 * @throws {CryptoError} `key.password` when a password is missing or wrong, `key.unreadable`
 */
export async function readPrivateKey(pem: string, password: string | undefined): Promise<KeyObject> {
  const encrypted = /^-----BEGIN ENCRYPTED |^Proc-Type: 4,ENCRYPTED/m.test(pem);
  if (!encrypted) {
    try {
      return createPrivateKey({ key: pem, format: 'pem' });
    } catch {
      throw new CryptoError('key.unreadable', 'The private key is not readable as PEM.');
    }
  }
  if (password === undefined) {
    throw new CryptoError('key.password', 'The private key is encrypted and no password is given.');
  }
  const [, base64] = PKCS8.exec(pem) ?? [];
  if (base64 !== undefined) return decryptPkcs8(Buffer.from(base64, 'base64'), password);
  if (!OLDER_CIPHERS.test(pem)) throw unsupported('its encryption is not supported');
  try {
    return createPrivateKey({ key: pem, format: 'pem', passphrase: password });
  } catch {
    throw wrongPassword();
  }
}

const PKCS8 = /-----BEGIN ENCRYPTED PRIVATE KEY-----([A-Za-z0-9+/=\s]+)-----END ENCRYPTED PRIVATE KEY-----/;
/** Ciphers of the older forms, where the key is one round of a hash (RFC 1421 names the header, not the derivation). */
const OLDER_CIPHERS = /^DEK-Info: (DES-EDE3|AES-(128|192|256)|CAMELLIA-(128|192|256))-CBC,/m;

/**
 * EncryptedPrivateKeyInfo (RFC 5958 §3). Not left to OpenSSL: that sets no bound to what a derivation may cost, does
 * not say whether password or cipher is the trouble, and has moved ciphers that old files use out of reach.
 */
async function decryptPkcs8(der: Buffer, password: string): Promise<KeyObject> {
  let plain: Buffer;
  try {
    const fields = enter(readElement(der), TAG.sequence);
    const algorithm = fields.take(TAG.sequence);
    plain = await decryptWithPassword(algorithm, octets(fields.take()), password);
  } catch (error) {
    throw error instanceof Asn1Error ? unsupported(error.message) : wrongPassword();
  }
  try {
    return createPrivateKey({ key: plain, format: 'der', type: 'pkcs8' });
  } catch {
    // One wrong password in some hundreds leaves padding that looks right.
    throw wrongPassword();
  }
}

function unsupported(reason: string): CryptoError {
  return new CryptoError('key.unreadable', `The private key can't be decrypted: ${reason}.`);
}

function wrongPassword(): CryptoError {
  return new CryptoError('key.password', 'The password does not open the private key.');
}
