/**
 * `/sign-in`, `/sign-in/link`, `/sign-out` and `/account`.
 *
 * Source: docs/decisions/0135-users-sign-in-by-mail.md.
 */

import type { Clock } from '@sealwright/runtime';
import { z } from 'zod';
import type { ProviderSignIn, SecondFactors, UserSessions, UserSignIn } from '../../../actors/portal/api.ts';
import { filled } from '../../../contracts/texts/texts.ts';
import { PortalRefusal } from '../../../machines/portal/portal-refusals.ts';
import { Refusal } from '../../../machines/refusals.ts';
import { SIGN_IN_AGAIN } from '../../../web/pages/portal/account-form.tsx';
import { type AccountPage, addressFrom } from '../../../web/pages/portal/account-frame.ts';
import {
  linkPage,
  linkSentPage,
  myAccountPage,
  onwardPage,
  providerFailurePage,
  signInPage,
} from '../../../web/pages/portal/sign-in-view.tsx';
import { clientNetwork, siteNetwork } from '../../core/access/addresses.ts';
import { isSameOrigin } from '../../core/access/origin.ts';
import { hostCookie, readCookie, sessionCookie } from '../../core/access/session-cookies.ts';
import { limiterOf, type OtherNodes } from '../../core/other-nodes.ts';
import { type PageReply, redirect } from '../../core/reply.ts';
import type { AnyRoute, ApiRequest } from '../../core/router.ts';
import { noSignOn } from '../../core/sign-on/sign-on.ts';
import {
  AFTER_SIGN_IN,
  onwardPath,
  requestOriginOf,
  SECOND_STEP_PATH,
  SIGN_IN_PATH,
  signedOut,
  userCookie,
} from '../access-check.ts';
import { ERROR_PAGE_CODES } from '../pages/error-page.ts';
import { plainQuery } from '../pages/page-options.ts';
import { portalRoute } from '../route.ts';
import {
  accountFailurePage,
  accountGet,
  accountPageOf,
  accountPost,
  accountReply,
  formText,
} from './account-route.ts';
import { doneNotice, doneReply } from './outcomes.ts';
import { formCredential, ownerOf } from './passkey-pages.ts';
import { againQuery, providerRoutes, type UserProviders } from './provider-pages.ts';
import { endSession } from './user-pages.ts';

/** Permitted requests for links, and wrong links, from one client and from one network, to all nodes together. */
const PER_CLIENT = { permits: 10, windowSeconds: 60 } as const;
const PER_NETWORK = { permits: 40, windowSeconds: 60 } as const;

const COMMON = { group: 'Pages', auth: 'anonymous', refusals: [], failurePage: accountFailurePage } as const;
/** Ties the challenge of the sign-in page to its browser. */
const PASSKEY_COOKIE = 'sealwright-passkey';
const ORIGIN = ['accept-language', 'origin', 'sec-fetch-site', 'cookie', 'user-agent'] as const;
const PAGES = { 200: 'page', 429: 'page', 403: 'page', ...ERROR_PAGE_CODES } as const;
const formQuery = plainQuery.extend({ again: againQuery });

/** The form keeps whether the sign-in proves the person anew. */
function formPageOf(query: z.infer<typeof formQuery>, acceptLanguage: string): AccountPage {
  const address = query.again === undefined ? SIGN_IN_PATH : SIGN_IN_AGAIN;
  return accountPageOf(SIGN_IN_PATH, query, acceptLanguage, address);
}

export function signInRoutes(
  services: Pick<SignInPages, 'signIn' | 'sessions' | 'providerSignIn' | 'factors'>,
  {
    providers = { signOn: noSignOn(), publicUrl: () => '', localSignIn: true },
    clock,
    nodes,
  }: {
    readonly providers: UserProviders | undefined;
    readonly clock: Pick<Clock, 'elapsed' | 'after'>;
    readonly nodes: OtherNodes | undefined;
  },
): readonly AnyRoute[] {
  const { signOn, publicUrl } = providers;
  const pages: SignInPages = {
    ...services,
    signOn,
    publicUrl,
    form: new SignInForm(services.factors, signOn),
    limit: new AttemptLimit(nodes, clock),
  };
  return [
    ...providerRoutes(providers, services.providerSignIn, clock, nodes),
    formRoute(pages),
    requestLinkRoute(pages),
    passkeyRoute(pages),
    linkRoute(pages),
    useLinkRoute(pages),
    accountRoute(pages),
    endSessionsRoute(pages),
    signOutRoute(pages),
  ];
}

