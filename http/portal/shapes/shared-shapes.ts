/**
 * Common parts of replies. Every member is always present: null when empty, lists `[]`.
 *
 * Source: docs/portal-values.md §7 and §12 (paged lists).
 */

import { z } from 'zod';
import type { createdBy, Principal } from '../../../contracts/portal/entities.ts';
import type { Page } from '../../../contracts/portal/lists.ts';
import { cursorOf } from '../input/query-fields.ts';

export const timestamp = z.iso.datetime({ precision: 3 });
export function createdByBody(principal: Principal): z.infer<typeof createdBy> {
  return { id: principal.id, name: principal.name };
}

/** @param filter filters and order of the list, for its cursor */
export function pageBody<Item, Body>(page: Page<Item>, body: (item: Item) => Body, filter: object = {}) {
  const { items, totalCount, next } = page;
  return { items: items.map(body), totalCount, nextCursor: cursorOf(next, filter) };
}
