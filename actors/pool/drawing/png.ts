/** Writes a picture as a small PNG (ISO/IEC 15948), grey ones with sixteen shades, others with their colors. */
import { crc32, deflateSync } from 'node:zlib';
import type { Pixels } from './recorded-canvas.ts';

const MAGIC = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
/** Colour types of clause 11.2.2. */
const GREY = 0;
const RGB_ALPHA = 6;
const RGB = 2;
/** Difference to the sample on the left (clause 9.2). */
const SUB = 1;

/** A picture with the mean of the samples that come together, at most `across` wide and `down` high. */
export function shrunk({ width, height, data }: Pixels, across: number, down: number): Samples {
  const toWidth = Math.max(1, Math.min(width, Math.ceil(across)));
  const toHeight = Math.max(1, Math.min(height, Math.ceil(down)));
  const made = Buffer.alloc(toWidth * toHeight * 4);
  for (let y = 0; y < toHeight; y += 1) {
    const top = Math.floor((y * height) / toHeight);
    const bottom = Math.max(top + 1, Math.floor(((y + 1) * height) / toHeight));
    for (let x = 0; x < toWidth; x += 1) {
      const left = Math.floor((x * width) / toWidth);
      const right = Math.max(left + 1, Math.floor(((x + 1) * width) / toWidth));
      const sums = [0, 0, 0, 0];
      for (let row = top; row < bottom; row += 1)
        for (let at = (row * width + left) * 4; at < (row * width + right) * 4; at += 4) {
          const alpha = data[at + 3] ?? 0;
          for (let part = 0; part < 3; part += 1)
            sums[part] = (sums[part] ?? 0) + (data[at + part] ?? 0) * alpha;
          sums[3] = (sums[3] ?? 0) + alpha;
        }
      const alpha = sums[3] ?? 0;
      const to = (y * toWidth + x) * 4;
      for (let part = 0; part < 3; part += 1)
        made[to + part] = alpha === 0 ? 255 : Math.round((sums[part] ?? 0) / alpha);
      made[to + 3] = Math.round(alpha / ((bottom - top) * (right - left)));
    }
  }
  return { width: toWidth, height: toHeight, data: made };
}

/** Four bytes each: red, green, blue, alpha. */
export interface Samples {
  readonly width: number;
  readonly height: number;
  readonly data: Buffer;
}

/** @param color given to all samples, which keep their alpha */
export function pngOf(
  { width, height, data }: Samples,
  color: string | undefined,
): { readonly bytes: Buffer; readonly isOpaque: boolean } {
  if (color !== undefined) {
    const rgb = Buffer.from(color.slice(1), 'hex');
    for (let at = 0; at < data.length; at += 4) rgb.copy(data, at);
  }
  let isOpaque = true;
  let isGrey = true;
  for (let at = 0; at < data.length; at += 4) {
    isOpaque &&= data[at + 3] === 255;
    isGrey &&= data[at] === data[at + 1] && data[at] === data[at + 2];
  }
  const type = !isOpaque ? RGB_ALPHA : isGrey ? GREY : RGB;
  const rows: Buffer[] = [];
  for (let y = 0; y < height; y += 1) {
    const row = data.subarray(y * width * 4, (y + 1) * width * 4);
    rows.push(type === GREY ? shades(row) : differences(row, type === RGB ? 3 : 4));
  }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header[8] = type === GREY ? 4 : 8;
  header[9] = type;
  const samples = deflateSync(Buffer.concat(rows), { level: 6 });
  const parts = [chunk('IHDR', header), chunk('IDAT', samples), chunk('IEND', Buffer.alloc(0))];
  return { bytes: Buffer.concat([MAGIC, ...parts]), isOpaque };
}

/** A row of four bits for each sample. */
function shades(row: Buffer): Buffer {
  const width = row.length / 4;
  const made = Buffer.alloc(1 + Math.ceil(width / 2));
  for (let x = 0; x < width; x += 1) {
    const shade = Math.round((row[x * 4] ?? 0) / 17);
    const at = 1 + (x >> 1);
    made[at] = (made[at] ?? 0) | (x % 2 === 0 ? shade << 4 : shade);
  }
  return made;
}

function differences(row: Buffer, parts: 3 | 4): Buffer {
  const width = row.length / 4;
  const made = Buffer.alloc(1 + width * parts);
  made[0] = SUB;
  for (let x = 0; x < width; x += 1)
    for (let part = 0; part < parts; part += 1) {
      const before = x === 0 ? 0 : (row[(x - 1) * 4 + part] ?? 0);
      made[1 + x * parts + part] = ((row[x * 4 + part] ?? 0) - before) & 255;
    }
  return made;
}

function chunk(name: string, data: Buffer): Buffer {
  const head = Buffer.alloc(8);
  head.writeUInt32BE(data.length, 0);
  head.write(name, 4, 'latin1');
  const tail = Buffer.alloc(4);
  tail.writeUInt32BE(crc32(data, crc32(head.subarray(4))), 0);
  return Buffer.concat([head, data, tail]);
}
