/**
 * ASCIIHexDecode and ASCII85Decode (ISO 32000-2, 7.4.2 and 7.4.3).
 */
import { PdfSyntaxError } from './damage.ts';
import { isSpace } from './syntax.ts';

export function decodeAsciiHex(data: Buffer): Buffer {
  const end = data.indexOf('>');
  const digits = data.toString('latin1', 0, end < 0 ? data.length : end).replace(/[\0\t\n\f\r ]+/g, '');
  if (/[^0-9a-fA-F]/.test(digits))
    throw new PdfSyntaxError('A stream in hexadecimal has other characters in it.');
  return Buffer.from(digits.length % 2 === 0 ? digits : `${digits}0`, 'hex');
}

const TILDE = 0x7e;
const LETTER_Z = 0x7a;
const FIRST = 0x21;
const LAST = 0x75;

export function decodeAscii85(data: Buffer): Buffer {
  // "z" encodes four zero bytes; all other groups decode five digits to four bytes.
  const out = Buffer.alloc(data.length * 4);
  let size = 0;
  let group = 0;
  let count = 0;
  for (const byte of data) {
    if (byte === TILDE) break;
    if (isSpace(byte)) continue;
    if (byte === LETTER_Z && count === 0) {
      size += 4;
      continue;
    }
    if (byte < FIRST || byte > LAST)
      throw new PdfSyntaxError('A stream in base 85 has other characters in it.');
    group = group * 85 + (byte - FIRST);
    if (++count === 5) {
      size = out.writeUInt32BE(group % 2 ** 32, size);
      group = 0;
      count = 0;
    }
  }
  if (count > 1) {
    // A short last group is padded with the highest digit and decodes to one byte fewer than its digits.
    for (let fill = count; fill < 5; fill++) group = group * 85 + 84;
    const last = Buffer.alloc(4);
    last.writeUInt32BE(group % 2 ** 32);
    size += last.copy(out, size, 0, count - 1);
  }
  return out.subarray(0, size);
}
