/**
 * Scopes of keys: what a request with a limited key, or with the session of a user, needs.
 *
 * Source: docs/decisions/0129-scopes-and-expiry-of-keys.md.
 */
import type { Tenant } from '../../actors/portal/api.ts';
import { KEY_SCOPES, type KeyAccess, type KeyScope } from '../../contracts/portal/operation.ts';
import type { KeyLimits } from '../../contracts/portal/organizations.ts';
import { isoTime } from '../../contracts/times.ts';
import { PortalRefusal } from '../../machines/portal/portal-refusals.ts';
import { scopesGiving, withBearerError } from '../core/access/bearer-errors.ts';

/** The reason to refuse an operation; undefined: the scopes permit it. */
function lackOf(tenant: Tenant, access: KeyAccess): string | undefined {
  const { scope: keyScope, sessionScope = keyScope, folderKeys = false } = access;
  const scope = tenant.user === undefined || tenant.isAuditor === true ? keyScope : sessionScope;
  if (tenant.scopes !== undefined && !tenant.scopes.includes(scope))
    return `The key lacks the scope ${scope}.`;
  return tenant.folders !== undefined && !folderKeys
    ? 'The key is restricted to folders, and this request concerns the whole organization.'
    : undefined;
}

/** Refusals: `Forbidden`. */
export function requireScope(tenant: Tenant, access: KeyAccess): void {
  const lack = lackOf(tenant, access);
  if (lack === undefined) return;
  const refusal = new PortalRefusal('Forbidden', lack);
  const { tokenRights } = tenant;
  if (tokenRights === undefined) throw refusal;
  throw withBearerError(refusal, 'insufficient_scope', scopesGiving(tokenRights, access.scope));
}

/** The same decision, for what a page offers. */
export function mayCall(tenant: Tenant, access: KeyAccess): boolean {
  return lackOf(tenant, access) === undefined;
}

/** Tells whether a key has a scope to give. One with all other scopes registers administrators, and so can give `Provision`. */
function has(scopes: readonly KeyScope[], wanted: KeyScope): boolean {
  if (wanted !== 'Provision' || scopes.includes(wanted)) return scopes.includes(wanted);
  return KEY_SCOPES.every((scope) => scope === wanted || scopes.includes(scope));
}

/**
 * Asserts that a key gives nobody more rights than it has, and none that outlive it. A signed-in administrator may give
 * everything. Refusals: `Forbidden`.
 * @param given rights of a new key, or of a user, which do not expire
 */
export function requireGivable(
  { user, scopes, keyExpiresAt }: Pick<Tenant, 'user' | 'scopes' | 'keyExpiresAt'>,
  given: Pick<KeyLimits, 'scopes' | 'expiresAt'>,
): void {
  if (user !== undefined) return;
  const missing = scopes && (given.scopes ?? KEY_SCOPES).find((scope) => !has(scopes, scope));
  if (missing !== undefined)
    throw new PortalRefusal(
      'Forbidden',
      `The key lacks the scope ${missing}, so it cannot give this scope to a user or another key.`,
    );
  if (keyExpiresAt !== undefined && (given.expiresAt ?? Number.POSITIVE_INFINITY) > keyExpiresAt)
    throw new PortalRefusal(
      'Forbidden',
      `The key expires at ${isoTime(keyExpiresAt)}, so it cannot give a key that expires later or never, nor a role or an address to a user.`,
    );
}
