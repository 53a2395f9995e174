/**
 * What portal-gaps says about codes and endpoints, as facts to test against, and what this service adds to it. Tests
 * hold both against the program in both directions.
 */

/** The statuses and codes of §2. */
export const CODES: { readonly [code: string]: number } = {
  BadRequest: 400,
  DocumentNotFound: 422,
  DocumentIsDeleted: 422,
  DocumentAlreadyCanceled: 422,
  CannotCancelExpiredDocument: 422,
  DocumentInvalidKey: 422,
  DocumentHasNoSignatures: 422,
  NoPendingActionFoundForEmailAndIdentifier: 422,
  FlowActionNotFound: 422,
  InvalidFlowAction: 422,
  FolderNotFound: 422,
  CertificateNotFound: 422,
  CpfMismatch: 422,
  CpfNotExpected: 422,
  MaxWebhooksLimitReached: 422,
  OperationNotSupportedInPersonalOrganizations: 422,
  UploadNotFound: 422,
  InvalidIdentifier: 422,
  EnvelopeRequiresPdf: 422,
  EnvelopeNameRequired: 422,
  InvalidDocumentStatus: 422,
  InvalidTicket: 422,
  InvalidAuthenticationCode: 422,
  DownloadTypeNotAvailable: 422,
};

/** Codes for the statuses to which §2 gives no code, and ours. Codes are only ever added. */
export const ADDED_CODES: { readonly [code: string]: number } = {
  Unauthorized: 401,
  Forbidden: 403,
  NotFound: 404,
  MethodNotAllowed: 405, // RFC 9110
  IdempotencyConflict: 409, // issue 5, `Idempotency-Key`
  PayloadTooLarge: 413,
  UnsupportedMediaType: 415,
  RangeNotSatisfiable: 416, // RFC 9110
  TooManyRequests: 429,
  InternalError: 500,
  ServiceBusy: 503, // architecture §3
  DocumentUnreadable: 422,
  LimitExceeded: 422, // §21
  OrganizationNotFound: 422,
  ApplicationNotFound: 422,
  NameTaken: 422,
  WebhookNotFound: 422,
  WebhookUrlNotAllowed: 422,
  DeliveryNotFound: 422,
  DocumentFlowNotFound: 422,
  MarksSessionNotFound: 422,
  UserNotFound: 422,
  SigningFailed: 422,
};

/** Answered before any route is asked, or by its policies. */
export const PLATFORM_CODES: readonly string[] = [
  'BadRequest',
  'Unauthorized',
  'Forbidden',
  'NotFound',
  'MethodNotAllowed',
  'PayloadTooLarge',
  'UnsupportedMediaType',
  'RangeNotSatisfiable',
  'TooManyRequests',
  'InternalError',
  'ServiceBusy',
];

