/**
 * Who draws a field, and from what (ISO 32000-2, 12.5.5, 12.7.3 and 12.7.4.3): its own look, or viewers from its value and
 * the entries that say how. Asked before and after a change, for each field and widget on a page.
 */
import {
  asName,
  asString,
  asText,
  type ByteSlice,
  entriesOf,
  equalValues,
  inheritedByField,
  isNull,
  items,
  operationsIn,
  type PdfDict,
  type PdfDocument,
  PdfSyntaxError,
  referencesIn,
} from '../../pdf/index.ts';
import { hasArea, referenceTo } from '../painting/appearance-streams.ts';
import { hasOddNumber, numberOf } from '../painting/geometry.ts';
import { flagsOf, isUnseen, shownStream } from '../painting/page-marks.ts';
import { THIN } from '../painting/painted-marks.ts';
import {
  type AppearanceJudgement,
  FAITHFUL,
  forbids,
  leavesOpen,
} from '../shown-values/appearance-judgement.ts';
import { changedObjectsBelow, type ObjectComparison } from './object-comparison.ts';
import type { SurveyedField } from './survey.ts';

/** `either`: the own look in some programs, viewers in others. */
type Drawer = 'nobody' | 'look' | 'viewer' | 'either';

export interface FieldDrawing {
  readonly drawer: Drawer;
  /** Flags of /F that decide whether and how it is seen. */
  readonly seen: number;
  /** Values that it is drawn from, by names for people. */
  readonly parts: ReadonlyMap<string, ByteSlice>;
}

/** Flags of an annotation (table 167). */
const HIDDEN = 2;
const PRINT = 4;
const NO_VIEW = 32;
/** Invisible, Hidden, Print, NoZoom, NoRotate, NoView, ToggleNoView. */
const SEEN = 1 | HIDDEN | PRINT | 8 | 16 | NO_VIEW | 256;

/** Entries from which viewers draw a field: around its text, its text, and those that it inherits from fields or the form. */
const FRAME_PARTS = ['MK', 'BS', 'Border'];
const OWN_PARTS = ['RV', 'TI', 'I', 'AS'];
const INHERITED_PARTS = ['V', 'Ff', 'MaxLen', 'Opt'];
const FORM_PARTS = ['DA', 'Q'];
/** Entries of /MK that are pictures. */
const ICONS: ReadonlySet<string> = new Set(['I', 'RI', 'IX', 'IF']);
/** A border whose width cannot be read, in units of the page. */
const WIDEST = 1000;

/** Returns the flags of an annotation that decide where it is seen. */
export function seenFlags(pdf: PdfDocument, annotation: PdfDict | undefined): number {
  return flagsOf(pdf, annotation) & SEEN;
}

/** True for an annotation that no screen shows, printed or not. */
export function isOffScreen(pdf: PdfDocument, annotation: PdfDict): boolean {
  return (seenFlags(pdf, annotation) & (HIDDEN | NO_VIEW)) !== 0;
}

/** @param type of the field */
export function drawingOf(pdf: PdfDocument, widget: PdfDict, type: string | undefined): FieldDrawing {
  const parts = new Map<string, ByteSlice>();
  const drawer = drawerOf(pdf, widget, type);
  if (drawer === 'nobody') return { drawer, seen: 0, parts };
  const put = (name: string, value: ByteSlice | undefined): void => {
    if (value !== undefined) parts.set(name, pdf.resolve(value));
  };
  if (drawer !== 'viewer') {
    const stream = shownStream(pdf, widget);
    if (stream === undefined) put('/AP', widget.get('AP'));
    else parts.set('/AP', referenceTo(stream, pdf));
  }
  if (drawer !== 'look') {
    for (const key of FRAME_PARTS) put(`/${key}`, widget.get(key));
    if (drawer === 'either' || hasText(pdf, widget, type)) {
      for (const key of OWN_PARTS) put(`/${key}`, widget.get(key));
      for (const key of INHERITED_PARTS) put(`/${key}`, inheritedByField(pdf, widget, key));
      for (const key of FORM_PARTS) put(`/${key}`, ofFieldOrForm(pdf, widget, key));
      put('its font', fontOf(pdf, widget));
    }
  }
  return { drawer, seen: seenFlags(pdf, widget), parts };
}

