/**
 * The fields of an interactive form (ISO 32000-2, 12.7).
 *
 * Checks that a document can be signed, independent of earlier signatures.
 *
 * Signature fields that the form does not list: widgets that stand in the annotations of a page only (ISO 32000-2,
 * 12.5.6.19).
 */

import { CryptoError } from '../../core/types.ts';
import { PdfSyntaxError } from '../syntax/syntax.ts';
import {
  asName,
  asReference,
  asText,
  type ByteSlice,
  isNull,
  items,
  type PdfDict,
  type Reference,
} from '../syntax/values.ts';
import type { PdfDocument } from './document.ts';
import { pages } from './page.ts';

interface UnlistedSignature {
  /** Partial names from the top, joined by dots. */
  readonly name: string;
  /** The widget, or the ancestor that has the value. */
  readonly dict: PdfDict;
  readonly widget: PdfDict;
  /** Object number of the widget; undefined for a direct object in the list of a page. */
  readonly number: number | undefined;
}

/** Most ancestors of a widget. */
const MAX_PARENTS = 20;

/**
 * Iterates over the signed signature widgets of all pages that the form does not list. Ends at a page that can't be read:
 * the form of such a file can still be used.
 * @param listed object numbers of the fields of the form, and of their widgets
 */
export function* unlistedSignatures(
  pdf: PdfDocument,
  listed: ReadonlySet<number>,
): Generator<UnlistedSignature> {
  const seen = new Set<number>();
  for (const slice of annotations(pdf)) {
    const number = asReference(slice)?.number;
    if (number !== undefined && (seen.has(number) || listed.has(number))) continue;
    if (number !== undefined) seen.add(number);
    const found = readable(() => signedWidget(pdf, slice));
    if (found !== undefined) yield { ...found, number };
  }
}

function* annotations(pdf: PdfDocument): Generator<ByteSlice> {
  const list = pages(pdf);
  for (let page = readable(() => list.next()); page?.done === false; page = readable(() => list.next())) {
    const { dict } = page.value;
    yield* readable(() => [...items(pdf.resolve(dict.get('Annots')))]) ?? [];
  }
}

function signedWidget(pdf: PdfDocument, slice: ByteSlice): Omit<UnlistedSignature, 'number'> | undefined {
  const widget = pdf.dict(slice);
  if (widget === undefined || asName(pdf.resolve(widget.get('Subtype'))) !== 'Widget') return undefined;
  if (asName(pdf.resolve(inheritedByField(pdf, widget, 'FT'))) !== 'Sig') return undefined;
  const parts: string[] = [];
  let signed: PdfDict | undefined;
  let node: PdfDict | undefined = widget;
  for (let depth = 0; node !== undefined && depth < MAX_PARENTS; depth++) {
    const part = asText(pdf.resolve(node.get('T')));
    if (part !== undefined) parts.unshift(part);
    if (signed === undefined && pdf.dict(node.get('V')) !== undefined) signed = node;
    node = pdf.dict(node.get('Parent'));
  }
  return signed && { name: parts.join('.'), dict: signed, widget };
}

function readable<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof PdfSyntaxError || error instanceof CryptoError) return undefined;
    throw error;
  }
}

/**
 * Permissions (ISO 32000-2, table 22) are those of a user who opens the file without a password. The standard
 * counts signature fields among form fields: creating one changes the form (bits 4 and 6), signing an existing one
 * is form filling (bit 6 or 9). Only conforming readers enforce them (7.6.4.2), and those report an unpermitted
 * signature as a change that the author did not permit.
 *
 * A dynamic XFA form has placeholder pages only: its viewers never show the signed
 * content, and they ignore fields that its template lacks (ISO 32000-1, 12.7.8 and table 28;
 * XFA is removed from ISO 32000-2).
 *
 * @param field `new`: the signature gets a new field; `empty`: it fills an existing one
 * @throws {CryptoError} `pdf.change-forbidden`, `pdf.xfa-only`
 */
export function assertSignable(pdf: PdfDocument, field: 'new' | 'empty'): void {
  const permissions = pdf.xref.encryption?.permissions;
  if (
    permissions !== undefined &&
    !permissions.createFields &&
    (field === 'new' || !permissions.fillFields)
  ) {
    throw new CryptoError(
      'pdf.change-forbidden',
      permissions.fillFields
        ? 'The permissions of the encrypted PDF let only fields be signed that are there already.'
        : 'The permissions of the encrypted PDF forbid to sign it.',
    );
  }
  const form = pdf.dict(pdf.catalog.get('AcroForm'));
  if (form !== undefined && isXfaOnly(pdf, form)) {
    throw new CryptoError(
      'pdf.xfa-only',
      'The PDF is an XFA form without pages of its own; it has to be printed to a PDF before it can be signed.',
    );
  }
}

function isXfaOnly(pdf: PdfDocument, form: PdfDict): boolean {
  if (isNull(pdf.resolve(form.get('XFA')))) return false;
  const { bytes, start, end } = pdf.resolve(pdf.catalog.get('NeedsRendering'));
  if (bytes.toString('latin1', start, end) === 'true') return true;
  const [first] = items(pdf.resolve(form.get('Fields')));
  return first === undefined;
}

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
