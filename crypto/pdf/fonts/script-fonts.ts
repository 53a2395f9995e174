/**
 * Finds the bundled font of a character outside of the European scripts. The packages hold variable fonts, each cut into
 * slices by character; a slice is read at the first use of one of its characters.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { Blob, Face, Font, Variation } from 'harfbuzzjs';
import { unpackWoff2 } from './woff2.ts';

/** Packages in the order in which they are asked; the one of Korean first, since the one of Chinese has some Hangul. */
const PACKAGES = ['arabic', 'hebrew', 'devanagari', 'thai', 'kr', 'sc'] as const;
/** Ideographs of Chinese and Japanese names are drawn from the larger package. */
const IDEOGRAPH = /\p{Script=Han}/u;
const IDEOGRAPH_PACKAGES = ['sc', 'kr'] as const;
/** Weight of the text. */
const WEIGHT = 'wght=400';
/** Slices kept in memory; some 200 KB each. */
const MAX_FACES = 32;

type Package = (typeof PACKAGES)[number];

/** One font with its characters. */
export interface ScriptFace {
  readonly name: string;
  readonly font: Font;
  readonly unitsPerEm: number;
  has(codePoint: number): boolean;
}

interface Slice {
  readonly first: number;
  readonly last: number;
  /** Path in its package. */
  readonly file: string;
}

const require = createRequire(import.meta.url);
const slices = new Map<Package, readonly Slice[]>();
/** In the order of their last use. */
const faces = new Map<string, ScriptFace>();

/** Returns the font that has a character; undefined when none has. */
export function scriptFace(codePoint: number): ScriptFace | undefined {
  const order = IDEOGRAPH.test(String.fromCodePoint(codePoint)) ? IDEOGRAPH_PACKAGES : PACKAGES;
  for (const name of order) {
    const file = sliceOf(name, codePoint);
    const face = file === undefined ? undefined : faceOf(file);
    if (face?.has(codePoint)) return face;
  }
  return undefined;
}

function sliceOf(name: Package, codePoint: number): string | undefined {
  let cached = slices.get(name);
  if (cached === undefined) {
    cached = slicesOf(name);
    slices.set(name, cached);
  }
  let [low, high] = [0, cached.length - 1];
  while (low <= high) {
    const middle = (low + high) >> 1;
    const slice = cached[middle];
    if (slice === undefined || codePoint < slice.first) high = middle - 1;
    else if (codePoint > slice.last) low = middle + 1;
    else return slice.file;
  }
  return undefined;
}

/** Reads the ranges of characters, in ascending order. */
function slicesOf(name: Package): readonly Slice[] {
  const directory = `@fontsource-variable/noto-sans-${name}`;
  const ranges = JSON.parse(readFileSync(require.resolve(`${directory}/unicode.json`), 'utf8')) as Record<
    string,
    string
  >;
  const found = Object.entries(ranges)
    // The other slices of a package have the letters of European scripts.
    .filter(([slice]) => slice === name || slice.startsWith('['))
    .flatMap(([slice, characters]) =>
      characters.split(',').map((range): Slice => {
        const [first = '', last = first] = range.replace('U+', '').split('-');
        const file = `${directory}/files/noto-sans-${name}-${slice.replace(/[[\]]/g, '')}-wght-normal.woff2`;
        return { first: Number.parseInt(first, 16), last: Number.parseInt(last, 16), file };
      }),
    );
  return found.sort((one, other) => one.first - other.first);
}

function faceOf(file: string): ScriptFace {
  const cached = faces.get(file) ?? readFace(file);
  faces.delete(file);
  faces.set(file, cached);
  const [oldest] = faces.keys();
  if (faces.size > MAX_FACES && oldest !== undefined) faces.delete(oldest);
  return cached;
}

function readFace(file: string): ScriptFace {
  const bytes = Uint8Array.from(unpackWoff2(readFileSync(require.resolve(file))));
  const face = new Face(new Blob(bytes.buffer));
  const font = new Font(face);
  const weight = Variation.fromString(WEIGHT);
  if (weight !== undefined) font.setVariations([weight]);
  const characters = new Set(face.collectUnicodes());
  return { name: file, font, unitsPerEm: face.upem, has: (codePoint) => characters.has(codePoint) };
}
