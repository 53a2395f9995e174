/** Organizations: the own one, and with an administration key all of them with their applications and keys. */
import {
  type Administration,
  type BrandingService,
  callerName,
  type Deliveries,
} from '../../../actors/portal/api.ts';
import {
  getBranding,
  previewMail,
  removeLogo,
  replaceBranding,
  setLogo,
} from '../../../contracts/portal/branding.ts';
import {
  changeOrganization,
  createApplication,
  createKey,
  createOrganization,
  getOrganization,
  getOwnOrganization,
  listOrganizations,
  revokeKey,
} from '../../../contracts/portal/organizations.ts';
import type { AnyRoute } from '../../core/router.ts';
import { handle } from '../handle.ts';
import { applicationId, organizationId } from '../input/ids.ts';
import { pageReply } from '../input/query-fields.ts';
import { requireGivable } from '../key-scopes.ts';
import { requireOwn } from './webhooks.ts';

/** Branding of the key's organization. */
export function brandingRoutes(branding: BrandingService): readonly AnyRoute[] {
  return [
    handle(getBranding, ({ tenant, params }) => {
      requireOwn(tenant, params.id);
      return branding.get(tenant);
    }),
    handle(replaceBranding, ({ tenant, params, body }) => {
      requireOwn(tenant, params.id);
      return branding.replace(tenant, body);
    }),
    handle(setLogo, ({ tenant, params, body }) => {
      requireOwn(tenant, params.id);
      return branding.setLogo(tenant, body.bytes);
    }),
    handle(removeLogo, ({ tenant, params }) => {
      requireOwn(tenant, params.id);
      return branding.setLogo(tenant, null);
    }),
    handle(previewMail, ({ tenant, params, body }) => {
      requireOwn(tenant, params.id);
      return branding.preview(tenant, body);
    }),
  ];
}

export function organizationRoutes(
  administration: Administration,
  webhooks: Deliveries,
): readonly AnyRoute[] {
  return [
    handle(getOwnOrganization, async ({ tenant, params }) => {
      requireOwn(tenant, params.id);
      const { id, name, identifier } = await administration.organization(tenant.organization.id);
      return { id, name, identifier, owner: null, webhooks: await webhooks.list(tenant) };
    }),
    handle(listOrganizations, async ({ query }) => pageReply(await administration.organizations(query))),
    handle(createOrganization, ({ body }) => administration.createOrganization(body)),
    handle(getOrganization, ({ params }) => administration.organization(organizationId(params.id))),
    handle(changeOrganization, ({ tenant, params, body }) =>
      administration.configure(organizationId(params.id), body, callerName(tenant)),
    ),
    handle(createApplication, ({ tenant, params, body }) =>
      administration.createApplication(organizationId(params.id), body, undefined, callerName(tenant)),
    ),
    handle(createKey, ({ tenant, params, body }) => {
      requireGivable(tenant, body);
      return administration.createSecret(
        organizationId(params.id),
        applicationId(params.applicationId),
        body,
        tenant,
      );
    }),
    handle(revokeKey, ({ tenant, params }) =>
      administration.revokeSecret(
        organizationId(params.id),
        applicationId(params.applicationId),
        params.keyId,
        callerName(tenant),
      ),
    ),
  ];
}
