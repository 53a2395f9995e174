/**
 * What query parameters can hold; all are optional. Absent ones do not come here (`readPortalQuery`).
 *
 * Source: portal-gaps §1 rows 5 to 8, §12 (`Limit`, `Offset`, `Order`), §21 ("List page").
 */
import { z } from 'zod';
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

/** At most nine digits, so that no page lies beyond what a number holds exactly. */
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
