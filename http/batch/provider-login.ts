/**
 * `/login/{name}`: login of operators at an identity provider, and what the provider sends.
 *
 * Source: docs/decisions/0276-single-sign-on.md.
 */
import type { Clock } from '@sealwright/runtime';
import type { Batch } from '../../actors/index.ts';
import { OPERATOR_ROLES } from '../../contracts/batch/access.ts';
import {
  beginProviderLogin,
  describeToProvider,
  endProviderSessions,
  finishProviderLogin,
  receiveProviderAnswer,
} from '../../contracts/batch/session.ts';
import { visibleText } from '../../contracts/plain-text.ts';
import { Refusal } from '../../machines/refusals.ts';
import { onwardPage, type ProviderTrouble, providerTroublePage } from '../../web/pages/batch/login.tsx';
import { clientNetwork } from '../core/access/addresses.ts';
import type { Authenticator } from '../core/access/auth.ts';
import type { Caller } from '../core/access/caller.ts';
import { createRateLimiter, type RateLimiter } from '../core/access/rate-limit.ts';
import { sessionCookie } from '../core/access/session-cookies.ts';
import type { SessionPerson } from '../core/access/sessions.ts';
import { type PageReply, page, redirect } from '../core/reply.ts';
import type { AnyRoute } from '../core/router.ts';
import { type ProviderPerson, personKey, SignInFailure } from '../core/sign-on/provider.ts';
import type { SignOn, SignOnProvider } from '../core/sign-on/sign-on.ts';
import { handle } from './handle.ts';
import { type AddressOf, localReturnUrl } from './return-address.ts';

/** Answers of providers, from one client, that are taken to the provider. */
const PROVIDER_ANSWERS = { permits: 60, windowSeconds: 60 } as const;
/** Logout tokens of one provider: each needs a check of a signature. A provider sends those of all people from one place. */
const PROVIDER_LOGOUTS = { permits: 600, windowSeconds: 60 } as const;

interface ProviderLimits {
  readonly answers: RateLimiter;
  /** Answers that come by a form: the browser goes on to the callback with each. */
  readonly posts: RateLimiter;
  readonly logouts: RateLimiter;
}
/** Longest name of a person in events. */
const MAX_NAME = 100;
/** Longer answers are refused: the parts of one have some hundred characters. */
const MAX_ANSWER = 8192;

export function providerLimits(clock: Parameters<typeof createRateLimiter>[1]): ProviderLimits {
  const of = (window: Parameters<typeof createRateLimiter>[0]) => createRateLimiter(window, clock);
  return { answers: of(PROVIDER_ANSWERS), posts: of(PROVIDER_ANSWERS), logouts: of(PROVIDER_LOGOUTS) };
}

