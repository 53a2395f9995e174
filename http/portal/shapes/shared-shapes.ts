/**
 * Common parts of replies. Every member is always present: null when empty, lists `[]`.
 *
 * Source: docs/portal-values.md §7 and §12 (paged lists), §16 (folder).
 */
import { z } from 'zod';
import type { FolderView, Page } from '../../../actors/portal/api.ts';
import type { Participant, Principal } from '../../../machines/portal/portal-types.ts';
import { cursorOf } from '../input/query-fields.ts';

export const timestamp = z.iso.datetime({ precision: 3 });
export const id = z.guid();

export const createdByShape = z
  .strictObject({ id, name: z.string() })
  .meta({ id: 'CreatedBy', description: 'The application of the key, or the signed-in user, that did it.' });

export function createdByBody(principal: Principal): z.infer<typeof createdByShape> {
  return { id: principal.id, name: principal.name };
}

export const principalShape = z
  .strictObject({ id, type: z.enum(['User', 'Application']), name: z.string() })
  .meta({ id: 'Principal', description: 'A participant or user, or an application by its key.' });

export const participantShape = z
  .strictObject({
    id,
    name: z.string().nullable(),
    identifier: z.string().nullable(),
    email: z.string().nullable(),
    phone: z.string().nullable(),
  })
  .meta({ id: 'Participant' });

export function participantBody(person: Participant): z.infer<typeof participantShape> {
  const { id, name, identifier, email, phone } = person;
  return { id, name, identifier, email, phone };
}

export const folderShape = z
  .strictObject({ id, name: z.string(), parentId: id.nullable() })
  .meta({ id: 'Folder' });

export function folderBody(folder: FolderView): z.infer<typeof folderShape> {
  return { id: folder.id, name: folder.name, parentId: folder.parentId };
}

/** One page of a list. */
export function pageShape<Item extends z.ZodType>(item: Item) {
  return z.strictObject({
    items: z.array(item),
    totalCount: z.int(),
    nextCursor: z
      .string()
      .nullable()
      .describe(
        'The `Cursor` of the next page, for a request with `Cursor`; null: no further page, or a page by number.',
      ),
  });
}

/** @param filter filters and order of the list, for its cursor */
export function pageBody<Item, Body>(page: Page<Item>, body: (item: Item) => Body, filter: object = {}) {
  const { items, totalCount, next } = page;
  return { items: items.map(body), totalCount, nextCursor: cursorOf(next, filter) };
}
