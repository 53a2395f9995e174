/**
 * Puts a line of text into visual order (Unicode Standard Annex 9) and shapes the scripts whose letters depend on
 * adjacent letters. Letters of the European scripts stay single characters.
 */
import { createRequire } from 'node:module';
import type bidiModule from 'bidi-js';
import { Direction, type Font, Buffer as ShapingBuffer, shape } from 'harfbuzzjs';
import { bundledFont, type Contour, type DrawnGlyph, encodeOutline, type OutlinePoint } from './font-file.ts';
import { type ScriptFace, scriptFace } from './script-fonts.ts';

/** A letter that the bundled font draws by itself, or as a box when it has none. */
export interface Letter {
  readonly codePoint: number;
}

/** Smallest unit of shaped text: the glyphs of one or more characters, drawn together. */
export interface Cluster {
  /** In logical order. */
  readonly text: string;
  /** Equal for clusters that look the same. */
  readonly key: string;
  /** In units of the bundled font. */
  readonly advance: number;
  draw(): DrawnGlyph;
}

const SHAPED =
  /[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Devanagari}\p{Script=Thai}\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u;
/** Marks and joiners belong to the letter before them. */
const ATTACHED = /[\p{M}\u200c\u200d]/u;
/** Strong right-to-left characters, with scripts that the bundled font draws unshaped. */
const FROM_RIGHT = /[\u0590-\u08ff\u{10800}-\u{10fff}\u{1e800}-\u{1efff}\ufb1d-\ufdff\ufe70-\ufefc]/u;

// The types of the package describe its ES module; Node loads the other one, which is the factory itself:
// https://github.com/lojjic/bidi-js/pull/12
type BidiFactory = typeof bidiModule.default;
const require = createRequire(import.meta.url);
let loadedBidi: ReturnType<BidiFactory> | undefined;

/** Loaded with the first line that needs it: loading takes longer than signing a file, in each thread. */
function bidi(): ReturnType<BidiFactory> {
  loadedBidi ??= (require('bidi-js') as BidiFactory)();
  return loadedBidi;
}

interface Run {
  readonly text: string;
  readonly level: number;
  /** Undefined = the bundled font. */
  readonly face: ScriptFace | undefined;
}

/** Returns what to draw from left to right. */
export function visualGlyphs(line: string): readonly (Letter | Cluster)[] {
  const isSimple = [...line].every((letter) => !SHAPED.test(letter) && faceOf(letter) === undefined);
  if (isSimple && !FROM_RIGHT.test(line)) return lettersOf(line);
  return inVisualOrder(runsOf(line)).flatMap(({ text, level, face }) => {
    const isReversed = level % 2 === 1;
    if (face !== undefined) return clustersOf(text, face, isReversed);
    const letters = isReversed ? [...text].reverse().map(mirrored).join('') : text;
    return lettersOf(letters);
  });
}

/** True when a bundled font has the character. */
export function isDrawable(letter: string): boolean {
  const codePoint = letter.codePointAt(0) ?? 0;
  return (
    faceOf(letter) !== undefined || bundledFont().glyph(codePoint) !== undefined || ATTACHED.test(letter)
  );
}

function lettersOf(text: string): readonly Letter[] {
  return [...text].map((letter) => ({ codePoint: letter.codePointAt(0) ?? 0 }));
}

function mirrored(letter: string): string {
  return bidi().getMirroredCharacter(letter) ?? letter;
}

/** The font of a script, or of what the bundled font has not. */
function faceOf(letter: string): ScriptFace | undefined {
  const codePoint = letter.codePointAt(0) ?? 0;
  const isEuropean = !SHAPED.test(letter) && bundledFont().glyph(codePoint) !== undefined;
  return isEuropean ? undefined : scriptFace(codePoint);
}

