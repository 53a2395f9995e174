/** Fault points between the portal's files and the store. Inactive unless armed. */
import { declareFaultPoints } from '@sealwright/runtime';

export const PORTAL_UPLOAD_FAULTS = declareFaultPoints({
  'portal.upload.kept': 'The bytes of an upload have their final name; no upload refers to them.',
  'portal.segment.placed': 'A segment of an upload is in its folder; no step records it.',
  'portal.segment.whole': 'All segments are joined to one file; no upload refers to it.',
});
