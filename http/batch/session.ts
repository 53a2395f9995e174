/**
 * Login and logout: `/login`, `/api/auth/login` and `/api/auth/logout`.
 *
 * Source: docs/batch-values.md §0, §1 row 4, §2, §3 and §10.
 */
import { z } from 'zod';
import type { SystemEvents } from '../../actors/batch/api/service.ts';
import { Refusal } from '../../machines/refusals.ts';
import { type LoginError, loginPage } from '../../web/batch/login.ts';
import { prefersHtml } from '../core/accept.ts';
import { clientNetwork } from '../core/access/addresses.ts';
import { type Authenticator, OPERATOR } from '../core/access/auth.ts';
import { clearedCookie, readCookie, sessionCookie } from '../core/access/cookies.ts';
import type { RateLimiter } from '../core/access/rate-limit.ts';
import { assetReply } from '../core/asset.ts';
import { SMALL_BODY_BYTES } from '../core/body/json-body.ts';
import { readAsset } from '../core/page-assets.ts';
import { problemFrom } from '../core/problem.ts';
import { page, type ReplyHeaders, redirect } from '../core/reply.ts';
import { ORIGIN_HEADERS, requireSameOrigin } from '../core/request/access-check.ts';
import { type AnyRoute, route } from '../core/router.ts';
import { noBody, noParams, noQuery } from './queries.ts';

/**
 * Returns `url` when it is a local path, else `/`; in ASCII for the header. Browsers resolve `//host` and `/\host`
 * to other hosts, and control characters can hide either.
 */
function localReturnUrl(url: string | undefined): string {
  if (url === undefined || !/^\/(?![/\\])/.test(url) || /\p{Cc}/u.test(url)) return '/';
  return url.replace(/[^\x21-\x7e]/gu, (character) =>
    encodeURIComponent(character.replace(/\p{Surrogate}/gu, '\uFFFD')),
  );
}

/** Permitted wrong keys per address and window, seconds; correct keys are not counted. */
export const FAILED_LOGINS = { permits: 10, windowSeconds: 60 } as const;

const INVALID_INPUT_CODES = {
  params: 'route.not-found',
  query: 'validation.filter-invalid',
  body: 'validation.body-invalid',
} as const;

/** More than the length of a login link's token. */
const MAX_TOKEN_LENGTH = 100;

const COMMON = {
  auth: 'anonymous',
  rate: 'none',
  params: noParams,
  invalidInput: INVALID_INPUT_CODES,
} as const;

/** A missing key counts as a wrong one. */
const formText = z.string().max(SMALL_BODY_BYTES);
const loginForm = z.object({
  ApiKey: formText.default(''),
  Once: formText.optional().describe('Token of a login link, in place of the key.'),
  ReturnUrl: formText.optional(),
});

const text = z.union([z.string(), z.array(z.string()).transform(([first = '']) => first)]).optional();
/** `part=style` requests the stylesheet of the page. */
const loginQuery = z.object({ error: text, ReturnUrl: text, part: text, once: text });

/** Refusals of a login, with the error that the page shows. */
const LOGIN_ERRORS: { readonly [code: string]: LoginError } = {
  'auth.invalid-credentials': 'invalid',
  'auth.misconfigured': 'misconfigured',
  'rate-limited': 'limited',
};

