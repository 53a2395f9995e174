/** Ids in paths. A malformed id is treated as unknown: handlers parse them. Source: docs/portal-values.md §2 (422). */
import { z } from 'zod';
import { EXAMPLE_IDS } from './examples.ts';

export function idIn(description: string) {
  return z.string().meta({
    description,
    exampleValue: EXAMPLE_IDS.document,
    openapi: { type: 'string', format: 'uuid' },
  });
}

export const folderParams = z.object({ id: idIn('Id of the folder.') });
export const documentParams = z.object({ id: idIn('Id of the document, from `POST /api/documents`.') });
