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
