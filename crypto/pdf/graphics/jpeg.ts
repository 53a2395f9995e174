/**
 * Reads the header of a JPEG for embedding in a PDF (ITU-T T.81, annex B): baseline, extended and progressive with
 * eight bits per sample. The image data stays encoded.
 */
import { assertExtent, refusedImage } from './image-limits.ts';

export interface JpegImage {
  readonly width: number;
  readonly height: number;
  readonly components: 1 | 3 | 4;
  /** True for inverted CMYK, as the writers of the Adobe marker store it. */
  readonly isInverted: boolean;
  /** Turn that shows the picture upright (Exif 2.32, 4.6.4, tag 274), 1 to 8; 1 = none. */
  readonly orientation: number;
  /** The file up to its EOI marker, without metadata: that of phones has the place where the picture was taken. */
  readonly data: Buffer;
}

const START = 0xd8;
const END = 0xd9;
const SCAN = 0xda;
const ADOBE = 0xee;
/** Segments with metadata only: Exif and XMP, those of image editors, comments. */
const EXIF = 0xe1;
const METADATA: ReadonlySet<number> = new Set([EXIF, 0xed, 0xfe]);

interface Frame {
  readonly width: number;
  readonly height: number;
  readonly components: 1 | 3 | 4;
}

export function isJpeg(image: Buffer): boolean {
  return image[0] === 0xff && image[1] === START && image[2] === 0xff;
}

/** @throws {CryptoError} `request.invalid` for one that is damaged, truncated, too large, or of an unsupported kind */
export function readJpeg(image: Buffer): JpegImage {
  let frame: Frame | undefined;
  let hasScan = false;
  let isInverted = false;
  let orientation = 1;
  const kept: Buffer[] = [];
  let keptFrom = 0;
  for (let at = 2; ; ) {
    while (image[at] === 0xff && image[at + 1] === 0xff) at++;
    const marker = image[at + 1];
    if (marker === undefined) throw refusedImage('is a JPEG that is cut off');
    if (image[at] !== 0xff || marker === 0) throw refusedImage('is a damaged JPEG');
    if (marker === END) {
      if (frame === undefined || !hasScan) throw refusedImage('is a JPEG without a picture');
      kept.push(image.subarray(keptFrom, at + 2));
      return { ...frame, isInverted, orientation, data: Buffer.concat(kept) };
    }
    if (at + 4 > image.length) throw refusedImage('is a JPEG that is cut off');
    const length = image.readUInt16BE(at + 2);
    const segment = image.subarray(at + 4, at + 2 + length);
    if (length < 2 || segment.length !== length - 2) throw refusedImage('is a JPEG that is cut off');
    if (isFrame(marker)) {
      if (frame !== undefined) throw refusedImage('is a JPEG with two pictures in it');
      frame = readFrame(marker, segment);
    }
    if (marker === ADOBE && segment.toString('latin1', 0, 5) === 'Adobe') isInverted = true;
    if (METADATA.has(marker)) {
      kept.push(image.subarray(keptFrom, at));
      keptFrom = at + 2 + length;
      if (marker === EXIF) orientation = jpegOrientation(segment) ?? orientation;
    }
    at += 2 + length;
    if (marker === SCAN) {
      if (frame === undefined) throw refusedImage('is a damaged JPEG');
      hasScan = true;
      at = endOfScan(image, at);
    }
  }
}

/** True for a start-of-frame marker; C4, C8 and CC are tables. */
function isFrame(marker: number): boolean {
  return marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;
}

function readFrame(marker: number, segment: Buffer): Frame {
  if (marker > 0xc2) throw refusedImage('is a JPEG of a kind that PDF does not know');
  const components = segment[5];
  if (components === undefined) throw refusedImage('is a damaged JPEG');
  if (segment[0] !== 8)
    throw refusedImage(`is a JPEG with ${segment[0]} bits a sample, and only 8 can be shown`);
  if (components !== 1 && components !== 3 && components !== 4) {
    throw refusedImage(`is a JPEG with ${components} colour components`);
  }
  if (segment.length !== 6 + 3 * components) throw refusedImage('is a damaged JPEG');
  const height = segment.readUInt16BE(1);
  const width = segment.readUInt16BE(3);
  assertExtent(width, height);
  return { width, height, components };
}

/** Returns the index of the marker that ends a scan; restart markers and stuffed zeros belong to it. */
function endOfScan(image: Buffer, from: number): number {
  let at = image.indexOf(0xff, from);
  for (; at >= 0; at = image.indexOf(0xff, at + 1)) {
    const next = image[at + 1];
    if (next === undefined) break;
    if (next !== 0 && next !== 0xff && !(next >= 0xd0 && next <= 0xd7)) return at;
  }
  throw refusedImage('is a JPEG that is cut off');
}

/** Tag and type of the orientation in the first directory of Exif metadata. */
const ORIENTATION = 0x0112;
const SHORT = 3;

/** Returns the orientation in an APP1 segment, 1 to 8; undefined when it has none. */
export function jpegOrientation(segment: Buffer): number | undefined {
  if (segment.toString('latin1', 0, 6) !== 'Exif\0\0') return undefined;
  const tiff = segment.subarray(6);
  const order = tiff.toString('latin1', 0, 2);
  if (tiff.length < 8 || (order !== 'II' && order !== 'MM')) return undefined;
  const short = (at: number): number => (order === 'II' ? tiff.readUInt16LE(at) : tiff.readUInt16BE(at));
  const directory = order === 'II' ? tiff.readUInt32LE(4) : tiff.readUInt32BE(4);
  if (directory + 2 > tiff.length) return undefined;
  const count = short(directory);
  for (let entry = directory + 2; entry < directory + 2 + 12 * count; entry += 12) {
    if (entry + 12 > tiff.length) return undefined;
    if (short(entry) !== ORIENTATION || short(entry + 2) !== SHORT) continue;
    const value = short(entry + 8);
    return value >= 1 && value <= 8 ? value : undefined;
  }
  return undefined;
}
