/**
 * Compares the values that a form holds once more, for programs that draw it from a description of its own (XFA; ISO 32000-1,
 * 12.7.8), with those of its fields.
 */
import { CryptoError } from '../../core/types.ts';
import {
  asName,
  asText,
  type ByteSlice,
  equalValues,
  inheritedByField,
  items,
  type PdfDocument,
  referencesIn,
} from '../../pdf/index.ts';
import { attributeValue, decodeXml, readXml, type StartTag, type XmlListener } from '../../xml/index.ts';
import { fieldValue } from '../shown-values/field-value.ts';
import { isFormatOf } from '../shown-values/value-formats.ts';
import { type Change, forbidden } from './change-policy.ts';
import { changedObjectsBelow, type ObjectComparison } from './object-comparison.ts';
import type { DocumentSurvey, SurveyedField } from './survey.ts';

/** Most bytes of the data, values in it, and characters of the path of one. */
const MAX_BYTES = 4 << 20;
const MAX_VALUES = 20_000;
const MAX_PATH = 2000;
const BYTES_PER_STEP = 32;
/** Elements around the values: `datasets/data`. */
const ROOTS = 2;
const DATA = 'http://www.xfa.org/schema/xfa-data/1.0/';

/** @param valued names of the fields whose value changed */
export function formDataChanges(
  pair: ObjectComparison,
  survey: DocumentSurvey,
  valued: ReadonlySet<string>,
  parts: { readonly before: ByteSlice | undefined; readonly after: ByteSlice | undefined },
): readonly Change[] {
  const description = 'changed the values of the form in its XFA data';
  const data = exchangedData(pair, parts.before, parts.after);
  if (data === undefined) return [forbidden('changed /XFA of the form')];
  const values = changedValues(pair, data);
  const judged = values?.map((value) => judgeValue(pair, survey, valued, value)) ?? ['open'];
  const wrong = judged.filter((one) => typeof one === 'object');
  if (wrong.length > 0) return wrong;
  if (!judged.includes('open')) return [{ kind: 'form-data', description }];
  return [valued.size > 0 ? { kind: 'form-data-open', description } : forbidden(description)];
}

interface Exchanged {
  /** Undefined where the form had no values. */
  readonly old: ByteSlice | undefined;
  readonly now: ByteSlice;
}

/** Returns the part with the values, when it is the only one of the form's description that differs. */
function exchangedData(
  pair: ObjectComparison,
  before: ByteSlice | undefined,
  after: ByteSlice | undefined,
): Exchanged | undefined {
  const { pdf } = pair.after;
  const old = [...items(pair.before.pdf.resolve(before))];
  const now = [...items(pdf.resolve(after))];
  const at = now.findIndex((name, index) => index % 2 === 0 && asText(name) === 'datasets');
  const value = now[at + 1];
  if (at < 0 || old.length === 0 || value === undefined) return undefined;
  const isAdded = old.length + 2 === now.length;
  const others = isAdded ? now.toSpliced(at, 2) : now;
  const isKept = (part: ByteSlice, index: number): boolean => {
    if (!isAdded && index === at + 1) return true;
    const below = changedObjectsBelow(pair, [{ numbers: referencesIn(part), place: '' }], () => false);
    return equalValues(part, others[index]) && below.length === 0;
  };
  const isData = pdf.stream(value) !== undefined && pdf.dict(value)?.get('Subtype') === undefined;
  if (!isData || others.length !== old.length || !old.every(isKept)) return undefined;
  return { old: isAdded ? undefined : old[at + 1], now: value };
}

/** A value of the data that differs. */
interface DataValue {
  /** Names of the elements around it, each with its number among those of its name. */
  readonly path: readonly string[];
  /** Undefined when it was taken out. */
  readonly value: string | undefined;
  /** True when no other value has the last name of its path. */
  readonly isOnly: boolean;
}

/** Undefined for data that cannot be read, and for another order. */
function changedValues(pair: ObjectComparison, { old, now }: Exchanged): readonly DataValue[] | undefined {
  const before = old === undefined ? new Map<string, string>() : valuesIn(pair, pair.before.pdf, old);
  const after = valuesIn(pair, pair.after.pdf, now);
  if (before === undefined || after === undefined) return undefined;
  const order = [...before.keys()].filter((path) => after.has(path));
  const kept = [...after.keys()].filter((path) => before.has(path));
  if (order.some((path, at) => path !== kept[at])) return undefined;
  const lasts = new Map<string, number>();
  for (const path of after.keys()) lasts.set(lastOf(path), (lasts.get(lastOf(path)) ?? 0) + 1);
  return [...new Set([...before.keys(), ...after.keys()])]
    .filter((path) => before.get(path) !== after.get(path))
    .map((path) => ({
      path: path.split('/'),
      value: after.get(path),
      isOnly: lasts.get(lastOf(path)) === 1,
    }));
}

const lastOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1);

