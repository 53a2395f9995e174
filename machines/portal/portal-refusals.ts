/**
 * Error codes of the portal, with their HTTP status and default message. Codes are only ever added. Messages are ASCII:
 * one client decodes them in the character set of its platform.
 *
 * Source: docs/portal-values.md §2; codes beyond it are marked.
 */
export const PORTAL_REFUSALS = {
  BadRequest: { status: 400, message: 'The request is not valid.' },
  Unauthorized: { status: 401, message: 'The API key is missing, unknown or revoked.' },
  Forbidden: { status: 403, message: 'The application of this key may not do this.' },
  NotFound: { status: 404, message: 'Nothing is here.' },
  MethodNotAllowed: { status: 405, message: 'This path does not take this method.' }, // RFC 9110 §15.5.6
  IdempotencyConflict: { status: 409, message: 'This Idempotency-Key was used for another request.' }, // ours
  PayloadTooLarge: { status: 413, message: 'The request is larger than this service accepts.' },
  UnsupportedMediaType: { status: 415, message: 'The media type of the request is not supported.' },
  RangeNotSatisfiable: { status: 416, message: 'The range lies outside the file.' }, // RFC 9110 §15.5.17
  TooManyRequests: { status: 429, message: 'Too many requests.' },
  InternalError: { status: 500, message: 'Something went wrong inside the service.' },
  ServiceBusy: { status: 503, message: 'The service is busy. Try again shortly.' }, // docs/architecture.md

  DocumentNotFound: { status: 422, message: 'No document has this id.' },
  DocumentIsDeleted: { status: 422, message: 'The document was deleted.' },
  DocumentAlreadyCanceled: { status: 422, message: 'The document is canceled already.' },
  CannotCancelExpiredDocument: {
    status: 422,
    message: 'An expired document cannot be canceled, and need not be: nobody can act on it any more.',
  },
  DocumentInvalidKey: { status: 422, message: 'No document has this validation key.' },
  DocumentHasNoSignatures: { status: 422, message: 'The document has no signatures.' },
  NoPendingActionFoundForEmailAndIdentifier: {
    status: 422,
    message: 'The participant has no pending action on this document.',
  },
  FlowActionNotFound: { status: 422, message: 'The document has no such flow action.' },
  InvalidFlowAction: { status: 422, message: 'The flow action is not valid.' },
  FolderNotFound: { status: 422, message: 'No folder has this id.' },
  CertificateNotFound: { status: 422, message: 'The certificate is not known.' },
  CpfMismatch: { status: 422, message: "The certificate's holder is not the participant." },
  CpfNotExpected: { status: 422, message: 'No such certificate holder is expected here.' },
  MaxWebhooksLimitReached: { status: 422, message: 'The organization has as many webhooks as it may have.' },
  OperationNotSupportedInPersonalOrganizations: {
    status: 422,
    message: 'A personal organization cannot do this.',
  },
  UploadNotFound: { status: 422, message: 'No upload has this id.' },
  InvalidIdentifier: { status: 422, message: 'CPF is invalid' },
  EnvelopeRequiresPdf: { status: 422, message: 'All files of an envelope must be PDF.' },
  EnvelopeNameRequired: { status: 422, message: 'An envelope needs a name.' },
  InvalidDocumentStatus: { status: 422, message: 'The status of the document does not allow this.' },
  InvalidTicket: { status: 422, message: 'The ticket is unknown or has expired.' },
  InvalidAuthenticationCode: { status: 422, message: 'The authentication code is wrong or has expired.' },
  DownloadTypeNotAvailable: { status: 422, message: 'This version of the document is not available.' },

  // Beyond the document; all of them ours.
  TooManyWrongCodes: { status: 422, message: 'Too many wrong codes were entered for this flow action.' },
  DocumentNotRead: { status: 422, message: 'The participant has to see every page before acting.' },
  DocumentUnreadable: { status: 422, message: 'The file cannot be signed as it is.' },
  LimitExceeded: { status: 422, message: 'More was sent than one call may hold.' },
  OrganizationNotFound: { status: 422, message: 'No organization has this id.' },
  ApplicationNotFound: { status: 422, message: 'No application has this id.' },
  InvalidBranding: { status: 422, message: 'The branding cannot be used as given.' },
  InvalidFieldValue: { status: 422, message: 'A field was not filled in as it must be.' },
  FieldsNotEditable: {
    status: 422,
    message: 'The file has a signature with a certificate, or one is being made, and takes no new fields.',
  },
  InvalidTextTag: { status: 422, message: 'A tag in the text of the file cannot be used.' },
  NameTaken: { status: 422, message: 'The name is in use.' },
  DocumentOperationNotFound: { status: 422, message: 'No operation on documents has this id.' },
  DocumentOperationEnded: { status: 422, message: 'The operation has ended.' },
  WebhookNotFound: { status: 422, message: 'No webhook has this id.' },
  WebhookUrlNotAllowed: { status: 422, message: 'The address of the webhook is not allowed.' },
  DeliveryNotFound: { status: 422, message: 'No delivery has this id.' },
  TemplateNotFound: { status: 422, message: 'No template has this id.' },
  TemplateVersionNotFound: { status: 422, message: 'The template has no such version, or no longer.' },
  DocumentDraftNotFound: { status: 422, message: 'No draft has this id.' },
  DocumentFlowNotFound: { status: 422, message: 'No saved flow has this id.' },
  DocumentGenerationNotFound: { status: 422, message: 'No generation has this id.' },
  InvalidGenerationFile: { status: 422, message: 'The template or the data cannot be used.' },
  MarksSessionNotFound: { status: 422, message: 'No marks session has this id.' },
  MailNotFound: { status: 422, message: 'No mail has this id.' },
  MailAlreadySent: { status: 422, message: 'The mail was sent.' },
  UserNotFound: { status: 422, message: 'No user has this id.' },
  VersionChanged: {
    status: 422,
    message: 'The document has a new version since this link was made. Open the link again and look at it.',
  },
  GrantsChanged: { status: 422, message: 'Somebody else has changed the rights on the folder.' },
  AttachmentNotFound: { status: 422, message: 'The document has no attachment of this id.' },
  TimestampNotAvailable: {
    status: 422,
    message:
      'This service has no time-stamp authority. Leave timestampEnabled out or configure an authority.',
  },
  KeyLimitReached: { status: 422, message: 'The application has two keys. Revoke one of them first.' },
  EnvelopeFileSigned: {
    status: 422,
    message: 'A file of the envelope is signed, and the envelope would not contain its signatures.',
  },
  SigningFailed: { status: 422, message: 'The document could not be signed.' },
} as const satisfies Record<string, { readonly status: number; readonly message: string }>;

