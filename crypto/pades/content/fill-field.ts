/** Sets the value of a form field, with the appearances that show it (ISO 32000-2, 12.7.4.3 and 12.7.5). */
import { CryptoError } from '../../core/types.ts';
import { fields } from '../../pdf/document/form.ts';
import { box, type PageView } from '../../pdf/graphics/page-view.ts';
import {
  asInteger,
  asName,
  entriesOf,
  type PdfDict,
  type PdfDocument,
  type Reference,
} from '../../pdf/index.ts';
import { asText, textString } from '../../pdf/syntax/strings.ts';
import type { IncrementalUpdate } from '../../pdf/update/incremental-update.ts';
import { nameObject } from '../../pdf/update/rewrite.ts';
import { contradictsValue } from '../shown-values/stored-look.ts';
import type { AppearanceWriter } from './appearance-writer.ts';
import { choiceOptions, fieldContent, fieldLook, optionFor } from './field-look.ts';

/**
 * @throws {CryptoError} `request.invalid` for a value that the field cannot have
 */
export function fillField(
  draft: IncrementalUpdate,
  writer: AppearanceWriter,
  {
    formField: { name, type, fields, widgets },
    value,
    isSigned,
  }: {
    readonly formField: FormField;
    readonly value: string;
    /** The document has signatures: a frame that was not seen is not drawn, since it could cover what was signed. */
    readonly isSigned: boolean;
  },
): void {
  const { pdf } = draft;
  const [field] = fields;
  if (type === 'Btn') {
    const state = buttonState(pdf, fields, widgets, value);
    if (state === undefined)
      throw new CryptoError('request.invalid', `The form field ${name} has no state for the value ${value}.`);
    for (const { reference, dict } of fields) setName(draft, reference, { dict, key: 'V', name: state });
    for (const widget of widgets) {
      const own = statesOf(pdf, widget).includes(state) ? state : 'Off';
      setName(draft, widget.reference, { dict: widget.dict, key: 'AS', name: own });
    }
    return;
  }
  if (type !== 'Tx' && type !== 'Ch')
    throw new CryptoError('request.invalid', `The form field ${name} cannot be filled.`);
  const options = type === 'Ch' && field !== undefined ? choiceOptions(pdf, field.dict) : [];
  const chosen = optionFor(options, value);
  const stored = chosen?.value ?? value;
  // The value may be there without a look that shows it. Another look without another value breaks earlier signatures.
  if (isSigned && fields.every(({ dict }) => asText(pdf.resolve(dict.get('V'))) === stored)) return;
  for (const { reference, dict } of fields) {
    const body = draft.dict(reference, dict);
    body.set('V', textString(stored));
    // A formatted text and the numbers of options belong to the value before.
    if (dict.get('RV') !== undefined) body.set('RV', 'null');
    if (chosen !== undefined) body.set('I', `[${options.indexOf(chosen)}]`);
  }
  for (const widget of widgets) drawValue(draft, writer, { widget, type, values: [stored], isSigned });
}

function setName(
  draft: IncrementalUpdate,
  reference: Reference,
  { dict, key, name }: { readonly dict: PdfDict; readonly key: 'V' | 'AS'; readonly name: string },
): void {
  if (asName(draft.pdf.resolve(dict.get(key))) !== name)
    draft.dict(reference, dict).set(key, nameObject(name));
}

/** True when the widget has an appearance that shows its value, or one that cannot be read. */
export function isFaithful(pdf: PdfDocument, widget: PdfDict, type: string): boolean {
  return hasLook(pdf, widget) && !contradictsValue(pdf, widget, type, () => {});
}

export function hasLook(pdf: PdfDocument, widget: PdfDict): boolean {
  return pdf.dict(pdf.dict(widget.get('AP'))?.get('N')) !== undefined;
}

