/**
 * Visible signatures as programs of others show them: signing with an appearance, pages as pixels, images as files.
 */
import { readFileSync } from 'node:fs';
import { crc32, deflateSync } from 'node:zlib';
import type { CryptoError, PadesFormat, SignatureAppearance, Signer } from '#crypto/core/types.js';
import { signPades } from '#crypto/pades/sign.js';
import { pki } from '../../../pki/pki.ts';
import { runTool } from '../../../verifiers/index.ts';
import { freshPath, type Signed } from '../validation/verdicts.ts';

export function signVisibly(
  input: string,
  appearance: SignatureAppearance,
  more: { readonly signer?: Signer; readonly form?: PadesFormat } = {},
): Signed {
  const output = freshPath('visible.pdf');
  const { signer = pki().signer('p-256'), form = {} } = more;
  const pades = { ...form, appearance };
  return {
    input,
    output,
    result: signPades({ format: 'Pades', input, output, signer, at: Date.now(), pades }),
  };
}

/** Code and message of the refusal; empty when it was signed. */
export function refusalOf(input: string, appearance: SignatureAppearance, form?: PadesFormat): string {
  try {
    signVisibly(input, appearance, form === undefined ? {} : { form });
    return '';
  } catch (error) {
    const { code, message } = error as CryptoError;
    return `${code}: ${message}`;
  }
}

export type Colour = readonly [red: number, green: number, blue: number];

/** A page at one pixel a point, or as many as are asked for; y counts from below, as in PDF. */
export interface Picture {
  readonly width: number;
  readonly height: number;
  at(x: number, y: number): Colour;
}

export type Viewer = 'mutool' | 'pdftoppm';

export async function picture(viewer: Viewer, pdf: string, page = 1, dpi = 72): Promise<Picture> {
  const out = freshPath('page');
  const resolution = ['-r', String(dpi)];
  if (viewer === 'mutool') {
    await runTool('mutool', [
      'draw',
      '-q',
      ...resolution,
      '-F',
      'ppm',
      '-o',
      `${out}.ppm`,
      pdf,
      String(page),
    ]);
  } else {
    const number = String(page);
    await runTool('pdftoppm', [
      '-cropbox',
      ...resolution,
      '-f',
      number,
      '-l',
      number,
      '-singlefile',
      pdf,
      out,
    ]);
  }
  const bytes = readFileSync(`${out}.ppm`);
  const header = /^P6\s(?:#[^\n]*\n)*(\d+)\s+(\d+)\s+255\s/.exec(bytes.toString('latin1', 0, 200));
  if (header === null) throw new Error('no picture');
  const width = Number(header[1]);
  const height = Number(header[2]);
  return {
    width,
    height,
    at: (x, y) => {
      const from = header[0].length + 3 * ((height - 1 - Math.floor(y)) * width + Math.floor(x));
      return [bytes[from] ?? -1, bytes[from + 1] ?? -1, bytes[from + 2] ?? -1];
    },
  };
}

/** The smallest box around all pixels that differ; undefined when none does. */
export function difference(
  one: Picture,
  other: Picture,
): readonly [number, number, number, number] | undefined {
  if (one.width !== other.width || one.height !== other.height) return [-1, -1, -1, -1];
  let left = one.width;
  let bottom = one.height;
  let right = 0;
  let top = 0;
  for (let y = 0; y < one.height; y++) {
    for (let x = 0; x < one.width; x++) {
      if (isNear(one.at(x, y), other.at(x, y))) continue;
      left = Math.min(left, x);
      bottom = Math.min(bottom, y);
      right = Math.max(right, x + 1);
      top = Math.max(top, y + 1);
    }
  }
  return right === 0 ? undefined : [left, bottom, right, top];
}

export function isNear(one: Colour, other: Colour, tolerance = 6): boolean {
  return one.every((value, index) => Math.abs(value - (other[index] ?? -1)) <= tolerance);
}

export interface PngShape {
  readonly width: number;
  readonly height: number;
  /** As in the header: 0 grey, 2 colours, 3 palette, 4 and 6 the first two with alpha. */
  readonly type: 0 | 2 | 3 | 4 | 6;
  readonly bits: number;
  readonly interlaced?: boolean;
  /** The samples of a pixel. */
  readonly pixel: (x: number, y: number) => readonly number[];
  readonly palette?: readonly Colour[];
  readonly transparency?: Buffer;
}

/** A PNG whose rows use all five filters in turn. */
export function png(shape: PngShape): Buffer {
  const { width, height, type, bits } = shape;
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([bits, type, 0, 0, shape.interlaced === true ? 1 : 0], 8);
  const passes =
    shape.interlaced === true
      ? [
          [0, 0, 8, 8],
          [4, 0, 8, 8],
          [0, 4, 4, 8],
          [2, 0, 4, 4],
          [0, 2, 2, 4],
          [1, 0, 2, 2],
          [0, 1, 1, 2],
        ]
      : [[0, 0, 1, 1]];
  const data = Buffer.concat(
    passes.map(([x = 0, y = 0, across = 1, down = 1]) => rows(shape, x, { top: y, across, down })),
  );
  return pngOf([
    ['IHDR', header],
    ...(shape.palette === undefined ? [] : [['PLTE', Buffer.from(shape.palette.flat())] as const]),
    ...(shape.transparency === undefined ? [] : [['tRNS', shape.transparency] as const]),
    ['IDAT', deflateSync(data)],
    ['IEND', Buffer.alloc(0)],
  ]);
}

export function pngOf(chunks: readonly (readonly [type: string, body: Buffer])[]): Buffer {
  const parts = chunks.map(([type, body]) => {
    const named = Buffer.concat([Buffer.from(type, 'latin1'), body]);
    const frame = Buffer.alloc(8);
    frame.writeUInt32BE(body.length, 0);
    frame.writeUInt32BE(crc32(named), 4);
    return Buffer.concat([frame.subarray(0, 4), named, frame.subarray(4)]);
  });
  return Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), ...parts]);
}

