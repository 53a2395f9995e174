/**
 * Routes of pages for users: pages, and forms that must carry the token of their session.
 *
 * Source: docs/decisions/0135-users-sign-in-by-mail.md.
 */

import { z } from 'zod';
import type { SignedInUser } from '../../../actors/portal/api.ts';
import type { PortalRefusalCode } from '../../../contracts/portal/refusals.ts';
import { TEXTS } from '../../../contracts/texts/texts.ts';
import { PortalRefusal } from '../../../machines/portal/portal-refusals.ts';
import { type AccountPage, FORM_TOKEN } from '../../../web/pages/portal/account-frame.ts';
import { textsFor } from '../../../web/pages/portal/language.ts';
import { notAllowedPage } from '../../../web/pages/portal/sign-in-view.tsx';
import type { Caller } from '../../core/access/caller.ts';
import { readCookie } from '../../core/access/session-cookies.ts';
import { type EmptyReply, type JsonReply, type PageReply, page, type StreamReply } from '../../core/reply.ts';
import type { AnyRoute, ApiRequest, AuthPolicy, PageFailure } from '../../core/router.ts';
import { requireFormToken, userCookie } from '../access-check.ts';
import { readPortalQuery } from '../input/query-text.ts';
import { errorPage } from '../pages/error-page.ts';
import { notFoundPage } from '../pages/not-found-page.ts';
import { plainQuery, themeOf } from '../pages/page-options.ts';
import { pageHeaders } from '../pages/page-policy.ts';

type Reply = PageReply | EmptyReply | JsonReply;
type Answer = Reply | Promise<Reply | StreamReply>;
type PlainQuery = z.infer<typeof plainQuery>;

interface AccountRequest<Params, Body> {
  readonly user: SignedInUser;
  readonly params: Params;
  readonly body: Body;
  /** Names in lower case. */
  readonly query: { readonly [name: string]: unknown };
  readonly page: AccountPage;
  readonly caller: Caller;
  /** Value of the session cookie. */
  readonly cookie: string;
  /** The header with all cookies. */
  readonly cookies: string;
}

interface AccountRoute<Params, Body> {
  readonly path: string;
  readonly summary: string;
  /** Rules and effects beyond those of all pages of users. */
  readonly description?: string;
  /** @default user-administrator */
  readonly auth?: Extract<AuthPolicy, 'user' | 'user-administrator'>;
  readonly params?: z.ZodType<Params>;
  /** Schema of a JSON reply to a script, or a table. @default a page */
  readonly reply?: z.ZodType | 'csv';
  handle(request: AccountRequest<Params, Body>): Answer;
}

/** Headers that pages of users read. */
const HEADERS = ['accept-language', 'cookie'] as const;
const COMMON = { group: 'Pages', rate: 'none', headers: HEADERS } as const;
const INVALID_INPUT = { params: 'NotFound', query: 'BadRequest', body: 'BadRequest' } as const satisfies {
  readonly [part: string]: PortalRefusalCode;
};
/** Descriptions that all pages of a policy share. */
const SESSION_NEEDED = {
  user: 'Needs the session of a user; a browser without one is redirected to the sign-in page.',
  'user-administrator':
    'Needs the session of an administrator of the organization; a browser without one is redirected to the sign-in page.',
} as const;
const FORM_REPLY =
  'The form needs the token of the session (otherwise 403). The reply is a page with the result, or a redirect to it.';
const FAILURES = { 400: 'page', 403: 'page', 404: 'page', 422: 'page', 503: 'page' } as const;
const RESPONSES = { 200: 'page', 302: 'empty', ...FAILURES } as const;
/** Refusals of pages about something that the organization does not have. */
const UNKNOWN: ReadonlySet<string> = new Set<PortalRefusalCode>([
  'DocumentNotFound',
  'DocumentIsDeleted',
  'DocumentDraftNotFound',
  'DocumentGenerationNotFound',
  'TemplateNotFound',
  'TemplateVersionNotFound',
  'PublicLinkNotFound',
]);

/** A form field; longer texts are refused. */
export const formText = z.string().max(4096).default('');
/** A form field of several lines. Browsers send a line end as two characters; it counts as one. */
export function formLines(most: number) {
  return z
    .string()
    .max(most * 2)
    .default('')
    .transform((given) => given.replaceAll('\r\n', '\n'))
    .pipe(z.string().max(most));
}

/**
 * The page's language and looks, from its address and the browser.
 * @param address at which a browser gets the page
 */
