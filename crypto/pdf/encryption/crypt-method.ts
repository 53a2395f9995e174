/** Encryption methods of strings and streams (ISO 32000-2, 7.6.3 and table 25). */
import { createCipheriv, createDecipheriv, createHash } from 'node:crypto';
import type { Reference } from '../syntax/values.ts';

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

export function encryptBytes(
  method: CryptMethod,
  fileKey: Buffer,
  {
    object,
    clear,
    vector,
  }: {
    readonly object: Reference;
    readonly clear: Buffer;
    /** 16 bytes, unique within the file; unused by RC4. */
    readonly vector: Buffer;
  },
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

/**
 * RC4, used by PDF up to version 1.5. OpenSSL 3 has it in the legacy provider, which is not loaded by
 * default; it opens old files and gives no protection.
 */
export function rc4(key: Uint8Array, data: Uint8Array): Buffer {
  const state = new Uint8Array(256);
  for (let index = 0; index < 256; index++) state[index] = index;
  for (let index = 0, other = 0; index < 256; index++) {
    const value = state[index] as number;
    other = (other + value + (key[index % key.length] ?? 0)) & 255;
    state[index] = state[other] as number;
    state[other] = value;
  }
  const out = Buffer.allocUnsafe(data.length);
  for (let index = 0, first = 0, second = 0; index < data.length; index++) {
    first = (first + 1) & 255;
    const left = state[first] as number;
    second = (second + left) & 255;
    const right = state[second] as number;
    state[first] = right;
    state[second] = left;
    out[index] = (data[index] as number) ^ (state[(left + right) & 255] as number);
  }
  return out;
}
