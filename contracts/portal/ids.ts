/** Ids in paths. A malformed id is treated as unknown: handlers parse them. Source: docs/portal-values.md §2 (422). */

import { z } from 'zod';
import { shown } from '../fields.ts';
import { EXAMPLE_IDS, EXAMPLE_KEY } from './examples.ts';

export function idIn(description: string) {
  return z.string().meta({
    description,
    exampleValue: EXAMPLE_IDS.document,
    openapi: { type: 'string', format: 'uuid' },
  });
}

export const folderParams = z.object({ id: idIn('Id of the folder.') });
export const organizationParams = z.object({
  id: idIn('Id of the organization. Without the role Administrator only that of the key.'),
});
export const webhookParams = organizationParams.extend({
  webhookId: idIn('Id of the webhook, from `GET /api/organizations/{id}/webhooks`.'),
});
export const marksSessionParams = z.object({ id: idIn('Id of the session. It is valid for 60 minutes.') });
export const documentParams = z.object({ id: idIn('Id of the document, from `POST /api/documents`.') });
export const keyParams = z.object({
  key: shown(z.string(), 'The validation key, without regard to case, blanks and dashes.', EXAMPLE_KEY),
});
