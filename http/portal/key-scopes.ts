/**
 * Scopes of keys: the group of each request with a key of an application.
 *
 * Source: docs/decisions/0129-scopes-and-expiry-of-keys.md.
 */
import type { Tenant } from '../../actors/portal/api.ts';
import type { KeyScope } from '../../machines/portal/organization.ts';
import { PortalRefusal } from '../../machines/portal/portal-refusals.ts';
import type { AnyRoute } from '../core/router.ts';

/** Requests that change nothing although their method says so. */
const READS =
  /^\/api\/(?:documents\/(?:validate-signatures|archive|combined|date)|reports\/documents\/date)$/;
/** Requests that act for a participant, or give the addresses with which anybody can. */
const SIGNS =
  /^\/api\/documents\/(?:(?:\{id\}|keys\/\{key\})\/(?:action-url|electronic-signature|signature|approval|participant-refusal|view|email-authentication-code)|sms-authentication-code)(?:\/|$)/;
/** Requests about organizations: webhooks, their calls, users, applications. */
const ADMINISTERS = /^\/api\/(?:organizations\/|admin\/|users\/\{)/;

export function scopeOf({ method, path }: Pick<AnyRoute, 'method' | 'path'>): KeyScope {
  if (method === 'POST' && SIGNS.test(path)) return 'Sign';
  if (method === 'GET' || READS.test(path)) return 'Read';
  return ADMINISTERS.test(path) ? 'Administer' : 'Create';
}

/**
 * Requests of keys that are restricted to folders: those that reach documents by their id, key or filter. All others are
 * refused, because what they tell or change is of the whole organization.
 */
const IN_FOLDERS: readonly RegExp[] = [
  /^\/api\/uploads(?:\/|$)/,
  /^\/api\/documents(?:$|\/\{id\}|\/keys\/)/,
  /^\/api\/documents\/(?:validate-signatures|sms-authentication-code|archive|combined|export|batch\/folder)$/,
  /^\/api\/documents\/operations\/\{id\}/,
  /^\/api\/notifications\/flow-action-reminder$/,
];
const FOLDER_READS = /^\/api\/folders(?:\/\{id\}(?:\/details)?)?$/;

/** True for requests that a key restricted to folders may make. */
export function isFolderRequest({ method, path }: Pick<AnyRoute, 'method' | 'path'>): boolean {
  if (path === '/api/documents/operations') return method === 'POST';
  return IN_FOLDERS.some((route) => route.test(path)) || (method === 'GET' && FOLDER_READS.test(path));
}

/** Refusals: `Forbidden`. */
export function requireScope(tenant: Tenant, route: Pick<AnyRoute, 'method' | 'path'>): void {
  // Webhooks, users and keys are no business of senders, although reading them is `Read` for keys.
  const isOfAdministrators = tenant.user !== undefined && ADMINISTERS.test(route.path);
  const scope = isOfAdministrators ? 'Administer' : scopeOf(route);
  if (tenant.scopes !== undefined && !tenant.scopes.includes(scope))
    throw new PortalRefusal('Forbidden', `The key lacks the scope ${scope}.`);
  if (tenant.folders !== undefined && !isFolderRequest(route))
    throw new PortalRefusal(
      'Forbidden',
      'The key is restricted to folders; this request is about more than them.',
    );
}
