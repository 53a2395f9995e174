/**
 * Organizations: the own one, and with an administration key all of them with their applications and keys.
 *
 * Source: docs/portal-values.md §19 (`GET /api/organizations/{orgId}`) and §20; applications and keys are
 * additional.
 */

import { z } from 'zod';
import type {
  ApplicationView,
  Deliveries,
  OrganizationView,
  PortalAdministration,
} from '../../../actors/portal/api.ts';
import {
  id,
  list,
  maybeFlag,
  maybeText,
  members,
  moment,
  text,
  uuid,
  word,
} from '../../../contracts/fields.ts';
import { pageOf, paging, queryText } from '../../../contracts/portal/lists.ts';
import { APPLICATION_ROLES, getOwnOrganization } from '../../../contracts/portal/organizations.ts';
import { newReminders, reminders } from '../../../contracts/portal/reminders.ts';
import { isoTime, isoTimeOrNull } from '../../../contracts/times.ts';
import { KEY_SCOPES, MAX_KEY_FOLDERS } from '../../../machines/portal/organization.ts';
import { json } from '../../core/reply.ts';
import type { AnyRoute } from '../../core/router.ts';
import { handle } from '../handle.ts';
import { applicationId, idParams, organizationId } from '../input/ids.ts';
import { requireGivable } from '../key-scopes.ts';
import { DONE, portalRoute } from '../route.ts';
import { pageBody, timestamp } from '../shapes/shared-shapes.ts';
import { requireOwn } from './webhooks.ts';

const applicationShape = z
  .strictObject({
    id,
    name: z.string(),
    role: z.enum(APPLICATION_ROLES),
    keys: z.array(
      z.strictObject({
        id: z.string(),
        prefix: z.string(),
        creationDate: timestamp,
        lastUseDate: timestamp.nullable().describe('Rounded to the hour; null: never used.'),
        scopes: z
          .array(z.enum(KEY_SCOPES))
          .nullable()
          .describe('What the key may do; null: all that its application may do.'),
        expirationDate: timestamp.nullable().describe('From then on it is not accepted; null: never.'),
        folderIds: z
          .array(z.string())
          .nullable()
          .describe('Folders whose documents it reaches; null: all documents.'),
      }),
    ),
  })
  .meta({ id: 'Application' });

const organizationShape = z
  .strictObject({
    id,
    name: z.string(),
    identifier: z.string().nullable(),
    creationDate: timestamp,
    embedOrigins: z.array(z.string()),
    refuseSignedEnvelopeFiles: z
      .boolean()
      .describe(
        'True: an envelope with a signed file is refused. False: the signed file becomes its attachment.',
      ),
    reminders: reminders
      .nullable()
      .describe('Of documents that are created without reminders of their own; null = none.'),
    applications: z.array(applicationShape),
  })
  .meta({ id: 'Organization' });

const applicationParams = z.object({ id: z.string(), applicationId: z.string() });
const keyParams = z.object({ id: z.string(), applicationId: z.string(), keyId: z.string() });

