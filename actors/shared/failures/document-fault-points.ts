/** Fault points of documents, their files, folders and reports. Inactive unless armed. */
import { declareFaultPoints } from '@sealwright/runtime/core';

export const PORTAL_DOCUMENT_FAULTS = declareFaultPoints({
  'portal.create.some': 'Some documents of a call are stored, the one that announces them is not.',
  'portal.create.all': 'All documents of a call are durable; the client has no answer yet.',
  'portal.sign.accepted': 'A signature is durably accepted; the client has no answer yet.',
  'portal.seal.signed': 'A sealed file has a temporary name; the document does not refer to it.',
  'portal.finish.signed': "The same for a signature by a participant's own key.",
  'portal.provider.authorized': 'A signing provider has authorized a hash; nothing is signed.',
  'portal.provider.signed': 'A signing provider has signed a hash; the document does not have the value.',
  'portal.signature.kept': 'A signed file has its final name; no step records it.',
  'portal.conclusion.checked': 'The signatures of a document are verified; no step records it.',
  'portal.folder.some': 'Some of what a removed folder holds is moved or deleted.',
  'portal.erasure.beside': 'Mails and calls of a document are removed; the person is still in its record.',
  'portal.retention.some': 'Some documents of a pass of retention are planned or deleted.',
  'portal.report.written': 'The spreadsheet of a report has a temporary name; no report refers to it.',
});
