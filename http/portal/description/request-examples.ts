/**
 * Bodies of requests that the reference shows and its forms send. Ids stand for those of the reader; a test replaces
 * them by ids of a fresh installation and sends each body.
 */
import type { OperationExamples } from '../../core/openapi/examples.ts';

/** Ids in the examples, by what they name. */
export const EXAMPLE_IDS = {
  upload: '9b2f7c1e-4d3a-4f6b-8c5d-7e1f0a2b3c4d',
  document: '3f2504e0-4f89-41d3-9a0c-0305e82c3301',
  flowAction: '5d7e1f0a-2b3c-4d9b-af7c-1e4d3a4f6b8c',
  table: '1c2d3e4f-5a6b-4c7d-8e9f-0a1b2c3d4e5f',
  template: '2d3e4f5a-6b7c-4d8e-9f0a-1b2c3d4e5f6a',
  ticket: '0f8c1d2e3b4a59687786a5b4c3d2e1f0',
} as const;

const { upload, document, flowAction, table, template, ticket } = EXAMPLE_IDS;

const ANA = { name: 'Ana Silva', email: 'ana@example.com', identifier: '52998224725' };
const FILE = {
  id: upload,
  displayName: 'Lease agreement',
  name: 'contract.pdf',
  contentType: 'application/pdf',
};
const SIGNER = { type: 'Signer', step: 1, title: 'Tenant', allowElectronicSignature: true, user: ANA };
const MARK = {
  type: 'SignatureVisualRepresentation',
  pageNumber: 1,
  topLeftX: 72,
  topLeftY: 600,
  width: 180,
  height: 60,
};
const CREATION = { files: [FILE], flowActions: [SIGNER] };
/** A PNG of one pixel. */
const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const PERIOD = { startDateUtc: '2026-01-01', endDateUtc: '2026-12-31' };
const REASON = { reason: 'The price has changed.' };
const PERSON = { ...ANA, phone: '+351 912 345 678' };
const MEMBER = { ...PERSON, accessProfile: { administrator: false, manager: true, operator: true } };
const WEBHOOK = {
  url: 'https://hooks.example.com/portal',
  authType: 'NoAuth',
  events: ['DocumentConcluded'],
};

