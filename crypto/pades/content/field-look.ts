/** Look of a form field as its author wrote it: colours, frame, alignment, cells (ISO 32000-2, 12.5.6.19 and 12.7.4.3). */
import { inheritedByField } from '../../pdf/document/form.ts';
import {
  asInteger,
  asName,
  asString,
  asText,
  type ByteSlice,
  isArray,
  items,
  operationsIn,
  type PdfDict,
  type PdfDocument,
  PdfSyntaxError,
} from '../../pdf/index.ts';

/** Components of a colour: grey, RGB or CMYK, each from 0 to 1. */
export type Colour = readonly number[];

export type FieldContent =
  | { readonly kind: 'line' | 'lines'; readonly text: string }
  /** One letter with its marks in each of so many cells. */
  | { readonly kind: 'cells'; readonly letters: readonly string[]; readonly cells: number }
  | {
      readonly kind: 'list';
      readonly options: readonly { readonly text: string; readonly isMarked: boolean }[];
    };

export interface FieldLook {
  readonly ink: Colour;
  readonly background: Colour | undefined;
  readonly border: Colour | undefined;
  /** Points. */
  readonly borderWidth: number;
  readonly isDashed: boolean;
  readonly isUnderline: boolean;
  readonly align: 'left' | 'centre' | 'right';
  /** Points; 0 = as fits. */
  readonly size: number;
}

/** Flags of fields (tables 231, 232 and 234). */
const MULTILINE = 1 << 12;
const PASSWORD = 1 << 13;
const FILE_SELECT = 1 << 20;
const COMB = 1 << 24;
const COMBO = 1 << 17;

const MAX_OPTIONS = 2000;
/** Most characters of a value that are drawn. */
const MAX_LETTERS = 20_000;
/** Most cells; a field of more is too narrow for them. */
const MAX_CELLS = 500;
const MAX_BORDER = 20;
const MAX_TEXT_SIZE = 300;

/** @param form the form of the document, whose defaults apply */
export function fieldLook(pdf: PdfDocument, widget: PdfDict, form: PdfDict | undefined): FieldLook {
  const inherited = (key: string) => pdf.resolve(inheritedByField(pdf, widget, key) ?? form?.get(key));
  const colours = pdf.dict(widget.get('MK'));
  const style = pdf.dict(widget.get('BS'));
  const [, , lineWidth] = numbersOf(pdf, widget.get('Border'));
  const [width = lineWidth ?? 1] = numbersOf(pdf, style?.get('W'));
  const name = asName(pdf.resolve(style?.get('S'))) ?? 'S';
  const quadding = asInteger(inherited('Q')) ?? 0;
  return {
    ...textStyle(asString(inherited('DA'))),
    background: colourOf(pdf, colours?.get('BG')),
    border: width > 0 ? colourOf(pdf, colours?.get('BC')) : undefined,
    borderWidth: Math.min(Math.max(width, 0), MAX_BORDER),
    isDashed: name === 'D',
    isUnderline: name === 'U',
    align: quadding === 1 ? 'centre' : quadding === 2 ? 'right' : 'left',
  };
}

