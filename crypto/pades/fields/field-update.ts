/** Adds a signature to a field of the form, which is created when it does not exist (ISO 32000-2, 12.7.5.5). */

import type { SignatureAppearance } from '../../core/types.ts';
import { asInteger, type Reference } from '../../pdf/index.ts';
import { textString } from '../../pdf/syntax/strings.ts';
import {
  type DictUpdate,
  type IncrementalUpdate,
  referenceText,
} from '../../pdf/update/incremental-update.ts';
import { isWidget, type NamedField, type TargetField } from './form-survey.ts';
import { placeFieldWidget, placeWidget } from './widget.ts';

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
  else addField(draft, form, target, signature, options);
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
  form: DictUpdate,
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