export const REQUEST_EXAMPLES: OperationExamples = {
  'POST /api/uploads/bytes': { sends: { bytes: 'JVBERi0xLjc=' } },
  'POST /api/documents': { sends: CREATION },
  'POST /api/documents/{id}/action-url': { sends: { emailAddress: ANA.email } },
  'POST /api/documents/{id}/cancellation': { sends: REASON },
  'POST /api/documents/{id}/refusal': { sends: REASON },
  'POST /api/documents/archive': { sends: { documents: [document], type: 'Original' } },
  'POST /api/documents/combined': { sends: { documents: [document], type: 'Original' } },
  'POST /api/documents/operations': {
    sends: { action: 'Remind', filter: { status: 'Pending', q: 'lease' }, dryRun: true },
  },
  'POST /api/documents/{id}/versions': { sends: { file: FILE } },
  'POST /api/documents/{id}/envelope/versions': {
    sends: { files: [FILE], envelopeName: 'Contract and annexes' },
  },
  'POST /api/documents/{id}/flow': {
    sends: {
      addedFlowActions: [{ ...SIGNER, step: 2, user: { name: 'Lou Lima', email: 'lou@example.com' } }],
    },
  },
  'PUT /api/documents/{id}/notified-emails': { sends: { emails: ['archive@example.com'] } },
  'POST /api/documents/{id}/folder': { sends: { newFolderName: 'Contracts 2026' } },
  'POST /api/documents/batch/folder': { sends: { documents: [document], newFolderName: 'Contracts 2026' } },
  'POST /api/documents/{id}/electronic-signature': {
    sends: { flowActionId: flowAction, typedName: ANA.name },
  },
  'POST /api/documents/{id}/signature/certificate': {
    sends: { flowActionId: flowAction, certificate: 'MIIDazCCAlOgAwIBAgIU' },
  },
  'POST /api/documents/{id}/signature': {
    sends: { flowActionId: flowAction, token: 'c2lnbmluZy10b2tlbg', signature: 'MEUCIQDx' },
  },
  'POST /api/documents/keys/{key}/electronic-signature': { sends: { ticket, typedName: ANA.name } },
  'POST /api/documents/keys/{key}/signature/certificate': {
    sends: { ticket, certificate: 'MIIDazCCAlOgAwIBAgIU' },
  },
  'POST /api/documents/keys/{key}/signature': {
    sends: { ticket, token: 'c2lnbmluZy10b2tlbg', signature: 'MEUCIQDx' },
  },
  'POST /api/documents/keys/{key}/approval': { sends: { ticket } },
  'POST /api/documents/keys/{key}/participant-refusal': { sends: { ticket, ...REASON } },
  'POST /api/documents/keys/{key}/view': { sends: { ticket, reachedEnd: true } },
  'POST /api/documents/keys/{key}/email-authentication-code': { sends: { ticket } },
  'POST /api/documents/sms-authentication-code': { sends: { flowActionId: flowAction } },
  'POST /api/documents/validate-signatures': { sends: { fileId: upload, mimeType: 'application/pdf' } },
  'POST /api/notifications/flow-action-reminder': {
    sends: { documentId: document, flowActionId: flowAction },
  },
  'PUT /api/documents/{id}/reminders': { sends: { everyDays: 3, maximum: 5, daysBeforeExpiry: [7, 1] } },
  'POST /api/users/notify-pending': { sends: { emails: [ANA.email] } },
  'POST /api/folders': { sends: { name: 'Contracts 2027' } },
  'POST /api/folders/{id}/delete': { sends: { deleteAction: 'MoveContent' } },
  'POST /api/document-drafts': { sends: { name: 'Lease', document: CREATION } },
  'PUT /api/document-drafts/{id}': { sends: { name: 'Lease of flat 3', document: CREATION } },
  'POST /api/document-flows': { sends: { name: 'Lease', areActionsOrdered: true, flowActions: [SIGNER] } },
  'PUT /api/document-flows/{id}': {
    sends: { name: 'Lease of flats', areActionsOrdered: true, flowActions: [SIGNER] },
  },
  'POST /api/document-flows/{id}/documents': {
    sends: { files: [FILE], participants: [{ role: 'Tenant', user: ANA }] },
  },
  'POST /api/templates': {
    sends: {
      name: 'Lease agreement',
      document: { files: [FILE], flowActions: [{ ...SIGNER, user: null }] },
    },
  },
  'PUT /api/templates/{id}': {
    sends: {
      name: 'Lease agreement 2027',
      document: { files: [FILE], flowActions: [{ ...SIGNER, user: null }] },
    },
  },
  'POST /api/templates/{id}/documents': { sends: { participants: [{ role: 'Tenant', user: ANA }] } },
  'POST /api/templates/{id}/generation': {
    sends: { dataFile: { id: table, name: 'people.csv', contentType: 'text/csv' } },
  },
  'PUT /api/organizations/{id}/branding': { sends: { headerColor: '#102a43' } },
  'PUT /api/organizations/{id}/branding/logo': { sends: { bytes: PIXEL } },
  'POST /api/organizations/{id}/branding/preview': { sends: { kind: 'pending', subject: 'Please sign' } },
  'POST /api/marks-sessions': {
    sends: {
      files: [{ id: upload, name: 'contract.pdf', contentType: 'application/pdf' }],
      flowActions: [{ type: 'Signer', user: ANA }],
    },
  },
  'POST /api/marks-sessions/documents': {
    sends: { files: [FILE], flowActions: [{ ...SIGNER, prePositionedMarks: [MARK] }] },
  },
  'POST /api/documents/generation': {
    sends: {
      templateFile: { id: template, name: 'letter.txt', contentType: 'text/plain' },
      dataFile: { id: table, name: 'people.csv', contentType: 'text/csv' },
      flowActions: [{ ...SIGNER, user: { name: '{{name}}', email: '{{email}}' } }],
    },
  },
  'POST /api/reports/documents/date': { sends: PERIOD },
  'POST /api/documents/date': { sends: PERIOD },
  'POST /api/organizations/users': { sends: MEMBER },
  'PUT /api/users/{subject}': { sends: PERSON },
  'POST /api/organizations/{id}/users': { sends: MEMBER },
  'POST /api/admin/organizations': { sends: { name: 'Example Ltda.', identifier: '11222333000181' } },
  'PATCH /api/admin/organizations/{id}': { sends: { refuseSignedEnvelopeFiles: true } },
  'POST /api/admin/organizations/{id}/applications': { sends: { name: 'Billing' } },
  'POST /api/admin/organizations/{id}/applications/{applicationId}/keys': { sends: { scopes: ['Read'] } },
  'POST /api/organizations/{id}/webhooks': { sends: WEBHOOK },
  'PUT /api/organizations/{id}/webhooks/{webhookId}': { sends: WEBHOOK },
  'POST /api/organizations/{id}/deliveries/replay': {
    sends: { from: '2026-05-26T00:00:00Z', to: '2026-05-27T00:00:00Z', failedOnly: true },
  },
};
