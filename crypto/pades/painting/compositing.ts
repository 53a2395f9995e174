/**
 * Rules for how paint reaches a page: blend modes, transparency groups and the parameters of the graphics state
 * (ISO 32000-2, 8.4.5, 11.3.5, 11.4 and 11.6). What the tables do not name is not interpreted.
 */
import {
  asName,
  type ByteSlice,
  isArray,
  isNull,
  items,
  type PdfDict,
  type PdfDocument,
} from '../../pdf/index.ts';
import { componentsOf } from './colours.ts';
import { numberOf } from './geometry.ts';

/** Effect of a blend mode on dark text on light paper (tables 134 and 135). */
type Blending = 'paints' | 'darkens' | 'changes';

export const BLEND_MODES: Readonly<Record<string, Blending>> = {
  Normal: 'paints',
  Compatible: 'paints',
  Multiply: 'darkens',
  Darken: 'darkens',
  Screen: 'changes',
  Overlay: 'changes',
  Lighten: 'changes',
  ColorDodge: 'changes',
  ColorBurn: 'changes',
  HardLight: 'changes',
  SoftLight: 'changes',
  Difference: 'changes',
  Exclusion: 'changes',
  Hue: 'changes',
  Saturation: 'changes',
  Color: 'changes',
  Luminosity: 'changes',
};

/** Effect of the groups around a mark. */
export interface Grouping {
  readonly alpha: number;
  readonly blend: string;
  /** True when a group around the mark has nothing of the page below it. */
  readonly isIsolated: boolean;
}

export const NO_GROUP: Grouping = { alpha: 1, blend: 'Normal', isIsolated: false };

/** Returns how a mark with this blend mode changes the page; `unknown` for what is not interpreted. */
export function blendThrough({ blend: outer, isIsolated }: Grouping, own: string): string {
  const around = BLEND_MODES[outer];
  const inside = BLEND_MODES[own];
  if (around === undefined || inside === undefined) return 'unknown';
  if (inside === 'paints') return outer;
  // In an isolated group, a mark meets earlier ones of the group alone (11.4.5).
  if (isIsolated) return around === 'paints' || inside === 'darkens' ? outer : 'unknown';
  if (around === 'paints') return own;
  return around === 'darkens' && inside === 'darkens' ? 'Multiply' : 'unknown';
}

/** True when a mark reaches the page in its own colour, or a darker one below which nothing is paler. */
export function keepsColour({ blend: outer, isIsolated }: Grouping, own: string): boolean {
  const inside = BLEND_MODES[own];
  return inside === 'paints' || !isIsolated || (inside === 'darkens' && BLEND_MODES[outer] === 'darkens');
}

/** A group of a form; `fault` for one that programs may read in different ways, or that is not interpreted. */
export interface FormGroup {
  readonly isIsolated: boolean;
  readonly fault?: string;
}

const GROUP_KEYS: ReadonlySet<string> = new Set(['Type', 'S', 'CS', 'I', 'K']);

/** Returns the transparency group of a form; undefined for a form without one. */
export function groupOf(pdf: PdfDocument, form: PdfDict): FormGroup | undefined {
  const written = form.get('Group');
  if (written === undefined || isNull(pdf.resolve(written))) return undefined;
  const group = pdf.dict(written);
  const isolated = flag(pdf, group?.get('I'));
  const knockout = flag(pdf, group?.get('K'));
  const isIsolated = isolated === true;
  const isUsual =
    group !== undefined &&
    asName(pdf.resolve(group.get('S'))) === 'Transparency' &&
    group.entries.every((entry) => GROUP_KEYS.has(group.keyOf(entry)));
  if (!isUsual || isolated === undefined || knockout === undefined)
    return { isIsolated, fault: 'a group of an unusual form' };
  if (knockout) return { isIsolated, fault: 'a knockout group' };
  return hasKnownSpace(pdf, group)
    ? { isIsolated }
    : { isIsolated, fault: 'a group with colours of its own' };
}

function hasKnownSpace(pdf: PdfDocument, group: PdfDict): boolean {
  const space = group.get('CS');
  return space === undefined || componentsOf(pdf, [], pdf.resolve(space)) !== undefined;
}

/** Returns a boolean; false where none is written, undefined for any other value. */
function flag(pdf: PdfDocument, written: ByteSlice | undefined): boolean | undefined {
  if (written === undefined) return false;
  const { bytes, start, end } = pdf.resolve(written);
  const token = bytes.toString('latin1', start, end);
  return token === 'true' ? true : token === 'false' || token === 'null' ? false : undefined;
}

/** Returns a blend mode; the first of a list, which all programs use when they know it. */
export function blendMode(pdf: PdfDocument, value: ByteSlice): string {
  const [first = value] = isArray(value) ? items(value) : [];
  const name = asName(pdf.resolve(first)) ?? '';
  return Object.hasOwn(BLEND_MODES, name) ? name : 'unknown';
}

/** Values of a parameter with which it changes nothing, or that the reader of content takes over. */
type Plain = 'any' | 'opacity' | 'blend' | 'false' | readonly string[];

/**
 * Parameters of the graphics state (table 57). Others, and other values, are not interpreted: soft masks, transfer
 * functions, overprint (which takes paint away where programs simulate it), and fonts, which they take from elsewhere.
 */
export const PARAMETERS: Readonly<Record<string, Plain>> = {
  Type: 'any',
  LW: 'any',
  LC: 'any',
  LJ: 'any',
  ML: 'any',
  D: 'any',
  RI: 'any',
  FL: 'any',
  SM: 'any',
  SA: 'any',
  OPM: 'any',
  TK: 'any',
  UseBlackPtComp: 'any',
  OP: 'false',
  op: 'false',
  AIS: 'false',
  ca: 'opacity',
  CA: 'opacity',
  BM: 'blend',
  SMask: ['None'],
  TR: ['Identity'],
  TR2: ['Identity', 'Default'],
  BG2: ['Default'],
  UCR2: ['Default'],
  HT: ['Default'],
};

/** True for a parameter of the graphics state that is interpreted. */
export function isPlainParameter(pdf: PdfDocument, key: string, value: ByteSlice): boolean {
  const plain = Object.hasOwn(PARAMETERS, key) ? PARAMETERS[key] : undefined;
  if (plain === 'any') return true;
  if (plain === 'false') return flag(pdf, value) === false;
  if (plain === 'blend') return blendMode(pdf, value) !== 'unknown';
  if (plain === 'opacity') return isOpacity(numberOf(value));
  return plain?.includes(asName(value) ?? '') === true;
}

const isOpacity = (value: number | undefined): boolean => value !== undefined && value >= 0 && value <= 1;
