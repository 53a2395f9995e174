/** Cursors of lists. Source: docs/portal-values.md §12. */
import { createHash } from 'node:crypto';
import type { CursorPosition, ListPosition, Page } from '../../../contracts/portal/lists.ts';
import { badField } from '../../../machines/portal/portal-refusals.ts';

/** A page as the value of its reply. @param filter filters and order of the list, for its cursor */
export function pageReply<Item>({ items, totalCount, next }: Page<Item>, filter: object = {}) {
  return { items, totalCount, nextCursor: cursorOf(next, filter) };
}

/** A position as the text of a cursor. @param filter filters and order of the list */
export function cursorOf(position: ListPosition | undefined, filter: object): string | null {
  if (position === undefined) return null;
  const { after, totalCount } = position;
  return Buffer.from(JSON.stringify([after, totalCount, listOf(filter)])).toString('base64url');
}

/**
 * The position of a cursor in the list of these filters and this order.
 * Refusals: `BadRequest` for the cursor of another list, whose pages would leave out items.
 */
export function positionIn(
  cursor: 'start' | CursorPosition | undefined,
  filter: object,
): 'start' | ListPosition | undefined {
  if (typeof cursor !== 'object' || cursor.list === undefined || cursor.list === listOf(filter))
    return cursor;
  throw badField('Cursor', 'needs the filters and the order of the answer that it is from');
}

/** Names a list by its filters and order. */
function listOf(filter: object): string {
  return createHash('sha256').update(JSON.stringify(filter)).digest('base64url').slice(0, 12);
}