/** Writes the appearance of a widget. Returns false for a widget without a place. */
export function drawValue(
  draft: IncrementalUpdate,
  writer: AppearanceWriter,
  {
    widget: { dict, reference },
    type,
    values,
    isSigned,
  }: {
    readonly widget: FieldObject;
    readonly type: 'Tx' | 'Ch';
    readonly values: readonly string[];
    readonly isSigned: boolean;
  },
): boolean {
  const { pdf } = draft;
  const extent = extentOf(pdf, dict);
  if (extent === undefined) return false;
  const look = fieldLook(pdf, dict, pdf.dict(pdf.catalog.get('AcroForm')));
  const isFramed = !isSigned || pdf.dict(dict.get('AP')) !== undefined;
  const shown = isFramed ? look : { ...look, background: undefined, border: undefined };
  const content = fieldContent(pdf, dict, type, values);
  const appearance = writer.field(extent, rotationOf(pdf, dict), shown, content);
  draft.dict(reference, dict).set('AP', `<</N ${appearance}>>`);
  return true;
}

/** Returns the size of a widget as its text is read. */
export function extentOf(
  pdf: PdfDocument,
  widget: FieldObject['dict'],
): { readonly width: number; readonly height: number } | undefined {
  const place = box(pdf, widget.get('Rect'));
  if (place === undefined) return undefined;
  const rotation = rotationOf(pdf, widget);
  const across = place[2] - place[0];
  const up = place[3] - place[1];
  const isTurned = rotation === 90 || rotation === 270;
  return { width: isTurned ? up : across, height: isTurned ? across : up };
}

export function rotationOf(pdf: PdfDocument, widget: FieldObject['dict']): PageView['rotation'] {
  const turn = asInteger(pdf.resolve(pdf.dict(widget.get('MK'))?.get('R')));
  return turn === 90 || turn === 180 || turn === 270 ? turn : 0;
}

/**
 * Returns the state that a value means: of a checkbox its only one beside `Off`; of radio buttons the one of that name, or
 * of the option with that text (12.7.5.2.4).
 */
function buttonState(
  pdf: PdfDocument,
  fields: readonly FieldObject[],
  widgets: readonly FieldObject[],
  value: string,
): string | undefined {
  const states = [...new Set(widgets.flatMap((widget) => statesOf(pdf, widget)))];
  if (value === 'false') return 'Off';
  if (value === 'true') return states.length === 1 ? states[0] : undefined;
  const [field] = fields;
  const options = field === undefined ? [] : choiceOptions(pdf, field.dict);
  const number = options.findIndex((option) => option.value === value);
  return states.find((state) => state === value) ?? states.find((state) => state === String(number));
}

/** Lists the states with an appearance, without `Off`. */
export function statesOf(pdf: PdfDocument, { dict }: Pick<FieldObject, 'dict'>): readonly string[] {
  const normal = pdf.dict(pdf.dict(dict.get('AP'))?.get('N'));
  const names = normal === undefined ? [] : [...(entriesOf(normal)?.keys() ?? [])];
  return names.filter((name) => name !== 'Off');
}

/** Part of a field that is an object of its own. */
export interface FieldObject {
  readonly dict: PdfDict;
  readonly reference: Reference;
}

interface FormField {
  readonly name: string;
  /** `Tx`, `Btn`, `Ch` or `Sig`. */
  readonly type: string | undefined;
  /** More than one where a file has several fields of one name, which have one value. */
  readonly fields: readonly FieldObject[];
  /** The fields themselves, or their kids. */
  readonly widgets: readonly FieldObject[];
}

/** Most fields of a form that are looked at. */
const MAX_FIELDS = 20_000;

/** Reads the terminal fields. A field that is a direct object of a list is left out: it cannot be changed alone. */
export function formFields(pdf: PdfDocument): ReadonlyMap<string, FormField> {
  const found = new Map<
    string,
    { name: string; type: string | undefined; fields: FieldObject[]; widgets: FieldObject[] }
  >();
  let count = 0;
  for (const { dict, reference, type, name } of fields(pdf)) {
    if (++count > MAX_FIELDS) break;
    if (reference === undefined || name === '') continue;
    const known = found.get(name) ?? { name, type, fields: [], widgets: [] };
    found.set(name, known);
    const object = { dict, reference };
    if (dict.get('T') !== undefined && (known.type === type || known.fields.length === 0))
      known.fields.push(object);
    if (asName(pdf.resolve(dict.get('Subtype'))) === 'Widget') known.widgets.push(object);
  }
  return found;
}
