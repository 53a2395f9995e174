/** Public API of the PDF layer: documents, objects, and revisions appended to them. */

export { openIntactPdf, PdfDocument, withPdf } from './document/document.ts';
export { type Field, fields, inheritedByField, nameByParents } from './document/form.ts';
export { firstPage, type Page, pages, type TreePage } from './document/page.ts';
export { TREE_FAULTS, type TreeFault, treeFaults } from './document/page-tree.ts';
export { assertSignable } from './document/signable.ts';
export { unlistedSignatures } from './document/unlisted-signatures.ts';
export { operationsIn } from './syntax/content-stream.ts';
export { entriesOf, equalEntries, equalValues } from './syntax/equal-values.ts';
export { type ByteSource, bufferSource } from './syntax/objects.ts';
export { PdfSyntaxError } from './syntax/reading-errors.ts';
export { referencesIn } from './syntax/references.ts';
export { asString, asText, sourceText } from './syntax/strings.ts';
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
export { firstUnusedNumber, spliceDict, writeRevision } from './update/incremental-update.ts';
