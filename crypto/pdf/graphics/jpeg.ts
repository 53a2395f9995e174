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
  /** The file up to its EOI marker. */
  readonly data: Buffer;
}

const START = 0xd8;
const END = 0xd9;
const SCAN = 0xda;
const ADOBE = 0xee;

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
  for (let at = 2; ; ) {
    while (image[at] === 0xff && image[at + 1] === 0xff) at++;
    const marker = image[at + 1];
    if (marker === undefined) throw refusedImage('is a JPEG that is cut off');
    if (image[at] !== 0xff || marker === 0) throw refusedImage('is a damaged JPEG');
    if (marker === END) {
      if (frame === undefined || !hasScan) throw refusedImage('is a JPEG without a picture');
      return { ...frame, isInverted, data: image.subarray(0, at + 2) };
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
  const [height, width] = [segment.readUInt16BE(1), segment.readUInt16BE(3)];
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
