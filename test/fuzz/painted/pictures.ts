/** Pictures of the first page of a PDF by two renderers, and what a change did to them. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runTool } from '../../verifiers/tool.ts';
import type { PaintedChange, Rectangle } from './changes.ts';

const RENDERERS = ['mutool', 'pdftoppm'] as const;
type Renderer = (typeof RENDERERS)[number];

/** Pixels for each unit of the page. */
const SCALE = 2;

/** Grey, one byte for each pixel, from the top. */
interface Picture {
  readonly width: number;
  readonly height: number;
  readonly pixels: Buffer;
}

export class Pictures {
  readonly #folder: string;
  /** Pictures of what was signed, which many changes share. */
  readonly #signed = new Map<Buffer, Promise<Picture>[]>();
  #count = 0;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** True when a renderer shows something else after a change. */
  async differs(change: PaintedChange): Promise<boolean> {
    for (const renderer of RENDERERS) {
      const before = await this.#of(change.before, renderer);
      const after = await this.#of(change.after, renderer);
      if (differs(before, after)) return true;
    }
    return false;
  }

  /** Returns what a change that was accepted does and must not do; nothing for a good one. */
  async faultsOf(change: PaintedChange): Promise<readonly string[]> {
    let signed = this.#signed.get(change.before);
    if (signed === undefined) {
      signed = RENDERERS.map((renderer) => this.#of(change.before, renderer));
      this.#signed.set(change.before, signed);
    }
    const faults: string[] = [];
    for (const [index, renderer] of RENDERERS.entries()) {
      const before = await signed[index];
      const after = await this.#of(change.after, renderer);
      if (before === undefined || before.pixels.length !== after.pixels.length) return ['another size'];
      const fault = faultBetween(before, after, change);
      if (fault !== undefined) faults.push(`${renderer}: ${fault}`);
      if (change.honest !== undefined && differs(after, await this.#of(change.honest, renderer)))
        faults.push(`${renderer}: shows another text than its value`);
      if (change.plain !== undefined && !isReadable(before, await this.#of(change.plain, renderer), after))
        faults.push(`${renderer}: the value cannot be seen`);
    }
    return faults;
  }

  async #of(pdf: Buffer, renderer: Renderer): Promise<Picture> {
    const path = join(this.#folder, `${++this.#count}.pdf`);
    writeFileSync(path, pdf);
    const resolution = String(72 * SCALE);
    if (renderer === 'mutool')
      await runTool('mutool', [
        'draw',
        '-q',
        '-c',
        'gray',
        '-r',
        resolution,
        '-F',
        'pgm',
        '-o',
        `${path}.pgm`,
        path,
        '1',
      ]);
    else
      await runTool('pdftoppm', ['-r', resolution, '-gray', '-f', '1', '-l', '1', '-singlefile', path, path]);
    const file = readFileSync(`${path}.pgm`);
    for (const one of [path, `${path}.pgm`]) rmSync(one);
    const [head = '', width, height] =
      /^P5\s+(?:#.*\n)?(\d+)\s+(\d+)\s+255\s/.exec(file.toString('latin1', 0, 80)) ?? [];
    return { width: Number(width), height: Number(height), pixels: file.subarray(head.length) };
  }
}

/** Difference of grey that people see. */
const SEEN = 40;
/** Difference between ink and paper. */
const INK = 100;
/** Part of the contrast of ink that has to remain: a little less than the engine asks for. */
const LEGIBLE = 0.3;
/** Part of the pixels of a glyph that may lose their contrast, by others than lines of comments. */
const LOST = 0.25;
const LOST_BY_LINE = 0.6;
/** Part of the paper of a glyph that may get ink. */
const INKED = 0.15;
/** Pixels within which the paper around a pixel of ink is. */
const REACH = 6;
/** Fewest pixels of a glyph; renderers draw smaller ones differently at each place. */
const SPECK = 8;

function differs(one: Picture, other: Picture): boolean {
  let count = 0;
  for (let at = 0; at < one.pixels.length; at++)
    if (Math.abs((one.pixels[at] ?? 0) - (other.pixels[at] ?? 0)) > SEEN) count++;
  return count > 3;
}

function faultBetween(before: Picture, after: Picture, change: PaintedChange): string | undefined {
  const { place, kind } = change;
  if (change.isFrozen === true && differs(before, after)) return 'shows something else at level 1';
  const inside = pixelsOf(place, before, 2);
  let outside = 0;
  for (let y = 0; y < before.height; y++) {
    const from = y * before.width;
    const to = (y + 1) * before.width;
    if (before.pixels.subarray(from, to).equals(after.pixels.subarray(from, to))) continue;
    for (let at = from; at < to; at++) {
      const isInside =
        y >= inside.top && y < inside.bottom && at - from >= inside.left && at - from < inside.right;
      if (!isInside && Math.abs((before.pixels[at] ?? 0) - (after.pixels[at] ?? 0)) > SEEN) outside++;
    }
  }
  if (outside > 3 && kind !== 'entry') return `changes ${outside} pixels outside of its rectangle`;
  for (const glyph of glyphsIn(before, inside)) {
    const { lost, inked } = damageTo(glyph, before, after);
    const mayStrike = kind === 'line' || kind === 'entry';
    if (mayStrike ? lost > LOST_BY_LINE && glyph.isTall : lost > LOST)
      return `erases ${Math.round(lost * 100)} % of a glyph at ${where(glyph, before)}`;
    if (!mayStrike && kind !== 'highlight' && inked > INKED)
      return `puts ink on ${Math.round(inked * 100)} % of the paper of a glyph at ${where(glyph, before)}`;
  }
  return undefined;
}

function where({ pixels: [first = 0] }: Glyph, { width, height }: Picture): string {
  return `${Math.round((first % width) / SCALE)}, ${Math.round((height - Math.floor(first / width)) / SCALE)}`;
}

/** Offsets of pixels, left and top inclusive. */
interface Area {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

function pixelsOf([left, bottom, right, top]: Rectangle, { width, height }: Picture, margin: number): Area {
  return {
    left: Math.max(0, Math.floor(left * SCALE) - margin),
    right: Math.min(width, Math.ceil(right * SCALE) + margin),
    top: Math.max(0, Math.floor(height - top * SCALE) - margin),
    bottom: Math.min(height, Math.ceil(height - bottom * SCALE) + margin),
  };
}

/** Connected ink of what was signed. */
interface Glyph {
  readonly pixels: readonly number[];
  readonly box: Area;
  /** False for what a line over a text may hide: dashes and points. */
  readonly isTall: boolean;
}

const known = new WeakMap<Picture, Map<string, readonly Glyph[]>>();

function glyphsIn(picture: Picture, area: Area): readonly Glyph[] {
  const key = Object.values(area).join();
  const found = known.get(picture) ?? new Map<string, readonly Glyph[]>();
  known.set(picture, found);
  const glyphs = found.get(key) ?? [...findGlyphs(picture, area)];
  found.set(key, glyphs);
  return glyphs;
}

function* findGlyphs(picture: Picture, area: Area): Generator<Glyph> {
  const { width, pixels } = picture;
  const seen = new Set<number>();
  const isInk = (at: number): boolean => paperAt(picture, at) !== undefined;
  for (let y = area.top; y < area.bottom; y++)
    for (let x = area.left; x < area.right; x++) {
      const first = y * width + x;
      if (seen.has(first) || (pixels[first] ?? 255) > 255 - INK || !isInk(first)) continue;
      const own: number[] = [];
      const open = [first];
      seen.add(first);
      for (let at = open.pop(); at !== undefined; at = open.pop()) {
        own.push(at);
        for (const next of [at - 1, at + 1, at - width, at + width])
          if (!seen.has(next) && isInk(next)) {
            seen.add(next);
            open.push(next);
          }
      }
      if (own.length < SPECK) continue;
      const xs = own.map((at) => at % width);
      const ys = own.map((at) => Math.floor(at / width));
      const box = {
        left: Math.min(...xs),
        right: Math.max(...xs) + 1,
        top: Math.min(...ys),
        bottom: Math.max(...ys) + 1,
      };
      // Lines and pictures are compared as a whole with what is around them by neither eye nor engine.
      if (box.right - box.left > 60 * SCALE || box.bottom - box.top > 60 * SCALE) continue;
      if (isFrame(own.length, box)) continue;
      yield { pixels: own, box, isTall: box.bottom - box.top > 4 * SCALE };
    }
}

/** Part of the extent of a frame, such as that of a button, that is ink; letters of its size have more. */
const FRAME_INK = 0.2;
const LEAST_FRAME = 20 * SCALE;

/** Frames are no content: a mark may hide a part of one. */
function isFrame(ink: number, { left, right, top, bottom }: Area): boolean {
  return right - left > LEAST_FRAME && ink < FRAME_INK * (right - left) * (bottom - top);
}

/** Pixels around one, the nearest first. */
const AROUND = Array.from({ length: (2 * REACH + 1) ** 2 }, (_, index) => [
  (index % (2 * REACH + 1)) - REACH,
  Math.floor(index / (2 * REACH + 1)) - REACH,
])
  .map(([x = 0, y = 0]) => [x, y] as const)
  .sort(([x, y], [a, b]) => x * x + y * y - a * a - b * b);

/** Returns the nearest pixel that is paper below a pixel of ink; undefined when this one is no ink. */
function paperAt({ width, pixels }: Picture, at: number, distance = 0): number | undefined {
  const own = pixels[at];
  if (own === undefined || own > 255 - INK) return undefined;
  for (const [x, y] of AROUND) {
    if (x * x + y * y < distance * distance) continue;
    const near = at + y * width + x;
    if ((pixels[near] ?? 0) - own >= INK) return near;
  }
  return undefined;
}

function damageTo({ pixels, box }: Glyph, before: Picture, after: Picture): { lost: number; inked: number } {
  let lost = 0;
  for (const at of pixels) {
    const paper = paperAt(before, at);
    if (paper === undefined) continue;
    const had = (before.pixels[paper] ?? 0) - (before.pixels[at] ?? 0);
    const has = Math.abs((after.pixels[paper] ?? 0) - (after.pixels[at] ?? 0));
    if (has < LEGIBLE * had) lost++;
  }
  const own = new Set(pixels);
  let paper = 0;
  let inked = 0;
  for (let y = box.top; y < box.bottom; y++)
    for (let x = box.left; x < box.right; x++) {
      const at = y * before.width + x;
      if (own.has(at) || (before.pixels[at] ?? 0) < 255 - SEEN) continue;
      paper++;
      if ((after.pixels[at] ?? 0) < 255 - INK) inked++;
    }
  return { lost: lost / pixels.length, inked: paper === 0 ? 0 : inked / paper };
}

/** True when the ink that the value alone has can be told from the paper around it. */
function isReadable(before: Picture, plain: Picture, after: Picture): boolean {
  let ink = 0;
  let seen = 0;
  for (let at = 0; at < plain.pixels.length; at++) {
    if (plain.pixels[at] === before.pixels[at]) continue;
    // Bold letters have ink beside that of usual ones.
    const paper = paperAt(plain, at, 3);
    if (paper === undefined) continue;
    ink++;
    const had = (plain.pixels[paper] ?? 0) - (plain.pixels[at] ?? 0);
    if (Math.abs((after.pixels[paper] ?? 0) - (after.pixels[at] ?? 0)) >= 0.15 * had) seen++;
  }
  return ink > 0 && seen >= 0.6 * ink;
}