/** The endpoint index of §3 (and §20 where that only points there), with who may use them. */
export const ENDPOINTS: { readonly [name: string]: string } = {
  'POST /api/uploads': 'known-or-ticket',
  'POST /api/uploads/bytes': 'application',
  'POST /api/uploads/segmented-upload-ticket': 'application',
  'POST /api/documents': 'application',
  'GET /api/documents': 'application',
  'GET /api/documents/{id}': 'application',
  'DELETE /api/documents/{id}': 'application',
  'POST /api/documents/{id}/action-url': 'application',
  'GET /api/documents/{id}/content': 'application',
  'GET /api/documents/{id}/content-b64': 'application',
  'GET /api/documents/{id}/ticket': 'application',
  'POST /api/documents/{id}/cancellation': 'application',
  'POST /api/documents/{id}/refusal': 'application',
  'POST /api/documents/{id}/versions': 'application',
  'POST /api/documents/{id}/envelope/versions': 'application',
  'POST /api/documents/{id}/flow': 'application',
  'PUT /api/documents/{id}/notified-emails': 'application',
  'POST /api/documents/{id}/folder': 'application',
  'POST /api/documents/batch/folder': 'application',
  'GET /api/documents/{id}/signatures-details': 'application',
  'GET /api/documents/keys/{key}/signatures': 'application',
  'POST /api/documents/validate-signatures': 'application',
  'POST /api/documents/{id}/electronic-signature': 'application',
  'POST /api/documents/keys/{key}/electronic-signature': 'known-or-ticket',
  'POST /api/documents/{id}/signature/certificate': 'application',
  'POST /api/documents/keys/{key}/signature/certificate': 'known-or-ticket',
  'POST /api/documents/{id}/signature': 'application',
  'POST /api/documents/keys/{key}/signature': 'known-or-ticket',
  'POST /api/documents/sms-authentication-code': 'application',
  'POST /api/notifications/flow-action-reminder': 'application',
  'POST /api/users/notify-pending': 'application',
  'GET /api/folders': 'application',
  'POST /api/folders': 'application',
  'GET /api/folders/{id}': 'application',
  'GET /api/folders/{id}/details': 'application',
  'POST /api/folders/{id}/delete': 'application',
  'POST /api/reports/documents/date': 'monitor',
  'POST /api/documents/date': 'monitor',
  'GET /api/reports/{id}': 'anonymous',
  'GET /api/document-flows': 'application',
  'POST /api/document-flows': 'application',
  'GET /api/document-flows/{id}': 'application',
  'PUT /api/document-flows/{id}': 'application',
  'DELETE /api/document-flows/{id}': 'application',
  'POST /api/marks-sessions': 'application',
  'POST /api/marks-sessions/documents': 'application',
  'GET /api/marks-sessions/{id}': 'anonymous',
  'GET /api/marks-session/{id}': 'anonymous',
  'POST /api/documents/generation': 'application',
  'GET /api/documents/generation/{id}': 'application',
  'GET /api/organizations/{id}': 'application',
  'POST /api/organizations/{id}/webhooks': 'application',
  'PUT /api/organizations/{id}/webhooks/{webhookId}': 'application',
  'DELETE /api/organizations/{id}/webhooks/{webhookId}': 'application',
  'GET /api/organizations/users': 'application',
  'POST /api/organizations/users': 'application',
  'DELETE /api/organizations/users/{userId}': 'application',
  'GET /api/users': 'administrator',
  'PUT /api/users/{subject}': 'administrator',
  'GET /api/admin/organizations': 'administrator',
  'POST /api/admin/organizations': 'administrator',
  'GET /api/organizations/{id}/users': 'administrator',
  'POST /api/organizations/{id}/users': 'administrator',
  'DELETE /api/admin/organizations/{id}/users/{userId}': 'administrator',
};

/** Endpoints beyond the document; each says where it comes from. */
export const ADDED: { readonly [name: string]: string } = {
  // §4: the path behind an upload's `location`
  'GET /api/uploads/{id}/preview': 'anonymous',
  // §13: the path behind a download ticket
  'GET /api/documents/{id}/download': 'anonymous',
  // §§9 and 10: our page's own
  'POST /api/documents/keys/{key}/approval': 'known-or-ticket',
  'POST /api/documents/keys/{key}/participant-refusal': 'known-or-ticket',
  'POST /api/documents/keys/{key}/email-authentication-code': 'known-or-ticket',
  // issue 5: a failing seal is retryable; delivery log, resend, test event, replay; keys
  'POST /api/documents/{id}/retry': 'application',
  'GET /api/organizations/{id}/webhooks': 'application',
  'POST /api/organizations/{id}/webhooks/{webhookId}/test': 'application',
  'GET /api/organizations/{id}/deliveries': 'application',
  'POST /api/organizations/{id}/deliveries/{deliveryId}/resend': 'application',
  'POST /api/organizations/{id}/deliveries/replay': 'application',
  'GET /api/admin/organizations/{id}': 'administrator',
  'POST /api/admin/organizations/{id}/applications': 'administrator',
  'POST /api/admin/organizations/{id}/applications/{applicationId}/keys': 'administrator',
  'DELETE /api/admin/organizations/{id}/applications/{applicationId}/keys/{keyId}': 'administrator',
  'GET /api/health': 'anonymous',
  'GET /openapi/v1.json': 'anonymous',
  'GET /scalar/v1': 'anonymous',
  'GET /scalar/assets/{name}': 'anonymous',
};
