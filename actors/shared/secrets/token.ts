/**
 * Tokens that a client carries and this service reads back: sessions, tickets of links, secrets at rest. The text is
 * Base64url; the bytes are either authenticated with HMAC-SHA-256 (readable) or encrypted with AES-256-GCM.
 */
import { createCipheriv, createDecipheriv, createHmac, timingSafeEqual } from 'node:crypto';

/** Encryption of tokens: AES-256-GCM (NIST SP 800-38D). */
const CIPHER = 'aes-256-gcm';
export const NONCE_BYTES = 12;
const TAG_BYTES = 16;

interface EncryptOptions {
  /** 32 bytes. */
  readonly key: Uint8Array;
  /** Authenticated and not encrypted, e.g. the use of the secret. */
  readonly associated: Uint8Array;
}

/** Bytes of the authentication value of a signed token: the first half of an HMAC-SHA-256. */
const MAC_BYTES = 16;

/** Appends an HMAC to the bytes. @returns Base64url */
export function signToken(body: Buffer, key: Uint8Array): string {
  return Buffer.concat([body, macOf(body, key)]).toString('base64url');
}

/** Returns the bytes of a signed token; undefined when it is not one, or longer than `maxLength` characters. */
export function readSignedToken(text: string, key: Uint8Array, maxLength: number): Buffer | undefined {
  const bytes = tokenBytes(text, maxLength);
  if (bytes === undefined || bytes.length <= MAC_BYTES) return undefined;
  const body = bytes.subarray(0, -MAC_BYTES);
  return timingSafeEqual(bytes.subarray(-MAC_BYTES), macOf(body, key)) ? body : undefined;
}

/** Encrypts a text behind a readable head. @returns Base64url of head, nonce, ciphertext and tag */
export function encryptToken(
  head: Buffer,
  text: string,
  { nonce, key, associated }: EncryptOptions & { readonly nonce: Uint8Array },
): string {
  const cipher = createCipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES }).setAAD(associated);
  const parts = [head, nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()];
  return Buffer.concat(parts).toString('base64url');
}

/**
 * Decrypts what `encryptToken` returned.
 * @param keyFor returns the key and the associated data for a head; undefined for an unknown head
 * @returns undefined for any other text
 */
export function decryptToken(
  text: string,
  { maxLength, headBytes }: { readonly maxLength: number; readonly headBytes: number },
  keyFor: (head: Buffer) => EncryptOptions | undefined,
): string | undefined {
  const bytes = tokenBytes(text, maxLength);
  if (bytes === undefined || bytes.length < headBytes + NONCE_BYTES + TAG_BYTES) return undefined;
  const options = keyFor(bytes.subarray(0, headBytes));
  if (options === undefined) return undefined;
  const nonce = bytes.subarray(headBytes, headBytes + NONCE_BYTES);
  const decipher = createDecipheriv(CIPHER, options.key, nonce, { authTagLength: TAG_BYTES })
    .setAAD(options.associated)
    .setAuthTag(bytes.subarray(-TAG_BYTES));
  try {
    const body = decipher.update(bytes.subarray(headBytes + NONCE_BYTES, -TAG_BYTES));
    return Buffer.concat([body, decipher.final()]).toString('utf8');
  } catch {
    return undefined;
  }
}

/** Decodes Base64url. The decoder ignores stray bits at the end; here each token has one spelling. */
function tokenBytes(text: string, maxLength: number): Buffer | undefined {
  if (text.length > maxLength || !/^[\w-]+$/.test(text)) return undefined;
  const bytes = Buffer.from(text, 'base64url');
  return bytes.toString('base64url') === text ? bytes : undefined;
}

function macOf(body: Buffer, key: Uint8Array): Buffer {
  return createHmac('sha256', key).update(body).digest().subarray(0, MAC_BYTES);
}
