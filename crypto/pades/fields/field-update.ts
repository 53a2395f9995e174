/**
 * Adds a signature to a field of the form, which is created when it does not exist (ISO 32000-2, 12.7.5.5).
 *
 * Page, rectangle and appearance of a signature's widget (ISO 32000-2, 12.5.5 and 12.5.6.19). All other steps are the
 * same for visible and invisible signatures.
 */
import { CryptoError, type PadesFormat, type SignatureAppearance } from '../../core/types.ts';
import { archivePart } from '../../pdf/graphics/pdfa-rules.ts';
import {
  asInteger,
  asName,
  asReference,
  type Field,
  fields,
  firstPage,
  isNull,
  items,
  type Page,
  type PdfDict,
  type PdfDocument,
  pages,
  type Reference,
  unlistedSignatures,
} from '../../pdf/index.ts';
import { textString } from '../../pdf/syntax/strings.ts';
import {
  type DictUpdate,
  type IncrementalUpdate,
  referenceText,
} from '../../pdf/update/incremental-update.ts';
import { type ExistingWidget, placeInField, placeNew, type WidgetPlace } from '../appearance/place.ts';

/**
 * Surveys a form for signing: names in use, the requested field, and signed fields
 * (ISO 32000-2, 12.7.4 and 12.7.5.5).
 */
export interface SignedField {
  /** Partial names from the top, joined by dots. */
  readonly name: string;
  readonly dict: PdfDict;
  readonly signature: PdfDict;
}

export interface FormSurvey {
  /** Names of top-level fields. */
  readonly topNames: ReadonlySet<string>;
  readonly signed: readonly SignedField[];
  /** Fields on the path to the requested one, by full name, each with the kids that are only widgets. */
  readonly named: ReadonlyMap<string, NamedField>;
}

interface NamedField {
  readonly field: Field;
  readonly widgets: readonly Field[];
  /** True when it has kids that are fields. */
  readonly hasFields: boolean;
}

/** Field for the signature. */
export type TargetField =
  | { readonly kind: 'empty'; readonly name: string; readonly found: NamedField }
  | {
      readonly kind: 'new';
      readonly name: string;
      /** The nearest existing ancestor. */
      readonly under: Field | undefined;
      /** Partial names below the ancestor, its own last. */
      readonly parts: readonly string[];
    };

/** SignaturesExist (table 225). */
const SIGNATURES_EXIST = 1;

/**
 * Reads the form; below the top level only for a requested field, and where the PDF may be signed. An invisible approval
 * changes no page, so the pages of a PDF that claims no signatures are not searched for it.
 */
export function surveyForm(pdf: PdfDocument, form: PadesFormat): FormSurvey {
  const flags = asInteger(pdf.resolve(pdf.dict(pdf.catalog.get('AcroForm'))?.get('SigFlags'))) ?? 0;
  const changesPages = form.appearance !== undefined || form.content !== undefined;
  const mayBeSigned = (flags & SIGNATURES_EXIST) !== 0 || form.certification !== undefined || changesPages;
  const whole = mayBeSigned || form.fieldName !== undefined;
  const wanted = form.fieldName === undefined ? undefined : new Set(pathOf(form.fieldName));
  const topNames = new Set<string>();
  const listed = new Set<number>();
  const signed: SignedField[] = [];
  const named = new Map<string, { field: Field; widgets: Field[]; hasFields: boolean }>();
  for (const field of whole ? fields(pdf) : fields(pdf, 0)) {
    if (field.depth === 0) topNames.add(field.name);
    if (field.reference !== undefined) listed.add(field.reference.number);
    const signature = field.type === 'Sig' ? pdf.dict(field.dict.get('V')) : undefined;
    if (signature !== undefined) signed.push({ name: field.name, dict: field.dict, signature });
    if (wanted === undefined) continue;
    const isField = field.dict.get('T') !== undefined;
    const known = named.get(field.name);
    if (known === undefined) {
      if (wanted.has(field.name)) named.set(field.name, { field, widgets: [], hasFields: false });
    } else if (!isField) known.widgets.push(field);
    const dot = isField ? field.name.lastIndexOf('.') : -1;
    const parent = dot < 0 ? undefined : named.get(field.name.slice(0, dot));
    if (parent !== undefined) parent.hasFields = true;
  }
  if (mayBeSigned) {
    for (const { name, dict } of unlistedSignatures(pdf, listed)) {
      topNames.add(name.split('.')[0] ?? '');
      const signature = pdf.dict(dict.get('V'));
      if (signature !== undefined) signed.push({ name, dict, signature });
    }
  }
  return { topNames, signed, named };
}

/** Splits `a.b.c` into `a`, `a.b`, `a.b.c`. */
function pathOf(name: string): readonly string[] {
  const parts = name.split('.');
  return parts.map((_part, index) => parts.slice(0, index + 1).join('.'));
}

/**
 * Selects the field to sign: the requested one, or a new one.
 * @throws {CryptoError} `request.invalid` when the name is not valid, or names another type of field or a signed one
 */