export function organizationRoutes(
  administration: PortalAdministration,
  webhooks: Deliveries,
): readonly AnyRoute[] {
  return [
    handle(getOwnOrganization, async ({ tenant, params }) => {
      requireOwn(tenant, params.id);
      const { id, name, identifier } = await administration.organization(tenant.organization.id);
      return { id, name, identifier, owner: null, webhooks: await webhooks.list(tenant) };
    }),
    portalRoute({
      method: 'GET',
      path: '/api/admin/organizations',
      group: 'Administration',
      summary: 'Lists the organizations of the instance.',
      description: 'For keys of the role Administrator. `q` searches in names.',
      scope: 'Read',
      auth: 'administrator',
      query: members({ q: queryText, limit: paging.limit, offset: paging.offset }),
      responses: { 200: pageOf(organizationShape) },
      refusals: [],
      async handle({ query }) {
        return json(200, pageBody(await administration.organizations(query), organizationBody));
      },
    }),
    portalRoute({
      method: 'POST',
      path: '/api/admin/organizations',
      group: 'Administration',
      summary: 'Creates an organization.',
      description:
        'For keys of the role Administrator. The organization has no application yet: create one, and a key for it. `NameTaken`: another organization has this name.',
      scope: 'Administer',
      auth: 'administrator',
      body: members({ name: text, identifier: maybeText }),
      responses: { 200: organizationShape },
      examples: { request: { name: 'Example Ltda.', identifier: '11222333000181' } },
      refusals: ['NameTaken', 'LimitExceeded'],
      async handle({ body }) {
        const made = await administration.createOrganization({
          name: body.name,
          ...(typeof body.identifier === 'string' && { identifier: body.identifier }),
        });
        return json(200, organizationBody(made));
      },
    }),
    portalRoute({
      method: 'GET',
      path: '/api/admin/organizations/{id}',
      group: 'Administration',
      summary: 'Returns an organization with its applications and their keys.',
      description:
        'For keys of the role Administrator. A key has its first characters, scopes, folders, expiry and last use; its secret cannot be read.',
      scope: 'Read',
      auth: 'administrator',
      params: idParams,
      responses: { 200: organizationShape },
      refusals: ['OrganizationNotFound'],
      async handle({ params }) {
        return json(200, organizationBody(await administration.organization(organizationId(params.id))));
      },
    }),
    portalRoute({
      method: 'PATCH',
      path: '/api/admin/organizations/{id}',
      group: 'Administration',
      summary: 'Changes settings of an organization; members that are left out do not change.',
      description:
        'For keys of the role Administrator. `reminders` is the schedule for documents that are created without one; null removes it.',
      scope: 'Administer',
      auth: 'administrator',
      params: idParams,
      body: members({
        refuseSignedEnvelopeFiles: maybeFlag,
        reminders: newReminders.nullish().describe('Null: none.'),
      }),
      responses: { 200: organizationShape },
      examples: { request: { refuseSignedEnvelopeFiles: true } },
      refusals: ['OrganizationNotFound'],
      async handle({ params, body: { refuseSignedEnvelopeFiles, reminders } }) {
        const changed = await administration.configure(organizationId(params.id), {
          ...(typeof refuseSignedEnvelopeFiles === 'boolean' && { refuseSignedEnvelopeFiles }),
          ...(reminders !== undefined && { reminders }),
        });
        return json(200, organizationBody(changed));
      },
    }),
    portalRoute({
      method: 'POST',
      path: '/api/admin/organizations/{id}/applications',
      group: 'Administration',
      summary: 'Creates an application, which has no key yet.',
      description:
        'For keys of the role Administrator. The role decides what its keys can access: Normal the documents of the organization, Monitor the reports only, Administrator also the administration of the instance. Only the organization "Sys Admin" has applications of the roles Monitor and Administrator. `NameTaken`: another application has this name.',
      scope: 'Administer',
      auth: 'administrator',
      params: idParams,
      body: members({ name: text, role: word(APPLICATION_ROLES).nullish() }),
      responses: { 200: applicationShape },
      examples: { request: { name: 'Billing' } },
      refusals: ['OrganizationNotFound', 'NameTaken', 'LimitExceeded'],
      async handle({ params, body }) {
        const made = await administration.createApplication(organizationId(params.id), {
          name: body.name,
          role: body.role ?? 'Normal',
        });
        return json(200, applicationBody(made));
      },
    }),
    portalRoute({
      method: 'POST',
      path: '/api/admin/organizations/{id}/applications/{applicationId}/keys',
      group: 'Administration',
      summary: 'Creates a key, which is returned only once; an application has at most two.',
      description:
        'For keys of the role Administrator. Only the hash of the secret is stored: replace a key that is lost. `scopes`, `expirationDate` and `folderIds` restrict the key and cannot be changed. A key with scopes creates keys of these scopes only, a key that expires only keys that expire no later than itself. `KeyLimitReached`: revoke one of the two keys first.',
      scope: 'Administer',
      auth: 'administrator',
      params: applicationParams,
      body: members({
        scopes: list(word(KEY_SCOPES), { least: 1, most: KEY_SCOPES.length })
          .nullish()
          .describe('What the key may do; absent: all that its application may do.'),
        expirationDate: moment
          .nullish()
          .describe(
            'From then on it is not accepted; absent: never. Needed if the key of the request expires.',
          ),
        folderIds: list(uuid, { least: 1, most: MAX_KEY_FOLDERS })
          .nullish()
          .describe(
            'Folders whose documents it reaches, without folders inside of them; absent: all documents.',
          ),
      }),
      responses: { 200: z.strictObject({ id: z.string(), key: z.string() }) },
      examples: { request: { scopes: ['Read'] } },
      refusals: ['OrganizationNotFound', 'ApplicationNotFound', 'KeyLimitReached'],
      async handle({ tenant, params, body: { scopes, expirationDate, folderIds } }) {
        requireGivable(tenant, { scopes: scopes ?? undefined, expiresAt: expirationDate ?? undefined });
        const made = await administration.createSecret(
          organizationId(params.id),
          applicationId(params.applicationId),
          {
            ...(scopes && { scopes: [...new Set(scopes)] }),
            ...(typeof expirationDate === 'number' && { expiresAt: expirationDate }),
            ...(folderIds && { folders: [...new Set(folderIds)] }),
          },
        );
        return json(200, { id: made.id, key: made.key });
      },
    }),
    portalRoute({
      method: 'DELETE',
      path: '/api/admin/organizations/{id}/applications/{applicationId}/keys/{keyId}',
      group: 'Administration',
      summary: 'Revokes a key.',
      description:
        'For keys of the role Administrator. Requests with the key are answered with 401 from now on; documents that it created stay. `ApplicationNotFound`: the organization has no such application, or the application no such key.',
      scope: 'Administer',
      auth: 'administrator',
      params: keyParams,
      responses: { 200: 'empty' },
      refusals: ['OrganizationNotFound', 'ApplicationNotFound'],
      async handle({ params }) {
        const organization = organizationId(params.id);
        await administration.revokeSecret(organization, applicationId(params.applicationId), params.keyId);
        return DONE;
      },
    }),
  ];
}

function organizationBody(view: OrganizationView): z.infer<typeof organizationShape> {
  return {
    id: view.id,
    name: view.name,
    identifier: view.identifier,
    creationDate: isoTime(view.createdAt),
    embedOrigins: [...view.embedOrigins],
    refuseSignedEnvelopeFiles: view.refuseSignedEnvelopeFiles,
    reminders: view.reminders && {
      ...view.reminders,
      daysBeforeExpiry: [...view.reminders.daysBeforeExpiry],
    },
    applications: view.applications.map(applicationBody),
  };
}

function applicationBody(view: ApplicationView): z.infer<typeof applicationShape> {
  return {
    id: view.id,
    name: view.name,
    role: view.role,
    keys: view.secrets.map(({ id: key, prefix, createdAt, lastUsedAt, scopes, expiresAt, folders }) => ({
      id: key,
      prefix,
      creationDate: isoTime(createdAt),
      lastUseDate: isoTimeOrNull(lastUsedAt),
      scopes: scopes === null ? null : [...scopes],
      expirationDate: isoTimeOrNull(expiresAt),
      folderIds: folders === null ? null : [...folders],
    })),
  };
}
