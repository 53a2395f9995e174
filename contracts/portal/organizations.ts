/**
 * Organizations: the own one, and with an administration key all of them with their applications and keys.
 *
 * Source: docs/portal-values.md §19 (`GET /api/organizations/{orgId}`) and §20; applications and keys are additional.
 */

import { z } from 'zod';
import {
  entity,
  id,
  list,
  maybeFlag,
  maybeText,
  members,
  moment,
  parts,
  shown,
  text,
  time,
  uuid,
  word,
} from '../fields.ts';
import type { Value } from '../operation.ts';
import { organizationReference } from './documents.ts';
import { createdBy, creationDate } from './entities.ts';
import { EXAMPLE_IDS } from './examples.ts';
import { organizationParams } from './ids.ts';
import { nameQuery, pageOf, paging } from './lists.ts';
import { KEY_SCOPES, operation } from './operation.ts';
import { newReminders, reminders } from './reminders.ts';
import { webhook } from './webhooks/webhooks.ts';
import { QUALIFICATION_DEMANDS } from './words.ts';

export const APPLICATION_ROLES = ['Normal', 'Monitor', 'Administrator'] as const;
export type ApplicationRole = (typeof APPLICATION_ROLES)[number];

/** Characters of the name of an organization or application, without white space at its ends and invisible characters. */
export const MAX_TENANT_NAME = 100;
/** Folders of one key. */
export const MAX_KEY_FOLDERS = 20;

const anId = { description: 'Identifier, unique within the instance.', exampleValue: EXAMPLE_IDS.document };
const organizationName = { description: 'Name of the organization.', exampleValue: 'Example Ltda.' };
const identifier = {
  description: 'Registration number of the organization. Null: none.',
  exampleValue: '11222333000181',
};
const applicationName = { description: 'Name of the application.', exampleValue: 'Billing' };
const role = {
  description:
    'Access of the application: documents of its organization, monitoring, or also administration.',
};

const application = entity('Application', {
  id: id.meta(anId),
  name: z.string().meta(applicationName),
  role: z.enum(APPLICATION_ROLES).meta(role),
  keys: parts('Keys of the application, at most two, without their secrets.', {
    id: z.string().meta(anId),
    prefix: shown(z.string(), 'First characters of the key, by which people recognise it.', 'Billing|4f1d'),
    creationDate,
    lastUseDate: time.nullable().describe('Rounded to the hour; null: never used.'),
    scopes: z
      .array(z.enum(KEY_SCOPES))
      .nullable()
      .describe('What the key may do; null: all that its application may do.'),
    expirationDate: time.nullable().describe('From then on it is not accepted; null: never.'),
    createdBy: createdBy
      .nullable()
      .describe('Who created it; null: the command line, the settings, or an earlier version.'),
    folderIds: shown(
      z.array(z.string()).nullable(),
      'Folders whose documents it reaches; null: all documents.',
      [EXAMPLE_IDS.document],
    ),
  }),
});

const organization = entity('Organization', {
  id: id.meta(anId),
  name: z.string().meta(organizationName),
  identifier: z.string().nullable().meta(identifier),
  creationDate,
  embedOrigins: shown(z.array(z.string()), 'Origins of sites that may show signing pages in a frame.', [
    'https://app.example.com',
  ]),
  refuseSignedEnvelopeFiles: z
    .boolean()
    .describe(
      'True: an envelope with a signed file is refused. False: the signed file becomes its attachment.',
    ),
  requireSecondFactor: z
    .boolean()
    .describe('Whether users need a second factor after a mailed link. Keys are not affected.'),
  requiredQualification: z
    .enum(QUALIFICATION_DEMANDS)
    .nullable()
    .describe('Least qualification of signatures of participants by the European trusted lists. Null: any.'),
  refuseDeputies: z
    .boolean()
    .describe('Whether nobody acts as deputy on its documents, also where passing on is allowed.'),
  reminders: reminders
    .nullable()
    .describe('Of documents that are created without reminders of their own; null = none.'),
  applications: z.array(application).describe('Programs that act for the organization, each with its keys.'),
});

