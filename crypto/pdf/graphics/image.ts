/** Embeds the image of a signature in a PDF (ISO 32000-2, 8.9.5, 8.6.5 and 11.6.5.2). */

import { createHash } from 'node:crypto';
import { deflateSync } from 'node:zlib';
import { LRUCache } from 'lru-cache';
import { type ObjectSink, referenceText, streamObject } from '../update/incremental-update.ts';
import { assertFileLength, refusedImage } from './image-limits.ts';
import { isJpeg, type JpegImage, readJpeg } from './jpeg.ts';
import type { PdfARules } from './pdfa-rules.ts';
import { isPng, type PngFile, readPng } from './png-file.ts';
import { onWhite, unpackPng } from './png-samples.ts';

export interface ShownImage {
  /** Pixels. */
  readonly width: number;
  readonly height: number;
  /** True for a JPEG of four components, which not every file has a definition of. */
  readonly isCmyk: boolean;
  /** Embeds the image and returns the text of the reference to it. */
  embed(draft: ObjectSink, rules: PdfARules): string;
}

/** @throws {CryptoError} `request.invalid` for anything but a complete PNG or JPEG within the limits */
export function showImage(file: Uint8Array): ShownImage {
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