function valuesIn(
  pair: ObjectComparison,
  pdf: PdfDocument,
  slice: ByteSlice,
): ReadonlyMap<string, string> | undefined {
  const bytes = pdf.stream(slice);
  if (bytes === undefined || bytes.length > MAX_BYTES) return undefined;
  pair.before.spend(bytes.length / BYTES_PER_STEP);
  try {
    const { utf8 } = decodeXml(bytes);
    const reader = new DataReader(utf8);
    readXml(utf8, reader);
    return reader.isTooMuch ? undefined : reader.values;
  } catch (error) {
    if (error instanceof CryptoError) return undefined;
    throw error;
  }
}

/** Collects texts and attributes by their path, of which the texts of elements without elements are values. */
class DataReader implements XmlListener {
  readonly values = new Map<string, string>();
  isTooMuch = false;
  readonly #bytes: Buffer;
  readonly #open: { readonly path: string; readonly names: Map<string, number>; text: string }[] = [];
  readonly #roots = new Map<string, number>();

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  startElement(tag: StartTag): void {
    const above = this.#open.at(-1);
    const names = above?.names ?? this.#roots;
    const number = names.get(tag.name.local) ?? 0;
    names.set(tag.name.local, number + 1);
    const path = `${above === undefined ? '' : `${above.path}/`}${tag.name.local}[${number}]`;
    this.#open.push({ path, names: new Map(), text: '' });
    // Names of attributes have no number, so that they are those of no field.
    this.#put(`${path}/@`, tag.namespace.uri);
    for (const attribute of tag.attributes.slice(0, tag.attributeCount))
      this.#put(
        `${path}/@${attribute.namespace.uri} ${attribute.name.local}`,
        attributeValue(this.#bytes, attribute),
      );
  }

  endElement(): void {
    const element = this.#open.pop();
    if (element === undefined) return;
    const text = element.text.replace(/\r\n?/g, '\n');
    const isValue = element.names.size === 0;
    if (isValue ? this.#open.length >= ROOTS || text.trim() !== '' : text.trim() !== '')
      this.#put(element.path, text);
  }

  text(start: number, end: number): void {
    this.#write(this.#bytes.toString('utf8', start, end));
  }

  character(code: number): void {
    this.#write(String.fromCodePoint(code));
  }

  instruction(): void {
    this.#put(`${this.#open.at(-1)?.path ?? ''}/?`, '');
  }

  comment(): void {}

  #write(text: string): void {
    const element = this.#open.at(-1);
    if (element !== undefined) element.text += text;
  }

  #put(path: string, value: string): void {
    if (path.length > MAX_PATH || this.values.size === MAX_VALUES) this.isTooMuch = true;
    else this.values.set(path, value);
  }
}

function judgeValue(
  pair: ObjectComparison,
  survey: DocumentSurvey,
  valued: ReadonlySet<string>,
  { path, value, isOnly }: DataValue,
): 'same' | 'open' | Change {
  const [datasets, data, ...own] = path;
  const last = path.at(-1) ?? '';
  // The element and its namespace, which a new value brings along.
  if (last === '@' && value === (path.length > ROOTS + 1 ? '' : DATA)) return 'same';
  if (value === undefined || datasets !== 'datasets[0]' || data !== 'data[0]') return 'open';
  const exact = fieldsWith(survey, own);
  const [field, ...more] = exact.length > 0 || !isOnly ? exact : fieldsWith(survey, [last]);
  if (field === undefined || more.length > 0) return 'open';
  const { pdf } = pair.after;
  const dict = pdf.dict(pdf.object(field.number));
  if (dict === undefined) return 'open';
  if (field.type === 'Btn') {
    const state = asName(pdf.resolve(inheritedByField(pdf, dict, 'V'))) ?? 'Off';
    return value === (state === 'Off' ? '' : state) ? 'same' : 'open';
  }
  const shown = fieldValue(pdf, dict).texts?.[0]?.replace(/\r\n?/g, '\n');
  if (value === shown) return 'same';
  const isOpen =
    shown === undefined ||
    exact.length === 0 ||
    valued.has(field.name) ||
    isFormatOf(value, shown) ||
    isFormatOf(shown, value);
  return isOpen
    ? 'open'
    : forbidden(`gave the field ${field.name} another value in the XFA data of the form`);
}

/** Returns the fields whose name ends in these parts, without the unnamed levels of the form's description. */
function fieldsWith({ fields }: DocumentSurvey, path: readonly string[]): readonly SurveyedField[] {
  const found = new Map<string, SurveyedField>();
  for (const field of fields.values()) {
    if (found.has(field.name)) continue;
    const parts = field.name
      .split('.')
      .filter((part) => !part.startsWith('#'))
      .map((part) => (part.endsWith(']') ? part : `${part}[0]`));
    const own = path.length === 1 ? parts.slice(-1) : parts;
    if (own.join('/') === path.join('/')) found.set(field.name, field);
  }
  return [...found.values()];
}
