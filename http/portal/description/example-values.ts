/** Values that the examples of several operations and properties share. */
import type { PropertyTexts } from '../../core/openapi/property-texts.ts';

/** Ids in the examples, by what they name. */
export const EXAMPLE_IDS = {
  upload: '9b2f7c1e-4d3a-4f6b-8c5d-7e1f0a2b3c4d',
  document: '3f2504e0-4f89-41d3-9a0c-0305e82c3301',
  flowAction: '5d7e1f0a-2b3c-4d9b-af7c-1e4d3a4f6b8c',
  table: '1c2d3e4f-5a6b-4c7d-8e9f-0a1b2c3d4e5f',
  template: '2d3e4f5a-6b7c-4d8e-9f0a-1b2c3d4e5f6a',
  ticket: '0f8c1d2e3b4a59687786a5b4c3d2e1f0',
} as const;

export const ANA = { name: 'Ana Silva', email: 'ana@example.com', identifier: '52998224725' };

export const FILE = {
  id: EXAMPLE_IDS.upload,
  displayName: 'Lease agreement',
  name: 'contract.pdf',
  contentType: 'application/pdf',
};

export const SIGNER = { type: 'Signer', step: 1, title: 'Tenant', allowElectronicSignature: true, user: ANA };

export const CREATION = { files: [FILE], flowActions: [SIGNER] };

export const REASON = { reason: 'The price has changed.' };

const PREVIEW = `/api/uploads/${EXAMPLE_IDS.upload}/preview?ticket=${EXAMPLE_IDS.ticket}`;

/** Examples of properties that their schemas describe. */
export const PROPERTY_EXAMPLES: PropertyTexts = {
  'Attachment.signaturesNotInEnvelope': { example: 2 },
  'BadRequest.errors': { example: { email: ['must be an e-mail address'] } },
  'Delivery.body': { example: '{"type":"DocumentConcluded","data":{}}' },
  'HistoryCheckpoint.at': { example: 1_779_810_131_123 },
  'HistoryEntry.by': { example: ANA.name },
  'HistoryEntry.data': { example: { action: 'downloaded', address: '203.0.113.7' } },
  'HistoryEntry.id': { example: 7 },
  'MarksSession.data': { example: CREATION },
  'SavedFlow.flowActions': { example: [SIGNER] },
  'SavedFlow.observers': { example: [{ user: ANA }] },
  'Upload.location': { example: PREVIEW },
  checksumMd5: { example: 'CY9rzUYh03PK3k6DJie09g==' },
  completedCount: { example: 96 },
  createdFrom: { example: '2026-01-01' },
  createdTo: { example: '2026-06-30' },
  digest: { example: 'CY9rzUYh03PK3k6DJie09g==' },
  documentName: { example: 'Lease of Rua Augusta 12' },
  doneCount: { example: 240 },
  everyDays: { example: 3 },
  expirationDays: { example: 30 },
  folderIds: { example: [EXAMPLE_IDS.document] },
  initializedCount: { example: 118 },
  isSigned: { example: true },
  isValid: { example: true },
  locations: {
    example: {
      [EXAMPLE_IDS.upload]: PREVIEW,
    },
  },
  matchedCount: { example: 243 },
  nextCursor: { example: 'AAABmxlIVQ' },
  organizationName: { example: 'Example Ltda.' },
  presetValue: { example: 'Lisbon' },
  primaryColor: { example: '#1d4f91' },
  refusedRowsCount: { example: 2 },
  reply: { example: '250 2.0.0 Ok: queued as 4VdL2k3Z' },
  returnUrl: { example: 'https://app.example.com/contracts' },
  roles: { example: [SIGNER.title] },
  row: { example: 1 },
  skippedByCode: { example: { InvalidDocumentStatus: 3 } },
  skippedCount: { example: 3 },
};
