/**
 * Authorization of the portal: the application of an `X-Api-Key` and its role, or the session of a signed-in user.
 *
 * Source: docs/portal-values.md §0, §1 rows 12 and 14, §2 (401, 403).
 */

import { timingSafeEqual } from 'node:crypto';
import type {
  EditorSessionService,
  RequestOrigin,
  SignedInUser,
  Tenant,
  Tenants,
  UserSignIn,
} from '../../actors/portal/api.ts';
import type { ApplicationRole } from '../../contracts/portal/organizations.ts';
import { SYSTEM_ORGANIZATION } from '../../machines/portal/accounts/organization.ts';
import { mayUsePage, needsProof, USER_SCOPES } from '../../machines/portal/accounts/user-rights.ts';
import { PortalRefusal } from '../../machines/portal/portal-refusals.ts';
import { FORM_TOKEN_HEADER } from '../../web/pages/portal/account-frame.ts';
import { bearerToken } from '../core/access/access-tokens.ts';
import { askedAgain } from '../core/access/asked-again.ts';
import { withBearerError } from '../core/access/bearer-errors.ts';
import { isSameOrigin } from '../core/access/origin.ts';
import { clearedCookie, hostCookie, passingCookie, readCookie } from '../core/access/session-cookies.ts';
import type { WrongKeys } from '../core/access/wrong-keys.ts';
import { type ReplyHeaders, redirect } from '../core/reply.ts';
import {
  type AccessCheck,
  type Admission,
  ANONYMOUS,
  createEntryRules,
  type IncomingRequest,
} from '../core/request/access-check.ts';
import type { AuthPolicy } from '../core/router.ts';
import { requireScope } from './key-scopes.ts';
import type { TokenTenants } from './token-tenants.ts';

const API_KEY_HEADER = 'x-api-key';
/** Cookie of a user's session. Cookies of a host have no port, so the operator pages use another name. */
export const USER_COOKIE = 'sealwright-user';

export function userCookie(https: boolean): string {
  return hostCookie(USER_COOKIE, https);
}

/** Cookie with the path of the page to which a sign-in leads. */
const ONWARD_COOKIE = 'sealwright-onward';
/** Time of a sign-in: that of a mailed link, and of a second one. */
const ONWARD_SECONDS = 1800;
/** Pages of users, with the query of a filtered list in characters that cookies may have. */
const ONWARD_PATH = /^\/account(?:\/[\w-]{1,64}){1,4}(?:\?[\w.~%=&+-]{1,512})?$/;

/** Set only for what a person opened: a script asks for answers, too. */
function onwardCookie({ method, path, query, header, caller }: IncomingRequest): ReplyHeaders {
  const isOpened = method === 'GET' && ['', 'document'].includes(header('sec-fetch-dest'));
  if (!isOpened || NEVER_ONWARD.has(path)) return [];
  const to = [query ? `${path}?${query}` : path, path].find((address) => ONWARD_PATH.test(address));
  if (to === undefined) return [];
  const { https } = caller;
  return [['Set-Cookie', passingCookie(hostCookie(ONWARD_COOKIE, https), to, ONWARD_SECONDS, https)]];
}

/** The page that was asked for before the sign-in, and the header that forgets it. @param cookies header of the request */
export function onwardPath(
  cookies: string,
  https: boolean,
): { path: string; headers: ReplyHeaders } | undefined {
  const name = hostCookie(ONWARD_COOKIE, https);
  const path = readCookie(cookies, name);
  return ONWARD_PATH.test(path) ? { path, headers: [['Set-Cookie', clearedCookie(name, https)]] } : undefined;
}

/** Headers that end a session in the browser, which the next person may use. */
export function signedOut(https: boolean): ReplyHeaders {
  const names = [userCookie(https), hostCookie(ONWARD_COOKIE, https)];
  return names.map((name) => ['Set-Cookie', clearedCookie(name, https)]);
}

/** Header with the token of a session of the editor in another application. */
const EDITOR_SESSION_HEADER = 'x-editor-session';
export const SIGN_IN_PATH = '/sign-in';
/** Leads on to the page that was asked for, or to the documents. */
export const AFTER_SIGN_IN = '/account?from=link';
/** The second factor after a mailed link. */
export const SECOND_STEP_PATH = '/account/second-step';
/** Scripts wait there for changes. */
export const CHANGES_PATH = '/account/changes';
/** Paths that are no page to begin with. */
const NEVER_ONWARD: ReadonlySet<string> = new Set([SECOND_STEP_PATH, CHANGES_PATH]);

