/** Rights of users and groups on folders. Source: docs/decisions/0288-rights-on-folders.md. */
import { z } from 'zod';
import { entity, list, maybeText, members, shown, uuid, word } from '../fields.ts';
import type { Value } from '../operation.ts';
import { entityName, identity } from './entities.ts';
import { ANA, EXAMPLE_IDS } from './examples.ts';
import { folderParams } from './ids.ts';
import { nameQuery } from './lists.ts';
import { operationsOf } from './operation.ts';
import { FOLDER_RIGHTS } from './words.ts';

/** Grants of one folder. */
const MAX_GRANTS = 100;

const GRANTEE_TYPES = ['User', 'Group'] as const;

const TYPE = 'Whether `id` names a user of the organization or a group of its identity service.';
const RIGHT =
  '`Read`: see its documents. `Send`: also put documents there, and change those that one has made. `Manage`: also change all of them, the folder and its grants.';

const grantee = {
  type: z.enum(GRANTEE_TYPES).describe(TYPE),
  id: identity,
  name: entityName,
  email: shown(z.string().nullable(), 'E-mail address of the user. Null: a group.', ANA.email),
};

const folderGrants = entity('FolderGrants', {
  grants: z
    .array(entity('FolderGrant', { ...grantee, right: z.enum(FOLDER_RIGHTS).describe(RIGHT) }))
    .describe('Those of the folder itself. Empty: it has none.'),
  inheritedFrom: identity
    .nullable()
    .describe('Folder around it whose grants count here. Null: its own ones do, or none.'),
  version: shown(z.string(), 'Changes with the grants of the folder.', '4f53cda18c2b'),
});

const operation = operationsOf({ group: 'Folders' });

export const getFolderGrants = operation('GET /api/folders/{id}/grants', {
  summary: 'Returns who has which right on a folder.',
  description:
    'Without grants, those of the nearest folder around it count; without any, every sender may do everything. Administrators manage and auditors read all folders. Needs `Manage`.',
  scope: 'Read',
  params: folderParams,
  reply: folderGrants,
  refusals: ['FolderNotFound'],
});

export const setFolderGrants = operation('PUT /api/folders/{id}/grants', {
  summary: 'Replaces the grants of a folder.',
  description:
    'Counts from the next request on, also in folders inside that have no grants. An empty list ends the restriction. For administrators, and for senders whom a grant lets manage the folder. Keys of applications are not affected by grants.',
  scope: 'Administer',
  sessionScope: 'Create',
  params: folderParams,
  body: members({
    grants: list(
      members({
        type: word(GRANTEE_TYPES).describe(TYPE),
        id: uuid.describe('Id of the user or group, from the list of grantees.'),
        right: word(FOLDER_RIGHTS).describe(RIGHT),
      }),
      {
        most: MAX_GRANTS,
        refusal: { code: 'LimitExceeded', message: `A folder has at most ${MAX_GRANTS} grants.` },
      },
    ).describe('All grants, each user and group once.'),
    version: shown(
      maybeText,
      'The version that was read: `GrantsChanged` when somebody has changed them since. Absent: replaces any.',
      '4f53cda18c2b',
    ),
  }).meta({ id: 'NewFolderGrants' }),
  reply: folderGrants,
  examples: {
    request: { grants: [{ type: 'User', id: EXAMPLE_IDS.flowAction, right: 'Manage' }] },
  },
  refusals: ['FolderNotFound', 'GrantsChanged', 'LimitExceeded', 'UserNotFound'],
});

export const listGrantees = operation('GET /api/folders/{id}/grantees', {
  summary: 'Finds users and groups to whom a right can be given.',
  description: 'At most 20 of each. For those who may replace the grants of the folder.',
  scope: 'Read',
  params: folderParams,
  query: members({ q: nameQuery }),
  reply: z.strictObject({
    items: z.array(entity('Grantee', grantee)).describe('Users, then groups.'),
  }),
  refusals: ['FolderNotFound'],
});

export type FolderGrantsView = Value<typeof folderGrants>;
export type NewFolderGrants = Value<typeof setFolderGrants.body>;
export type GranteeView = Value<typeof listGrantees.reply>['items'][number];
