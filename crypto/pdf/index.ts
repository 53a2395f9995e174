/** Public API of the PDF layer: documents, objects, and revisions appended to them. */

export { openIntactPdf, PdfDocument, withPdf } from './document/document.ts';
export { type Field, fields, inheritedByField } from './document/form.ts';
export { firstPage, type Page, pages, type TreePage } from './document/page.ts';
export { assertSignable } from './document/signable.ts';
export { unlistedSignatures } from './document/unlisted-signatures.ts';
export { type ByteSource, bufferSource } from './syntax/byte-source.ts';
export { type Operation, operationsIn } from './syntax/content-stream.ts';
export { PdfSyntaxError } from './syntax/damage.ts';
export { entriesOf, equalValues } from './syntax/equality.ts';
export { unpack } from './syntax/filters.ts';
export { referencesIn } from './syntax/references.ts';
export { sourceText } from './syntax/source-text.ts';
export { asString, asText } from './syntax/strings.ts';
export {
  asDict,
  asInteger,
  asName,
  asReference,
  type ByteSlice,
  isArray,
  isNull,
  items,
  type PdfDict,
  type Reference,
} from './syntax/values.ts';
export { spliceDict } from './update/incremental-update.ts';
export { firstUnusedNumber, writeRevision } from './update/revision.ts';
