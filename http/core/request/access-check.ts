/**
 * Checks before every route: the allowed host, https where required, and the permission to use the route.
 *
 * Source: docs/batch-values.md §0, §§1, 5 and 10.
 */
import type { Access } from '../../../contracts/batch/access.ts';
import { Refusal } from '../../../machines/refusals.ts';
import { bearerToken } from '../access/access-tokens.ts';
import { askedAgain } from '../access/asked-again.ts';
import type { Authenticator, Identity } from '../access/auth.ts';
import { scopesGiving, withBearerError } from '../access/bearer-errors.ts';
import type { Caller } from '../access/caller.ts';
import type { UsedKey } from '../access/named-keys.ts';
import { isSameOrigin } from '../access/origin.ts';
import { requireAccess } from '../access/permission.ts';
import { readCookie, sessionCookie } from '../access/session-cookies.ts';
import type { WrongKeys } from '../access/wrong-keys.ts';
import { type EmptyReply, redirect } from '../reply.ts';
import type { AuthPolicy } from '../router.ts';

/** `name`, `name:port`, `[address]` or `[address]:port` → the name in lower case; undefined for other text. */
function hostName(host: string): string | undefined {
  const match = /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::\d{1,5})?$/i.exec(host);
  return match?.[1]?.toLowerCase().replace(/\.$/, '');
}

/**
 * Returns a predicate of allowed `Host` headers. Entries are names, `*.name` for every subdomain, or `*` for every
 * host, which also allows requests without the header. Ports are ignored.
 */
export function hostCheck(allowed: readonly string[]): (host: string) => boolean {
  const entries = allowed.map((entry) => entry.toLowerCase());
  if (entries.includes('*')) return () => true;
  const names = new Set(entries.filter((entry) => !entry.startsWith('*.')));
  const endings = entries.filter((entry) => entry.startsWith('*.')).map((entry) => entry.slice(1));
  return (host) => {
    const name = hostName(host);
    if (name === undefined) return false;
    // An IPv6 address may be configured with or without the brackets of the header.
    const bare = name.replace(/^\[(.*)\]$/, '$1');
    return names.has(name) || names.has(bare) || endings.some((ending) => name.endsWith(ending));
  };
}

/** Properties of a request that the access check reads. */
export interface IncomingRequest {
  readonly method: string;
  /** As sent by the client, without the query. */
  readonly path: string;
  /** Undefined when there is none. */
  readonly query: string | undefined;
  readonly caller: Caller;
  /** A header by its lower-case name; empty when absent. */
  header(name: string): string;
}

/** `CallerIdentity`: the identity of callers in this service. */
export type Admission<CallerIdentity = unknown> =
  | {
      readonly admitted: true;
      readonly identity: CallerIdentity | undefined;
      readonly setCookie: string | undefined;
      /** Its name in the log. @default none */
      readonly by?: string;
      /** True: the request counted against a limit of its key, in place of that of its address. @default false */
      readonly isRated?: boolean;
    }
  | { readonly admitted: false; readonly reply: EmptyReply };

export interface AccessCheck {
  /**
   * Returns a redirect to https; undefined when the request may continue.
   * Refusals: `host.not-allowed`.
   */
  enter(arrival: IncomingRequest): EmptyReply | undefined;
  /** Reads `arrival` only before it returns. Throws, or rejects with, the refusal to send. */
  admit(arrival: IncomingRequest, policy: AuthPolicy, access?: Access): Admission | Promise<Admission>;
}

/** Checks that every request must pass, independent of its caller. */
export type EntryRules = Pick<AccessCheck, 'enter'>;

/** An access check that returns synchronously. */
export interface ImmediateAccessCheck extends AccessCheck {
  /** Refusals: `auth.misconfigured`, `auth.invalid-credentials`, `auth.cross-origin`, `auth.forbidden`, `rate-limited`. */
  admit(arrival: IncomingRequest, policy: AuthPolicy, access?: Access): Admission<Identity>;
}

export const ANONYMOUS: Admission<never> = { admitted: true, identity: undefined, setCookie: undefined };
/** Safe methods (RFC 9110 §9.2.1). */
const SAFE = new Set(['GET', 'HEAD']);

/** Checks the host, and https where required. */
export function createEntryRules(settings: {
  readonly allowedHosts: readonly string[];
  readonly requireHttps: boolean;
}): EntryRules {
  const isAllowed = hostCheck(settings.allowedHosts);
  return {
    enter(arrival) {
      if (!isAllowed(arrival.caller.host)) {
        throw new Refusal('host.not-allowed', 'The host is not among AllowedHosts.');
      }
      return settings.requireHttps && !arrival.caller.https ? toHttps(arrival) : undefined;
    },
  };
}