const tenantName = text.meta({ openapi: { type: 'string', maxLength: MAX_TENANT_NAME } });

const newOrganization = members({
  name: tenantName.meta(organizationName),
  identifier: maybeText.meta(identifier),
}).meta({ id: 'NewOrganization' });

const newApplication = members({
  name: tenantName.meta(applicationName),
  role: word(APPLICATION_ROLES).nullish().meta(role),
})
  .transform(({ name, role }) => ({ name, role: role ?? 'Normal' }))
  .meta({ id: 'NewApplication' });

/** Settings that are left out do not change. */
const organizationChanges = members({
  refuseSignedEnvelopeFiles: maybeFlag.describe(
    'Whether envelopes with signed files are refused. Default false: the originals are kept as attachments.',
  ),
  requireSecondFactor: maybeFlag.describe(
    'Whether users need a second factor. Who has none sets it up at the next sign-in.',
  ),
  requiredQualification: word(QUALIFICATION_DEMANDS)
    .nullish()
    .describe('Participants then sign with certificates that reach it. Null: any signature.'),
  refuseDeputies: maybeFlag.describe('Whether deputies of participants are refused. Default false.'),
  reminders: newReminders.nullish().describe('Null: none.'),
})
  .transform(({ refuseSignedEnvelopeFiles, requireSecondFactor, requiredQualification, ...others }) => ({
    ...(typeof others.refuseDeputies === 'boolean' && { refuseDeputies: others.refuseDeputies }),
    ...(typeof requireSecondFactor === 'boolean' && { requireSecondFactor }),
    ...(typeof refuseSignedEnvelopeFiles === 'boolean' && { refuseSignedEnvelopeFiles }),
    ...(requiredQualification !== undefined && { requiredQualification }),
    ...(others.reminders !== undefined && { reminders: others.reminders }),
  }))
  .meta({ id: 'OrganizationChanges' });

const newKey = members({
  scopes: list(word(KEY_SCOPES), { least: 1, most: KEY_SCOPES.length })
    .nullish()
    .describe('What the key may do; absent: all that its application may do.'),
  expirationDate: shown(
    moment.nullish(),
    'From then on it is not accepted; absent: never. Needed if the key of the request expires.',
    '2027-12-31',
  ),
  folderIds: shown(
    list(uuid, { least: 1, most: MAX_KEY_FOLDERS }).nullish(),
    'Folders whose documents it reaches, without folders inside of them; absent: all documents.',
    [EXAMPLE_IDS.document],
  ),
})
  .transform(({ scopes, expirationDate, folderIds }) => ({
    ...(scopes && { scopes: [...new Set(scopes)] }),
    ...(typeof expirationDate === 'number' && { expiresAt: expirationDate }),
    ...(folderIds && { folders: [...new Set(folderIds)] }),
  }))
  .meta({ id: 'NewKey' });
/** Restrictions of a key, as they are stored. Absent: all that its application may do, never, all documents. */
export type KeyLimits = Value<typeof newKey>;

const applicationParams = organizationParams.extend({
  applicationId: shown(
    z.string(),
    'Id of the application, from `GET /api/admin/organizations/{id}`.',
    EXAMPLE_IDS.document,
  ),
});

export const getOwnOrganization = operation('GET /api/organizations/{id}', {
  group: 'Organizations',
  summary: 'Returns the organization of the key, with its webhooks.',
  description:
    '`id` is that of the key’s organization; any other is `OrganizationNotFound`. Secrets and tokens of webhooks are not returned. The session of a user needs the role administrator.',
  scope: 'Read',
  sessionScope: 'Administer',
  params: organizationParams,
  reply: organizationReference
    .extend({ webhooks: z.array(webhook).describe('Webhooks of the organization.') })
    .meta({ id: 'OwnOrganization' }),
  refusals: ['OrganizationNotFound'],
});

export const listOrganizations = operation('GET /api/admin/organizations', {
  group: 'Administration',
  summary: 'Lists the organizations of the instance.',
  description: 'For keys of the role Administrator. `q` searches in names.',
  scope: 'Read',
  auth: 'administrator',
  query: members({
    q: nameQuery,
    limit: paging.limit,
    offset: paging.offset,
  }),
  reply: pageOf(organization).meta({ id: 'OrganizationPage' }),
});

