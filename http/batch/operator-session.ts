/**
 * Login and logout: `/login`, `/api/auth/login` and `/api/auth/logout`.
 *
 * Source: docs/batch-values.md §0, §1 row 4, §2, §3 and §10.
 */
import type { Batch } from '../../actors/index.ts';
import { logIn, logOut, readLoginPage } from '../../contracts/batch/session.ts';
import type { Part } from '../../contracts/operation.ts';
import { Refusal } from '../../machines/refusals.ts';
import { type LoginError, loginPage, onwardPage } from '../../web/pages/batch/login.tsx';
import { prefersHtml } from '../core/accept.ts';
import { clientNetwork } from '../core/access/addresses.ts';
import { type Authenticator, OPERATOR } from '../core/access/auth.ts';
import type { RateLimiter } from '../core/access/rate-limit.ts';
import { clearedCookie, readCookie, sessionCookie } from '../core/access/session-cookies.ts';
import { assetReply } from '../core/asset.ts';
import { readAsset } from '../core/page-assets.ts';
import { problemFrom } from '../core/problem.ts';
import { page, type ReplyHeaders, redirect } from '../core/reply.ts';
import { requireSameOrigin } from '../core/request/access-check.ts';
import type { AnyRoute } from '../core/router.ts';
import type { SignOn } from '../core/sign-on/sign-on.ts';
import { handle } from './handle.ts';
import { type AddressOf, localReturnUrl } from './return-address.ts';

/** Permitted wrong keys per address and window, seconds; correct keys are not counted. */
export const FAILED_LOGINS = { permits: 10, windowSeconds: 60 } as const;

/** More than the length of a login link's token. */
const MAX_TOKEN_LENGTH = 100;

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
  events: Batch['events'],
  { signOn, addressOf }: { readonly signOn: SignOn; readonly addressOf: AddressOf },
): readonly AnyRoute[] {
  const providers = signOn.providers.map(({ name }) => name);
  const stylesheet = readAsset('batch', 'login.css');
  /** Creates the token of a new session. A correct key is never refused because of wrong ones. */
  const newSession = ({ ApiKey, Once }: Part<typeof logIn, 'body'>, address: string): string => {
    try {
      return Once === undefined ? authenticator.logIn(ApiKey) : authenticator.logInOnce(Once);
    } catch (thrown) {
      if (thrown instanceof Refusal && thrown.code === 'auth.invalid-credentials')
        failures.acquire(clientNetwork(address));
      throw thrown;
    }
  };
  return [
    handle(logIn, async ({ body, caller, header }) => {
      requireSameOrigin(header, caller);
      const returnUrl = localReturnUrl(body.ReturnUrl);
      try {
        const token = newSession(body, caller.address);
        await events.recordSession('LoggedIn', OPERATOR, caller.address);
        const cookie = sessionCookie(authenticator.cookieName, token, caller.https);
        return redirect(302, returnUrl, [['Set-Cookie', cookie]]);
      } catch (thrown) {
        const known = thrown instanceof Refusal ? LOGIN_ERRORS[thrown.code] : undefined;
        const error = known === 'invalid' && body.Once !== undefined ? 'used' : known;
        if (error === undefined || !prefersHtml(header('accept'))) throw thrown;
        const { status, retryAfterSeconds } = problemFrom(thrown);
        return page(status, loginPage(returnUrl, error, undefined, providers), [
          ...(status === 401 ? ([['WWW-Authenticate', authenticator.challenge]] as ReplyHeaders) : []),
          ...(retryAfterSeconds === undefined
            ? []
            : ([['Retry-After', String(retryAfterSeconds)]] as ReplyHeaders)),
        ]);
      }
    }),
    handle(logOut, async ({ caller, header }) => {
      requireSameOrigin(header, caller);
      const operator = await authenticator.logOut(readCookie(header('cookie'), authenticator.cookieName));
      if (operator !== undefined) await events.recordSession('LoggedOut', operator, caller.address);
      const cookie = clearedCookie(authenticator.cookieName, caller.https);
      const address = addressOf(caller);
      const elsewhere =
        address === undefined
          ? undefined
          : await signOn.logoutAddress(header('cookie'), caller, `${address}/login`);
      if (elsewhere === undefined) return redirect(302, '/login', [['Set-Cookie', cookie]]);
      return page(
        200,
        onwardPage(elsewhere, 'You are logged out here. The logout goes on at the identity provider.'),
        [
          ['Set-Cookie', cookie],
          ['Set-Cookie', signOn.flows.forget('origin', caller)],
        ],
      );
    }),
    handle(readLoginPage, ({ query, header }) => {
      if (query.part === 'style') return assetReply(stylesheet, header('if-none-match'));
      const error = query.error === 'invalid' || query.error === 'server' ? query.error : undefined;
      // Only the button uses the link up, because mail scanners and previews open links, too.
      const once = query.once?.slice(0, MAX_TOKEN_LENGTH);
      return page(200, loginPage(localReturnUrl(query.ReturnUrl), error, once, providers));
    }),
  ];
}
