/**
 * `/sign-in/{name}`: sign-in of users at the identity provider of their organization, and what the provider sends.
 *
 * Source: docs/decisions/0276-single-sign-on.md.
 */
import type { Clock } from '@sealwright/runtime';
import { z } from 'zod';
import type { PortalProvider, ProviderOutcome, ProviderSignIn } from '../../../actors/portal/api.ts';
import { MAX_PROVIDER_FORM } from '../../../contracts/batch/session.ts';
import { PortalRefusal } from '../../../machines/portal/portal-refusals.ts';
import type { AccountPage } from '../../../web/pages/portal/account-frame.ts';
import { confirmPage, onwardPage, providerFailurePage } from '../../../web/pages/portal/sign-in-view.tsx';
import { clientNetwork } from '../../core/access/addresses.ts';
import type { Caller } from '../../core/access/caller.ts';
import { sessionCookie } from '../../core/access/session-cookies.ts';
import { limiterOf, type OtherNodes } from '../../core/other-nodes.ts';
import { type EmptyReply, type PageReply, type ReplyHeaders, redirect } from '../../core/reply.ts';
import type { AnyRoute } from '../../core/router.ts';
import { SignInFailure } from '../../core/sign-on/provider.ts';
import type { SignInFlows } from '../../core/sign-on/sign-in-flows.ts';
import type { SignOn, SignOnProvider } from '../../core/sign-on/sign-on.ts';
import { requestOriginOf, SIGN_IN_PATH, userCookie } from '../access-check.ts';
import { ERROR_PAGE_CODES } from '../pages/error-page.ts';
import { plainQuery } from '../pages/page-options.ts';
import { portalRoute } from '../route.ts';
import { accountFailurePage, accountPageOf, accountReply, formText } from './account-route.ts';

/** The providers of the portal's organizations. */
export interface UserProviders {
  readonly signOn: SignOn<SignOnProvider & PortalProvider>;
  /** `Portal:PublicUrl`, without a slash at its end. */
  readonly publicUrl: () => string;
  /** False: an organization with a provider has no mailed links. */
  readonly localSignIn: boolean;
}

/** Answers of providers, from one client, that are taken to the provider. */
const ANSWERS = { permits: 60, windowSeconds: 60 } as const;
/** Logout tokens: each needs a check of a signature. A provider sends those of all people from one place. */
const LOGOUTS = { permits: 600, windowSeconds: 60 } as const;

const COMMON = { group: 'Pages', auth: 'anonymous', refusals: [], failurePage: accountFailurePage } as const;
const FAILURES = { 403: 'page', 404: 'page', 429: 'page', ...ERROR_PAGE_CODES } as const;
const PAGES = { 200: 'page', ...FAILURES } as const;
const params = z.object({ name: z.string().max(40) });
/** Present: the sign-in proves the person anew. */
export const againQuery = z.string().max(10).optional();
/** Longer answers are refused: the parts of one have some hundred characters. */
const MAX_ANSWER = 8192;

type Why = SignInFailure['reason'] | Extract<ProviderOutcome, { readonly kind: 'refused' }>['why'];

const STATUS: { readonly [why in Why]?: number } = { unavailable: 503, wait: 429 };

export function providerRoutes(
  { signOn, publicUrl, localSignIn }: UserProviders,
  signIn: ProviderPages['signIn'],
  clock: Pick<Clock, 'elapsed' | 'after'>,
  nodes: OtherNodes | undefined,
): readonly AnyRoute[] {
  const pages: ProviderPages = {
    signOn,
    publicUrl,
    signIn,
    failures: new ProviderFailures(localSignIn),
    answers: limiterOf(nodes, 'sign-in-answers', ANSWERS, clock),
    posts: limiterOf(nodes, 'sign-in-posts', ANSWERS, clock),
    logouts: limiterOf(nodes, 'sign-in-logouts', LOGOUTS, clock),
  };
  return [
    beginRoute(pages),
    callbackRoute(pages),
    samlRoute(pages),
    metadataRoute(pages),
    logoutRoute(pages),
  ];
}

