/** Codes that many routes of the portal refuse with, by what they are about. Source: portal-gaps §2. */

/** Of every call that names a document. */
export const UNKNOWN_DOCUMENT = ['DocumentNotFound', 'DocumentIsDeleted'] as const;
/** Of every call whose request names files that cannot be had, or not be signed. */
export const UNKNOWN_FILES = [
  'UploadNotFound',
  'DocumentUnreadable',
  'EnvelopeRequiresPdf',
  'LimitExceeded',
] as const;