export const createOrganization = operation('POST /api/admin/organizations', {
  group: 'Administration',
  summary: 'Creates an organization.',
  description:
    'For keys of the role Administrator. The organization has no application yet: create one, and a key for it. `NameTaken`: another organization has this name.',
  scope: 'Administer',
  auth: 'administrator',
  body: newOrganization,
  reply: organization,
  examples: { request: { name: 'Example Ltda.', identifier: '11222333000181' } },
  refusals: ['NameTaken', 'LimitExceeded'],
});

export const getOrganization = operation('GET /api/admin/organizations/{id}', {
  group: 'Administration',
  summary: 'Returns an organization with its applications and their keys.',
  description:
    'For keys of the role Administrator. A key has its first characters, scopes, folders, expiry and last use; its secret cannot be read.',
  scope: 'Read',
  auth: 'administrator',
  params: organizationParams,
  reply: organization,
  refusals: ['OrganizationNotFound'],
});

export const changeOrganization = operation('PATCH /api/admin/organizations/{id}', {
  group: 'Administration',
  summary: 'Changes settings of an organization; members that are left out do not change.',
  description:
    'For keys of the role Administrator. `reminders` is the schedule for documents that are created without one; null removes it.',
  scope: 'Administer',
  auth: 'administrator',
  params: organizationParams,
  body: organizationChanges,
  reply: organization,
  examples: { request: { refuseSignedEnvelopeFiles: true } },
  refusals: ['OrganizationNotFound'],
});

export const createApplication = operation('POST /api/admin/organizations/{id}/applications', {
  group: 'Administration',
  summary: 'Creates an application, which has no key yet.',
  description:
    'For keys of the role Administrator. The role decides what its keys can access: Normal the documents of the organization, Monitor the reports only, Administrator also the administration of the instance. Only the organization "Sys Admin" has applications of the roles Monitor and Administrator. `NameTaken`: another application has this name.',
  scope: 'Administer',
  auth: 'administrator',
  params: organizationParams,
  body: newApplication,
  reply: application,
  examples: { request: { name: 'Billing' } },
  refusals: ['OrganizationNotFound', 'NameTaken', 'LimitExceeded'],
});

export const createKey = operation('POST /api/admin/organizations/{id}/applications/{applicationId}/keys', {
  group: 'Administration',
  summary: 'Creates a key, which is returned only once; an application has at most two.',
  description:
    'For keys of the role Administrator. Only the hash of the secret is stored: replace a key that is lost. `scopes`, `expirationDate` and `folderIds` restrict the key and cannot be changed. A key with scopes creates keys of these scopes only, a key that expires only keys that expire no later than itself. `KeyLimitReached`: revoke one of the two keys first.',
  scope: 'Administer',
  auth: 'administrator',
  params: applicationParams,
  body: newKey,
  reply: entity('CreatedKey', {
    id: z.string().meta(anId),
    key: shown(
      z.string(),
      'The key, `application|secret`. Shown in this answer only; the service keeps a hash.',
      'Billing|4f1d8c2e7b3a9d605c1e8f7a2b4d6093',
    ),
  }),
  examples: { request: { scopes: ['Read'] } },
  refusals: ['OrganizationNotFound', 'ApplicationNotFound', 'KeyLimitReached'],
});

export const revokeKey = operation(
  'DELETE /api/admin/organizations/{id}/applications/{applicationId}/keys/{keyId}',
  {
    group: 'Administration',
    summary: 'Revokes a key.',
    description:
      'For keys of the role Administrator. Requests with the key are answered with 401 from now on; documents that it created stay. `ApplicationNotFound`: the organization has no such application, or the application no such key.',
    scope: 'Administer',
    auth: 'administrator',
    params: applicationParams.extend({
      keyId: shown(
        z.string(),
        'Id of the key, from `GET /api/admin/organizations/{id}`.',
        EXAMPLE_IDS.document,
      ),
    }),
    reply: 'empty',
    refusals: ['OrganizationNotFound', 'ApplicationNotFound'],
  },
);
