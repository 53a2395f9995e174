/** The two ways to write an ECDSA value: DER (X9.62, CMS) and fixed-length r and s in a row (XML Signature, PKCS#11). */
import { contents, enter, readWhole } from '../asn1/read.ts';
import { TAG } from '../asn1/tags.ts';
import { sequence, unsigned } from '../asn1/write.ts';

/** @param bits of the curve's field. @throws {Asn1Error} when `der` is not SEQUENCE { r, s } */
export function concatenatedValue(der: Buffer, bits: number): Buffer {
  const half = Math.ceil(bits / 8);
  const value = Buffer.alloc(2 * half);
  const fields = enter(readWhole(der), TAG.sequence);
  for (const end of [half, 2 * half]) {
    const integer = contents(fields.take(TAG.integer));
    const digits = integer.subarray(Math.max(0, integer.length - half));
    value.set(digits, end - digits.length);
  }
  fields.end();
  return value;
}

/** @param value r and s, of one length. */
export function derValue(value: Buffer): Buffer {
  const half = value.length / 2;
  return sequence(unsigned(value.subarray(0, half)), unsigned(value.subarray(half)));
}
