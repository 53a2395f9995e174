import type { Finding } from './facts.ts';

/** Who names a file that is said to be signed has to be told when no signature is over it. */
export const UNUSED_CONTENT: Finding = {
  status: 'failed',
  type: 'content.given',
  message: 'The signatures are over what the file itself holds: the content given beside it plays no part.',
  subIndication: 'GENERIC',
};
