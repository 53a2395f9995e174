/** Encryption methods of strings and streams (ISO 32000-2, 7.6.3 and table 25). */
import { createCipheriv, createDecipheriv, createHash } from 'node:crypto';
import type { Reference } from '../syntax/values.ts';
import { rc4 } from './rc4.ts';

/** `identity` leaves bytes as they are. */
export type CryptMethod = 'identity' | 'rc4' | 'aes-128' | 'aes-256';

/** Length of an initialization vector and of a block of AES, bytes. */
export const BLOCK = 16;

/** @param encrypted for AES: an initialization vector, then whole blocks */
export function decryptBytes(
  method: CryptMethod,
  fileKey: Buffer,
  object: Reference,
  encrypted: Buffer,
): Buffer {
  if (method === 'identity') return encrypted;
  const key = objectKey(method, fileKey, object);
  if (method === 'rc4') return rc4(key, encrypted);
  // An incomplete last block is dropped, as in viewers.
  const end = encrypted.length - (encrypted.length % BLOCK);
  if (end < 2 * BLOCK) return Buffer.alloc(0);
  const decipher = createDecipheriv(`${method}-cbc`, key, encrypted.subarray(0, BLOCK)).setAutoPadding(false);
  return withoutPadding(decipher.update(encrypted.subarray(BLOCK, end)));
}

/** @param vector 16 bytes, unique within the file; unused by RC4 */
export function encryptBytes(
  method: CryptMethod,
  fileKey: Buffer,
  object: Reference,
  clear: Buffer,
  vector: Buffer,
): Buffer {
  if (method === 'identity') return clear;
  const key = objectKey(method, fileKey, object);
  if (method === 'rc4') return rc4(key, clear);
  const cipher = createCipheriv(`${method}-cbc`, key, vector);
  return Buffer.concat([vector, cipher.update(clear), cipher.final()]);
}

function withoutPadding(blocks: Buffer): Buffer {
  const fill = blocks.at(-1) ?? 0;
  return fill >= 1 && fill <= BLOCK ? blocks.subarray(0, blocks.length - fill) : blocks;
}

/** Derives the key of an object (algorithm 1); algorithm 1.A uses the file encryption key (AES-256). */
function objectKey(method: CryptMethod, fileKey: Buffer, { number, generation }: Reference): Buffer {
  if (method === 'aes-256') return fileKey;
  const place = Buffer.alloc(5);
  place.writeUIntLE(number % 2 ** 24, 0, 3);
  place.writeUIntLE(generation % 2 ** 16, 3, 2);
  const hash = createHash('md5').update(fileKey).update(place);
  if (method === 'aes-128') hash.update('sAlT');
  return hash.digest().subarray(0, Math.min(fileKey.length + 5, 16));
}
