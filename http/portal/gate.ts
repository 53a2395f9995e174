/**
 * Who may use which route of the portal: the application that an `X-Api-Key` stands for, and its role.
 *
 * Source: Document Signing Portal API, "Authentication"; portal-gaps §1 rows 12 and 14, §2 (401, 403).
 */
import type { ApplicationRole, Tenant, Tenants } from '../../actors/portal/api.ts';
import { PortalRefusal } from '../../machines/portal-refusals.ts';
import { ANYBODY, createEntryRules, type Gate } from '../gate.ts';
import type { AuthPolicy } from '../router.ts';

const API_KEY_HEADER = 'x-api-key';

/** Roles that each policy lets in. Monitoring keys reach monitoring alone. */
const ROLES: { readonly [policy in AuthPolicy]?: readonly ApplicationRole[] } = {
  application: ['Normal', 'Administrator'],
  monitor: ['Monitor'],
  administrator: ['Administrator'],
};

export function createPortalGate(
  tenants: Pick<Tenants, 'identify'>,
  settings: { readonly allowedHosts: readonly string[]; readonly requireHttps: boolean },
): Gate {
  return {
    ...createEntryRules(settings),
    admit(arrival, policy) {
      if (policy === 'anonymous') return ANYBODY;
      const key = headerText(arrival.header(API_KEY_HEADER));
      const isOptional = policy === 'known-or-ticket';
      if (key === '') {
        if (isOptional) return ANYBODY;
        throw new PortalRefusal('Unauthorized', 'The header X-Api-Key is missing.');
      }
      return tenants.identify(key).then((tenant) => {
        if (!isOptional) requireRole(requireTenant(tenant), policy);
        return { admitted: true, identity: tenant, setCookie: undefined };
      });
    },
  };
}

/** Bytes of a header, each given as a character: UTF-8 where they are, and Latin-1, as HTTP has it, otherwise. */
function headerText(given: string): string {
  if (!/[\u0080-\u00ff]/.test(given)) return given;
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(given, 'latin1'));
  } catch {
    return given;
  }
}

/** Refusals: `Unauthorized`. */
export function requireTenant(tenant: Tenant | undefined): Tenant {
  if (tenant === undefined) throw new PortalRefusal('Unauthorized');
  return tenant;
}

/** Refusals: `Forbidden`. */
export function requireRole(tenant: Tenant, policy: AuthPolicy): void {
  const roles = ROLES[policy];
  if (roles === undefined || !roles.includes(tenant.application.role)) throw new PortalRefusal('Forbidden');
}