interface ProviderPages extends Pick<UserProviders, 'signOn' | 'publicUrl'> {
  readonly signIn: Pick<ProviderSignIn, 'signIn' | 'end'>;
  readonly failures: ProviderFailures;
  readonly answers: ReturnType<typeof limiterOf>;
  /** The browser goes on to the callback with each. */
  readonly posts: ReturnType<typeof limiterOf>;
  readonly logouts: ReturnType<typeof limiterOf>;
}

function providerOf(signOn: UserProviders['signOn'], name: string) {
  const found = signOn.find(name);
  if (found === undefined) throw new PortalRefusal('NotFound');
  return found;
}

class ProviderFailures {
  constructor(private readonly localSignIn: boolean) {}

  page(shown: AccountPage, provider: string, why: Why, email = ''): PageReply {
    return accountReply(
      STATUS[why] ?? 403,
      providerFailurePage(shown, { provider, why, ...(this.localSignIn && { email }) }),
    );
  }

  /** Runs a step with the provider; a failure of it is a page. */
  async attempt(
    shown: AccountPage,
    provider: string,
    email: string | undefined,
    step: () => Promise<PageReply | EmptyReply>,
  ): Promise<PageReply | EmptyReply> {
    try {
      return await step();
    } catch (error) {
      if (error instanceof SignInFailure) return this.page(shown, provider, error.reason, email);
      throw error;
    }
  }
}

function beginRoute({ signOn, publicUrl, failures }: ProviderPages): AnyRoute {
  return portalRoute({
    ...COMMON,
    method: 'GET',
    path: `${SIGN_IN_PATH}/{name}`,
    summary: 'Leads a user to an identity provider.',
    description:
      'Sets a cookie that the answer of the provider needs, and redirects. With `again`, the provider asks the person anew, and a session that it has open is refused.',
    headers: ['accept-language'],
    params,
    query: plainQuery.extend({ email: z.string().max(255).optional(), again: againQuery }),
    responses: { 302: 'empty', ...PAGES },
    handle({ params: { name }, query, header, caller }) {
      providerOf(signOn, name);
      const shown = accountPageOf(SIGN_IN_PATH, query, header('accept-language'));
      const { email } = query;
      const again = query.again !== undefined;
      return failures.attempt(shown, name, email, async () => {
        const { location, cookie } = await signOn.begin(name, publicUrl(), caller, { email, again });
        return redirect(302, location, [['Set-Cookie', cookie]]);
      });
    },
  });
}

function callbackRoute({ signOn, publicUrl, signIn, failures, answers }: ProviderPages): AnyRoute {
  return portalRoute({
    ...COMMON,
    method: 'GET',
    path: `${SIGN_IN_PATH}/{name}/callback`,
    summary: 'Takes the answer of the identity provider and starts a session.',
    description:
      'Works once, in the browser that began the sign-in. The page leads on by itself: after a redirect from another site, browsers do not send the cookie of the session.',
    headers: ['accept-language', 'cookie', 'user-agent'],
    params,
    query: plainQuery.loose(),
    responses: PAGES,
    handle({ params: { name }, query, header, caller }) {
      const provider = providerOf(signOn, name);
      const shown = accountPageOf(SIGN_IN_PATH, {}, header('accept-language'));
      return failures.attempt(shown, name, undefined, async () => {
        if (JSON.stringify(query).length > MAX_ANSWER) return failures.page(shown, name, 'refused');
        await answers.acquire(clientNetwork(caller.address));
        const cookies = header('cookie');
        const { person } = await signOn.finish(name, publicUrl(), caller, { query, cookies });
        const outcome = await signIn.signIn(provider, person, requestOriginOf({ caller, header }));
        if (outcome.kind === 'refused') return failures.page(shown, name, outcome.why);
        if (outcome.kind === 'session')
          return signedInPage(shown, signOn.flows, caller, {
            token: outcome.token,
            provider: name,
            idToken: person.idToken,
          });
        const { issuer, subject, session, until: sessionEnds, authenticatedAt, groups = [] } = person;
        const mapped = signOn.mappedGroups(name, groups);
        const kept = signOn.flows.confirmation(
          {
            provider: name,
            linkId: outcome.linkId,
            issuer,
            subject,
            session,
            groups: mapped,
            ...(sessionEnds !== undefined && { sessionEnds }),
            ...(authenticatedAt !== undefined && { authenticatedAt }),
          },
          caller,
        );
        return withHeaders(accountReply(200, confirmPage(shown, name)), [
          ...signOn.flows.forgetSignIn(caller),
          ['Set-Cookie', kept],
        ]);
      });
    },
  });
}

