/**
 * Embeds the image of a signature in a PDF (ISO 32000-2, 8.9.5, 8.6.5 and 11.6.5.2).
 *
 * Decodes the samples of a PNG to eight bits: interlacing, palettes, separate transparency (ISO/IEC 15948, clauses 7 to
 * 10 and 13.12).
 */
import { createHash } from 'node:crypto';
import { deflateSync, inflateSync } from 'node:zlib';
import { LRUCache } from 'lru-cache';
import { unpredict } from '../syntax/filters.ts';
import { PdfSyntaxError } from '../syntax/reading-errors.ts';
import { type ObjectSink, referenceText, streamObject } from '../update/incremental-update.ts';
import { assertFileLength, refusedImage } from './image-limits.ts';
import { isJpeg, type JpegImage, readJpeg } from './jpeg.ts';
import type { PdfARules } from './pdfa-rules.ts';
import { isPng, type PngColour, type PngFile, readPng } from './png-file.ts';

interface Samples {
  readonly width: number;
  readonly height: number;
  /** Of each pixel: grey, or red, green and blue. */
  readonly channels: 1 | 3;
  readonly colours: Buffer;
  /** One byte per pixel, 255 for opaque; undefined when all are opaque. */
  readonly alpha: Buffer | undefined;
}

/** Origin of an interlacing pass and the distances of its pixels. */
interface Pass {
  readonly left: number;
  readonly top: number;
  readonly across: number;
  readonly down: number;
}

const WHOLE: readonly Pass[] = [{ left: 0, top: 0, across: 1, down: 1 }];

/** Adam7 (clause 8.2). */
const INTERLACED: readonly Pass[] = [
  { left: 0, top: 0, across: 8, down: 8 },
  { left: 4, top: 0, across: 8, down: 8 },
  { left: 0, top: 4, across: 4, down: 8 },
  { left: 2, top: 0, across: 4, down: 4 },
  { left: 0, top: 2, across: 2, down: 4 },
  { left: 1, top: 0, across: 2, down: 2 },
  { left: 0, top: 1, across: 1, down: 2 },
];

const SAMPLES: Readonly<Record<PngColour, number>> = {
  grey: 1,
  rgb: 3,
  palette: 1,
  'grey-alpha': 2,
  'rgb-alpha': 4,
};

/**
 * Most decoded bytes of samples: eight million pixels with four channels of eight bits. They are in memory
 * three times for a moment.
 */
const MAX_UNPACKED = 32 << 20;

/** @throws {CryptoError} `request.invalid` when the samples are damaged, too few or too many */
function unpackPng(png: PngFile): Samples {
  const { width, height, colour, bits } = png;
  const perPixel = SAMPLES[colour];
  const passes = (png.isInterlaced ? INTERLACED : WHOLE)
    .map((pass) => {
      const columns = Math.max(0, Math.ceil((width - pass.left) / pass.across));
      const rows = Math.max(0, Math.ceil((height - pass.top) / pass.down));
      const rowBytes = Math.ceil((columns * perPixel * bits) / 8);
      return { ...pass, columns, rows, rowBytes };
    })
    .filter(({ columns, rows }) => columns > 0 && rows > 0);
  const needed = passes.reduce((sum, { rows, rowBytes }) => sum + rows * (rowBytes + 1), 0);
  const unpacked = inflate(png.data, needed);
  const painter = new Painter(png);
  let from = 0;
  for (const { columns, rows, rowBytes, ...pass } of passes) {
    const filtered = unpacked.subarray(from, from + rows * (rowBytes + 1));
    from += filtered.length;
    const plain = unfilter(filtered, { predictor: 15, colors: perPixel, bits, columns });
    for (let row = 0; row < rows; row++) {
      const line = plain.subarray(row * rowBytes, (row + 1) * rowBytes);
      painter.line(line, columns, (pass.top + row * pass.down) * width + pass.left, pass.across);
    }
  }
  return painter.samples();
}

function inflate(packed: Buffer, needed: number): Buffer {
  if (needed > MAX_UNPACKED) throw refusedImage('unpacks to more than 32 MiB');
  let unpacked: Buffer;
  try {
    unpacked = inflateSync(packed, { maxOutputLength: needed });
  } catch {
    throw refusedImage('is a PNG whose samples are damaged, cut off or too many');
  }
  if (unpacked.length < needed) throw refusedImage('is a PNG with too few samples');
  return unpacked;
}

function unfilter(data: Buffer, prediction: Parameters<typeof unpredict>[1]): Buffer {
  try {
    return unpredict(data, prediction);
  } catch (error) {
    // The damage is in the image, not in the PDF.
    if (error instanceof PdfSyntaxError) throw refusedImage('is a PNG whose samples are damaged');
    throw error;
  }
}

/** Writes rows of samples to their place in the image. */
class Painter {
  readonly #png: PngFile;
  readonly #channels: 1 | 3;
  readonly #colours: Buffer;
  readonly #alpha: Buffer | undefined;

