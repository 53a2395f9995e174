/** Embeds the image of a signature in a PDF (ISO 32000-2, 8.9.5, 8.6.5 and 11.6.5.2). */
import { referenceText } from '../update/incremental-update.ts';
import { type ObjectSink, streamObject } from '../update/stream-object.ts';
import { colourSpace } from './colour.ts';
import { assertFileLength, refusedImage } from './image-limits.ts';
import { isJpeg, type JpegImage, readJpeg } from './jpeg.ts';
import { packedPng } from './packed-png.ts';
import type { PdfARules } from './pdfa-rules.ts';
import { isPng, type PngFile, readPng } from './png-file.ts';

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
