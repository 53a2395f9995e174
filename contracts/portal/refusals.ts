/**
 * Error codes of the portal, with their HTTP status and title, the default message. Codes are only ever added. Titles are
 * ASCII: one client decodes them in the character set of its platform.
 *
 * Source: docs/portal-values.md §2; codes beyond it are marked.
 */
export const PORTAL_REFUSALS = {
  BadRequest: { status: 400, title: 'The request is not valid.' },
  Unauthorized: { status: 401, title: 'The API key is missing, unknown or revoked.' },
  Forbidden: { status: 403, title: 'The application of this key may not do this.' },
  NotFound: { status: 404, title: 'Nothing is here.' },
  MethodNotAllowed: { status: 405, title: 'This path does not take this method.' }, // RFC 9110 §15.5.6
  IdempotencyConflict: { status: 409, title: 'This Idempotency-Key was used for another request.' }, // ours
  PayloadTooLarge: { status: 413, title: 'The request is larger than this service accepts.' },
  UnsupportedMediaType: { status: 415, title: 'The media type of the request is not supported.' },
  RangeNotSatisfiable: { status: 416, title: 'The range lies outside the file.' }, // RFC 9110 §15.5.17
  TooManyRequests: { status: 429, title: 'Too many requests.' },
  InternalError: { status: 500, title: 'Something went wrong inside the service.' },
  ServiceBusy: { status: 503, title: 'The service is busy. Try again shortly.' }, // docs/architecture.md

  DocumentNotFound: { status: 422, title: 'No document has this id.' },
  DocumentIsDeleted: { status: 422, title: 'The document was deleted.' },
  DocumentAlreadyCanceled: { status: 422, title: 'The document is canceled already.' },
  CannotCancelExpiredDocument: {
    status: 422,
    title: 'An expired document cannot be canceled, and need not be: nobody can act on it any more.',
  },
  DocumentInvalidKey: { status: 422, title: 'No document has this validation key.' },
  DocumentHasNoSignatures: { status: 422, title: 'The document has no signatures.' },
  NoPendingActionFoundForEmailAndIdentifier: {
    status: 422,
    title: 'The participant has no pending action on this document.',
  },
  FlowActionNotFound: { status: 422, title: 'The document has no such flow action.' },
  InvalidFlowAction: { status: 422, title: 'The flow action is not valid.' },
  FolderNotFound: { status: 422, title: 'No folder has this id.' },
  CertificateNotFound: { status: 422, title: 'The certificate is not known.' },
  CpfMismatch: { status: 422, title: "The certificate's holder is not the participant." },
  CpfNotExpected: { status: 422, title: 'No such certificate holder is expected here.' },
  MaxWebhooksLimitReached: { status: 422, title: 'The organization has as many webhooks as it may have.' },
  OperationNotSupportedInPersonalOrganizations: {
    status: 422,
    title: 'A personal organization cannot do this.',
  },
  UploadNotFound: { status: 422, title: 'No upload has this id.' },
  InvalidIdentifier: { status: 422, title: 'CPF is invalid' },
  EnvelopeRequiresPdf: { status: 422, title: 'All files of an envelope must be PDF.' },
  EnvelopeNameRequired: { status: 422, title: 'An envelope needs a name.' },
  InvalidDocumentStatus: { status: 422, title: 'The status of the document does not allow this.' },
  InvalidTicket: { status: 422, title: 'The ticket is unknown or has expired.' },
  InvalidAuthenticationCode: { status: 422, title: 'The authentication code is wrong or has expired.' },
  DownloadTypeNotAvailable: { status: 422, title: 'This version of the document is not available.' },

  // Beyond the document; all of them ours.
  TooManyWrongCodes: { status: 422, title: 'Too many wrong codes were entered for this flow action.' },
  DocumentNotRead: { status: 422, title: 'The participant has to see every page before acting.' },
  DocumentUnreadable: { status: 422, title: 'The file cannot be signed as it is.' },
  LimitExceeded: { status: 422, title: 'More was sent than one call may hold.' },
  OrganizationNotFound: { status: 422, title: 'No organization has this id.' },
  ApplicationNotFound: { status: 422, title: 'No application has this id.' },
  InvalidBranding: { status: 422, title: 'The branding cannot be used as given.' },
  InvalidFieldValue: { status: 422, title: 'A field was not filled in as it must be.' },
  FieldsNotEditable: {
    status: 422,
    title: 'The file has a signature with a certificate, or one is being made, and takes no new fields.',
  },
  InvalidTextTag: { status: 422, title: 'A tag in the text of the file cannot be used.' },
  NameTaken: { status: 422, title: 'The name is in use.' },
  DocumentOperationNotFound: { status: 422, title: 'No operation on documents has this id.' },
  DocumentOperationEnded: { status: 422, title: 'The operation has ended.' },
  WebhookNotFound: { status: 422, title: 'No webhook has this id.' },
  WebhookUrlNotAllowed: { status: 422, title: 'The address of the webhook is not allowed.' },
  DeliveryNotFound: { status: 422, title: 'No delivery has this id.' },
  TemplateNotFound: { status: 422, title: 'No template has this id.' },
  TemplateVersionNotFound: { status: 422, title: 'The template has no such version, or no longer.' },
  PublicLinkNotFound: { status: 422, title: 'There is no such link.' },
  PublicLinkEnded: { status: 422, title: 'The link takes no more visits.' },
  PublicLinkExpired: { status: 422, title: 'The end of the link has passed.' },
  PublicLinkFull: { status: 422, title: 'All documents of the link were made.' },
  PublicLinkPersonFull: { status: 422, title: 'This person has all documents that one may have.' },
  DocumentDraftNotFound: { status: 422, title: 'No draft has this id.' },
  DocumentFlowNotFound: { status: 422, title: 'No saved flow has this id.' },
  DocumentGenerationNotFound: { status: 422, title: 'No generation has this id.' },
  InvalidGenerationFile: { status: 422, title: 'The template or the data cannot be used.' },
  MarksSessionNotFound: { status: 422, title: 'No marks session has this id.' },
  MailNotFound: { status: 422, title: 'No mail has this id.' },
  MailAlreadySent: { status: 422, title: 'The mail was sent.' },
  UserNotFound: { status: 422, title: 'No user has this id.' },
  VersionChanged: {
    status: 422,
    title: 'The document has a new version since this link was made.',
  },
  LegalHold: {
    status: 422,
    title: 'A legal hold keeps the document. An administrator can end the hold.',
  },
  GrantsChanged: { status: 422, title: 'Somebody else has changed the rights on the folder.' },
  AttachmentNotFound: { status: 422, title: 'The document has no attachment of this id.' },
  TimestampNotAvailable: {
    status: 422,
    title: 'This service has no time-stamp authority.',
  },
  KeyLimitReached: { status: 422, title: 'The application has two keys already.' },
  EnvelopeFileSigned: {
    status: 422,
    title: 'A file of the envelope is signed, and the envelope would not contain its signatures.',
  },
  SigningFailed: { status: 422, title: 'The document could not be signed.' },
} as const satisfies Record<string, { readonly status: number; readonly title: string }>;

export type PortalRefusalCode = keyof typeof PORTAL_REFUSALS;

// Codes of many operations, by subject.

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
