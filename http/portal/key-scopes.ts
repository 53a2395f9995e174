/**
 * Scopes of keys: what a request with a limited key, or with the session of a user, needs.
 *
 * Source: docs/decisions/0129-scopes-and-expiry-of-keys.md.
 */
import type { Tenant } from '../../actors/portal/api.ts';
import { KEY_SCOPES, type KeyScope } from '../../machines/portal/organization.ts';
import { PortalRefusal } from '../../machines/portal/portal-refusals.ts';

/** Part of the descriptor of each operation that admits keys. */
export interface KeyAccess {
  /**
   * Scope that a key needs: `Read` changes nothing; `Sign` acts for a participant, or gives the addresses with which
   * anybody can; `Administer` changes organizations, webhooks, users or applications; `Create` is everything else.
   */
  readonly scope: KeyScope;
  /** Scope that the session of a user needs: senders must not read webhooks, users and keys. @default `scope` */
  readonly sessionScope?: KeyScope;
  /**
   * True: keys that are restricted to folders may call it, because it reaches documents by their id, key or filter. All
   * other operations refuse them, because they return or change data of the whole organization. @default false
   */
  readonly folderKeys?: boolean;
}

/** Refusals: `Forbidden`. */
export function requireScope(tenant: Tenant, access: KeyAccess): void {
  const { scope: keyScope, sessionScope = keyScope, folderKeys = false } = access;
  const scope = tenant.user === undefined ? keyScope : sessionScope;
  if (tenant.scopes !== undefined && !tenant.scopes.includes(scope))
    throw new PortalRefusal('Forbidden', `The key lacks the scope ${scope}.`);
  if (tenant.folders !== undefined && !folderKeys)
    throw new PortalRefusal(
      'Forbidden',
      'The key is restricted to folders, and this request concerns the whole organization.',
    );
}

/**
 * Asserts that a key gives nobody more than it may do itself. A signed-in administrator may give everything.
 * Refusals: `Forbidden`.
 * @param given scopes of the new key or user; undefined: all
 */
export function requireGivable(
  { user, scopes }: Pick<Tenant, 'user' | 'scopes'>,
  given: readonly KeyScope[] | undefined,
): void {
  if (user !== undefined || scopes === undefined) return;
  const missing = (given ?? KEY_SCOPES).filter((scope) => !scopes.includes(scope));
  if (missing.length > 0)
    throw new PortalRefusal(
      'Forbidden',
      `The key lacks the scope ${missing[0]}, so it cannot give this scope to a user or another key.`,
    );
}