function drawerOf(pdf: PdfDocument, widget: PdfDict, type: string | undefined): Drawer {
  if (isUnseen(pdf, widget) || !hasArea(pdf, widget.get('Rect'))) return 'nobody';
  if (!isNull(pdf.resolve(widget.get('AP'))))
    return drawsAllAnew(pdf) && isRedrawn(pdf, widget, type) ? 'either' : 'look';
  return hasText(pdf, widget, type) || hasFrame(pdf, widget) ? 'viewer' : 'nobody';
}

/** True when viewers draw all fields, whatever their appearances are (12.7.3). */
export function drawsAllAnew(pdf: PdfDocument): boolean {
  const needs = pdf.resolve(pdf.dict(pdf.catalog.get('AcroForm'))?.get('NeedAppearances'));
  return needs.bytes.toString('latin1', needs.start, needs.end) === 'true';
}

/** True for a field that viewers draw anew on demand: buttons are shown by their states, and by a caption. */
function isRedrawn(pdf: PdfDocument, widget: PdfDict, type: string | undefined): boolean {
  if (type === 'Sig') return false;
  return type !== 'Btn' || pdf.dict(widget.get('MK'))?.get('CA') !== undefined;
}

/** True when viewers have a text, a mark or options to draw. */
function hasText(pdf: PdfDocument, widget: PdfDict, type: string | undefined): boolean {
  if (type === 'Sig') return false;
  const value = pdf.resolve(inheritedByField(pdf, widget, 'V'));
  if (!isNull(value) && asText(value) !== '' && asName(value) !== 'Off') return true;
  if (type === 'Btn') return pdf.dict(widget.get('MK'))?.get('CA') !== undefined;
  const options = pdf.resolve(inheritedByField(pdf, widget, 'Opt'));
  return !isNull(pdf.resolve(widget.get('RV'))) || (type === 'Ch' && !isNull(options));
}

/** True for a widget whose background or border viewers draw. */
function hasFrame(pdf: PdfDocument, widget: PdfDict): boolean {
  const { background, borderWidth } = frameOf(pdf, widget);
  return background || borderWidth > 0;
}

/** Returns what viewers draw around a text; a border without a colour counts when it is wide. */
export function frameOf(
  pdf: PdfDocument,
  widget: PdfDict,
): { readonly background: boolean; readonly borderWidth: number } {
  const colours = pdf.dict(widget.get('MK'));
  const style = pdf.resolve(pdf.dict(widget.get('BS'))?.get('W'));
  const [, , third] = [...items(pdf.resolve(widget.get('Border')))];
  const isOdd = FRAME_PARTS.some((key) => hasOddNumber(pdf, widget.get(key), ICONS));
  const written = [style, pdf.resolve(third)].map((one) => (isNull(one) ? 0 : (numberOf(one) ?? WIDEST)));
  const width = isOdd ? WIDEST : Math.max(...written);
  const hasColour = colours?.get('BC') !== undefined;
  const isWritten = !isNull(style) || third !== undefined;
  const usual = hasColour && !isWritten ? 1 : width;
  return {
    background: colours?.get('BG') !== undefined,
    borderWidth: hasColour || usual > THIN ? usual : 0,
  };
}

/** Entries of /MK (table 192) that programs leave out when they write it anew, and which buttons without a look are drawn from. */
const CAPTIONS: ReadonlySet<string> = new Set(['CA', 'RC', 'AC', 'I', 'RI', 'IX', 'IF', 'TP']);
const COLOURS: ReadonlySet<string> = new Set(['BC', 'BG']);

/** Judges another /MK beside another value: turn and colours stay, in whatever form they are written. */
export function judgeFrame(
  pair: ObjectComparison,
  { dict, type }: SurveyedField,
  after: PdfDict,
): AppearanceJudgement {
  const before = pair.before.pdf;
  const now = pair.after.pdf;
  const old = before.dict(dict.get('MK'));
  const written = now.dict(after.get('MK'));
  const values = written === undefined ? new Map<string, ByteSlice>() : entriesOf(written);
  if (values === undefined || (written === undefined && !isNull(now.resolve(after.get('MK')))))
    return forbids('cannot be read');
  const keys = new Set([...values.keys(), ...(old?.entries ?? []).map((entry) => old?.keyOf(entry) ?? '')]);
  let isLeftOut = false;
  for (const key of keys) {
    const one = old?.get(key);
    const other = values.get(key);
    if (other !== undefined && referencesIn(other).length > 0 && !equalValues(one, other))
      return forbids(`leads to another object (/${key})`);
    if (CAPTIONS.has(key) && other === undefined) isLeftOut = true;
    else if (
      COLOURS.has(key) ? !isSameColour(before.resolve(one), now.resolve(other)) : !isSameTurn(one, other)
    )
      return forbids(`has another /${key}`);
  }
  const draws = [drawingOf(before, dict, type), drawingOf(now, after, type)];
  return isLeftOut && type === 'Btn' && draws.some(({ drawer }) => drawer !== 'look' && drawer !== 'nobody')
    ? leavesOpen('is drawn by viewers, and lost its caption')
    : FAITHFUL;
}