interface SignInPages {
  readonly signIn: UserSignIn;
  readonly sessions: UserSessions;
  readonly providerSignIn: ProviderSignIn;
  readonly factors: SecondFactors;
  readonly signOn: UserProviders['signOn'];
  readonly publicUrl: () => string;
  readonly form: SignInForm;
  readonly limit: AttemptLimit;
}

class SignInForm {
  readonly #buttons: readonly string[];
  readonly #hasProviders: boolean;

  constructor(
    private readonly factors: SecondFactors,
    { providers }: UserProviders['signOn'],
  ) {
    // The others are found by the domain of an address.
    this.#buttons = providers.filter(({ domains }) => domains.length === 0).map(({ name }) => name);
    this.#hasProviders = providers.length > 0;
  }

  /** The form, with a new challenge for passkeys that is good in this browser. */
  page(
    shown: AccountPage,
    https: boolean,
    given: { readonly status?: number; readonly isBusy?: boolean; readonly isRefused?: boolean } = {},
  ): PageReply {
    const { status = 200, isBusy = false, isRefused = false } = given;
    const { browser, request } = this.factors.anyRequest();
    const html = signInPage(shown, {
      isBusy,
      isRefused,
      buttons: this.#buttons,
      hasProviders: this.#hasProviders,
      request,
    });
    const reply = accountReply(status, html);
    if (request === undefined) return reply;
    const cookie = sessionCookie(hostCookie(PASSKEY_COOKIE, https), browser, https);
    return { ...reply, headers: [...(reply.headers ?? []), ['Set-Cookie', cookie]] };
  }
}

class AttemptLimit {
  readonly #byClient: ReturnType<typeof limiterOf>;
  readonly #byNetwork: ReturnType<typeof limiterOf>;

  constructor(nodes: OtherNodes | undefined, clock: Pick<Clock, 'elapsed' | 'after'>) {
    this.#byClient = limiterOf(nodes, 'sign-in', PER_CLIENT, clock);
    this.#byNetwork = limiterOf(nodes, 'sign-in-network', PER_NETWORK, clock);
  }

  /** False beyond a limit. What that of a client refuses does not count for its network. */
  async admits(address: string): Promise<boolean> {
    try {
      await this.#byClient.acquire(clientNetwork(address));
      await this.#byNetwork.acquire(siteNetwork(address));
      return true;
    } catch (error) {
      if (error instanceof Refusal && error.code === 'rate-limited') return false;
      throw error;
    }
  }
}

function formRoute({ form, signIn }: SignInPages): AnyRoute {
  return portalRoute({
    ...COMMON,
    method: 'GET',
    path: SIGN_IN_PATH,
    summary: 'A page for users: the form that requests a sign-in link.',
    description:
      'The link is sent by e-mail; there are no passwords. Who is signed in is led on, unless `again` asks for a proof.',
    headers: ['accept-language', 'cookie'],
    query: formQuery,
    responses: { 302: 'empty', ...PAGES },
    async handle({ query, header, caller }) {
      const shown = formPageOf(query, header('accept-language'));
      const cookie = readCookie(header('cookie'), userCookie(caller.https));
      const isSignedIn = cookie !== '' && (await signIn.session(cookie)) !== undefined;
      if (isSignedIn && query.again === undefined) return redirect(302, addressFrom(shown, AFTER_SIGN_IN));
      return form.page(shown, caller.https);
    },
  });
}

function requestLinkRoute({ signIn, signOn, form, limit }: SignInPages): AnyRoute {
  return portalRoute({
    ...COMMON,
    method: 'POST',
    path: SIGN_IN_PATH,
    summary:
      'Sends a link by e-mail if the address is that of a user. The reply is the same for every address.',
    description:
      'The page leads to the identity provider of the domain, if there is one. A link can be used once, within 15 minutes. A user has at most three unused links; a client may request ten a minute, a network (IPv4 /24, IPv6 /56) forty (429).',
    bodyPolicy: 'form',
    headers: ORIGIN,
    query: formQuery,
    body: z.object({ email: formText, by: formText }),
    responses: PAGES,
    async handle({ query, body, caller, header }) {
      requireOwnOrigin(header, caller);
      const shown = formPageOf(query, header('accept-language'));
      const provider = body.by === 'mail' ? undefined : signOn.ofAddress(body.email);
      if (provider !== undefined) {
        const hint = body.email.trim();
        const asked = new URLSearchParams({
          ...(hint.length <= 255 && { email: hint }),
          ...(query.again !== undefined && { again: 'yes' }),
        });
        const to = `sign-in/${provider.name}?${asked}`;
        const text = filled(shown.texts.signIn.onwardText, { provider: provider.name });
        return accountReply(200, onwardPage(shown, { to, text }));
      }
      if (!(await limit.admits(caller.address)))
        return form.page(shown, caller.https, { status: 429, isBusy: true });
      // Not awaited: the time of the answer must not tell whether the address is known.
      signIn.requestLink(body.email, siteNetwork(caller.address));
      return accountReply(200, linkSentPage(shown));
    },
  });
}