/** Roles that each policy admits. Monitoring keys are admitted to monitoring only. */
const ROLES: { readonly [policy in AuthPolicy]?: readonly ApplicationRole[] } = {
  application: ['Normal', 'Administrator'],
  monitor: ['Monitor'],
  administrator: ['Administrator'],
};

/** Directories of callers. */
export interface CallerDirectories {
  readonly tenants: Pick<Tenants, 'identify'>;
  readonly signIn: Pick<UserSignIn, 'session' | 'isPending'>;
  readonly editorSessions: Pick<EditorSessionService, 'session'>;
}

export function createPortalAccessCheck(
  { tenants, signIn, editorSessions }: CallerDirectories,
  settings: { readonly allowedHosts: readonly string[]; readonly requireHttps: boolean },
  wrongKeys: WrongKeys,
  tokenTenant?: TokenTenants,
): AccessCheck {
  return {
    ...createEntryRules(settings),
    admit(arrival, policy) {
      if (policy === 'anonymous') return ANONYMOUS;
      if (policy === 'user' || policy === 'user-administrator')
        return admitUser(arrival, policy, signIn, wrongKeys);
      if (policy === 'editor') return admitEditor(arrival, editorSessions, wrongKeys);
      if (policy === 'provisioning') return admitProvisioning(arrival, tenants, wrongKeys);
      const key = headerText(arrival.header(API_KEY_HEADER));
      const isOptional = policy === 'known-or-ticket';
      const token = tokenTenant && key === '' ? bearerToken(arrival.header('authorization')) : undefined;
      if (key === '' && token === undefined) {
        const session = policy === 'application' || isOptional ? sessionOf(arrival, isOptional) : undefined;
        if (session !== undefined) return admitSession(session, arrival, signIn, wrongKeys);
        if (isOptional) return ANONYMOUS;
        throw new PortalRefusal('Unauthorized', 'The header X-Api-Key is missing.');
      }
      const { address } = arrival.caller;
      const origin = requestOriginOf(arrival);
      const found = tokenTenant && token !== undefined ? tokenTenant(token) : tenants.identify(key);
      return found.then((tenant) => {
        // Where a ticket is enough, an invalid key is no reason to refuse.
        if (tenant === undefined && !isOptional) wrongKeys.count(address);
        if (tenant === undefined && !isOptional && token !== undefined)
          throw withBearerError(new PortalRefusal('Unauthorized'), 'invalid_token');
        if (!isOptional) requireRole(requireTenant(tenant), policy);
        return { admitted: true, identity: tenant && { ...tenant, origin }, setCookie: undefined };
      });
    },
  };
}

/** Compares in constant time. Refusals: `Forbidden`. */
export function requireFormToken({ formToken }: Pick<SignedInUser, 'formToken'>, given: string): void {
  const wanted = Buffer.from(formToken);
  const sent = Buffer.from(given);
  if (wanted.length === sent.length && timingSafeEqual(wanted, sent)) return;
  throw new PortalRefusal('Forbidden', 'The request lacks the token of the session.');
}

/**
 * Admits a user with a session; others go to the sign-in page. Refusals: `Forbidden` for a page of another site and
 * for a sender where an administrator is needed.
 */
function admitUser(
  arrival: IncomingRequest,
  policy: AuthPolicy,
  signIn: Pick<UserSignIn, 'session' | 'isPending'>,
  wrongKeys: WrongKeys,
): Admission | Promise<Admission> {
  const { caller, method, path } = arrival;
  const { address, https } = caller;
  const cookie = readCookie(arrival.header('cookie'), userCookie(https));
  const fromHere = isSameOrigin(
    { origin: arrival.header('origin'), fetchSite: arrival.header('sec-fetch-site') },
    caller,
  );
  if (cookie === '')
    return {
      admitted: false,
      reply: askedAgain(arrival) ?? redirect(302, SIGN_IN_PATH, onwardCookie(arrival)),
    };
  if (method !== 'GET' && method !== 'HEAD' && !fromHere)
    throw new PortalRefusal('Forbidden', 'The request was sent by a page of another site.');
  const origin = requestOriginOf(arrival);
  const onward = onwardCookie(arrival);
  return signIn.session(cookie).then(async (user) => {
    if (user === undefined) {
      if (await signIn.isPending(cookie)) return { admitted: false, reply: redirect(302, SECOND_STEP_PATH) };
      wrongKeys.count(address);
      const forget = clearedCookie(userCookie(https), https);
      const headers: ReplyHeaders = [['Set-Cookie', forget], ...onward];
      return { admitted: false, reply: redirect(302, SIGN_IN_PATH, headers) };
    }
    if (!mayUsePage(user.role, policy, method, path))
      throw new PortalRefusal('Forbidden', 'The role of the user does not permit this.');
    const identity = { ...user, tenant: tenantOf(user, origin) };
    return { admitted: true, identity, setCookie: undefined };
  });
}

