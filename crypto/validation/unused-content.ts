import type { Finding } from '../core/finding.ts';

/** Finding for a given content file that no signature covers. */
export const UNUSED_CONTENT: Finding = {
  status: 'failed',
  type: 'content.given',
  message: 'The signatures are over what the file itself holds: the content given beside it plays no part.',
  subIndication: 'GENERIC',
};
