/**
 * Lists: schemas of query parameters, which are all optional, and pages.
 *
 * Source: docs/portal-values.md §1 rows 5 to 8, §12 (`Limit`, `Offset`, `Order`), §21.
 */

import { z } from 'zod';
import { shown, word } from '../fields.ts';

const PAGE = 10;
const MAX_PAGE = 100;

export const queryText = z.string().optional();

export const nameQuery = shown(
  queryText,
  'Text to find in the name. Neither case nor accents count. Absent: all.',
  'lease',
);

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
      openapi: { type: 'integer', minimum: 0, maximum: 999_999_999, default: PAGE },
    }),
  offset: count
    .transform((given) => given ?? 0)
    .meta({
      description: 'Number of the page, from 0.',
      openapi: { type: 'integer', minimum: 0, maximum: 999_999_999, default: 0 },
    }),
  order: queryWord(['Asc', 'Desc']).describe('Oldest first (`Asc`, the default) or newest first.'),
};

/** A position, and the list it is in; cursors of earlier versions name no list. */
const positionShape = z.union([
  z.tuple([z.int().min(0), z.int().min(0)]),
  z.tuple([z.int().min(0), z.int().min(0), z.string()]),
]);

/** Position of the last item of a page: its order number. */
export interface ListPosition {
  readonly after: number;
  /** Number of items when the list was begun. */
  readonly totalCount: number;
}

export interface CursorPosition extends ListPosition {
  readonly list?: string | undefined;
}

function positionOf(cursor: string): CursorPosition | undefined {
  try {
    const read = positionShape.safeParse(JSON.parse(Buffer.from(cursor, 'base64url').toString()));
    if (!read.success) return undefined;
    const [after, totalCount, list] = read.data;
    return { after, totalCount, list };
  } catch {
    return undefined;
  }
}

/** `Cursor` of a list; empty begins the list. */
export const cursor = z
  .string()
  .max(100, { error: 'must be the nextCursor of an answer' })
  .transform((given, context): 'start' | CursorPosition => {
    const position = given === '' ? 'start' : positionOf(given);
    if (position !== undefined) return position;
    context.issues.push({ code: 'custom', message: 'must be the nextCursor of an answer', input: given });
    return z.NEVER;
  })
  .optional()
  .meta({
    description:
      'Pages by position: empty for the first one, then the `nextCursor` of the page before, with the same filters and order, else it is refused. `Offset` is not used.',
    openapi: { type: 'string', maxLength: 100 },
    exampleValue: '',
  });

/** One page of a list. */
export function pageOf<Item extends z.ZodType>(item: Item) {
  return z.strictObject({
    items: z.array(item).describe('Entries of this page of the list.'),
    totalCount: shown(z.int(), 'Entries of the whole list.', 42),
    nextCursor: shown(
      z.string().nullable(),
      'The `Cursor` of the next page, for a request with `Cursor`; null: no further page, or a page by number.',
      'AAABmxlIVQ',
    ),
  });
}

/** Items of one page, as services return them. */
export interface Page<Item> {
  readonly items: readonly Item[];
  readonly totalCount: number;
  /** Only for a query with a position; absent = there is no further item. */
  readonly next?: ListPosition;
}
