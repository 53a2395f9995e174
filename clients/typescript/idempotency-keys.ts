/** Operations that may have an `Idempotency-Key`. Written by scripts/write-client.mjs; do not edit. */
export const IDEMPOTENCY_KEYS: ReadonlySet<string> = new Set([
  'POST /api/document-drafts',
  'POST /api/document-flows',
  'POST /api/document-flows/{id}/documents',
  'POST /api/documents',
  'POST /api/documents/generation',
  'POST /api/files',
  'POST /api/public-links',
  'POST /api/templates',
  'POST /api/templates/from-document',
  'POST /api/templates/{id}/documents',
  'POST /api/templates/{id}/generation',
  'POST /api/uploads',
  'POST /api/uploads/bytes',
  'PUT /api/templates/{id}',
]);