/** Needs of a route that declares none. */
const EVERYTHING: Access = { scope: 'administer', reach: 'service' };

/**
 * Access check of the batch service: an API key, or the session of a browser.
 * @param countUse counts a request of a named key against its own limit; false: it has none. Refusals: `rate-limited`
 */
export function createAccessCheck(
  authenticator: Authenticator,
  settings: { readonly allowedHosts: readonly string[]; readonly requireHttps: boolean },
  wrongKeys: WrongKeys,
  countUse: (key: UsedKey) => boolean = () => false,
): ImmediateAccessCheck {
  return {
    ...createEntryRules(settings),
    admit(arrival, policy, access = EVERYTHING) {
      if (policy === 'anonymous') return ANONYMOUS;
      const { cookieName } = authenticator;
      const apiKey = arrival.header(authenticator.apiKeyHeader);
      const session = apiKey === '' ? readCookie(arrival.header('cookie'), cookieName) : '';
      try {
        const { identity, renewed, key } = authenticator.identify({ apiKey, session });
        if (identity.scheme === 'Cookie') refuseOtherSites(arrival);
        const isRated = key !== undefined && countUse(key);
        requireAccess(identity, access);
        const setCookie =
          renewed === undefined ? undefined : sessionCookie(cookieName, renewed, arrival.caller.https);
        return { admitted: true, identity, setCookie, by: identity.operator, isRated };
      } catch (thrown) {
        const isWrong = thrown instanceof Refusal && thrown.code === 'auth.invalid-credentials';
        if (isWrong && apiKey !== '') wrongKeys.count(arrival.caller.address);
        if (!isWrong || policy !== 'page' || apiKey !== '') throw thrown;
        const again = session === '' ? askedAgain(arrival) : undefined;
        return { admitted: false, reply: again ?? redirect(302, loginPath(arrival)) };
      }
    },
  };
}

/**
 * Adds access tokens to a check; the header of the key decides before them, and they before a session.
 * @param identify resolves with undefined for an invalid token
 */
export function withTokens(
  check: ImmediateAccessCheck,
  apiKeyHeader: string,
  identify: (token: string) => Promise<Identity | undefined>,
  wrongKeys: WrongKeys,
): AccessCheck {
  return {
    ...check,
    admit(arrival, policy, access = EVERYTHING) {
      const token = bearerToken(arrival.header('authorization'));
      if (token === undefined || policy === 'anonymous' || arrival.header(apiKeyHeader) !== '')
        return check.admit(arrival, policy, access);
      const { address } = arrival.caller;
      return identify(token).then((identity) => {
        if (identity === undefined) {
          wrongKeys.count(address);
          const refusal = new Refusal(
            'auth.invalid-credentials',
            'The access token is not valid for this service.',
          );
          throw withBearerError(refusal, 'invalid_token');
        }
        requireTokenAccess(identity, access);
        return { admitted: true, identity, setCookie: undefined, by: identity.operator };
      });
    },
  };
}

/** A token has no bounds, so all that it lacks are scopes. Refusals: `auth.forbidden`. */
function requireTokenAccess(identity: Identity, access: Access): void {
  try {
    requireAccess(identity, access);
  } catch (refusal) {
    const scopes = scopesGiving(identity.tokenRights ?? [], access.scope);
    throw withBearerError(refusal as Refusal, 'insufficient_scope', scopes);
  }
}

function refuseOtherSites(arrival: IncomingRequest): void {
  if (!SAFE.has(arrival.method)) requireSameOrigin((name) => arrival.header(name), arrival.caller);
}

/** Request headers that `requireSameOrigin` reads. */
const ORIGIN_HEADERS = ['origin', 'sec-fetch-site'] as const;

/** Refusals: `auth.cross-origin`. */
export function requireSameOrigin(
  header: (name: (typeof ORIGIN_HEADERS)[number]) => string,
  caller: Caller,
): void {
  if (isSameOrigin({ origin: header('origin'), fetchSite: header('sec-fetch-site') }, caller)) return;
  throw new Refusal('auth.cross-origin', 'The request was sent by a page of another site.');
}

/** The port of the http address does not determine that of https, so the redirect uses the default port. */
function toHttps({ caller, path, query }: IncomingRequest): EmptyReply {
  const name = hostName(caller.host);
  if (name === undefined) throw new Refusal('host.not-allowed', 'The request names no host to redirect to.');
  return redirect(307, `https://${name}${path}${query === undefined ? '' : `?${query}`}`);
}

function loginPath({ path, query }: IncomingRequest): string {
  const target = query === undefined || query === '' ? path : `${path}?${query}`;
  return `/login?ReturnUrl=${encodeURIComponent(target)}`;
}