  constructor(png: PngFile) {
    this.#png = png;
    const { colour, width, height } = png;
    this.#channels = colour === 'grey' || colour === 'grey-alpha' ? 1 : 3;
    this.#colours = Buffer.alloc(width * height * this.#channels);
    const hasAlpha = png.transparency !== undefined || colour === 'grey-alpha' || colour === 'rgb-alpha';
    this.#alpha = hasAlpha ? Buffer.alloc(width * height, 0xff) : undefined;
  }

  /** @param first index of the first pixel of the row; the next ones follow at a distance of `step` */
  line(line: Buffer, columns: number, first: number, step: number): void {
    const { colour, bits, transparency } = this.#png;
    if (colour === 'palette') {
      this.#indexed(line, columns, first, step);
      return;
    }
    const inColour = this.#channels;
    const perPixel = SAMPLES[colour];
    // Sixteen bits lose their lower half, fewer than eight are scaled to the full range.
    const stretch = bits < 8 ? 255 / (2 ** bits - 1) : 1;
    const read = reader(line, bits);
    const high = bits === 16 ? 8 : 0;
    for (let column = 0, pixel = first; column < columns; column++, pixel += step) {
      const from = column * perPixel;
      let isClear = transparency !== undefined;
      for (let channel = 0; channel < inColour; channel++) {
        const value = read(from + channel);
        this.#colours[pixel * inColour + channel] = (value >> high) * stretch;
        if (isClear && transparency?.readUInt16BE(2 * channel) !== value) isClear = false;
      }
      if (this.#alpha === undefined) continue;
      this.#alpha[pixel] = perPixel > inColour ? read(from + inColour) >> high : isClear ? 0 : 255;
    }
  }

  #indexed(line: Buffer, columns: number, first: number, step: number): void {
    const { bits, palette, transparency } = this.#png;
    const read = reader(line, bits);
    for (let column = 0, pixel = first; column < columns; column++, pixel += step) {
      const index = read(column);
      // Readers show an index beyond the palette as black.
      palette.copy(this.#colours, 3 * pixel, 3 * index, 3 * index + 3);
      if (this.#alpha !== undefined) this.#alpha[pixel] = transparency?.[index] ?? 255;
    }
  }

  samples(): Samples {
    const { width, height } = this.#png;
    const alpha = this.#alpha?.every((value) => value === 255) === true ? undefined : this.#alpha;
    return { width, height, channels: this.#channels, colours: this.#colours, alpha };
  }
}

/** Returns a function that reads a sample of a row. */
function reader(line: Buffer, bits: number): (index: number) => number {
  if (bits === 8) return (index) => line[index] ?? 0;
  if (bits === 16) return (index) => line.readUInt16BE(2 * index);
  const perByte = 8 / bits;
  const mask = 2 ** bits - 1;
  return (index) => {
    const byte = line[Math.floor(index / perByte)] ?? 0;
    return (byte >> (8 - bits - (index % perByte) * bits)) & mask;
  };
}

/** Blends the image on white, for files without transparency. */
function onWhite(samples: Samples): Samples {
  const { alpha, channels } = samples;
  if (alpha === undefined) return samples;
  const colours = Buffer.alloc(samples.colours.length);
  for (let at = 0; at < colours.length; at++) {
    const share = (alpha[Math.floor(at / channels)] ?? 255) / 255;
    colours[at] = Math.round((samples.colours[at] ?? 0) * share + 255 * (1 - share));
  }
  return { ...samples, colours, alpha: undefined };
}

export interface EmbeddableImage {
  /** Pixels. */
  readonly width: number;
  readonly height: number;
  /** True for a JPEG of four components, which not every file has a definition of. */
  readonly isCmyk: boolean;
  /** Embeds the image and returns the text of the reference to it. */
  embed(draft: ObjectSink, rules: PdfARules): string;
}

/** @throws {CryptoError} `request.invalid` for anything but a complete PNG or JPEG within the limits */
export function showImage(file: Uint8Array): EmbeddableImage {
  // Transfer between threads turns a Buffer into a Uint8Array.
  const image = Buffer.from(file.buffer, file.byteOffset, file.byteLength);
  assertFileLength(image);
  if (isPng(image)) {
    const png = readPng(image);
    return {
      width: png.width,
      height: png.height,
      isCmyk: false,
      embed: (...to) => embedPng(image, png, ...to),
    };
  }
  if (isJpeg(image)) {
    const jpeg = readJpeg(image);
    const [width, height] = jpeg.orientation < 5 ? [jpeg.width, jpeg.height] : [jpeg.height, jpeg.width];
    return { width, height, isCmyk: jpeg.components === 4, embed: (...to) => embedJpeg(jpeg, ...to) };
  }
  throw refusedImage('is neither PNG nor JPEG');
}

function embedPng(file: Buffer, png: PngFile, draft: ObjectSink, rules: PdfARules): string {
  const { channels, colours, alpha } = packedPng(file, png, rules.transparency);
  const keys = `${imageKeys(png.width, png.height)}/Filter/FlateDecode`;
  let mask = '';
  if (alpha !== undefined) {
    mask = `/SMask ${referenceText(draft.add(streamObject(`${keys}/ColorSpace/DeviceGray`, alpha)))}`;
  }
  const space = colourSpace(channels === 1 ? 'grey' : 'rgb', rules);
  return referenceText(draft.add(streamObject(`${keys}/ColorSpace${space}${mask}`, colours)));
}

function embedJpeg(jpeg: JpegImage, draft: ObjectSink, rules: PdfARules): string {
  const { width, height, components, isInverted, orientation, data } = jpeg;
  if (components === 4 && !rules.deviceColours) {
    throw refusedImage('is a JPEG of printing colours, which this PDF/A file has no definition of');
  }
  const space = colourSpace(components === 1 ? 'grey' : components === 3 ? 'rgb' : 'cmyk', rules);
  const inverted = components === 4 && isInverted ? '/Decode[1 0 1 0 1 0 1 0]' : '';
  const keys = `${imageKeys(width, height)}/ColorSpace${space}${inverted}/Filter/DCTDecode`;
  const stored = referenceText(draft.add(streamObject(keys, data)));
  const matrix = UPRIGHT[orientation - 1] ?? '';
  if (matrix === '') return stored;
  const form = `/Type/XObject/Subtype/Form/BBox[0 0 1 1]/Matrix[${matrix}]/Resources<</XObject<</Im ${stored}>>>>`;
  return referenceText(draft.add(streamObject(form, Buffer.from('/Im Do', 'latin1'))));
}

/** Matrices that turn the unit square of a picture upright, by its orientation from 1 on. */
const UPRIGHT = [
  '',
  '-1 0 0 1 1 0',
  '-1 0 0 -1 1 1',
  '1 0 0 -1 0 1',
  '0 -1 -1 0 1 1',
  '0 -1 1 0 0 1',
  '0 1 1 0 0 0',
  '0 1 -1 0 1 0',
];

function imageKeys(width: number, height: number): string {
  return `/Type/XObject/Subtype/Image/Width ${width}/Height ${height}/BitsPerComponent 8`;
}

// Colour spaces of an appearance (ISO 32000-2, 8.6.4 and 8.6.5).

/** Daylight, D65. */
const WHITE = '/WhitePoint[0.9505 1 1.089]';

/** Calibrated spaces with the primaries of sRGB (IEC 61966-2-1) and a gamma close to its curve. */
const DEFINED = {
  grey: `[/CalGray<<${WHITE}/Gamma 2.2>>]`,
  rgb:
    `[/CalRGB<<${WHITE}/Gamma[2.2 2.2 2.2]` +
    '/Matrix[0.4124 0.2126 0.0193 0.3576 0.7152 0.1192 0.1805 0.0722 0.9505]>>]',
};

const OF_DEVICE = { grey: '/DeviceGray', rgb: '/DeviceRGB', cmyk: '/DeviceCMYK' };

/** Returns the colour space as PDF text; CMYK has no calibrated space without an ICC profile. */
export function colourSpace(colours: 'grey' | 'rgb' | 'cmyk', { deviceColours }: PdfARules): string {
  return deviceColours || colours === 'cmyk' ? OF_DEVICE[colours] : DEFINED[colours];
}

/**
 * Compresses the samples of a PNG for PDF. Thousands of files are signed with the same image, so the last few are
 * cached.
 */
interface PackedPng {
  readonly channels: 1 | 3;
  readonly colours: Buffer;
  /** Undefined when the image is opaque. */
  readonly alpha: Buffer | undefined;
}

const CACHE_SIZE = 8;
/** Most bytes of the cache. */
const CACHE_BYTES = 16 << 20;

/** Keyed by digest of the file and treatment of its transparency. */
const cache = new LRUCache<string, PackedPng>({
  max: CACHE_SIZE,
  maxSize: CACHE_BYTES,
  sizeCalculation: ({ colours, alpha }) => colours.length + (alpha?.length ?? 0),
});

/**
 * @param file source of `png`
 * @param transparency true when transparency is permitted; otherwise the image is blended on white
 * @throws {CryptoError} as `unpackPng`
 */
function packedPng(file: Buffer, png: PngFile, transparency: boolean): PackedPng {
  const key = `${createHash('sha256').update(file).digest('hex')} ${transparency}`;
  const cached = cache.get(key);
  if (cached !== undefined) return cached;
  const packed = pack(png, transparency);
  cache.set(key, packed);
  return packed;
}

function pack(png: PngFile, transparency: boolean): PackedPng {
  const unpacked = unpackPng(png);
  const { channels, colours, alpha } = transparency ? unpacked : onWhite(unpacked);
  return { channels, colours: deflateSync(colours), alpha: alpha && deflateSync(alpha) };
}
