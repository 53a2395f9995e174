/** Fault points between the portal's files and the store. Inactive unless armed. */
import { declareFaultPoints } from '../../../runtime/index.ts';

export const PORTAL_UPLOAD_FAULTS = declareFaultPoints({
  'portal.upload.kept': 'The bytes of an upload stand under their name; no upload knows them.',
  'portal.segment.placed': 'A piece of an upload stands in its folder; no step says so.',
  'portal.segment.whole': 'All pieces were put together to one file; no upload knows it.',
});
