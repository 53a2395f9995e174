/** Sets the value of a form field, with the appearances that show it (ISO 32000-2, 12.7.4.3 and 12.7.5). */
import { CryptoError } from '../../core/types.ts';
import { box, type PageView } from '../../pdf/graphics/page-view.ts';
import { asInteger, asName, entriesOf } from '../../pdf/index.ts';
import { asText } from '../../pdf/syntax/strings.ts';
import { textString } from '../../pdf/syntax/text-string.ts';
import type { IncrementalUpdate } from '../../pdf/update/incremental-update.ts';
import type { AppearanceWriter } from './appearance-writer.ts';
import type { FieldObject, FormField } from './form-fields.ts';

/** @throws {CryptoError} `request.invalid` for a value that the field cannot have */
export function fillField(
  draft: IncrementalUpdate,
  writer: AppearanceWriter,
  { name, type, field, widgets }: FormField,
  value: string,
): void {
  const { pdf } = draft;
  if (type === 'Btn') {
    const state = buttonState(draft, widgets, value);
    if (state === undefined)
      throw new CryptoError('request.invalid', `The form field ${name} has no state for the value ${value}.`);
    if (asName(pdf.resolve(field.dict.get('V'))) === state) return;
    draft.dict(field.reference, field.dict).set('V', `/${state}`);
    for (const widget of widgets) {
      const own = statesOf(draft, widget).includes(state) ? state : 'Off';
      draft.dict(widget.reference, widget.dict).set('AS', `/${own}`);
    }
    return;
  }
  if (type !== 'Tx' && type !== 'Ch')
    throw new CryptoError('request.invalid', `The form field ${name} cannot be filled.`);
  if (asText(pdf.resolve(field.dict.get('V'))) === value) return;
  draft.dict(field.reference, field.dict).set('V', textString(value));
  for (const widget of widgets) {
    const place = box(pdf, widget.dict.get('Rect'));
    if (place === undefined) continue;
    const rotation = rotationOf(draft, widget);
    const [across, up] = [place[2] - place[0], place[3] - place[1]];
    const isTurned = rotation === 90 || rotation === 270;
    const extent = { width: isTurned ? up : across, height: isTurned ? across : up };
    const appearance = writer.text(extent, rotation, value);
    draft.dict(widget.reference, widget.dict).set('AP', `<</N ${appearance}>>`);
  }
}

function rotationOf({ pdf }: IncrementalUpdate, { dict }: FieldObject): PageView['rotation'] {
  const turn = asInteger(pdf.resolve(pdf.dict(dict.get('MK'))?.get('R')));
  return turn === 90 || turn === 180 || turn === 270 ? turn : 0;
}

/** The state that a value means: of a checkbox its only one beside `Off`; of radio buttons the one of that name. */
function buttonState(
  draft: IncrementalUpdate,
  widgets: readonly FieldObject[],
  value: string,
): string | undefined {
  const states = [...new Set(widgets.flatMap((widget) => statesOf(draft, widget)))];
  if (value === 'false') return 'Off';
  if (value === 'true') return states.length === 1 ? states[0] : undefined;
  return states.find((state) => state === value);
}

/** States with an appearance, without `Off`. Only names of plain letters and digits can be written back. */
function statesOf({ pdf }: IncrementalUpdate, { dict }: FieldObject): readonly string[] {
  const normal = pdf.dict(pdf.dict(dict.get('AP'))?.get('N'));
  const names = normal === undefined ? [] : [...(entriesOf(normal)?.keys() ?? [])];
  return names.filter((name) => name !== 'Off' && /^[\w.-]+$/.test(name));
}
