/**
 * Common parts of replies. Every member is always present: null when empty, lists `[]`.
 *
 * Source: docs/portal-values.md §7 and §12 (paged lists).
 */

import { z } from 'zod';
import type { createdBy, Principal, participant } from '../../../contracts/portal/entities.ts';
import type { Page } from '../../../contracts/portal/lists.ts';
import type { CreatedDocument, createdDocument } from '../../../contracts/portal/new-documents.ts';
import type { Participant } from '../../../machines/portal/portal-types.ts';
import { cursorOf } from '../input/query-fields.ts';

export const timestamp = z.iso.datetime({ precision: 3 });
export function createdByBody(principal: Principal): z.infer<typeof createdBy> {
  return { id: principal.id, name: principal.name };
}

export function participantBody(person: Participant): z.infer<typeof participant> {
  const { id, name, identifier, email, phone } = person;
  return { id, name, identifier, email, phone };
}

/** @param filter filters and order of the list, for its cursor */
export function pageBody<Item, Body>(page: Page<Item>, body: (item: Item) => Body, filter: object = {}) {
  const { items, totalCount, next } = page;
  return { items: items.map(body), totalCount, nextCursor: cursorOf(next, filter) };
}

export function createdBody(made: CreatedDocument): z.infer<typeof createdDocument> {
  return { ...made, attachments: [...made.attachments] };
}