/** Returns what a text or choice field shows for its values, of which only a list can have several. */
export function fieldContent(
  pdf: PdfDocument,
  widget: PdfDict,
  type: 'Tx' | 'Ch',
  values: readonly string[],
): FieldContent {
  const [value = ''] = values;
  const inherited = (key: string) => pdf.resolve(inheritedByField(pdf, widget, key));
  const flags = asInteger(inherited('Ff')) ?? 0;
  const text = value.slice(0, MAX_LETTERS).replace(/\r\n?/g, '\n');
  if (type === 'Ch') {
    const options = choiceOptions(pdf, widget);
    const chosen = optionFor(options, value);
    const isUnlisted = chosen === undefined && value !== '';
    if ((flags & COMBO) !== 0 || isUnlisted) return { kind: 'line', text: chosen?.text ?? text };
    const marked = new Set(values.map((one) => optionFor(options, one)));
    const from = Math.max(0, asInteger(inherited('TI')) ?? 0);
    const shown = options.slice(chosen === undefined ? from : Math.min(from, options.indexOf(chosen)));
    return { kind: 'list', options: shown.map((one) => ({ text: one.text, isMarked: marked.has(one) })) };
  }
  if ((flags & PASSWORD) !== 0) return { kind: 'line', text: '*'.repeat(text.length) };
  if ((flags & MULTILINE) !== 0) return { kind: 'lines', text };
  const cells = asInteger(inherited('MaxLen')) ?? 0;
  const isComb = (flags & COMB) !== 0 && (flags & FILE_SELECT) === 0 && cells > 0 && cells <= MAX_CELLS;
  // A value that is longer than it may be is shown whole.
  if (isComb)
    return { kind: 'cells', letters: lettersOf(text), cells: Math.max(cells, lettersOf(text).length) };
  return { kind: 'line', text: text.replaceAll('\n', ' ') };
}

interface ChoiceOption {
  readonly value: string;
  readonly text: string;
}

/** Lists the options of a choice field (12.7.5.4). */
export function choiceOptions(pdf: PdfDocument, field: PdfDict): readonly ChoiceOption[] {
  const found: ChoiceOption[] = [];
  for (const item of items(pdf.resolve(inheritedByField(pdf, field, 'Opt')))) {
    if (found.length === MAX_OPTIONS) break;
    const option = pdf.resolve(item);
    const parts = isArray(option) ? [...items(option)].map((part) => pdf.resolve(part)) : [option];
    const [value = '', text = value] = parts.map((part) => asText(part) ?? '');
    found.push({ value, text });
  }
  return found;
}

/** Returns the option with this export value, or else with this text. */
export function optionFor(options: readonly ChoiceOption[], value: string): ChoiceOption | undefined {
  return options.find((one) => one.value === value) ?? options.find(({ text }) => text === value);
}

/** Reads size and colour from the default appearance; its font need not exist. */
function textStyle(appearance: Buffer | undefined): Pick<FieldLook, 'ink' | 'size'> {
  let ink: Colour = [0];
  let size = 0;
  try {
    for (const { operator, operands } of operationsIn(appearance ?? Buffer.alloc(0))) {
      const values = operands.map(numberOf);
      if (operator === 'Tf') size = values.at(-1) ?? 0;
      const count = { g: 1, rg: 3, k: 4 }[operator];
      if (count !== undefined && values.length >= count) ink = clamped(values.slice(-count));
    }
  } catch (error) {
    if (!(error instanceof PdfSyntaxError)) throw error;
  }
  return { ink, size: size > 0 ? Math.min(size, MAX_TEXT_SIZE) : 0 };
}

function colourOf(pdf: PdfDocument, slice: ByteSlice | undefined): Colour | undefined {
  const values = numbersOf(pdf, slice);
  return [1, 3, 4].includes(values.length) ? clamped(values) : undefined;
}

function clamped(values: readonly number[]): Colour {
  return values.map((value) => Math.min(1, Math.max(0, value)));
}

/** Reads a number, or an array of numbers; nothing when one is malformed. */
function numbersOf(pdf: PdfDocument, slice: ByteSlice | undefined): readonly number[] {
  if (slice === undefined) return [];
  const value = pdf.resolve(slice);
  const list = isArray(value) ? [...items(value)].map((item) => pdf.resolve(item)) : [value];
  const numbers = list.map(numberOf);
  return numbers.every(Number.isFinite) ? numbers : [];
}

function numberOf({ bytes, start, end }: ByteSlice): number {
  return Number.parseFloat(bytes.toString('latin1', start, Math.min(end, start + 40)));
}

/** Splits text into letters as they are read, with their marks. */
function lettersOf(text: string): readonly string[] {
  return Array.from(new Intl.Segmenter().segment(text), ({ segment }) => segment);
}
