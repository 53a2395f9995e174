/**
 * `/api/folders`.
 *
 * Source: docs/portal-values.md §16.
 */
import { z } from 'zod';
import type { PortalFolders } from '../../../actors/portal/api.ts';
import { json } from '../../core/reply.ts';
import type { AnyRoute } from '../../core/router.ts';
import { maybeUuid, members, text, uuid, word } from '../input/fields.ts';
import { folderId, idParams } from '../input/ids.ts';
import { paging, queryFlag, queryText } from '../input/query-fields.ts';
import { DONE, portalRoute } from '../route.ts';
import { organizationRefShape } from '../shapes/documents.ts';
import { folderBody, folderShape, id, pageBody, pageShape } from '../shapes/shared-shapes.ts';

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
      summary: 'Makes a folder.',
      description:
        'At the top level, or in the folder `parentId`. `NameTaken`: its parent has a folder of this name. Folders nest at most 64 deep (`LimitExceeded`).',
      scope: 'Create',
      body: members({ name: text, parentId: maybeUuid }),
      responses: { 200: folderShape },
      examples: { request: { name: 'Contracts 2027' } },
      refusals: ['FolderNotFound', 'NameTaken', 'LimitExceeded'],
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
        'Of all levels, or with `filterByParent` those directly in `parentId`. `q` searches in names. A key that is restricted to folders finds these only.',
      scope: 'Read',
      folderKeys: true,
      query: members({ q: queryText, filterByParent: queryFlag, parentId: uuid.optional(), ...paging }),
      responses: { 200: pageShape(folderShape) },
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
      summary: 'Tells about a folder.',
      description:
        'Its name, its parent and its organization. `FolderNotFound` also stands for folders of other organizations.',
      scope: 'Read',
      folderKeys: true,
      params: idParams,
      responses: {
        200: folderShape.extend({ organization: organizationRefShape }).meta({ id: 'FolderDetail' }),
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
      summary:
        'Lists access rules of a folder: always empty, because every application of the organization may use it.',
      description:
        'Kept for clients that ask for it. `FolderNotFound` also stands for folders of other organizations.',
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
      summary: 'Deletes a folder, with what is in it or after moving it elsewhere.',
      description:
        'With all folders inside. `MoveContent` moves the documents to `destinationFolderId`, or out of any folder; `DeleteContent` deletes them for good. Keys that are restricted to folders cannot call it.',
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
