import { createPrivateKey, type KeyObject } from 'node:crypto';
import { Asn1Error } from '../asn1/asn1-error.ts';
import { enter, octets, readElement } from '../asn1/read.ts';
import { TAG } from '../asn1/tags.ts';
import { CryptoError } from '../core/types.ts';
import { decryptWithPassword } from '../pkcs12/password-encryption.ts';
import { passwordSource } from './password-primitives.ts';

/**
 * Reads a private key from PEM or DER: PKCS#8, encrypted PKCS#8, or the older forms of RSA and EC keys.
 * @param file one character for each byte
 * @throws {CryptoError} `key.password` when a password is missing or wrong, `key.unreadable`
 */
export async function readPrivateKey(file: string, password: string | undefined): Promise<KeyObject> {
  const der = Buffer.from(file, 'latin1');
  if (der[0] === TAG.sequence) return readDer(der, password);
  // Editors put a byte order mark before the label.
  const pem = file.replace(/^\u00ef\u00bb\u00bf/, '');
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

async function readDer(der: Buffer, password: string | undefined): Promise<KeyObject> {
  for (const type of ['pkcs8', 'pkcs1', 'sec1'] as const) {
    try {
      return createPrivateKey({ key: der, format: 'der', type });
    } catch {
      // The next form is tried.
    }
  }
  if (password !== undefined) return decryptPkcs8(der, password);
  throw new CryptoError('key.unreadable', 'The private key is in no known form of DER, or it is encrypted.');
}

const PKCS8 = /-----BEGIN ENCRYPTED PRIVATE KEY-----([A-Za-z0-9+/=\s]+)-----END ENCRYPTED PRIVATE KEY-----/;
/**
 * Ciphers of the traditional format, whose key is one round of a hash (RFC 1421 defines the header, not the
 * derivation).
 */
const OLDER_CIPHERS = /^DEK-Info: (DES-EDE3|AES-(128|192|256)|CAMELLIA-(128|192|256))-CBC,/m;

/**
 * Decrypts an EncryptedPrivateKeyInfo (RFC 5958 §3). Replaces OpenSSL's reader, which does not limit the cost of a
 * derivation, does not distinguish a wrong password from an unsupported cipher, and lacks ciphers of old files.
 *     EncryptedPrivateKeyInfo ::= SEQUENCE { encryptionAlgorithm AlgorithmIdentifier, encryptedData OCTET STRING }
 */
async function decryptPkcs8(der: Buffer, password: string): Promise<KeyObject> {
  let plain: Uint8Array | undefined;
  try {
    const fields = enter(readElement(der), TAG.sequence);
    const algorithm = fields.next(TAG.sequence);
    plain = await decryptWithPassword(algorithm, octets(fields.next()), passwordSource(password));
  } catch (error) {
    throw error instanceof Asn1Error ? unsupported(error.message) : wrongPassword();
  }
  if (plain === undefined) throw wrongPassword();
  try {
    return createPrivateKey({ key: Buffer.from(plain), format: 'der', type: 'pkcs8' });
  } catch {
    // One wrong password in a few hundred leaves padding that looks right.
    throw wrongPassword();
  }
}

function unsupported(reason: string): CryptoError {
  return new CryptoError('key.unreadable', `The private key can't be decrypted: ${reason}.`);
}

function wrongPassword(): CryptoError {
  return new CryptoError('key.password', 'The password does not open the private key.');
}