export function targetField(pdf: PdfDocument, survey: FormSurvey, form: PadesFormat): TargetField {
  const { fieldName } = form;
  if (fieldName === undefined) {
    const name = freeName(survey.topNames);
    return { kind: 'new', name, under: undefined, parts: [name] };
  }
  const path = pathOf(fieldName);
  const parts = fieldName.split('.');
  if (survey.signed.some(({ name }) => name === fieldName)) throw invalid(fieldName, 'is signed already');
  if (parts.includes('')) throw invalid(fieldName, 'is no name: one of its parts is empty');
  const found = survey.named.get(fieldName);
  if (found !== undefined) {
    assertEmpty(pdf, fieldName, found);
    return { kind: 'empty', name: fieldName, found };
  }
  let depth = path.length - 1;
  while (depth > 0 && !survey.named.has(path[depth - 1] ?? '')) depth--;
  const above = depth === 0 ? undefined : survey.named.get(path[depth - 1] ?? '');
  if (above !== undefined && (!above.hasFields || above.field.reference === undefined)) {
    throw invalid(
      fieldName,
      `can't be made, because ${path[depth - 1]} is a field that has no fields below it`,
    );
  }
  return { kind: 'new', name: fieldName, under: above?.field, parts: parts.slice(depth) };
}

function assertEmpty(pdf: PdfDocument, name: string, { field, hasFields }: NamedField): void {
  if (hasFields || field.type !== 'Sig')
    throw invalid(name, 'is taken by a field that is not for signatures');
  if (!isNull(pdf.resolve(field.dict.get('V')))) throw invalid(name, 'is signed already');
  if (field.reference === undefined) {
    throw invalid(name, 'is written into the list of fields and not an object that could be changed');
  }
}

function invalid(name: string, what: string): CryptoError {
  return new CryptoError('request.invalid', `The signature field ${JSON.stringify(name)} ${what}.`);
}

/** Returns `Signature1`, or the next number that is not in use. */
function freeName(taken: ReadonlySet<string>): string {
  let count = 1;
  while (taken.has(`Signature${count}`)) count++;
  return `Signature${count}`;
}

/** True for a field that is merged with its widget. */
function isWidget(pdf: PdfDocument, { dict }: Field): boolean {
  return asName(pdf.resolve(dict.get('Subtype'))) === 'Widget';
}

/** PDF/A-1 requires an appearance of every form field, even without an extent (ISO 19005-1, 6.9). */
const EMPTY_APPEARANCE =
  '<</Type/XObject/Subtype/Form/BBox[0 0 0 0]/Resources<<>>/Length 0>>\nstream\n\nendstream';

/**
 * Creates the widget of a new field. An invisible signature gets an empty rectangle on the first page, since a field
 * needs a widget.
 * @param own the object that is going to be the widget
 * @param isSigned the document has signatures
 * @throws {CryptoError} `pdf.no-pages`; `request.invalid` for an appearance that can't be shown
 */
function placeWidget(
  draft: IncrementalUpdate,
  appearance: SignatureAppearance | undefined,
  own: Reference,
  isSigned: boolean,
): WidgetPlace {
  if (appearance !== undefined) return placeNew(draft, appearance, own, isSigned);
  const page = listingPage(draft.pdf);
  if (page === undefined) return { page, entries: WIDGET_WITHOUT_PAGE };
  const rectangle = ['Rect', '[0 0 0 0]'] as const;
  // Otherwise it is left out: some validators report it as a page change that a certification forbids.
  if (archivePart(draft.pdf) !== 1) return { page, entries: [rectangle] };
  const empty = referenceText(draft.add(EMPTY_APPEARANCE));
  return { page, entries: [rectangle, ['AP', `<</N ${empty}>>`]] };
}

/** Entries of an invisible widget without a page: it needs neither /P nor the flag Print. */
const WIDGET_WITHOUT_PAGE: WidgetPlace['entries'] = [
  ['Type', '/Annot'],
  ['Subtype', '/Widget'],
  ['F', '132'],
  ['Rect', '[0 0 0 0]'],
];

/**
 * Returns the first page, which must list the widget; undefined when it can't be rewritten: a direct
 * object in the list of its parent, or a stream.
 * @throws {CryptoError} `pdf.no-pages`
 */
function listingPage(pdf: PdfDocument): Page | undefined {
  for (const page of pages(pdf)) {
    return pdf.plainObject(page.reference.number)?.data === undefined ? page : undefined;
  }
  const root = pdf.dict(pdf.catalog.get('Pages'));
  const [kid] = items(pdf.resolve(root?.get('Kids')));
  if (kid !== undefined && asReference(kid) === undefined && pdf.dict(kid) !== undefined) return undefined;
  return firstPage(pdf);
}

const UNTOUCHED: WidgetPlace = { page: undefined, entries: [] };

/**
 * Returns the widget of an existing field; for an invisible signature it stays unchanged.
 * @param field `widget` is undefined when it has none
 * @throws {CryptoError} as `placeWidget`
 */