/** @param failures counts wrong keys per address (`FAILED_LOGINS`), also where other limits are off */
export function sessionRoutes(
  authenticator: Pick<Authenticator, 'logIn' | 'logInOnce' | 'logOut' | 'cookieName' | 'challenge'>,
  failures: RateLimiter,
  events: Pick<SystemEvents, 'recordSession'>,
): readonly AnyRoute[] {
  const stylesheet = readAsset('batch', 'login.css');
  /** Creates the token of a new session. A correct key is never refused because of wrong ones. */
  const logIn = ({ ApiKey, Once }: z.infer<typeof loginForm>, address: string): string => {
    try {
      return Once === undefined ? authenticator.logIn(ApiKey) : authenticator.logInOnce(Once);
    } catch (thrown) {
      if (thrown instanceof Refusal && thrown.code === 'auth.invalid-credentials')
        failures.acquire(clientNetwork(address));
      throw thrown;
    }
  };
  return [
    route({
      ...COMMON,
      method: 'POST',
      path: '/api/auth/login',
      group: 'Authentication',
      summary: 'Begins a session for the API key, or for a login link, and goes to a page.',
      description:
        'For browsers. The key is compared in constant time. `ReturnUrl` must be a path of this service; anything else counts as `/`. Ten failures in a minute from one address end in 429. A wrong key is answered with the login page where the client prefers HTML.',
      bodyPolicy: 'form',
      headers: ['accept', ...ORIGIN_HEADERS],
      query: noQuery,
      body: loginForm,
      // Browsers receive refusals as the login page.
      responses: { 302: 'empty', 401: 'page', 429: 'page' },
      refusals: [
        'auth.cross-origin',
        'auth.invalid-credentials',
        'auth.misconfigured',
        'rate-limited',
        'validation.body-invalid',
      ],
      async handle({ body, caller, header }) {
        requireSameOrigin(header, caller);
        const returnUrl = localReturnUrl(body.ReturnUrl);
        try {
          const token = logIn(body, caller.address);
          await events.recordSession('LoggedIn', OPERATOR, caller.address);
          const cookie = sessionCookie(authenticator.cookieName, token, caller.https);
          return redirect(302, returnUrl, [['Set-Cookie', cookie]]);
        } catch (thrown) {
          const known = thrown instanceof Refusal ? LOGIN_ERRORS[thrown.code] : undefined;
          const error = known === 'invalid' && body.Once !== undefined ? 'used' : known;
          if (error === undefined || !prefersHtml(header('accept'))) throw thrown;
          const { status, retryAfterSeconds } = problemFrom(thrown);
          return page(status, loginPage(returnUrl, error), [
            ...(status === 401 ? ([['WWW-Authenticate', authenticator.challenge]] as ReplyHeaders) : []),
            ...(retryAfterSeconds === undefined
              ? []
              : ([['Retry-After', String(retryAfterSeconds)]] as ReplyHeaders)),
          ]);
        }
      },
    }),
    route({
      ...COMMON,
      method: 'POST',
      path: '/api/auth/logout',
      group: 'Authentication',
      summary: 'Ends the session, makes the browser forget it and goes to the login page.',
      description: 'Works with and without a session.',
      bodyPolicy: 'none',
      headers: ['cookie', ...ORIGIN_HEADERS],
      query: noQuery,
      body: noBody,
      responses: { 302: 'empty' },
      refusals: ['auth.cross-origin'],
      async handle({ caller, header }) {
        requireSameOrigin(header, caller);
        const operator = authenticator.logOut(readCookie(header('cookie'), authenticator.cookieName));
        if (operator !== undefined) await events.recordSession('LoggedOut', operator, caller.address);
        const cookie = clearedCookie(authenticator.cookieName, caller.https);
        return redirect(302, '/login', [['Set-Cookie', cookie]]);
      },
    }),
    route({
      ...COMMON,
      method: 'GET',
      path: '/login',
      group: 'Pages',
      summary: 'The page on which people log in.',
      description:
        'Open to anyone. `error` (`invalid` or `server`) shows the text that belongs to it. `once` is the token of a login link: the page shows a button, which sends it as `Once` and uses it up.',
      bodyPolicy: 'none',
      headers: ['if-none-match'],
      query: loginQuery,
      body: noBody,
      responses: { 200: ['page', 'asset'] },
      refusals: [],
      handle({ query, header }) {
        if (query.part === 'style') return assetReply(stylesheet, header('if-none-match'));
        const error = query.error === 'invalid' || query.error === 'server' ? query.error : undefined;
        // Only the button uses the link up, because mail scanners and previews open links, too.
        const once = query.once?.slice(0, MAX_TOKEN_LENGTH);
        return page(200, loginPage(localReturnUrl(query.ReturnUrl), error, once));
      },
    }),
  ];
}