function samlRoute({ signOn, publicUrl, failures, posts }: ProviderPages): AnyRoute {
  return portalRoute({
    ...COMMON,
    method: 'POST',
    path: `${SIGN_IN_PATH}/{name}/acs`,
    summary: 'Takes the answer of a SAML provider.',
    description:
      'The page leads on to the callback: with a form of another site, browsers do not send the cookie of the sign-in.',
    bodyPolicy: 'form',
    maxBodyBytes: MAX_PROVIDER_FORM,
    headers: ['accept-language'],
    params,
    body: z.object({ SAMLResponse: z.string().max(MAX_PROVIDER_FORM).default('') }),
    responses: PAGES,
    handle({ params: { name }, body, header, caller }) {
      providerOf(signOn, name);
      const shown = accountPageOf(SIGN_IN_PATH, {}, header('accept-language'));
      return failures.attempt(shown, name, undefined, async () => {
        await posts.acquire(clientNetwork(caller.address));
        const cookie = await signOn.receive(name, publicUrl(), caller, body.SAMLResponse);
        const html = onwardPage(shown, { to: 'callback', text: shown.texts.signIn.signedInText });
        return withHeaders(accountReply(200, html), [['Set-Cookie', cookie]]);
      });
    },
  });
}

function metadataRoute({ signOn, publicUrl }: ProviderPages): AnyRoute {
  return portalRoute({
    ...COMMON,
    method: 'GET',
    path: `${SIGN_IN_PATH}/{name}/metadata`,
    summary: 'Returns the metadata of this service for a SAML provider.',
    description: 'The addresses begin with `Portal:PublicUrl`.',
    params,
    responses: { 200: 'xml', ...FAILURES },
    async handle({ params: { name } }) {
      const body = await signOn.description(providerOf(signOn, name).name, publicUrl());
      if (body === undefined) throw new PortalRefusal('NotFound');
      return {
        kind: 'asset',
        status: 200,
        contentType: 'application/xml; charset=utf-8',
        body,
        headers: [],
      };
    },
  });
}

function logoutRoute({ signOn, signIn, logouts }: ProviderPages): AnyRoute {
  return portalRoute({
    ...COMMON,
    method: 'POST',
    path: `${SIGN_IN_PATH}/{name}/logout`,
    summary: 'Ends the sessions that a logout token of the identity provider names.',
    description: 'Back-channel logout: the provider calls it. A token works once, for five minutes.',
    bodyPolicy: 'form',
    params,
    body: z.object({ logout_token: formText }),
    responses: { ...PAGES, 200: 'empty' },
    async handle({ params: { name }, body, caller }) {
      const provider = providerOf(signOn, name);
      await logouts.acquire(clientNetwork(caller.address));
      try {
        const { issuer, subject, session } = await signOn.loggedOut(name, body.logout_token);
        if (subject === undefined) throw new PortalRefusal('BadRequest', 'The token names no subject.');
        await signIn.end(provider, issuer, subject, session);
        return { kind: 'empty', status: 200 };
      } catch (error) {
        if (error instanceof SignInFailure) throw new PortalRefusal('BadRequest', error.message);
        throw error;
      }
    },
  });
}

/** Begins the session, and leads on to the account. */
function signedInPage(
  shown: AccountPage,
  flows: SignInFlows,
  caller: Caller,
  { token, provider, idToken }: { token: string; provider: string; idToken: string },
): PageReply {
  const { texts } = shown;
  const html = onwardPage(shown, { to: '../../account?from=link', text: texts.signIn.signedInText });
  return withHeaders(accountReply(200, html), [
    ...flows.forgetSignIn(caller),
    ['Set-Cookie', flows.origin(provider, idToken, caller)],
    ['Set-Cookie', sessionCookie(userCookie(caller.https), token, caller.https)],
  ]);
}

function withHeaders(reply: PageReply, more: ReplyHeaders): PageReply {
  return { ...reply, headers: [...(reply.headers ?? []), ...more] };
}
