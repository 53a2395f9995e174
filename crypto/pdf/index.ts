/** The public names of the PDF layer: documents read as they stand, objects, and revisions appended to them. */
export { type ByteSource, bufferSource } from './byte-source.ts';
export { PdfDamage } from './damage.ts';
export { openIntactPdf, PdfDocument, withPdf } from './document.ts';
export type { FormPermissions } from './encryption/encryption.ts';
export { entriesOf, equalValues } from './equality.ts';
export { unpack } from './filters.ts';
export { type Field, fields } from './form.ts';
export { firstPage, type Page, pages, type TreePage } from './page.ts';
export { unpredict } from './predictor.ts';
export { referencesIn } from './references.ts';
export { firstUnusedNumber, type RevisionObject, writeRevision } from './revision.ts';
export { type DictChange, nameObject, type Rewriting, type RewrittenEntry, rewriteValue } from './rewrite.ts';
export { assertSignable } from './signable.ts';
export { sourceText } from './source-text.ts';
export { appendItem, spliceDict } from './splice.ts';
export { asString, asText } from './strings.ts';
export {
  asDict,
  asInteger,
  asName,
  asReference,
  isArray,
  isNull,
  items,
  type PdfDict,
  type Piece,
  type Reference,
} from './values.ts';
export type { XrefEntry } from './xref-entry.ts';
