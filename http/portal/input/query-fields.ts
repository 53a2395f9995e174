/**
 * Schemas of query parameters; all are optional. `readPortalQuery` removes absent ones.
 *
 * Source: docs/portal-values.md §1 rows 5 to 8, §12 (`Limit`, `Offset`, `Order`), §21.
 */
import { z } from 'zod';
import type { ListPosition } from '../../../actors/portal/api.ts';
import { word } from './fields.ts';

const PAGE = 10;
const MAX_PAGE = 100;

export const queryText = z.string().optional();

export const queryFlag = word(['true', 'false'])
  .transform((given) => given === 'true')
  .optional()
  .meta({ openapi: { type: 'boolean' } });

export function queryWord<const Word extends string>(words: readonly Word[]) {
  return word(words).optional();
}

/** At most nine digits, so that no offset exceeds the exact integers of a number. */
const count = z
  .string()
  .regex(/^\d{1,9}$/, { error: 'must be a whole number of at least 0' })
  .transform(Number)
  .optional();

/** Page size, page number from 0, and order. */
export const paging = {
  limit: count
    .transform((given) => (given === undefined || given === 0 ? PAGE : Math.min(given, MAX_PAGE)))
    .meta({
      description: `Page size; ${PAGE} when absent, never more than ${MAX_PAGE}.`,
      openapi: { type: 'integer' },
    }),
  offset: count
    .transform((given) => given ?? 0)
    .meta({ description: 'Number of the page, from 0.', openapi: { type: 'integer' } }),
  order: queryWord(['Asc', 'Desc']).meta({
    description: 'Oldest first (`Asc`, the default) or newest first.',
  }),
};

const positionShape = z.tuple([z.int().min(0), z.int().min(0)]);

/** A position as the text of a cursor. */
export function cursorOf(position: ListPosition | undefined): string | null {
  if (position === undefined) return null;
  return Buffer.from(JSON.stringify([position.after, position.totalCount])).toString('base64url');
}

function positionOf(cursor: string): ListPosition | undefined {
  try {
    const read = positionShape.safeParse(JSON.parse(Buffer.from(cursor, 'base64url').toString()));
    return read.success ? { after: read.data[0], totalCount: read.data[1] } : undefined;
  } catch {
    return undefined;
  }
}

/** `Cursor` of a list; empty begins the list. */
export const cursor = z
  .string()
  .max(100, { error: 'must be the nextCursor of an answer' })
  .transform((given, context): 'start' | ListPosition => {
    const position = given === '' ? 'start' : positionOf(given);
    if (position !== undefined) return position;
    context.issues.push({ code: 'custom', message: 'must be the nextCursor of an answer', input: given });
    return z.NEVER;
  })
  .optional()
  .meta({
    description:
      'Pages by position: empty for the first one, then the `nextCursor` of the page before, with the same filters and order. `Offset` is not used.',
    openapi: { type: 'string', maxLength: 100 },
  });
