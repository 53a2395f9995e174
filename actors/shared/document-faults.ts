/** Fault points of documents, their files, folders and reports. Inactive unless armed. */
import { declareFaultPoints } from '../../runtime/core.ts';

export const PORTAL_DOCUMENT_FAULTS = declareFaultPoints({
  'portal.create.some': 'Some documents of a call are stored, the one that announces them is not.',
  'portal.create.all': 'All documents of a call are durable; the client has no answer yet.',
  'portal.sign.accepted': 'A signature is durably accepted; the client has no answer yet.',
  'portal.seal.signed': 'A sealed file stands under a temporary name; the document knows nothing of it.',
  'portal.finish.signed': "The same for a signature by a participant's own key.",
  'portal.signature.kept': 'A signed file stands under its name; no step says so.',
  'portal.conclusion.checked': 'The signatures of a document were found good; no step says so.',
  'portal.folder.some': 'Some of what a removed folder holds is moved or deleted.',
  'portal.report.written': 'The spreadsheet of a report stands under a temporary name; no report knows it.',
});
