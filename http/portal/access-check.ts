/**
 * Authorization of the portal: the application of an `X-Api-Key`, and its role.
 *
 * Source: docs/portal-values.md §0, §1 rows 12 and 14, §2 (401, 403).
 */
import type { ApplicationRole, Tenant, Tenants } from '../../actors/portal/api.ts';
import { PortalRefusal } from '../../machines/portal/portal-refusals.ts';
import { type AccessCheck, ANONYMOUS, createEntryRules } from '../core/access/access-check.ts';
import type { WrongKeys } from '../core/access/wrong-keys.ts';
import type { AuthPolicy } from '../core/router.ts';

const API_KEY_HEADER = 'x-api-key';

/** Roles that each policy admits. Monitoring keys are admitted to monitoring only. */
const ROLES: { readonly [policy in AuthPolicy]?: readonly ApplicationRole[] } = {
  application: ['Normal', 'Administrator'],
  monitor: ['Monitor'],
  administrator: ['Administrator'],
};

export function createPortalAccessCheck(
  tenants: Pick<Tenants, 'identify'>,
  settings: { readonly allowedHosts: readonly string[]; readonly requireHttps: boolean },
  wrongKeys: WrongKeys,
): AccessCheck {
  return {
    ...createEntryRules(settings),
    admit(arrival, policy) {
      if (policy === 'anonymous') return ANONYMOUS;
      const key = headerText(arrival.header(API_KEY_HEADER));
      const isOptional = policy === 'known-or-ticket';
      if (key === '') {
        if (isOptional) return ANONYMOUS;
        throw new PortalRefusal('Unauthorized', 'The header X-Api-Key is missing.');
      }
      const { address } = arrival.caller;
      return tenants.identify(key).then((tenant) => {
        // Where a ticket is enough, an invalid key is no reason to refuse.
        if (tenant === undefined && !isOptional) wrongKeys.count(address);
        if (!isOptional) requireRole(requireTenant(tenant), policy);
        const origin = { ipAddress: address, userAgent: arrival.header('user-agent') };
        return { admitted: true, identity: tenant && { ...tenant, origin }, setCookie: undefined };
      });
    },
  };
}

/** Bytes of a header, each passed as a character: UTF-8 where valid, otherwise Latin-1 (HTTP). */
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
