/**
 * The fields of an interactive form (ISO 32000-2, 12.7).
 */

import { PdfDamage } from './damage.ts';
import type { PdfDocument } from './document.ts';
import { asText } from './strings.ts';
import { asName, asReference, items, type PdfDict, type Piece, type Reference } from './values.ts';

export interface Field {
  readonly dict: PdfDict;
  /** Undefined when it is written into the array that lists it. */
  readonly reference: Reference | undefined;
  /** Type of the field, its own or that of an ancestor: `Sig`, `Tx`, … */
  readonly type: string | undefined;
  /** Partial names from the top, joined by dots. */
  readonly name: string;
  /** 0 for a field the form lists itself. */
  readonly depth: number;
}

/** Fields deeper than this are refused; real forms stay under ten. */
const MAX_DEPTH = 100;

/**
 * Every field of the form, parents before their kids, each indirect object once.
 * @param depth how deep to go; 0 stays with the fields the form lists itself
 */
export function* fields(pdf: PdfDocument, depth: number = MAX_DEPTH): Generator<Field> {
  const form = pdf.dict(pdf.catalog.get('AcroForm'));
  const listed = form?.get('Fields');
  if (listed === undefined) return;
  const seen = new Set<number>();
  const open: { readonly kids: Iterator<Piece>; readonly type: string | undefined; readonly name: string }[] =
    [{ kids: items(pdf.resolve(listed)), type: undefined, name: '' }];
  for (let level = open.at(-1); level !== undefined; level = open.at(-1)) {
    const next = level.kids.next();
    if (next.done === true) {
      open.pop();
      continue;
    }
    const reference = asReference(next.value);
    if (reference !== undefined) {
      if (seen.has(reference.number)) continue;
      seen.add(reference.number);
    }
    const dict = pdf.dict(next.value);
    if (dict === undefined) continue;
    const type = asName(pdf.resolve(dict.get('FT'))) ?? level.type;
    const part = asText(pdf.resolve(dict.get('T')));
    const name = part === undefined ? level.name : level.name === '' ? part : `${level.name}.${part}`;
    yield { dict, reference, type, name, depth: open.length - 1 };
    const kids = dict.get('Kids');
    if (kids === undefined || open.length > depth) continue;
    if (open.length > MAX_DEPTH) throw new PdfDamage(`The form nests fields deeper than ${MAX_DEPTH}.`);
    open.push({ kids: items(pdf.resolve(kids)), type, name });
  }
}
