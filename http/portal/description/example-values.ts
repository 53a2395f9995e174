/** Examples of properties that their schemas describe. */
import { ANA } from '../../../contracts/portal/examples.ts';
import type { PropertyTexts } from '../../core/openapi/property-texts.ts';

export const PROPERTY_EXAMPLES: PropertyTexts = {
  'Attachment.signaturesNotInEnvelope': { example: 2 },
  'BadRequest.errors': { example: { email: ['must be an e-mail address'] } },
  'HistoryCheckpoint.at': { example: 1_779_810_131_123 },
  'HistoryEntry.by': { example: ANA.name },
  'HistoryEntry.data': { example: { action: 'downloaded', address: '203.0.113.7' } },
  'HistoryEntry.id': { example: 7 },
  checksumMd5: { example: 'CY9rzUYh03PK3k6DJie09g==' },
  createdFrom: { example: '2026-01-01' },
  createdTo: { example: '2026-06-30' },
  nextCursor: { example: 'AAABmxlIVQ' },
  organizationName: { example: 'Example Ltda.' },
  presetValue: { example: 'Lisbon' },
};
