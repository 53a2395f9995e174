/**
 * Scopes of keys: what a request with a limited key, or with the session of a user, needs.
 *
 * Source: docs/decisions/0129-scopes-and-expiry-of-keys.md.
 */
import type { Tenant } from '../../actors/portal/api.ts';
import { isoTime } from '../../contracts/times.ts';
import type { Millis } from '../../machines/ids.ts';
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

/** Rights of a new key or user. */
export interface GivenRights {
  /** Undefined: all. */
  readonly scopes?: readonly KeyScope[] | undefined;
  /** End of a key; undefined: none. Users have none. */
  readonly expiresAt?: Millis | undefined;
}

/**
 * Asserts that a key gives nobody more rights than it has, and none that outlive it. A signed-in administrator may give
 * everything. Refusals: `Forbidden`.
 */
export function requireGivable(
  { user, scopes, keyExpiresAt }: Pick<Tenant, 'user' | 'scopes' | 'keyExpiresAt'>,
  given: GivenRights,
): void {
  if (user !== undefined) return;
  const missing = scopes && (given.scopes ?? KEY_SCOPES).find((scope) => !scopes.includes(scope));
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