function placeFieldWidget(
  draft: IncrementalUpdate,
  appearance: SignatureAppearance | undefined,
  field: { readonly dict: PdfDict; readonly own: Reference; readonly widget: ExistingWidget | undefined },
  isSigned: boolean,
): WidgetPlace {
  const { dict, own, widget } = field;
  if (widget !== undefined) {
    return appearance === undefined
      ? UNTOUCHED
      : placeInField(draft, appearance, { field: dict, widget, isSigned });
  }
  // A field does not need a widget, and validators of the earlier signatures may reject a new one.
  if (!isSigned) {
    const { page, entries } = placeWidget(draft, appearance, own, isSigned);
    return { page, entries: entries.filter(([key]) => key !== 'TU' || dict.get(key) === undefined) };
  }
  if (appearance === undefined) return UNTOUCHED;
  throw new CryptoError(
    'request.invalid',
    'The signature field has no widget, and can get none after somebody has signed.',
  );
}

/** SignaturesExist and AppendOnly (table 225). */
const SIGN_FLAGS = 3;

/** Flags Print, since PDF/A forbids hidden annotations, and Locked, which keeps editors from moving it (table 167). */
const WIDGET_FLAGS = 132;

interface FieldOptions {
  readonly appearance?: SignatureAppearance | undefined;
  /** True when the document has signatures: only changes that validators accept are made. @default false */
  readonly isSigned?: boolean;
}

/**
 * Writes field and widget into the draft, and the form that lists them.
 * @throws {CryptoError} as `placeWidget`
 */
export function updateField(
  draft: IncrementalUpdate,
  target: TargetField,
  signature: Reference,
  options: FieldOptions = {},
): void {
  const form = draft.catalog.child('AcroForm');
  const flags = asInteger(draft.pdf.resolve(form.get('SigFlags'))) ?? 0;
  if ((flags & SIGN_FLAGS) !== SIGN_FLAGS) form.set('SigFlags', String(flags | SIGN_FLAGS));
  if (target.kind === 'empty') signExistingField(draft, target.found, signature, options);
  else addField(draft, target, signature, { ...options, form });
}

function signExistingField(
  draft: IncrementalUpdate,
  { field, widgets }: NamedField,
  signature: Reference,
  { appearance, isSigned = false }: FieldOptions,
): void {
  // The lookup rejects a field that is a direct object.
  const own = field.reference ?? draft.reserve();
  const body = draft.dict(own, field.dict);
  body.set('V', referenceText(signature));
  const [kid] = widgets;
  const widget = isWidget(draft.pdf, field) ? field : kid;
  const place = placeFieldWidget(draft, appearance, { dict: field.dict, own, widget }, isSigned);
  const { page, entries, fieldEntries = [] } = place;
  for (const [key, value] of fieldEntries) body.set(key, value);
  const reference = widget?.reference;
  const shown =
    widget === undefined ? body : reference === undefined ? undefined : draft.dict(reference, widget.dict);
  // Some readers look for the value in the widget only, even when the field is another object.
  shown?.set('V', referenceText(signature));
  for (const [key, value] of entries) shown?.set(key, value);
  if (page === undefined) return;
  for (const [key, value] of widgetEntries(page.reference)) body.set(key, value);
  draft.dict(page.reference, page.dict).appendHere('Annots', referenceText(own));
}

function addField(
  draft: IncrementalUpdate,
  { under, parts }: TargetField & { readonly kind: 'new' },
  signature: Reference,
  { form, appearance, isSigned = false }: FieldOptions & { readonly form: DictUpdate },
): void {
  const own = draft.reserve();
  const { page, entries } = placeWidget(draft, appearance, own, isSigned);
  let body = `<</FT/Sig/T${textString(parts.at(-1) ?? '')}/V ${referenceText(signature)}`;
  if (page !== undefined) {
    for (const [key, value] of widgetEntries(page.reference)) body += `/${key} ${value}`;
    draft.dict(page.reference, page.dict).appendHere('Annots', referenceText(own));
  }
  for (const [key, value] of entries) body += `/${key} ${value}`;
  // From the field upwards: each new ancestor has one kid.
  let top = own;
  for (const part of parts.slice(0, -1).reverse()) {
    const above = draft.reserve();
    draft.replace(top, `${body}/Parent ${referenceText(above)}>>`);
    body = `<</T${textString(part)}/Kids[${referenceText(top)}]`;
    top = above;
  }
  if (under?.reference === undefined) {
    draft.replace(top, `${body}>>`);
    form.append('Fields', referenceText(top));
  } else {
    draft.replace(top, `${body}/Parent ${referenceText(under.reference)}>>`);
    draft.dict(under.reference, under.dict).append('Kids', referenceText(top));
  }
}

/** Entries of a field that is merged with its widget. */
function widgetEntries(page: Reference): readonly (readonly [string, string])[] {
  return [
    ['Type', '/Annot'],
    ['Subtype', '/Widget'],
    ['F', String(WIDGET_FLAGS)],
    ['P', referenceText(page)],
  ];
}
