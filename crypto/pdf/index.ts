/** Public API of the PDF layer: documents, objects, and revisions appended to them. */

export { openIntactPdf, PdfDocument, withPdf } from './document/document.ts';
export { assertSignable, type Field, fields, inheritedByField, unlistedSignatures } from './document/form.ts';
export { firstPage, type Page, pages, type TreePage } from './document/page.ts';
export { operationsIn } from './syntax/content-stream.ts';
export { type ByteSource, bufferSource } from './syntax/objects.ts';
export { referencesIn } from './syntax/references.ts';
export { PdfSyntaxError } from './syntax/syntax.ts';
export {
  asDict,
  asInteger,
  asName,
  asReference,
  asString,
  asText,
  type ByteSlice,
  entriesOf,
  equalEntries,
  equalValues,
  isArray,
  isNull,
  items,
  type PdfDict,
  type Reference,
  sourceText,
} from './syntax/values.ts';
export { firstUnusedNumber, spliceDict, writeRevision } from './update/incremental-update.ts';
