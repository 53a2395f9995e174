/** A writer of DER (X.690 §10, §11): definite lengths in the fewest octets, sets in order. */
import { TAG } from './read.ts';

/** Encodes identifier and length octets for a value of `length` bytes; exact for every safe integer. */
export function header(tag: number, length: number): Buffer {
  if (length < 0x80) return Buffer.from([tag, length]);
  const octets: number[] = [];
  for (let rest = length; rest > 0; rest = Math.floor(rest / 256)) octets.unshift(rest % 256);
  return Buffer.from([tag, 0x80 | octets.length, ...octets]);
}

/** Returns the length in bytes of an element whose value has `length` bytes. */
export function encodedLength(length: number): number {
  if (length < 0x80) return 2 + length;
  let octets = 0;
  for (let rest = length; rest > 0; rest = Math.floor(rest / 256)) octets++;
  return 2 + octets + length;
}

/** Encodes an element whose value is the concatenation of `parts`. */
export function tlv(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  let length = 0;
  for (const part of parts) length += part.length;
  return Buffer.concat([header(tag, length), ...parts]);
}

export function sequence(...parts: readonly Uint8Array[]): Buffer {
  return tlv(TAG.sequence, ...parts);
}

/** Encodes a SET OF: elements in ascending order of their encodings (X.690 §11.6). */
export function setOf(elements: readonly Buffer[], tag: number = TAG.set): Buffer {
  return tlv(tag, ...[...elements].sort(Buffer.compare));
}

export function octetString(bytes: Uint8Array): Buffer {
  return tlv(TAG.octetString, bytes);
}

/** Encodes a BIT STRING of whole octets, or of named bits when `unused` bits of the last octet do not count. */
export function bitString(bytes: Uint8Array, unused = 0): Buffer {
  return tlv(TAG.bitString, Buffer.from([unused]), bytes);
}

/** Encodes an INTEGER from unsigned big-endian bytes. */
export function unsigned(bytes: Uint8Array): Buffer {
  let from = 0;
  while (from < bytes.length - 1 && bytes[from] === 0) from++;
  const digits = bytes.subarray(from);
  const lead = (digits[0] ?? 0) >= 0x80 || digits.length === 0 ? Buffer.from([0]) : Buffer.alloc(0);
  return tlv(TAG.integer, lead, digits);
}

/** Encodes an INTEGER between 0 and 127. */
export function small(value: number): Buffer {
  return Buffer.from([TAG.integer, 1, value]);
}

/** Encodes an OBJECT IDENTIFIER from its dotted form (X.690 §8.19). */
export function oid(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  const octets: number[] = [];
  for (const arc of [first * 40 + second, ...rest]) {
    const digits = [arc % 128];
    for (let left = Math.floor(arc / 128); left > 0; left = Math.floor(left / 128)) {
      digits.unshift(0x80 | (left % 128));
    }
    octets.push(...digits);
  }
  return tlv(TAG.oid, Buffer.from(octets));
}

export const NULL = Buffer.from([TAG.null, 0]);
export const TRUE = Buffer.from([TAG.boolean, 1, 0xff]);