/** Equal entries, where /R may be written as 0 or not at all. */
const isSameTurn = (one: ByteSlice | undefined, other: ByteSlice | undefined): boolean =>
  equalValues(one, other) || [one, other].every((value) => value === undefined || numberOf(value) === 0);

/** Largest difference between shares of a colour. */
const ROUNDING = 1 / 255;

function isSameColour(one: ByteSlice, other: ByteSlice): boolean {
  if (equalValues(one, other)) return true;
  const [old, now] = [one, other].map((value) => {
    const shares = [...items(value)].map((item) => numberOf(item) ?? Number.NaN);
    const [grey = 0] = shares;
    return shares.length === 1 ? [grey, grey, grey] : shares;
  });
  return (
    old?.length === now?.length &&
    old?.every((share, at) => Math.abs(share - (now?.[at] ?? 0)) <= ROUNDING) === true
  );
}

/** Returns an entry of a field, of one above it, or of the form. */
function ofFieldOrForm(pdf: PdfDocument, widget: PdfDict, key: string): ByteSlice | undefined {
  return inheritedByField(pdf, widget, key) ?? pdf.dict(pdf.catalog.get('AcroForm'))?.get(key);
}

/** Operators of a default appearance that keep its text readable, with the number of their operands. */
const STYLE_OPERATORS: ReadonlyMap<string, number> = new Map([
  ['Tf', 2],
  ['g', 1],
  ['rg', 3],
  ['k', 4],
  ['G', 1],
  ['RG', 3],
  ['K', 4],
]);

/** Returns the default appearance of a field (12.7.4.3), its own or that of the form. */
function styleOf(pdf: PdfDocument, widget: PdfDict): Buffer {
  return asString(pdf.resolve(ofFieldOrForm(pdf, widget, 'DA'))) ?? Buffer.alloc(0);
}

/**
 * Returns the name of the font of a default appearance, empty without one; undefined for one that programs may read in
 * different ways: they look for the first or the last font, and some know no comments.
 */
export function styleFont(pdf: PdfDocument, widget: PdfDict): string | undefined {
  const style = styleOf(pdf, widget);
  if (style.includes('%')) return undefined;
  let font = '';
  try {
    for (const { operator, operands } of operationsIn(style)) {
      if (operands.length !== STYLE_OPERATORS.get(operator)) return undefined;
      if (operands.slice(operator === 'Tf' ? 1 : 0).some((one) => numberOf(one) === undefined))
        return undefined;
      if (operator !== 'Tf') continue;
      const name = asName(operands[0]) ?? '';
      if (font !== '' || name === '') return undefined;
      font = name;
    }
  } catch (error) {
    if (error instanceof PdfSyntaxError) return undefined;
    throw error;
  }
  return font;
}

/**
 * Returns the font that the default appearance names, from the resources of the field or the form (12.7.4.3); all
 * resources of the form where programs may take another one.
 */
export function fontOf(pdf: PdfDocument, widget: PdfDict): ByteSlice | undefined {
  const name = styleFont(pdf, widget);
  const shared = pdf.dict(pdf.catalog.get('AcroForm'))?.get('DR');
  if (name === undefined) return shared;
  for (const resources of [inheritedByField(pdf, widget, 'DR'), shared]) {
    const font = pdf.dict(pdf.dict(resources)?.get('Font'))?.get(name);
    if (font !== undefined) return font;
  }
  return undefined;
}

/** Returns the name of a part from which a field is drawn otherwise than before, or by others; undefined when it stays. */
export function redrawnBy(
  pair: ObjectComparison,
  before: FieldDrawing,
  after: FieldDrawing,
): string | undefined {
  if (before.drawer !== after.drawer) return 'what draws it';
  if (before.seen !== after.seen) return '/F';
  return [...new Set([...before.parts.keys(), ...after.parts.keys()])].find((name) => {
    const part = before.parts.get(name);
    if (!equalValues(part, after.parts.get(name))) return true;
    const numbers = part === undefined ? [] : referencesIn(part);
    return changedObjectsBelow(pair, [{ numbers, place: '' }], () => false).length > 0;
  });
}
