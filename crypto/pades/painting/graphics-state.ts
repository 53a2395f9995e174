/** Graphics state while content is interpreted (ISO 32000-2, 8.4). */
import { asInteger, asName, type ByteSlice, items, type PdfDict, type PdfDocument } from '../../pdf/index.ts';
import { blendMode, blendThrough, type Grouping, isPlainParameter, NO_GROUP } from './compositing.ts';
import type { FontReader } from './font-text.ts';
import { type Box, isOddNumber, type Matrix, numberOf } from './geometry.ts';

/** Returns the width of lines in the space of the requested content, in the direction where they are widest. */
export function lineWidthOf({ lineWidth, ctm: [a, b, c, d] }: GraphicsState): number {
  return Math.abs(lineWidth) * Math.max(Math.hypot(a, b), Math.hypot(c, d));
}

export interface GraphicsState {
  ctm: Matrix;
  clip: Box | undefined;
  font:
    | { readonly reader: FontReader; readonly number: number | undefined; readonly dict: PdfDict }
    | undefined;
  size: number;
  leading: number;
  rise: number;
  scale: number;
  mode: number;
  lineWidth: number;
  isDashed: boolean;
  letterSpace: number;
  wordSpace: number;
  /** Lightness of the colours for filling and for lines, and the components of their colour spaces. */
  fill: number | undefined;
  line: number | undefined;
  fillComponents: number | undefined;
  lineComponents: number | undefined;
  alpha: number;
  lineAlpha: number;
  blend: string;
  group: Grouping;
  /** True once a parameter or a group was met that is not interpreted: what is painted may look like anything. */
  isOdd: boolean;
  /** True below a soft mask. */
  isMasked: boolean;
  isConditional: boolean;
  /** True inside of a clipping path that is no rectangle. */
  isShaped: boolean;
  /** True for the colours of fills and lines that are drawings, such as the cells of a pattern. */
  fillDraws: boolean;
  lineDraws: boolean;
  /** False while a fill may show what is below: transparent, blended, optional, or inside of a clipping path. */
  hides: boolean;
}

/** Returns the lightness of filled text with outlines; undefined for outlines of another one. */
export function outlined({ fill, line }: GraphicsState): number | undefined {
  return fill !== undefined && line !== undefined && Math.abs(fill - line) < 0.3 ? fill : undefined;
}

/** Returns how a mark blends with the page, through all groups around it. */
export function blendOf({ blend, group, isOdd }: GraphicsState): string {
  return isOdd ? 'unknown' : blendThrough(group, blend);
}

export function initialState(ctm: Matrix): GraphicsState {
  return {
    ctm,
    clip: undefined,
    font: undefined,
    size: 0,
    leading: 0,
    rise: 0,
    scale: 1,
    mode: 0,
    lineWidth: 1,
    isDashed: false,
    letterSpace: 0,
    wordSpace: 0,
    fill: 0,
    line: 0,
    fillComponents: 1,
    lineComponents: 1,
    alpha: 1,
    lineAlpha: 1,
    blend: 'Normal',
    group: NO_GROUP,
    isOdd: false,
    isMasked: false,
    isConditional: false,
    isShaped: false,
    fillDraws: false,
    lineDraws: false,
    hides: true,
  };
}

/** Takes over the parameters of a dictionary (8.4.5), besides its font. Returns those that are not interpreted. */
export function readParameters(pdf: PdfDocument, state: GraphicsState, dict: PdfDict): readonly string[] {
  const odd: string[] = [];
  for (const entry of dict.entries) {
    const key = dict.keyOf(entry);
    const value = pdf.resolve(dict.valueAt(entry));
    if (!isPlainParameter(pdf, key, value) || isOddNumber(value)) {
      odd.push(key);
      if (key !== 'Font') state.isOdd = true;
      if (key === 'SMask') state.isMasked = true;
    }
    if (key === 'LW') state.lineWidth = numberOf(value) ?? Number.NaN;
    if (key === 'D') state.isDashed = isDash([...items(value)][0]);
    if (key === 'ca' && numberOf(value) !== 1) state.hides = false;
    if (key === 'BM' && asName(value) !== 'Normal') state.hides = false;
    if (key === 'ca') state.alpha = numberOf(value) ?? 1;
    if (key === 'CA') state.lineAlpha = numberOf(value) ?? 1;
    if (key === 'BM') state.blend = blendMode(pdf, value);
  }
  return odd;
}

export const isDash = (pattern: ByteSlice | undefined): boolean =>
  !(pattern === undefined || items(pattern).next().done);

/** Axial and radial shadings, whose colours run along a line (8.7.4.5); the others can show any picture. */
const GRADIENTS: readonly (number | undefined)[] = [2, 3];

/** True for a pattern or a shading that can show more than colours that run into each other. */
export function drawsPicture(pdf: PdfDocument, value: ByteSlice | undefined): boolean {
  const dict = pdf.dict(value);
  const shading =
    asInteger(pdf.resolve(dict?.get('PatternType'))) === 2 ? pdf.dict(dict?.get('Shading')) : dict;
  return !GRADIENTS.includes(asInteger(pdf.resolve(shading?.get('ShadingType'))));
}

/** Sets a parameter of the text state (9.3). */
export function setTextParameter(
  state: GraphicsState,
  operator: 'TL' | 'Ts' | 'Tz' | 'Tr',
  value: number,
): void {
  if (operator === 'TL') state.leading = value;
  else if (operator === 'Ts') state.rise = value;
  else if (operator === 'Tz') state.scale = value / 100;
  else state.mode = value;
}