function passkeyRoute({ signIn, factors, form, limit }: SignInPages): AnyRoute {
  return portalRoute({
    ...COMMON,
    method: 'POST',
    path: `${SIGN_IN_PATH}/passkey`,
    summary: 'Takes the answer of a passkey and starts a session.',
    description:
      'A user of several organizations chooses one on the page. The challenge of the sign-in page is answered once, in the same browser, within ten minutes.',
    bodyPolicy: 'form',
    headers: ORIGIN,
    query: plainQuery,
    body: z.object({ credential: formCredential }),
    responses: { 302: 'empty', 422: 'page', ...PAGES },
    async handle({ query, body, caller, header }) {
      requireOwnOrigin(header, caller);
      const shown = accountPageOf(SIGN_IN_PATH, query, header('accept-language'));
      const browser = readCookie(header('cookie'), hostCookie(PASSKEY_COOKIE, caller.https));
      const ticket = await factors.linkByPasskey(browser, body.credential);
      const link = ticket === undefined ? undefined : await signIn.link(ticket);
      // Right answers do not count: people of one office share an address.
      if (ticket === undefined || link === undefined || link.organizations.length === 0)
        return (await limit.admits(caller.address))
          ? form.page(shown, caller.https, { status: 422, isRefused: true })
          : form.page(shown, caller.https, { status: 429, isBusy: true });
      const [only, ...more] = link.organizations;
      if (only === undefined || more.length > 0) return accountReply(200, linkPage(shown, ticket, link));
      const from = requestOriginOf({ caller, header });
      const token = await signIn.begin(ticket, only.id, from);
      await signIn.end(readCookie(header('cookie'), userCookie(caller.https)));
      return redirect(302, addressFrom(shown, AFTER_SIGN_IN), [
        ['Set-Cookie', sessionCookie(userCookie(caller.https), token, caller.https)],
      ]);
    },
  });
}

function linkRoute({ signIn, signOn }: SignInPages): AnyRoute {
  return portalRoute({
    ...COMMON,
    method: 'GET',
    path: `${SIGN_IN_PATH}/link`,
    summary: 'A page for users: the button that signs in. Opening the page changes nothing.',
    description: 'Mail scanners open links too, so only the button of the page uses the link.',
    headers: ['accept-language', 'cookie'],
    query: plainQuery.extend({ ticket: z.string().max(1024).optional() }),
    responses: PAGES,
    async handle({ query, header, caller }) {
      const { ticket = '' } = query;
      const shown = accountPageOf(SIGN_IN_PATH, query, header('accept-language'));
      const confirming = signOn.flows.readConfirmation(header('cookie'), caller);
      const link = await signIn.link(ticket, confirming?.linkId);
      return accountReply(200, linkPage(shown, ticket, link, confirming?.provider));
    },
  });
}

