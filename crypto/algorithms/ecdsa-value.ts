/** Converts ECDSA values between DER (X9.62, CMS) and concatenated r and s of fixed length (XML Signature, PKCS#11). */

import { contents, enter, readWhole } from '../asn1/read.ts';
import { TAG } from '../asn1/tags.ts';
import { sequence, unsigned } from '../asn1/write.ts';

/**
 * Converts a DER value to r and s concatenated. @param bits of the curve's field. @throws {Asn1Error} for other DER
 *     ECDSA-Sig-Value ::= SEQUENCE { r INTEGER, s INTEGER }      -- RFC 3279 §2.2.3
 */
export function concatenatedValue(der: Buffer, bits: number): Buffer {
  const half = Math.ceil(bits / 8);
  const value = Buffer.alloc(2 * half);
  const fields = enter(readWhole(der), TAG.sequence);
  for (const end of [half, 2 * half]) {
    const integer = contents(fields.next(TAG.integer));
    const digits = integer.subarray(Math.max(0, integer.length - half));
    value.set(digits, end - digits.length);
  }
  fields.end();
  return value;
}

/**
 * Converts r and s, of one length, to DER.
 *     ECDSA-Sig-Value ::= SEQUENCE { r INTEGER, s INTEGER }
 */
export function derValue(value: Buffer): Buffer {
  const half = value.length / 2;
  return sequence(unsigned(value.subarray(0, half)), unsigned(value.subarray(half)));
}
