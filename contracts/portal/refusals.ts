/** Refusal codes shared by many routes of the portal, by subject. Source: docs/portal-values.md §2. */

/** Codes of every operation on a document. */
export const UNKNOWN_DOCUMENT = ['DocumentNotFound', 'DocumentIsDeleted'] as const;
/** Codes of every operation whose request names files: missing or unusable ones. */
export const UNKNOWN_FILES = [
  'UploadNotFound',
  'DocumentUnreadable',
  'EnvelopeRequiresPdf',
  'LimitExceeded',
] as const;
/** Codes of electronic signatures: wrong codes of mails and values of fields, and files. */
export const ELECTRONIC_SIGNATURE = [
  'InvalidAuthenticationCode',
  'TooManyRequests',
  'TooManyWrongCodes',
  'InvalidFieldValue',
  'SigningFailed',
  'UploadNotFound',
] as const;
