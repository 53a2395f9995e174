/** Examples of properties that their schemas describe. */
import type { PropertyTexts } from '../../core/openapi/property-texts.ts';

export const PROPERTY_EXAMPLES: PropertyTexts = {
  'Attachment.signaturesNotInEnvelope': { example: 2 },
  'BadRequest.errors': { example: { email: ['must be an e-mail address'] } },
  'HistoryEntry.id': { example: 7 },
  checksumMd5: { example: 'CY9rzUYh03PK3k6DJie09g==' },
  createdFrom: { example: '2026-01-01' },
  createdTo: { example: '2026-06-30' },
  nextCursor: { example: 'AAABmxlIVQ' },
  organizationName: { example: 'Example Ltda.' },
  presetValue: { example: 'Lisbon' },
};