export function accountPageOf(
  path: string,
  query: PlainQuery,
  acceptLanguage: string,
  address = path,
): AccountPage {
  const words = textsFor(query.culture, acceptLanguage);
  const isChosen = query.culture !== undefined && textsFor(query.culture, '').language === words.language;
  return {
    words,
    path,
    address,
    texts: TEXTS[words.language].account,
    culture: isChosen ? words.language : undefined,
    theme: themeOf(query),
  };
}

/** Reply with a page that forbids frames. */
export function accountReply(status: number, html: string): PageReply {
  return page(status, html, pageHeaders('none', 'own'));
}

/** A page; not found when it is about an unknown document or draft. */
export function accountGet<Params>(definition: AccountRoute<Params, undefined>): AnyRoute {
  return accountRoute('GET', definition, z.undefined(), async (request) => {
    try {
      return await definition.handle(request);
    } catch (error) {
      throw error instanceof PortalRefusal && UNKNOWN.has(error.code) ? new PortalRefusal('NotFound') : error;
    }
  });
}

export type AccountPostRequest<Params, Shape extends z.ZodRawShape> = AccountRequest<
  Params,
  z.infer<z.ZodObject<Shape>>
>;

export interface AccountPost<Params, Shape extends z.ZodRawShape>
  extends AccountRoute<Params, z.infer<z.ZodObject<Shape>>> {
  readonly body: z.ZodObject<Shape>;
}

/** A form. Refusals: `Forbidden` without the token of the session. */
export function accountPost<Params, Shape extends z.ZodRawShape>(
  definition: AccountPost<Params, Shape>,
): AnyRoute {
  const { body } = definition;
  const whole = z.looseObject({ [FORM_TOKEN]: formText });
  return accountRoute('POST', definition, whole, (request) => {
    requireFormToken(request.user, String(request.body[FORM_TOKEN]));
    const read = body.safeParse(request.body);
    if (!read.success) throw new PortalRefusal('BadRequest');
    return definition.handle({ ...request, body: read.data });
  });
}

function accountRoute<Params, Body>(
  method: 'GET' | 'POST',
  {
    path,
    summary,
    description,
    auth = 'user-administrator',
    params,
    reply,
  }: Omit<AccountRoute<Params, never>, 'handle'>,
  body: z.ZodType<Body>,
  handle: (request: AccountRequest<Params, Body>) => Answer,
): AnyRoute {
  const descriptions = [description, SESSION_NEEDED[auth], method === 'POST' ? FORM_REPLY : undefined];
  const route: AnyRoute = {
    ...COMMON,
    method,
    path,
    summary,
    auth,
    body,
    description: descriptions.filter((text) => text !== undefined).join(' '),
    bodyPolicy: method === 'GET' ? 'none' : 'form',
    params: params ?? z.object({}),
    query: plainQuery.loose(),
    invalidInput: INVALID_INPUT,
    responses: reply === undefined ? RESPONSES : { ...RESPONSES, 200: reply },
    refusals: ['Forbidden', 'BadRequest'],
    failurePage: accountFailurePage,
    handle: (request: ApiRequest<Params, PlainQuery, Body, SignedInUser>) => {
      const { identity: user, query, header, caller } = request;
      if (user === undefined) throw new PortalRefusal('Unauthorized');
      const inNavigation = pathOf(path);
      // The reply to a form has no address of its own; its links lead to the page in the navigation.
      const address = method === 'GET' ? filledPath(path, request.params) : inNavigation;
      const shown = accountPageOf(inNavigation, query, header('accept-language'), address);
      return handle({
        user,
        query,
        params: request.params,
        body: request.body,
        page: shown,
        caller,
        cookie: readCookie(header('cookie'), userCookie(caller.https)),
        cookies: header('cookie'),
      });
    },
  };
  return route;
}

/** The path with its parameters in their places. */
export function filledPath(path: string, params: unknown): string {
  const values = Object.entries(params ?? {});
  return values.reduce(
    (filled, [name, value]) => filled.replace(`{${name}}`, encodeURIComponent(String(value))),
    path,
  );
}

/** Path of the page in the navigation. */
function pathOf(path: string): string {
  return path.replace(/\/\{.*$/, '');
}

/** A page in place of a problem body. */
export function accountFailurePage(failure: PageFailure): PageReply {
  if (failure.status === 404) return notFoundPage(failure);
  if (failure.status !== 403) return errorPage('none')(failure);
  const shown = accountPageOf('/account', readPortalQuery(failure.query), failure.header('accept-language'));
  return accountReply(403, notAllowedPage(shown));
}
