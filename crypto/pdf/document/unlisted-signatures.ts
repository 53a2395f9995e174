/**
 * Signature fields that the form does not list: widgets that stand in the annotations of a page only (ISO 32000-2,
 * 12.5.6.19).
 */
import { CryptoError } from '../../core/types.ts';
import { PdfSyntaxError } from '../syntax/reading-errors.ts';
import { asName, asReference, type ByteSlice, items, type PdfDict } from '../syntax/values.ts';
import type { PdfDocument } from './document.ts';
import { inheritedByField, nameByParents } from './form.ts';
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
  let signed: PdfDict | undefined;
  let node: PdfDict | undefined = widget;
  for (let depth = 0; node !== undefined && signed === undefined && depth < MAX_PARENTS; depth++) {
    if (pdf.dict(node.get('V')) !== undefined) signed = node;
    node = pdf.dict(node.get('Parent'));
  }
  return signed && { name: nameByParents(pdf, widget), dict: signed, widget };
}

function readable<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof PdfSyntaxError || error instanceof CryptoError) return undefined;
    throw error;
  }
}
