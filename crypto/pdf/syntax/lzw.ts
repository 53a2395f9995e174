/**
 * LZWDecode (ISO 32000-2, 7.4.4.2): codes of 9 to 12 bits, most significant bit first.
 */
import { PdfSyntaxError } from './damage.ts';

const CLEAR = 256;
const END = 257;
const CODES = 4096;

/**
 * @param early /EarlyChange: 1 when codes grow one entry early, as is usual; 0 when not
 * @param limit most bytes of the result
 */
export function decodeLzw(data: Buffer, early: number, limit: number): Buffer {
  // Each code above END refers to an earlier part of the output: its start and length.
  const from = new Uint32Array(CODES);
  const length = new Uint32Array(CODES);
  let out = Buffer.allocUnsafe(Math.min(limit, Math.max(1024, data.length * 4)));
  let size = 0;
  let next = END + 1;
  let width = 9;
  let bits = 0;
  let held = 0;
  let previous = -1;
  for (const byte of data) {
    held = ((held << 8) | byte) & 0xffffff;
    bits += 8;
    if (bits < width) continue;
    bits -= width;
    const code = (held >> bits) & ((1 << width) - 1);
    if (code === END) break;
    if (code === CLEAR) {
      next = END + 1;
      width = 9;
      previous = -1;
      continue;
    }
    if (code > next || (code === next && previous < 0))
      throw new PdfSyntaxError('An LZW stream names an unknown code.');
    const start = size;
    const stretch =
      code < CLEAR ? 1 : code === next ? lengthOf(previous, length) + 1 : lengthOf(code, length);
    if (size + stretch > limit) throw new PdfSyntaxError('A structure stream unpacks to more than 64 MiB.');
    if (size + stretch > out.length) out = Buffer.concat([out], Math.min(limit, (size + stretch) * 2));
    if (code < CLEAR) {
      out[size++] = code;
    } else {
      const source = code === next ? start - lengthOf(previous, length) : (from[code] as number);
      for (let index = 0; index < stretch; index++) out[size++] = out[source + index] as number;
    }
    if (previous >= 0 && next < CODES) {
      // The entry is the previous part and the first byte of this one, which follows it in the output.
      const before = lengthOf(previous, length);
      from[next] = start - before;
      length[next] = before + 1;
      next++;
      if (next + early >= 1 << width && width < 12) width++;
    }
    previous = code;
  }
  return out.subarray(0, size);
}

function lengthOf(code: number, length: Uint32Array): number {
  return code < CLEAR ? 1 : (length[code] as number);
}
