/**
 * `/api/folders`.
 *
 * Source: docs/portal-values.md §16.
 */

import { z } from 'zod';
import type { PortalFolders } from '../../../actors/portal/api.ts';
import { id, maybeUuid, members, text, uuid, word } from '../../../contracts/fields.ts';
import { organizationReference } from '../../../contracts/portal/documents.ts';
import { folder } from '../../../contracts/portal/entities.ts';
import { pageOf, paging, queryFlag, queryText } from '../../../contracts/portal/lists.ts';
import { json } from '../../core/reply.ts';
import type { AnyRoute } from '../../core/router.ts';
import { folderId, idParams } from '../input/ids.ts';
import { DONE, portalRoute } from '../route.ts';
import { folderBody, pageBody } from '../shapes/shared-shapes.ts';

const accessShape = z.strictObject({
  id,
  userId: id,
  folderRoles: z.array(z.enum(['Admin', 'Manager', 'Basic'])),
  organizationRoles: z.array(z.string()),
  userName: z.string().nullable(),
  userIdentifier: z.string().nullable(),
});

export function folderRoutes(folders: PortalFolders): readonly AnyRoute[] {
  return [
    portalRoute({
      method: 'POST',
      path: '/api/folders',
      group: 'Folders',
      summary: 'Creates a folder.',
      description:
        'The folder is at the top level, or in the folder `parentId`. Several folders may have the same name. Folders are at most 64 levels deep (`LimitExceeded`).',
      scope: 'Create',
      body: members({ name: text, parentId: maybeUuid }),
      responses: { 200: folder },
      examples: { request: { name: 'Contracts 2027' } },
      refusals: ['FolderNotFound', 'LimitExceeded'],
      async handle({ tenant, body }) {
        const parent = typeof body.parentId === 'string' ? body.parentId : null;
        return json(200, folderBody(await folders.create(tenant, body.name, parent)));
      },
    }),
    portalRoute({
      method: 'GET',
      path: '/api/folders',
      group: 'Folders',
      summary: 'Lists folders of the organization.',
      description:
        'Lists the folders of all levels, or with `filterByParent` those directly in `parentId` (without `parentId`, those at the top level). `q` searches in names. A key that is restricted to folders finds only these.',
      scope: 'Read',
      folderKeys: true,
      query: members({ q: queryText, filterByParent: queryFlag, parentId: uuid.optional(), ...paging }),
      responses: { 200: pageOf(folder) },
      refusals: [],
      async handle({ tenant, query }) {
        const parent = query.parentId === undefined ? null : folderId(query.parentId);
        const page = await folders.list(tenant, {
          q: query.q,
          parent: query.filterByParent === true ? parent : undefined,
          limit: query.limit,
          offset: query.offset,
          newestFirst: query.order === 'Desc',
        });
        return json(200, pageBody(page, folderBody));
      },
    }),
    portalRoute({
      method: 'GET',
      path: '/api/folders/{id}',
      group: 'Folders',
      summary: 'Returns a folder with its organization.',
      description: 'A folder of another organization is `FolderNotFound`.',
      scope: 'Read',
      folderKeys: true,
      params: idParams,
      responses: {
        200: folder.extend({ organization: organizationReference }).meta({ id: 'FolderDetail' }),
      },
      refusals: ['FolderNotFound'],
      async handle({ tenant, params }) {
        const folder = await folders.get(tenant, folderId(params.id));
        const { id: organization, name, identifier = null } = tenant.organization;
        return json(200, {
          ...folderBody(folder),
          organization: { id: organization, name, identifier, owner: null },
        });
      },
    }),
    portalRoute({
      method: 'GET',
      path: '/api/folders/{id}/details',
      group: 'Folders',
      summary: 'Returns a folder with its access rules, of which there are none.',
      description:
        'Exists for clients that call it: every application of the organization may use every folder. A folder of another organization is `FolderNotFound`.',
      scope: 'Read',
      folderKeys: true,
      params: idParams,
      responses: {
        200: z.strictObject({ id, name: z.string(), folderAccesses: z.array(accessShape) }),
      },
      refusals: ['FolderNotFound'],
      async handle({ tenant, params }) {
        const folder = await folders.get(tenant, folderId(params.id));
        return json(200, { id: folder.id, name: folder.name, folderAccesses: [] });
      },
    }),
    portalRoute({
      method: 'POST',
      path: '/api/folders/{id}/delete',
      group: 'Folders',
      summary: 'Deletes a folder, and moves or deletes its content.',
      description:
        '`MoveContent` moves the documents and folders inside to `destinationFolderId`, or to the top level; `DeleteContent` deletes them, which cannot be undone. A large folder is emptied after the reply. Keys that are restricted to folders cannot call it.',
      scope: 'Create',
      params: idParams,
      body: members({
        deleteAction: word(['MoveContent', 'DeleteContent']),
        destinationFolderId: maybeUuid,
      }),
      responses: { 200: 'empty' },
      examples: { request: { deleteAction: 'MoveContent' } },
      refusals: ['FolderNotFound'],
      async handle({ tenant, params, body }) {
        const { deleteAction, destinationFolderId } = body;
        const destination = typeof destinationFolderId === 'string' ? folderId(destinationFolderId) : null;
        await folders.remove(tenant, folderId(params.id), deleteAction, destination);
        return DONE;
      },
    }),
  ];
}
