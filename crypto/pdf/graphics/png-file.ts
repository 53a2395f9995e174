/** Reads the chunks of a PNG (ISO/IEC 15948, clause 5 and 11). */
import { crc32 } from 'node:zlib';
import { assertExtent, refusedImage } from './image-limits.ts';

/** Colour types of clause 11.2.2. */
export type PngColour = 'grey' | 'rgb' | 'palette' | 'grey-alpha' | 'rgb-alpha';

export interface PngFile {
  readonly width: number;
  readonly height: number;
  readonly colour: PngColour;
  /** Bits per sample. */
  readonly bits: number;
  readonly isInterlaced: boolean;
  /** Three bytes per entry; empty for other colour types. */
  readonly palette: Buffer;
  /** Alpha of palette entries, or the one transparent colour; undefined without transparency. */
  readonly transparency: Buffer | undefined;
  /** The compressed samples. */
  readonly data: Buffer;
}

const MAGIC = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

const COLOURS: ReadonlyMap<number, { readonly colour: PngColour; readonly bits: readonly number[] }> =
  new Map([
    [0, { colour: 'grey', bits: [1, 2, 4, 8, 16] }],
    [2, { colour: 'rgb', bits: [8, 16] }],
    [3, { colour: 'palette', bits: [1, 2, 4, 8] }],
    [4, { colour: 'grey-alpha', bits: [8, 16] }],
    [6, { colour: 'rgb-alpha', bits: [8, 16] }],
  ]);

export function isPng(image: Buffer): boolean {
  return image.subarray(0, MAGIC.length).equals(MAGIC);
}

/** @throws {CryptoError} `request.invalid` for one that is damaged, truncated or too large */
export function readPng(image: Buffer): PngFile {
  let header: ReturnType<typeof readHeader> | undefined;
  let palette: Buffer = Buffer.alloc(0);
  let transparency: Buffer | undefined;
  const data: Buffer[] = [];
  for (const { type, body } of chunks(image)) {
    if (header === undefined) {
      if (type !== 'IHDR') throw refusedImage('is a damaged PNG');
      header = readHeader(body);
    } else if (type === 'PLTE') palette = body;
    else if (type === 'tRNS') transparency = body;
    else if (type === 'IDAT') data.push(body);
    else if (type !== 'IEND' && isCritical(type)) throw refusedImage('is a PNG with parts nobody knows');
  }
  if (header === undefined) throw refusedImage('is a damaged PNG');
  if (header.colour === 'palette' && (palette.length === 0 || palette.length % 3 !== 0)) {
    throw refusedImage('is a PNG without its palette');
  }
  const wanted = {
    grey: 2,
    rgb: 6,
    palette: 0,
    'grey-alpha': Number.POSITIVE_INFINITY,
    'rgb-alpha': Number.POSITIVE_INFINITY,
  };
  if (transparency !== undefined && transparency.length < wanted[header.colour]) transparency = undefined;
  return { ...header, palette, transparency, data: Buffer.concat(data) };
}

/** Iterates over the chunks and verifies their CRCs. */
function* chunks(image: Buffer): Generator<{ readonly type: string; readonly body: Buffer }> {
  for (let at = MAGIC.length; ; ) {
    if (at + 12 > image.length) throw refusedImage('is a PNG that is cut off');
    const length = image.readUInt32BE(at);
    const end = at + 8 + length;
    if (end + 4 > image.length) throw refusedImage('is a PNG that is cut off');
    const type = image.toString('latin1', at + 4, at + 8);
    if (crc32(image.subarray(at + 4, end)) !== image.readUInt32BE(end))
      throw refusedImage('is a damaged PNG');
    yield { type, body: image.subarray(at + 8, end) };
    if (type === 'IEND') return;
    at = end + 4;
  }
}

/** True for a critical chunk, which readers must not ignore. */
function isCritical(type: string): boolean {
  return type.charCodeAt(0) < 0x60;
}

function readHeader(body: Buffer) {
  if (body.length !== 13) throw refusedImage('is a damaged PNG');
  const width = body.readUInt32BE(0);
  const height = body.readUInt32BE(4);
  const bits = body[8] ?? 0;
  const known = COLOURS.get(body[9] ?? -1);
  const interlace = body[12] ?? -1;
  if (!known?.bits.includes(bits) || body[10] !== 0 || body[11] !== 0 || interlace > 1) {
    throw refusedImage('is a PNG of a kind nobody knows');
  }
  assertExtent(width, height);
  return { width, height, colour: known.colour, bits, isInterlaced: interlace === 1 };
}
