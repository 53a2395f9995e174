/**
 * Puts a signature into a field of the form, which is made when it does not exist (ISO 32000-2, 12.7.5.5).
 */
import { asInteger, type Reference } from '../pdf/index.ts';
import type { SignatureAppearance } from '../types.ts';
import { type DictDraft, type Draft, referenceText } from './draft.ts';
import { isWidget, type NamedField, type TargetField } from './form-survey.ts';
import { textString } from './text-string.ts';
import { placeFieldWidget, placeWidget } from './widget.ts';

/** SignaturesExist and AppendOnly (table 225). */
const SIGN_FLAGS = 3;

/** Printable, since archives forbid hidden annotations, and locked, which keeps editors from moving it (table 167). */
const WIDGET_FLAGS = 132;

export interface FieldOptions {
  readonly appearance?: SignatureAppearance | undefined;
  /** The document has signatures: nothing of it changes that those who check them could object to. @default false */
  readonly isSigned?: boolean;
}

/**
 * Writes field and widget into the draft, and the form that lists them.
 * @throws {CryptoError} as `placeWidget`
 */
export function updateField(
  draft: Draft,
  target: TargetField,
  signature: Reference,
  options: FieldOptions = {},
): void {
  const form = draft.catalog.child('AcroForm');
  const flags = asInteger(draft.pdf.resolve(form.get('SigFlags'))) ?? 0;
  if ((flags & SIGN_FLAGS) !== SIGN_FLAGS) form.set('SigFlags', String(flags | SIGN_FLAGS));
  if (target.kind === 'empty') signEmptyField(draft, target.found, signature, options);
  else addField(draft, form, target, signature, options);
}

function signEmptyField(
  draft: Draft,
  { field, widgets }: NamedField,
  signature: Reference,
  { appearance, isSigned = false }: FieldOptions,
): void {
  // A field without an object of its own was refused when it was looked up.
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
  // Some readers look for the value at the widget alone, even where the field is another object.
  shown?.set('V', referenceText(signature));
  for (const [key, value] of entries) shown?.set(key, value);
  if (page === undefined) return;
  for (const [key, value] of widgetEntries(page.reference)) body.set(key, value);
  draft.dict(page.reference, page.dict).appendHere('Annots', referenceText(own));
}

function addField(
  draft: Draft,
  form: DictDraft,
  { under, parts }: TargetField & { readonly kind: 'new' },
  signature: Reference,
  { appearance, isSigned = false }: FieldOptions,
): void {
  const own = draft.reserve();
  const { page, entries } = placeWidget(draft, appearance, own, isSigned);
  let body = `<</FT/Sig/T${textString(parts.at(-1) ?? '')}/V ${referenceText(signature)}`;
  if (page !== undefined) {
    for (const [key, value] of widgetEntries(page.reference)) body += `/${key} ${value}`;
    draft.dict(page.reference, page.dict).appendHere('Annots', referenceText(own));
  }
  for (const [key, value] of entries) body += `/${key} ${value}`;
  // From the field upwards: each new field above it knows its only kid.
  let top = own;
  for (const part of parts.slice(0, -1).reverse()) {
    const above = draft.reserve();
    draft.put(top, `${body}/Parent ${referenceText(above)}>>`);
    body = `<</T${textString(part)}/Kids[${referenceText(top)}]`;
    top = above;
  }
  if (under?.reference === undefined) {
    draft.put(top, `${body}>>`);
    form.append('Fields', referenceText(top));
  } else {
    draft.put(top, `${body}/Parent ${referenceText(under.reference)}>>`);
    draft.dict(under.reference, under.dict).append('Kids', referenceText(top));
  }
}

/** What makes a field its own widget on a page. */
function widgetEntries(page: Reference): readonly (readonly [string, string])[] {
  return [
    ['Type', '/Annot'],
    ['Subtype', '/Widget'],
    ['F', String(WIDGET_FLAGS)],
    ['P', referenceText(page)],
  ];
}
