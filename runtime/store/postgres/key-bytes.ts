/**
 * Keys as bytes whose order (`bytea`, unsigned, shorter first) is the order of `compareKeys`.
 *
 * A number is `01` and its IEEE 754 bits with the sign bit flipped (all bits for negative numbers). A text is `02`, its
 * UTF-8 with each `00` written as `00 FF`, and `00 00`. No part begins with `FF`, so that a prefix followed by `FF` sorts
 * after every key that starts with the prefix.
 */
import { Fatal } from '../../model/failures.ts';

type KeyPart = string | number;

const NUMBER = 0x01;
const TEXT = 0x02;
const ESCAPED_ZERO = 0xff;

/** Encodes the parts of a key. */
export function encodeKey(parts: readonly KeyPart[]): Buffer {
  return Buffer.concat(
    parts.map((part) => (typeof part === 'number' ? encodeNumber(part) : encodeText(part))),
  );
}

/** Returns the upper bound of the keys that start with `prefix`. */
export function endOfPrefix(prefix: Buffer): Buffer {
  return Buffer.concat([prefix, Buffer.of(0xff)]);
}

/** Decodes the result of `encodeKey`. Throws `store.key-malformed`. */
export function decodeKey(bytes: Buffer): readonly KeyPart[] {
  const parts: KeyPart[] = [];
  let at = 0;
  while (at < bytes.length) {
    const tag = bytes[at];
    at += 1;
    if (tag === NUMBER) {
      parts.push(decodeNumber(bytes.subarray(at, at + 8)));
      at += 8;
    } else if (tag === TEXT) {
      const end = endOfText(bytes, at);
      parts.push(decodeText(bytes.subarray(at, end)));
      at = end + 2;
    } else throw new Fatal('store.key-malformed', `A stored key has the unknown tag ${tag}.`);
  }
  return parts;
}

function encodeNumber(value: number): Buffer {
  const bytes = Buffer.alloc(9);
  bytes[0] = NUMBER;
  // -0 is stored as 0: they are equal for `compareKeys`.
  bytes.writeDoubleBE(value === 0 ? 0 : value, 1);
  flipSign(bytes.subarray(1), (bytes[1] ?? 0) >= 0x80);
  return bytes;
}

function decodeNumber(encoded: Buffer): number {
  const bytes = Buffer.from(encoded);
  flipSign(bytes, (bytes[0] ?? 0) < 0x80);
  return bytes.readDoubleBE(0);
}

function flipSign(bytes: Buffer, isNegative: boolean): void {
  if (isNegative) for (let at = 0; at < 8; at++) bytes[at] = ~(bytes[at] ?? 0) & 0xff;
  else bytes[0] = (bytes[0] ?? 0) ^ 0x80;
}

function encodeText(text: string): Buffer {
  const escaped = text.includes('\0') ? escapeZeros(Buffer.from(text)) : Buffer.from(text);
  return Buffer.concat([Buffer.of(TEXT), escaped, Buffer.of(0, 0)]);
}

function escapeZeros(bytes: Buffer): Buffer {
  return Buffer.from([...bytes].flatMap((byte) => (byte === 0 ? [0, ESCAPED_ZERO] : [byte])));
}

function decodeText(bytes: Buffer): string {
  if (!bytes.includes(0)) return bytes.toString();
  return Buffer.from(
    [...bytes].filter((byte, at) => byte !== ESCAPED_ZERO || bytes[at - 1] !== 0),
  ).toString();
}

function endOfText(bytes: Buffer, start: number): number {
  for (let at = bytes.indexOf(0, start); at >= 0; at = bytes.indexOf(0, at + 2)) {
    if (bytes[at + 1] !== ESCAPED_ZERO) return at;
  }
  throw new Fatal('store.key-malformed', 'A stored key ends within a text.');
}
