/**
 * Organizations: the own one.
 *
 * Source: docs/portal-values.md §19 (`GET /api/organizations/{orgId}`).
 */
import { z } from 'zod';
import { organizationReference } from './documents.ts';
import { organizationParams } from './ids.ts';
import { operation } from './operation.ts';
import { webhook } from './webhooks.ts';

export const APPLICATION_ROLES = ['Normal', 'Monitor', 'Administrator'] as const;
export type ApplicationRole = (typeof APPLICATION_ROLES)[number];

export const getOwnOrganization = operation({
  method: 'GET',
  path: '/api/organizations/{id}',
  group: 'Organizations',
  summary: 'Returns the organization of the key, with its webhooks.',
  description:
    '`id` is that of the key’s organization; any other is `OrganizationNotFound`. Secrets and tokens of webhooks are not returned. The session of a user needs the role administrator.',
  scope: 'Read',
  sessionScope: 'Administer',
  params: organizationParams,
  reply: organizationReference
    .extend({ webhooks: z.array(webhook).meta({ description: 'Webhooks of the organization.' }) })
    .meta({ id: 'OwnOrganization' }),
  refusals: ['OrganizationNotFound'],
});
