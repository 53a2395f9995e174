/**
 * AES-256-GCM (NIST SP 800-38D) with nonces of 12 bytes and tags of 16 bytes: the one place that names cipher and
 * lengths.
 */
import { type CipherGCM, createCipheriv, createDecipheriv, type DecipherGCM } from 'node:crypto';

export const NONCE_BYTES = 12;
export const TAG_BYTES = 16;
const CIPHER = 'aes-256-gcm';

/** Starts an encryption. @param nonce used once with this key; `associated` is authenticated and not encrypted */
export function startEncryption(key: Uint8Array, nonce: Uint8Array, associated?: Uint8Array): CipherGCM {
  const cipher = createCipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES });
  return associated === undefined ? cipher : cipher.setAAD(associated);
}

/** Starts a decryption; `final()` throws unless key, associated data, ciphertext and tag are the right ones. */
export function startDecryption(
  key: Uint8Array,
  { nonce, tag, associated }: { nonce: Uint8Array; tag: Uint8Array; associated?: Uint8Array },
): DecipherGCM {
  const decipher = createDecipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES }).setAuthTag(tag);
  return associated === undefined ? decipher : decipher.setAAD(associated);
}

export interface EncryptOptions {
  /** 32 bytes. */
  readonly key: Uint8Array;
  /** Authenticated and not encrypted, e.g. the use of the secret. */
  readonly associated: Uint8Array;
}

/** Encrypts a short text. @returns nonce, ciphertext and tag */
export function encryptText(text: string, nonce: Uint8Array, { key, associated }: EncryptOptions): Buffer {
  const cipher = startEncryption(key, nonce, associated);
  return Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]);
}

/** Decrypts what `encryptText` returned. @throws Error for another key, other associated data, or changed bytes */
export function decryptText(bytes: Uint8Array, { key, associated }: EncryptOptions): string {
  if (bytes.length < NONCE_BYTES + TAG_BYTES) throw new RangeError('The ciphertext is too short.');
  const nonce = bytes.subarray(0, NONCE_BYTES);
  const tag = bytes.subarray(-TAG_BYTES);
  const decipher = startDecryption(key, { nonce, tag, associated });
  const body = decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES));
  return Buffer.concat([body, decipher.final()]).toString('utf8');
}
