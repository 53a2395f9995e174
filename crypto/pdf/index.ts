export { type ByteSource, bufferSource } from './byte-source.ts';
export { PdfDamage } from './damage.ts';
export { openIntactPdf, PdfDocument, withPdf } from './document.ts';
export { type Field, fields } from './form.ts';
export { firstPage, type Page } from './page.ts';
export { firstUnusedNumber, type RevisionObject, writeRevision } from './revision.ts';
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
  sourceText,
} from './values.ts';
export type { XrefEntry } from './xref-entry.ts';