function useLinkRoute({ signIn, providerSignIn, factors, signOn, form, limit }: SignInPages): AnyRoute {
  return portalRoute({
    ...COMMON,
    method: 'POST',
    path: `${SIGN_IN_PATH}/link`,
    summary: 'Uses the link and starts a session.',
    description:
      'Sets the session cookie and redirects to the pages of the user. A used or expired link is answered with a page that says so.',
    bodyPolicy: 'form',
    headers: ORIGIN,
    query: plainQuery,
    body: z.object({ ticket: formText, organization: formText }),
    responses: { 302: 'empty', ...PAGES },
    async handle({ query, body, caller, header }) {
      requireOwnOrigin(header, caller);
      const shown = accountPageOf(SIGN_IN_PATH, query, header('accept-language'));
      try {
        const confirming = signOn.flows.readConfirmation(header('cookie'), caller);
        const provider = confirming && signOn.find(confirming.provider);
        const from = requestOriginOf({ caller, header });
        let token: string;
        if (body.organization === '' && confirming !== undefined && provider !== undefined) {
          const outcome = await providerSignIn.confirm(
            provider,
            { ...confirming, until: confirming.sessionEnds },
            body.ticket,
            from,
          );
          if (outcome.kind !== 'session') {
            const why = outcome.kind === 'refused' ? outcome.why : 'role';
            return accountReply(403, providerFailurePage(shown, { provider: provider.name, why }));
          }
          token = outcome.token;
        } else token = await signIn.begin(body.ticket, body.organization, from);
        // A session that the browser had is not taken over.
        await signIn.end(readCookie(header('cookie'), userCookie(caller.https)));
        const cookie = sessionCookie(userCookie(caller.https), token, caller.https);
        const onward = (await factors.pending(token)) ? SECOND_STEP_PATH : AFTER_SIGN_IN;
        return redirect(302, addressFrom(shown, onward), [
          ['Set-Cookie', cookie],
          ...(confirming === undefined
            ? []
            : [['Set-Cookie', signOn.flows.forget('confirm', caller)] as const]),
        ]);
      } catch (error) {
        if (!(error instanceof PortalRefusal) || error.code !== 'InvalidTicket') throw error;
        if (!(await limit.admits(caller.address)))
          return form.page(shown, caller.https, { status: 429, isBusy: true });
        return accountReply(200, linkPage(shown, '', undefined));
      }
    },
  });
}

function accountRoute({ sessions, factors }: SignInPages): AnyRoute {
  return accountGet({
    path: '/account',
    summary: 'A page for users: who is signed in.',
    auth: 'user',
    async handle({ page, user, query, cookies, caller }) {
      if (query['from'] === 'link') {
        const { path = '/account/documents', headers } = onwardPath(cookies, caller.https) ?? {};
        return redirect(302, addressFrom(page, path), headers);
      }
      const shown = {
        sessions: await sessions.list(user.tenant.organization.id, user.id),
        factor: await factors.state(user.id),
        takesPasskeys: (await factors.creation(ownerOf(user))) !== undefined,
        notice: doneNotice(page, query),
      };
      return accountReply(200, myAccountPage(page, user, shown));
    },
  });
}

function endSessionsRoute({ sessions }: SignInPages): AnyRoute {
  return accountPost({
    path: '/account/sessions',
    summary: 'Ends one session of the user, or all.',
    description: 'All includes this one and those of the editor; the browser goes to the sign-in page.',
    auth: 'user',
    body: z.object({ session: formText }),
    async handle({ page, user, body, caller }) {
      await endSession(sessions, user, user.id, body.session);
      if (body.session !== '' && body.session !== user.sessionId)
        return doneReply(page, '/account', 'sessionsEnded');
      return redirect(302, addressFrom(page, SIGN_IN_PATH), signedOut(caller.https));
    },
  });
}

function signOutRoute({ signIn, signOn, publicUrl }: SignInPages): AnyRoute {
  return accountPost({
    path: '/sign-out',
    summary: 'Ends the session.',
    description:
      'Removes the cookie and redirects to the sign-in page; a session that began at an identity provider ends there, too.',
    auth: 'user',
    body: z.object({}),
    async handle({ page, cookie, cookies, caller }) {
      await signIn.end(cookie);
      const forget = signedOut(caller.https);
      const back = `${publicUrl()}${SIGN_IN_PATH}`;
      const elsewhere = await signOn.logoutAddress(cookies, caller, back);
      if (elsewhere === undefined) return redirect(302, addressFrom(page, SIGN_IN_PATH), forget);
      const text = page.texts.signIn.signedOutText;
      const reply = accountReply(200, onwardPage(page, { to: elsewhere, text }));
      return {
        ...reply,
        headers: [...(reply.headers ?? []), ...forget, ['Set-Cookie', signOn.flows.forget('origin', caller)]],
      };
    },
  });
}

/** Refusals: `Forbidden`. A page of another site must not sign anybody in or mail links. */
export function requireOwnOrigin(
  header: ApiRequest<unknown, unknown, unknown>['header'],
  caller: ApiRequest<unknown, unknown, unknown>['caller'],
): void {
  const given = { origin: header('origin'), fetchSite: header('sec-fetch-site') };
  if (!isSameOrigin(given, caller))
    throw new PortalRefusal('Forbidden', 'The request was sent by a page of another site.');
}
