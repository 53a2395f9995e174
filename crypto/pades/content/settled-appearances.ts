/**
 * Writes the appearances that a form asks viewers for (`NeedAppearances`), and takes the flag back. Viewers that heed it
 * draw all fields anew, also those of signatures, whose marks then vanish.
 */
import { isShowable } from '../../pdf/fonts/shaped-text.ts';
import {
  asInteger,
  asName,
  asText,
  fields,
  inheritedByField,
  isArray,
  items,
  type PdfDict,
  type PdfDocument,
  sourceText,
} from '../../pdf/index.ts';
import type { IncrementalUpdate } from '../../pdf/update/incremental-update.ts';
import { nameObject } from '../../pdf/update/rewrite.ts';
import { fieldValue } from '../shown-values/field-value.ts';
import type { AppearanceWriter } from './appearance-writer.ts';
import { fieldLook } from './field-look.ts';
import {
  drawValue,
  extentOf,
  type FieldObject,
  hasLook,
  isFaithful,
  rotationOf,
  statesOf,
} from './fill-field.ts';

/** Flags of buttons (table 229). */
const RADIO = 1 << 15;
const PUSH_BUTTON = 1 << 16;
/** Marks of the font ZapfDingbats that captions name, as characters. */
const CAPTIONS: { readonly [caption: string]: string } = {
  '4': '\u2714',
  '8': '\u2718',
  H: '\u2605',
  l: '\u25cf',
  n: '\u25a0',
  u: '\u25c6',
};

/** True for a form that asks viewers to draw its fields. */
export function needsAppearances(pdf: PdfDocument): boolean {
  const value = pdf.dict(pdf.catalog.get('AcroForm'))?.get('NeedAppearances');
  return value !== undefined && sourceText(pdf.resolve(value)) === 'true';
}

/** @param filled names of the fields whose appearances this update has */
export function settleAppearances(
  draft: IncrementalUpdate,
  writer: AppearanceWriter,
  filled: ReadonlySet<string>,
): void {
  const { pdf } = draft;
  if (!needsAppearances(pdf)) return;
  for (const { name, type, dict, reference } of fields(pdf)) {
    if (filled.has(name) || asName(pdf.resolve(dict.get('Subtype'))) !== 'Widget') continue;
    // A field that is written into the list of the form cannot be changed alone: viewers go on drawing it.
    if (reference === undefined) return;
    const widget = { dict, reference };
    if (type === 'Btn') settleButton(draft, writer, widget);
    else if ((type === 'Tx' || type === 'Ch') && !isFaithful(pdf, dict, type))
      drawValue(draft, writer, { widget, type, values: valuesOf(pdf, dict), isSigned: false });
  }
  draft.catalog.child('AcroForm').set('NeedAppearances', 'false');
}

/** True when each field has an appearance that shows its value, so that viewers need not draw any. */
export function showsAllValues(pdf: PdfDocument): boolean {
  for (const { type, dict } of fields(pdf)) {
    if (type === 'Sig' || asName(pdf.resolve(dict.get('Subtype'))) !== 'Widget') continue;
    const isEmpty = type !== 'Btn' && valuesOf(pdf, dict).length === 0;
    if (!isEmpty && !isFaithful(pdf, dict, type ?? '')) return false;
  }
  return true;
}

function valuesOf(pdf: PdfDocument, field: PdfDict): readonly string[] {
  const value = pdf.resolve(inheritedByField(pdf, field, 'V'));
  if (isArray(value)) return [...items(value)].flatMap((item) => asText(pdf.resolve(item)) ?? []);
  const [text] = fieldValue(pdf, field).texts ?? [];
  return text === undefined || text === '' ? [] : [text];
}

function settleButton(draft: IncrementalUpdate, writer: AppearanceWriter, widget: FieldObject): void {
  const { pdf } = draft;
  const { dict, reference } = widget;
  const flags = asInteger(pdf.resolve(inheritedByField(pdf, dict, 'Ff'))) ?? 0;
  const extent = extentOf(pdf, dict);
  const body = draft.dict(reference, dict);
  const value = asName(pdf.resolve(inheritedByField(pdf, dict, 'V'))) ?? 'Off';
  const isPush = (flags & PUSH_BUTTON) !== 0;
  if (hasLook(pdf, dict)) {
    const state = statesOf(pdf, widget).includes(value) ? value : 'Off';
    if (!isPush && asName(pdf.resolve(dict.get('AS'))) !== state) body.set('AS', nameObject(state));
    return;
  }
  if (extent === undefined) return;
  const rotation = rotationOf(pdf, dict);
  const look = { ...fieldLook(pdf, dict, pdf.dict(pdf.catalog.get('AcroForm'))), align: 'centre' as const };
  const caption = asText(pdf.resolve(pdf.dict(dict.get('MK'))?.get('CA'))) ?? '';
  const draw = (text: string): string => writer.field(extent, rotation, look, { kind: 'line', text });
  if (isPush) {
    body.set('AP', `<</N ${draw(caption)}>>`);
    return;
  }
  const named = asName(pdf.resolve(dict.get('AS'))) ?? value;
  const on = named === 'Off' ? 'Yes' : named;
  const mark = CAPTIONS[caption] ?? CAPTIONS[(flags & RADIO) === 0 ? '4' : 'l'] ?? '';
  body.set('AP', `<</N<<${nameObject(on)} ${draw(isShowable(mark) ? mark : 'X')}/Off ${draw('')}>>>>`);
  body.set('AS', nameObject(value === on ? on : 'Off'));
}
