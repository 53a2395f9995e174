/**
 * Encryption envelope, version 1: magic, version, nonce, ciphertext, tag. Salt and iteration count are not in it.
 *
 * | offset | length | field |
 * |--------|--------|-------|
 * | 0      | 8      | magic |
 * | 8      | 1      | version |
 * | 9      | 12     | nonce |
 * | 21     | N      | ciphertext, AES-256-GCM over the whole file, no associated data |
 * | 21+N   | 16     | tag |
 *
 * Source: batch-gaps §9.
 */
import { pbkdf2 } from 'node:crypto';

/** `BSENC` and three zero bytes. */
const MAGIC = Buffer.from('4253454e43000000', 'hex');
const VERSION = 1;

/** The first nine bytes of every envelope. */
export const START = Buffer.concat([MAGIC, Buffer.from([VERSION])]);
export const NONCE_BYTES = 12;
export const TAG_BYTES = 16;
export const HEAD_BYTES = START.length + NONCE_BYTES;
/** Bytes an envelope has more than what is in it; also the shortest envelope. */
export const OVERHEAD = HEAD_BYTES + TAG_BYTES;

export const CIPHER = 'aes-256-gcm';
export const KEY_BYTES = 32;

/** GCM takes no more under one nonce: 2^36 - 32 bytes (NIST SP 800-38D §5.2.1.1). */
export const MOST_BYTES = 2 ** 36 - 32;

/** Bytes read, worked on and written at once. */
export const PIECE = 1 << 20;

/** PBKDF2-HMAC-SHA256 over the password as UTF-8; 32 bytes. Takes a good part of a second by design. */
export function envelopeKey(password: string, salt: Uint8Array, iterations: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    pbkdf2(password, salt, iterations, KEY_BYTES, 'sha256', (error, key) => {
      if (error) reject(error);
      else resolve(key);
    });
  });
}
