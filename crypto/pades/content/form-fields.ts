/** The fields of a form by their names, with their widgets. */
import { fields } from '../../pdf/document/form.ts';
import { asName, type PdfDict, type PdfDocument, type Reference } from '../../pdf/index.ts';

/** Part of a field that is an object of its own. */
export interface FieldObject {
  readonly dict: PdfDict;
  readonly reference: Reference;
}

export interface FormField {
  readonly name: string;
  /** `Tx`, `Btn`, `Ch` or `Sig`. */
  readonly type: string | undefined;
  readonly field: FieldObject;
  /** The field itself, or its kids. */
  readonly widgets: readonly FieldObject[];
}

/** Most fields of a form that are looked at. */
const MAX_FIELDS = 20_000;

/** Reads the terminal fields. A field that is a direct object of a list is left out: it cannot be changed alone. */
export function formFields(pdf: PdfDocument): ReadonlyMap<string, FormField> {
  const found = new Map<
    string,
    { name: string; type: string | undefined; field: FieldObject; widgets: FieldObject[] }
  >();
  let count = 0;
  for (const { dict, reference, type, name } of fields(pdf)) {
    if (++count > MAX_FIELDS) break;
    if (reference === undefined || name === '') continue;
    const object = { dict, reference };
    const isWidget = asName(pdf.resolve(dict.get('Subtype'))) === 'Widget';
    const known = found.get(name);
    if (known === undefined)
      found.set(name, { name, type, field: object, widgets: isWidget ? [object] : [] });
    else if (isWidget && dict.get('T') === undefined) known.widgets.push(object);
  }
  return found;
}
