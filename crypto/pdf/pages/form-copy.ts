/**
 * Copies the form of a PDF into a composed one (ISO 32000-2, 12.7): renames fields whose names are in use, and
 * flattens signed fields, because signatures are not valid in another file.
 */
import { type Field, fields } from '../document/form.ts';
import { unlistedSignatures } from '../document/unlisted-signatures.ts';
import { textString } from '../syntax/strings.ts';
import { asName, asReference, isArray, isNull, items, type PdfDict } from '../syntax/values.ts';
import type { Importer } from './import.ts';

export interface FormCopy {
  /** References, as text. */
  readonly fields: readonly string[];
  /** Names of the top-level fields. */
  readonly names: readonly string[];
  /** Category → name → value, as text: resources for appearances that are generated later. */
  readonly resources: ReadonlyMap<string, ReadonlyMap<string, string>>;
  readonly needAppearances: boolean;
  /** Calculation order, references as text. */
  readonly order: readonly string[];
}

interface FormPlan {
  /** Annotations to omit: invisible signatures, in the form or on a page only. */
  readonly omitted: ReadonlySet<number>;
  /** Numbers of the fields to remove from the form. */
  readonly signed: ReadonlySet<number>;
}

/** Flags Print, ReadOnly and Locked of a flattened signature (table 167). */
const FLATTENED_FLAGS = 4 | 64 | 128;
/** Keys that make an annotation a field. */
const FIELD_KEYS = [
  'FT',
  'V',
  'DV',
  'T',
  'TU',
  'TM',
  'Ff',
  'Parent',
  'Kids',
  'Lock',
  'SV',
  'MK',
  'A',
  'AA',
  'DA',
  'Q',
  'StructParent',
];

/** Plans the treatment of signed fields. Must be called before any object is copied. */
export function planForm(importer: Importer): FormPlan {
  const { pdf } = importer;
  const omitted = new Set<number>();
  const signed = new Set<number>();
  const parents = new Set<number>();
  const listed = new Set<number>();
  for (const field of fields(pdf)) {
    const { reference, dict, type } = field;
    if (reference !== undefined) listed.add(reference.number);
    if (type !== 'Sig' || reference === undefined || pdf.dict(dict.get('V')) === undefined) continue;
    signed.add(reference.number);
    for (const widget of widgetsOf(importer, field)) {
      if (isSeen(importer, widget.dict)) importer.change(widget.number, flattenedAppearance());
      else omitted.add(widget.number);
    }
    const parent = asReference(dict.get('Parent'));
    if (parent !== undefined) parents.add(parent.number);
  }
  for (const { number, widget } of unlistedSignatures(pdf, listed)) {
    if (number === undefined) continue;
    if (isSeen(importer, widget)) importer.change(number, flattenedAppearance());
    else omitted.add(number);
  }
  for (const number of parents) {
    const kids = pdf.resolve(pdf.dict(pdf.object(number))?.get('Kids'));
    const rest = [...items(kids)].filter((kid) => !signed.has(asReference(kid)?.number ?? -1));
    importer.change(number, {
      set: new Map([['Kids', `[${rest.map((kid) => importer.value(kid)).join(' ')}]`]]),
    });
  }
  return { omitted, signed };
}

/** @param taken names of fields of other files */
export function copyForm(
  importer: Importer,
  plan: FormPlan,
  taken: ReadonlySet<string>,
): FormCopy | undefined {
  const { pdf } = importer;
  const form = pdf.dict(pdf.catalog.get('AcroForm'));
  if (form === undefined) return undefined;
  const names: string[] = [];
  const references: string[] = [];
  for (const field of fields(pdf, 0)) {
    const { reference, dict, name } = field;
    if (reference !== undefined && plan.signed.has(reference.number)) continue;
    const set = defaultsOf(importer, form, field);
    const own = unused(name, taken, names);
    if (own !== name) set.set('T', textString(own));
    names.push(own);
    if (reference === undefined) {
      references.push(importer.value(dict, { set }));
    } else {
      if (set.size > 0) importer.change(reference.number, { set });
      references.push(importer.reference(reference.number));
    }
  }
  if (references.length === 0) return undefined;
  return {
    fields: references,
    names,
    resources: resourcesOf(importer, form),
    needAppearances: keywordOf(importer, form, 'NeedAppearances') === 'true',
    order: [...items(pdf.resolve(form.get('CO')))].map((slice) => importer.value(slice)),
  };
}

function widgetsOf(
  { pdf }: Importer,
  { dict, reference }: Field,
): readonly { readonly number: number; readonly dict: PdfDict }[] {
  const kids = pdf.resolve(dict.get('Kids'));
  if (!isArray(kids)) return reference === undefined ? [] : [{ number: reference.number, dict }];
  const found: { readonly number: number; readonly dict: PdfDict }[] = [];
  for (const kid of items(kids)) {
    const number = asReference(kid)?.number;
    const widget = pdf.dict(kid);
    if (number !== undefined && widget !== undefined) found.push({ number, dict: widget });
  }
  return found;
}

/** True for a widget with a visible appearance. */
function isSeen({ pdf }: Importer, widget: PdfDict): boolean {
  if (asName(pdf.resolve(widget.get('Subtype'))) !== 'Widget') return false;
  if (pdf.dict(pdf.dict(widget.get('AP'))?.get('N')) === undefined) return false;
  const numbers = [...items(pdf.resolve(widget.get('Rect')))].map((slice) => {
    const { bytes, start, end } = pdf.resolve(slice);
    return Number(bytes.toString('latin1', start, Math.min(end, start + 40)));
  });
  const [left = 0, bottom = 0, right = 0, top = 0] = numbers;
  return left !== right && bottom !== top;
}

function flattenedAppearance(): {
  readonly set: ReadonlyMap<string, string>;
  readonly drop: ReadonlySet<string>;
} {
  return {
    set: new Map([
      ['Subtype', '/Stamp'],
      ['F', String(FLATTENED_FLAGS)],
    ]),
    drop: new Set(FIELD_KEYS),
  };
}

/** Writes inherited form defaults into the field: the forms of other files have other defaults. */
function defaultsOf(importer: Importer, form: PdfDict, { dict, type }: Field): Map<string, string> {
  const set = new Map<string, string>();
  if (type === 'Sig') return set;
  for (const key of ['DA', 'Q']) {
    const value = form.get(key);
    if (value !== undefined && dict.get(key) === undefined) set.set(key, importer.value(value));
  }
  return set;
}

function unused(name: string, taken: ReadonlySet<string>, own: readonly string[]): string {
  if (!taken.has(name)) return name;
  for (let number = 2; ; number++) {
    const other = `${name}_${number}`;
    if (!taken.has(other) && !own.includes(other)) return other;
  }
}

function resourcesOf(importer: Importer, form: PdfDict): ReadonlyMap<string, ReadonlyMap<string, string>> {
  const { pdf } = importer;
  const categories = new Map<string, ReadonlyMap<string, string>>();
  const resources = pdf.dict(form.get('DR'));
  for (const entry of resources?.entries ?? []) {
    if (resources === undefined) break;
    const values = new Map<string, string>();
    const category = pdf.dict(resources.valueAt(entry));
    for (const one of category?.entries ?? []) {
      if (category !== undefined) values.set(category.keyOf(one), importer.value(category.valueAt(one)));
    }
    if (values.size > 0) categories.set(resources.keyOf(entry), values);
  }
  return categories;
}

function keywordOf({ pdf }: Importer, dict: PdfDict, key: string): string {
  const value = pdf.resolve(dict.get(key));
  return isNull(value) ? '' : value.bytes.toString('latin1', value.start, value.end);
}