function rows(
  shape: PngShape,
  left: number,
  { top, across, down }: { readonly top: number; readonly across: number; readonly down: number },
): Buffer {
  const { width, height, bits } = shape;
  const samples = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 }[shape.type];
  const step = Math.max(1, (samples * bits) >> 3);
  const out: Buffer[] = [];
  let above: Buffer | undefined;
  for (let y = top; y < height; y += down) {
    let text = '';
    for (let x = left; x < width; x += across) {
      for (const sample of shape.pixel(x, y)) text += sample.toString(2).padStart(bits, '0');
    }
    if (text === '') return Buffer.alloc(0);
    const row = Buffer.from(
      (text.match(/.{1,8}/g) ?? []).map((byte) => Number.parseInt(byte.padEnd(8, '0'), 2)),
    );
    const filter = out.length % 5;
    const filtered = row.map((value, at) => {
      const a = row[at - step] ?? 0;
      const b = above?.[at] ?? 0;
      const c = above?.[at - step] ?? 0;
      const nearest = [a, b, c].reduce((best, next) =>
        Math.abs(a + b - c - next) < Math.abs(a + b - c - best) ? next : best,
      );
      return value - ([0, a, b, (a + b) >> 1, nearest][filter] ?? 0);
    });
    out.push(Buffer.concat([Buffer.from([filter]), filtered]));
    above = row;
  }
  return Buffer.concat(out);
}

const RED: Colour = [255, 0, 0];
const GREEN: Colour = [0, 160, 0];
const BLUE: Colour = [0, 0, 255];
const BLACK: Colour = [0, 0, 0];

/** Red and green above, blue and black below: it shows how it is turned. Twice as wide as high. */
export const FOUR_COLOURS = png({
  width: 4,
  height: 2,
  type: 2,
  bits: 8,
  pixel: (x, y) => (y === 0 ? (x < 2 ? RED : GREEN) : x < 2 ? BLUE : BLACK),
});

/** Colours of `FOUR_COLOURS` in the middle of each quarter: lower left, lower right, upper left, upper right. */
export const QUARTERS = [BLUE, BLACK, RED, GREEN] as const;
