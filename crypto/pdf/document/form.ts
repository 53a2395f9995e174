/** The fields of an interactive form (ISO 32000-2, 12.7). */
import { PdfSyntaxError } from '../syntax/reading-errors.ts';
import { asText } from '../syntax/strings.ts';
import {
  asName,
  asReference,
  type ByteSlice,
  isNull,
  items,
  type PdfDict,
  type Reference,
} from '../syntax/values.ts';
import type { PdfDocument } from './document.ts';

export interface Field {
  readonly dict: PdfDict;
  /** Undefined for a direct object in the array that lists it. */
  readonly reference: Reference | undefined;
  /** Type of the field, its own or inherited: `Sig`, `Tx`, … */
  readonly type: string | undefined;
  /** Partial names from the top, joined by dots. */
  readonly name: string;
  /** 0 for a top-level field. */
  readonly depth: number;
}

/** Most levels of fields; real forms stay under ten. */
const MAX_DEPTH = 100;
/** Most ancestors of a widget whose entries it inherits. */
const MAX_ANCESTORS = 20;

/** Returns an inheritable entry of a field or widget, its own or that of an ancestor. */
export function inheritedByField(pdf: PdfDocument, field: PdfDict, key: string): ByteSlice | undefined {
  let node: PdfDict | undefined = field;
  for (let depth = 0; node !== undefined && depth < MAX_ANCESTORS; depth++) {
    const value = node.get(key);
    if (value !== undefined && !isNull(value)) return value;
    node = pdf.dict(node.get('Parent'));
  }
  return undefined;
}

/** Returns the name of a field by the parents that it names, as programs build it that begin at a widget. */
export function nameByParents(pdf: PdfDocument, field: PdfDict): string {
  const parts: string[] = [];
  let node: PdfDict | undefined = field;
  for (let depth = 0; node !== undefined && depth < MAX_ANCESTORS; depth++) {
    const part = asText(pdf.resolve(node.get('T')));
    if (part !== undefined) parts.unshift(part);
    node = pdf.dict(node.get('Parent'));
  }
  return parts.join('.');
}

/**
 * Iterates over the fields of the form, parents before their kids, each indirect object once.
 * @param depth number of levels below the top; 0 for top-level fields only
 */
export function* fields(pdf: PdfDocument, depth: number = MAX_DEPTH): Generator<Field> {
  const form = pdf.dict(pdf.catalog.get('AcroForm'));
  const listed = form?.get('Fields');
  if (listed === undefined) return;
  const seen = new Set<number>();
  const open: {
    readonly kids: Iterator<ByteSlice>;
    readonly type: string | undefined;
    readonly name: string;
  }[] = [{ kids: items(pdf.resolve(listed)), type: undefined, name: '' }];
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
    if (open.length > MAX_DEPTH) throw new PdfSyntaxError(`The form nests fields deeper than ${MAX_DEPTH}.`);
    open.push({ kids: items(pdf.resolve(kids)), type, name });
  }
}