export type PortalRefusalCode = keyof typeof PORTAL_REFUSALS;

/** The caller's doing: answered with the status of its code, changes nothing. Matched on `code`, not on its class. */
export class PortalRefusal extends Error {
  readonly code: PortalRefusalCode;
  /** Flat; for status 422 and others. */
  readonly details: Readonly<Record<string, string>> | undefined;
  /** Request member → what is wrong with it. Answers have it with status 400; pages show it beside the field. */
  readonly errors: Readonly<Record<string, readonly string[]>> | undefined;
  /** Whole seconds to wait before trying again; sent as Retry-After. */
  readonly retryAfterSeconds: number | undefined;
  /** @param message ASCII. @default that of the table */
  constructor(
    code: PortalRefusalCode,
    message: string = PORTAL_REFUSALS[code].message,
    more: {
      readonly details?: Readonly<Record<string, string>>;
      readonly errors?: Readonly<Record<string, readonly string[]>>;
      readonly retryAfterSeconds?: number;
    } = {},
  ) {
    super(message);
    this.name = 'PortalRefusal';
    this.code = code;
    this.details = more.details;
    this.errors = more.errors;
    this.retryAfterSeconds = more.retryAfterSeconds;
  }
}

/** The refusal of a request for one of its members. */
export function badMember(member: string, message: string): PortalRefusal {
  return new PortalRefusal('BadRequest', message, { errors: { [member]: [message] } });
}

/** As `badMember`. @param fault of the member, such as `is required` */
export function badField(member: string, fault: string): PortalRefusal {
  return badMember(member, `The ${member} field ${fault}.`);
}

/** Runs all checks, and refuses with the members at fault of all of them, so that a person corrects them at once. */
export function checkTogether(checks: readonly (() => unknown)[]): void {
  const refusals: PortalRefusal[] = [];
  for (const check of checks) {
    try {
      check();
    } catch (error) {
      if (!(error instanceof PortalRefusal) || error.errors === undefined) throw error;
      refusals.push(error);
    }
  }
  const [first] = refusals;
  if (first === undefined) return;
  const errors = Object.assign({}, ...refusals.map((refusal) => refusal.errors));
  throw new PortalRefusal(first.code, first.message, { errors });
}
