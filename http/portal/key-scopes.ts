/**
 * Scopes of keys: what a request with a limited key, or with the session of a user, needs.
 *
 * Source: docs/decisions/0129-scopes-and-expiry-of-keys.md.
 */
import type { Tenant } from '../../actors/portal/api.ts';
import type { KeyScope } from '../../machines/portal/organization.ts';
import { PortalRefusal } from '../../machines/portal/portal-refusals.ts';

/** Part of the descriptor of each operation that admits keys. */
export interface KeyAccess {
  /**
   * Scope that a key needs: `Read` changes nothing; `Sign` acts for a participant, or gives the addresses with which
   * anybody can; `Administer` changes organizations, webhooks, users or applications; `Create` is everything else.
   */
  readonly scope: KeyScope;
  /** Scope that the session of a user needs: webhooks, users and keys are no business of senders. @default `scope` */
  readonly sessionScope?: KeyScope;
  /**
   * True: keys that are restricted to folders may call it, because it reaches documents by their id, key or filter. All
   * other operations refuse them, because what they tell or change is of the whole organization. @default false
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
      'The key is restricted to folders; this request is about more than them.',
    );
}
