/**
 * Encryption envelope, version 1: magic, version, nonce, ciphertext, tag. It excludes salt and iteration count.
 *
 * | offset | length | field |
 * |--------|--------|-------|
 * | 0      | 8      | magic |
 * | 8      | 1      | version |
 * | 9      | 12     | nonce |
 * | 21     | N      | ciphertext, AES-256-GCM over the whole file, no associated data |
 * | 21+N   | 16     | tag |
 *
 * Source: docs/batch-values.md §9.
 */
import { pbkdf2 } from 'node:crypto';

/** `BSENC` and three zero bytes. */
const MAGIC = Buffer.from('4253454e43000000', 'hex');
const VERSION = 1;

/** Cipher of version 1 (NIST SP 800-38D). */
export const CIPHER = 'aes-256-gcm';
export const NONCE_BYTES = 12;
export const TAG_BYTES = 16;

/** The first nine bytes of every envelope. */
export const HEADER = Buffer.concat([MAGIC, Buffer.from([VERSION])]);
export const HEAD_BYTES = HEADER.length + NONCE_BYTES;
/** Bytes of an envelope in addition to its plaintext; also the shortest envelope. */
export const OVERHEAD_BYTES = HEAD_BYTES + TAG_BYTES;

export const KEY_BYTES = 32;

/** Limit of GCM under one nonce: 2^36 - 32 bytes (NIST SP 800-38D §5.2.1.1). */
export const MAX_PLAINTEXT_BYTES = 2 ** 36 - 32;

/** Bytes read, encrypted and written at once. */
export const CHUNK_BYTES = 1 << 20;

/** Derives the key: PBKDF2-HMAC-SHA256 over the password as UTF-8; 32 bytes. Deliberately slow. */
export function envelopeKey(password: string, salt: Uint8Array, iterations: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    pbkdf2(password, salt, iterations, KEY_BYTES, 'sha256', (error, key) => {
      if (error) reject(error);
      else resolve(key);
    });
  });
}
