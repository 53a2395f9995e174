/**
 * What every request must pass before its route is asked: the right host, https where it is required, and the
 * right to use the route.
 *
 * Source: Batch Signing Service API, "Authentication"; batch-gaps §§1, 5 and 10.
 */
import { Refusal } from '../machines/refusals.ts';
import type { Authenticator, Identity } from './auth.ts';
import type { Caller } from './caller.ts';
import { readCookie, sessionCookie } from './cookies.ts';
import { hostCheck, hostName } from './hosts.ts';
import { isSameOrigin } from './origin.ts';
import { type EmptyReply, redirect } from './reply.ts';
import type { AuthPolicy } from './router.ts';

/** The part of a request the gate looks at. */
export interface Arrival {
  readonly method: string;
  /** As the client sent it, without the query. */
  readonly path: string;
  /** Undefined when there is none. */
  readonly query: string | undefined;
  readonly caller: Caller;
  /** A header by its lower-case name; empty when absent. */
  header(name: string): string;
}

/** `Who`: what the service knows of its callers. */
export type Admission<Who = unknown> =
  | {
      readonly admitted: true;
      readonly identity: Who | undefined;
      readonly setCookie: string | undefined;
    }
  | { readonly admitted: false; readonly reply: EmptyReply };

export interface Gate {
  /**
   * A redirect to https; undefined when the request may go on.
   * Refusals: `host.not-allowed`.
   */
  enter(arrival: Arrival): EmptyReply | undefined;
  /**
   * Whatever is asked of `arrival` is asked before this returns. Throws, or rejects with, what the client is told.
   */
  admit(arrival: Arrival, policy: AuthPolicy): Admission | Promise<Admission>;
}

/** What every request must pass, whoever sends it. */
export type EntryRules = Pick<Gate, 'enter'>;

/** A gate that answers at once. */
export interface PromptGate extends Gate {
  /** Refusals: `auth.misconfigured`, `auth.invalid-credentials`, `auth.cross-origin`. */
  admit(arrival: Arrival, policy: AuthPolicy): Admission<Identity>;
}

export const ANYBODY: Admission<never> = { admitted: true, identity: undefined, setCookie: undefined };
/** Methods that change nothing. */
const SAFE = new Set(['GET', 'HEAD']);

/** The right host, and https where it is required. */
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

/** The batch service's gate: the API key, or the session of a browser. */
export function createGate(
  authenticator: Authenticator,
  settings: { readonly allowedHosts: readonly string[]; readonly requireHttps: boolean },
): PromptGate {
  return {
    ...createEntryRules(settings),
    admit(arrival, policy) {
      if (policy === 'anonymous') return ANYBODY;
      const { cookieName } = authenticator;
      const apiKey = arrival.header(authenticator.apiKeyHeader);
      const session = apiKey === '' ? readCookie(arrival.header('cookie'), cookieName) : '';
      try {
        const { identity, renewed } = authenticator.identify({ apiKey, session });
        if (identity.scheme === 'Cookie') refuseOtherSites(arrival);
        const setCookie =
          renewed === undefined ? undefined : sessionCookie(cookieName, renewed, arrival.caller.https);
        return { admitted: true, identity, setCookie };
      } catch (thrown) {
        const isBrowser = policy === 'page' && apiKey === '';
        if (!isBrowser || !(thrown instanceof Refusal) || thrown.code !== 'auth.invalid-credentials')
          throw thrown;
        return { admitted: false, reply: redirect(302, loginPath(arrival)) };
      }
    },
  };
}

function refuseOtherSites(arrival: Arrival): void {
  if (SAFE.has(arrival.method)) return;
  const headers = { origin: arrival.header('origin'), fetchSite: arrival.header('sec-fetch-site') };
  if (isSameOrigin(headers, arrival.caller)) return;
  throw new Refusal('auth.cross-origin', 'The request was sent by a page of another site.');
}

/** The port of the http address says nothing about that of https, so the usual one is named. */
function toHttps({ caller, path, query }: Arrival): EmptyReply {
  const name = hostName(caller.host);
  if (name === undefined) throw new Refusal('host.not-allowed', 'The request names no host to redirect to.');
  return redirect(307, `https://${name}${path}${query === undefined ? '' : `?${query}`}`);
}

function loginPath({ path, query }: Arrival): string {
  const wanted = query === undefined || query === '' ? path : `${path}?${query}`;
  return `/login?ReturnUrl=${encodeURIComponent(wanted)}`;
}
