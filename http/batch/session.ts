/**
 * Logging in and out: `/login`, `/api/auth/login` and `/api/auth/logout`.
 *
 * Source: Batch Signing Service API, "Authentication group"; batch-gaps §1 row 4, §2 ("Failed logins"), §3 and §10.
 */
import { z } from 'zod';
import { Refusal } from '../../machines/refusals.ts';
import { prefersHtml } from '../accept.ts';
import { assetReply } from '../asset.ts';
import type { Authenticator } from '../auth.ts';
import { clearedCookie, sessionCookie } from '../cookies.ts';
import { LOGIN_STYLE, type LoginTrouble, loginPage } from '../pages/login.ts';
import { problemFrom } from '../problem.ts';
import type { RateLimiter } from '../rate-limit.ts';
import { page, type ReplyHeaders, redirect } from '../reply.ts';
import { localReturnUrl } from '../return-url.ts';
import { type AnyRoute, route } from '../router.ts';
import { noBody, noParams, noQuery } from './queries.ts';

/** At most so many wrong keys from one address in so many seconds; right ones are not counted. */
export const FAILED_LOGINS = { permits: 10, windowSeconds: 60 } as const;

const UNFIT = {
  params: 'route.not-found',
  query: 'validation.filter-invalid',
  body: 'validation.body-invalid',
} as const;

const COMMON = { auth: 'anonymous', rate: 'none', params: noParams, unfit: UNFIT } as const;

/** A key that was left out is a wrong one. */
const loginForm = z.object({ ApiKey: z.string().default(''), ReturnUrl: z.string().optional() });

const text = z.union([z.string(), z.array(z.string()).transform(([first = '']) => first)]).optional();
/** `part=style` asks for the stylesheet of the page. */
const loginQuery = z.object({ error: text, ReturnUrl: text, part: text });

/** Refusals of a login that a person is told on the page. */
const TROUBLES: { readonly [code: string]: LoginTrouble } = {
  'auth.invalid-credentials': 'invalid',
  'auth.misconfigured': 'misconfigured',
  'rate-limited': 'limited',
};

/** @param failures counts wrong keys per address (`FAILED_LOGINS`), also where other limits are switched off */
export function sessionRoutes(
  authenticator: Pick<Authenticator, 'logIn' | 'cookieName' | 'challenge'>,
  failures: RateLimiter,
): readonly AnyRoute[] {
  /** The token of a new session. Nothing is awaited here, so no other try can come between look and count. */
  const logIn = (apiKey: string, address: string): string => {
    failures.check(address);
    try {
      return authenticator.logIn(apiKey);
    } catch (thrown) {
      if (thrown instanceof Refusal && thrown.code === 'auth.invalid-credentials') failures.take(address);
      throw thrown;
    }
  };
  return [
    route({
      ...COMMON,
      method: 'POST',
      path: '/api/auth/login',
      summary: 'Begins a session for the API key and goes to a page.',
      bodyPolicy: 'form',
      headers: ['accept'],
      query: noQuery,
      body: loginForm,
      // Browsers get the refusals as the login page again.
      responses: { 302: 'empty', 401: 'page', 429: 'page' },
      refusals: ['auth.invalid-credentials', 'auth.misconfigured', 'rate-limited', 'validation.body-invalid'],
      handle({ body, caller, header }) {
        const returnUrl = localReturnUrl(body.ReturnUrl);
        try {
          const token = logIn(body.ApiKey, caller.address);
          const cookie = sessionCookie(authenticator.cookieName, token, caller.https);
          return redirect(302, returnUrl, [['Set-Cookie', cookie]]);
        } catch (thrown) {
          const trouble = thrown instanceof Refusal ? TROUBLES[thrown.code] : undefined;
          if (trouble === undefined || !prefersHtml(header('accept'))) throw thrown;
          const { status, retryAfterSeconds } = problemFrom(thrown);
          return page(status, loginPage(returnUrl, trouble), [
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
      summary: 'Makes the browser forget its session and goes to the login page.',
      bodyPolicy: 'none',
      headers: [],
      query: noQuery,
      body: noBody,
      responses: { 302: 'empty' },
      refusals: [],
      handle({ caller }) {
        const cookie = clearedCookie(authenticator.cookieName, caller.https);
        return redirect(302, '/login', [['Set-Cookie', cookie]]);
      },
    }),
    route({
      ...COMMON,
      method: 'GET',
      path: '/login',
      summary: 'The page on which people log in.',
      bodyPolicy: 'none',
      headers: ['if-none-match'],
      query: loginQuery,
      body: noBody,
      responses: { 200: ['page', 'asset'] },
      refusals: [],
      handle({ query, header }) {
        if (query.part === 'style') return assetReply(LOGIN_STYLE, header('if-none-match'));
        const trouble = query.error === 'invalid' || query.error === 'server' ? query.error : undefined;
        return page(200, loginPage(localReturnUrl(query.ReturnUrl), trouble));
      },
    }),
  ];
}