/** A user as a caller: in the API, and on the pages, which offer what the API permits. */
function tenantOf(user: SignedInUser, origin: RequestOrigin): Tenant {
  const { tenant, role, sessionId } = user;
  return { ...tenant, scopes: USER_SCOPES[role], isAuditor: role === 'auditor', sessionId, origin };
}

/** The session of a script of our pages; a page of another site can send its cookie, but not its token. */
interface ScriptSession {
  readonly cookie: string;
  readonly formToken: string;
  readonly needsToken: boolean;
}

/** Undefined: without a session. @param hasOtherCredentials true: a request without the token does not count */
function sessionOf(
  { header, method, caller }: IncomingRequest,
  hasOtherCredentials: boolean,
): ScriptSession | undefined {
  const cookie = readCookie(header('cookie'), userCookie(caller.https));
  const formToken = header(FORM_TOKEN_HEADER);
  if (cookie === '' || (hasOtherCredentials && formToken === '')) return undefined;
  return { cookie, formToken, needsToken: method !== 'GET' && method !== 'HEAD' };
}

/** Refusals: `Unauthorized` for a session that is over, `Forbidden` without its token, or the proof of the person. */
function admitSession(
  { cookie, formToken, needsToken }: ScriptSession,
  arrival: IncomingRequest,
  signIn: Pick<UserSignIn, 'session' | 'isPending'>,
  wrongKeys: WrongKeys,
): Promise<Admission> {
  const { caller, method, path } = arrival;
  // The request is invalid once the store is asked.
  const origin = requestOriginOf(arrival);
  return signIn.session(cookie).then((user) => {
    if (user === undefined) {
      wrongKeys.count(caller.address);
      throw new PortalRefusal('Unauthorized', 'The session is over; sign in again.');
    }
    if (needsToken) requireFormToken(user, formToken);
    if (user.owes !== undefined && user.owes !== 'sign-in-first' && needsProof(method, path))
      throw new PortalRefusal(
        'Forbidden',
        'The session needs a proof of the person: change it on the pages.',
      );
    return { admitted: true, identity: tenantOf(user, origin), setCookie: undefined };
  });
}

/** Refusals: `Unauthorized` for a session that is over. Its token is in no cookie, so other sites cannot send it. */
function admitEditor(
  arrival: IncomingRequest,
  editorSessions: Pick<EditorSessionService, 'session'>,
  wrongKeys: WrongKeys,
): Promise<Admission> {
  const origin = requestOriginOf(arrival);
  return editorSessions.session(arrival.header(EDITOR_SESSION_HEADER)).then((tenant) => {
    if (tenant === undefined) {
      wrongKeys.count(arrival.caller.address);
      throw new PortalRefusal('Unauthorized', 'The session of the editor is over.');
    }
    return { admitted: true, identity: { ...tenant, origin }, setCookie: undefined };
  });
}

/** A key that is sent as a token is told which of its scopes is missing. */
const PROVISIONING = [{ scope: 'Provision', right: 'Provision' }] as const;

/**
 * Admits a key as a bearer token. It may be limited to `Provision`. Refusals: `Unauthorized`, `Forbidden` also for a key
 * that expires or is restricted to folders, since it gives roles without end.
 */
function admitProvisioning(
  arrival: IncomingRequest,
  tenants: Pick<Tenants, 'identify'>,
  wrongKeys: WrongKeys,
): Promise<Admission> {
  const origin = requestOriginOf(arrival);
  const key = /^bearer (.*)/i.exec(headerText(arrival.header('authorization')))?.[1]?.trim() ?? '';
  return tenants.identify(key).then((found) => {
    if (found === undefined) wrongKeys.count(arrival.caller.address);
    if (found === undefined && key !== '')
      throw withBearerError(new PortalRefusal('Unauthorized'), 'invalid_token');
    const tenant = requireTenant(found);
    requireRole(tenant, tenant.organization.name === SYSTEM_ORGANIZATION ? 'administrator' : 'application');
    requireScope({ tokenRights: PROVISIONING, ...tenant }, { scope: 'Provision' });
    if (tenant.keyExpiresAt !== undefined)
      throw new PortalRefusal('Forbidden', 'The key expires, so it cannot give roles to users.');
    return { admitted: true, identity: { ...tenant, origin }, setCookie: undefined };
  });
}

/** Address and user agent of a request, for histories. */
export function requestOriginOf({
  caller,
  header,
}: Pick<IncomingRequest, 'caller' | 'header'>): RequestOrigin {
  return { ipAddress: caller.address, userAgent: header('user-agent') };
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