/** Cuts the line where direction or font changes; logical order. */
function runsOf(line: string): readonly Run[] {
  const { levels } = bidi().getEmbeddingLevels(line, 'ltr');
  const runs: { text: string; level: number; face: ScriptFace | undefined }[] = [];
  let at = 0;
  for (const letter of line) {
    const level = levels[at] ?? 0;
    const last = runs.at(-1);
    const face = last !== undefined && ATTACHED.test(letter) ? last.face : faceOf(letter);
    if (last !== undefined && last.level === level && last.face === face) last.text += letter;
    else runs.push({ text: letter, level, face });
    at += letter.length;
  }
  return runs;
}

/** Rule L2: reverses the runs of each level and above, from the highest level down. */
function inVisualOrder(runs: readonly Run[]): readonly Run[] {
  const ordered = [...runs];
  const highest = Math.max(0, ...runs.map(({ level }) => level));
  for (let level = highest; level > 0; level--) {
    for (let from = 0; from < ordered.length; from++) {
      let to = from;
      while ((ordered[to]?.level ?? -1) >= level) to++;
      if (to > from) ordered.splice(from, to - from, ...ordered.slice(from, to).reverse());
      from = to;
    }
  }
  return ordered;
}

/** A glyph of shaped text, in units of its font. */
interface PlacedGlyph {
  readonly glyph: number;
  readonly x: number;
  readonly y: number;
}

function clustersOf(text: string, face: ScriptFace, isReversed: boolean): readonly (Letter | Cluster)[] {
  const buffer = new ShapingBuffer();
  buffer.addText(text);
  buffer.guessSegmentProperties();
  buffer.setDirection(isReversed ? Direction.RTL : Direction.LTR);
  shape(face.font, buffer);
  const glyphs = buffer.getGlyphInfosAndPositions();
  const starts = [...new Set(glyphs.map(({ cluster }) => cluster))].sort((one, other) => one - other);
  const scale = bundledFont().unitsPerEm / face.unitsPerEm;
  const found: (Letter | Cluster)[] = [];
  for (let index = 0; index < glyphs.length; ) {
    const start = glyphs[index]?.cluster ?? 0;
    const placed: PlacedGlyph[] = [];
    let pen = 0;
    for (; glyphs[index]?.cluster === start; index++) {
      const { codepoint = 0, xAdvance = 0, xOffset = 0, yOffset = 0 } = glyphs[index] ?? {};
      placed.push({ glyph: codepoint, x: pen + xOffset, y: yOffset });
      pen += xAdvance;
    }
    const part = text.slice(start, starts[starts.indexOf(start) + 1]);
    // Glyph 0 is that of missing characters, which archives forbid.
    if (placed.some(({ glyph }) => glyph === 0)) found.push(...lettersOf(part));
    else found.push(clusterOf(part, placed, { advance: Math.round(pen * scale), face, scale }));
  }
  return found;
}

function clusterOf(
  text: string,
  placed: readonly PlacedGlyph[],
  {
    advance,
    face: { font, name },
    scale,
  }: { readonly advance: number; readonly face: ScriptFace; readonly scale: number },
): Cluster {
  const key = JSON.stringify([name, text, advance, placed.map(({ glyph, x, y }) => [glyph, x, y])]);
  const draw = (): DrawnGlyph => ({
    outline: encodeOutline(placed.flatMap((glyph) => contoursOf(font, glyph, scale))),
    advance,
  });
  return { text, key, advance, draw };
}

function contoursOf(font: Font, { glyph, x, y }: PlacedGlyph, scale: number): readonly Contour[] {
  const contours: OutlinePoint[][] = [];
  const add = (left = 0, top = 0, onCurve = true) =>
    contours.at(-1)?.push({ x: Math.round((left + x) * scale), y: Math.round((top + y) * scale), onCurve });
  for (const { type, values } of font.glyphToJson(glyph)) {
    if (type === 'M') contours.push([]);
    if (type === 'M' || type === 'L') add(values[0], values[1]);
    else if (type === 'Q') {
      add(values[0], values[1], false);
      add(values[2], values[3]);
    }
  }
  return contours.map((points) => {
    const [first] = points;
    const last = points.at(-1);
    const isClosed = points.length > 1 && last?.onCurve === true && last.x === first?.x && last.y === first.y;
    return isClosed ? points.slice(0, -1) : points;
  });
}