export function providerLoginRoutes(
  signOn: SignOn,
  authenticator: Pick<Authenticator, 'logInPerson' | 'endPerson' | 'cookieName'>,
  { answers, posts, logouts }: ProviderLimits,
  {
    events,
    clock,
    addressOf,
  }: {
    readonly events: Batch['events'];
    readonly clock: Pick<Clock, 'now'>;
    readonly addressOf: AddressOf;
  },
): readonly AnyRoute[] {
  const baseOf = (caller: Caller): string => {
    const address = addressOf(caller);
    if (address !== undefined) return address;
    const remedy = 'Set Batch:PublicUrl, or name this host in AllowedHosts.';
    throw new Refusal('host.not-allowed', `An identity provider is not led back to any host. ${remedy}`);
  };
  const providerOf = (name: string): SignOnProvider => {
    const found = signOn.find(name);
    if (found === undefined) throw new Refusal('route.not-found', `There is no identity provider ${name}.`);
    return found;
  };
  return [
    handle(beginProviderLogin, async ({ params: { name }, query, caller }) => {
      providerOf(name);
      try {
        const to = localReturnUrl(query.ReturnUrl);
        const { location, cookie } = await signOn.begin(name, baseOf(caller), caller, { to });
        return redirect(302, location, [['Set-Cookie', cookie]]);
      } catch (error) {
        return failurePage(name, error);
      }
    }),
    handle(finishProviderLogin, async ({ params: { name }, query, header, caller }) => {
      const provider = providerOf(name);
      if (JSON.stringify(query).length > MAX_ANSWER) return troublePage(name, 'refused');
      await answers.acquire(clientNetwork(caller.address));
      try {
        const cookies = header('cookie');
        const { person, to } = await signOn.finish(name, baseOf(caller), caller, { query, cookies });
        const role = roleOf(provider, person);
        if (role === undefined) return troublePage(name, person.groups === undefined ? 'groups' : 'role');
        if (!isOfDomains(provider, person)) return troublePage(name, 'address');
        const operator = nameOf(provider, person);
        const { issuer, subject, session, until } = person;
        const token = authenticator.logInPerson(operator, {
          role,
          key: personKey(issuer, `sub ${subject}`),
          ...(session !== undefined && { sessionKey: personKey(issuer, `sid ${session}`) }),
          since: clock.now(),
          ...(until !== undefined && { until }),
        });
        await events.recordSession('LoggedIn', operator, caller.address);
        return page(200, onwardPage(to || '/', 'You are logged in.'), [
          ...signOn.flows.forgetSignIn(caller),
          ['Set-Cookie', signOn.flows.origin(name, person.idToken, caller)],
          ['Set-Cookie', sessionCookie(authenticator.cookieName, token, caller.https)],
        ]);
      } catch (error) {
        return failurePage(name, error);
      }
    }),
    handle(receiveProviderAnswer, async ({ params: { name }, body, caller }) => {
      providerOf(name);
      await posts.acquire(clientNetwork(caller.address));
      try {
        const cookie = await signOn.receive(name, baseOf(caller), caller, body.SAMLResponse);
        const onward = onwardPage(`/login/${name}/callback`, 'The answer of the identity provider is read.');
        return page(200, onward, [['Set-Cookie', cookie]]);
      } catch (error) {
        return failurePage(name, error);
      }
    }),
    handle(describeToProvider, async ({ params: { name }, caller }) => {
      const body = await signOn.description(providerOf(name).name, baseOf(caller));
      if (body === undefined) throw new Refusal('route.not-found', `${name} needs no metadata.`);
      return { kind: 'asset', status: 200, contentType: 'application/xml; charset=utf-8', body, headers: [] };
    }),
    handle(endProviderSessions, async ({ params: { name }, body, caller }) => {
      providerOf(name);
      await logouts.acquire(clientNetwork(caller.address));
      try {
        const { issuer, subject, session } = await signOn.loggedOut(name, body.logout_token);
        // A session at the provider is one of the person; without it, all end.
        await authenticator.endPerson(
          personKey(issuer, session === undefined ? `sub ${subject}` : `sid ${session}`),
        );
        return { kind: 'empty', status: 200 };
      } catch (error) {
        if (!(error instanceof SignInFailure)) throw error;
        throw new Refusal(
          error.reason === 'unavailable' ? 'service.busy' : 'validation.body-invalid',
          error.message,
        );
      }
    }),
  ];
}

function troublePage(provider: string, trouble: ProviderTrouble): PageReply {
  return page(trouble === 'unavailable' ? 503 : 403, providerTroublePage(provider, trouble));
}

function failurePage(provider: string, error: unknown): PageReply {
  if (!(error instanceof SignInFailure)) throw error;
  // Operators are never asked anew.
  return troublePage(provider, error.reason === 'unproven' ? 'refused' : error.reason);
}

/** The role with the most rights that the groups give. */
function roleOf({ roles }: SignOnProvider, { groups }: ProviderPerson): SessionPerson['role'] | undefined {
  if (groups === undefined) return undefined;
  const given = new Set(
    roles
      .filter(({ group }) => group === '*' || groups.includes(group))
      .map(({ role }) => role.toLowerCase()),
  );
  return OPERATOR_ROLES.findLast((role) => given.has(role));
}

/** Without domains everybody is. A provider must not say that the address is unverified. */
function isOfDomains({ domains }: SignOnProvider, { email = '', emailVerified }: ProviderPerson): boolean {
  if (domains.length === 0) return true;
  return emailVerified !== false && domains.includes(email.slice(email.lastIndexOf('@') + 1).toLowerCase());
}

/**
 * Name of the person in events. Names that people choose must not look like `operator` or a key, and an address counts
 * as that of the person where the provider has verified it, or speaks for its domain.
 */
function nameOf(
  { domains }: SignOnProvider,
  { email = '', emailVerified = domains.length > 0, name, subject }: ProviderPerson,
): string {
  const isAddress = emailVerified && /^[^\s:@]+@[^\s:@]+$/.test(email);
  return visibleText(isAddress ? email : `user:${name ?? subject}`).slice(0, MAX_NAME);
}
