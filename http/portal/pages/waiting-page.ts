/**
 * `/waiting`: the page of all documents that wait for a mailbox, over all organizations. A cookie names the session, which
 * a code begins and leaving ends.
 *
 * Source: docs/decisions/0570-what-waits-for-a-mailbox.md.
 */
import { z } from 'zod';
import { formTokenOf, parsedInput, type WaitingDocuments } from '../../../actors/portal/api.ts';
import type { PortalRefusalCode } from '../../../contracts/portal/refusals.ts';
import {
  beginWaitingSession,
  sendWaitingCode,
  signWaiting,
} from '../../../contracts/portal/signing/waiting.ts';
import { badField, PortalRefusal } from '../../../machines/portal/portal-refusals.ts';
import {
  type ShownWaiting,
  WAITING_PATH,
  type WaitingFault,
  waitingPage,
  waitingStartPage,
} from '../../../web/pages/portal/forms/waiting-view.tsx';
import { textsFor } from '../../../web/pages/portal/language.ts';
import { siteNetwork } from '../../core/access/addresses.ts';
import type { Caller } from '../../core/access/caller.ts';
import { isSameOrigin } from '../../core/access/origin.ts';
import { clearedCookie, hostCookie, readCookie, sessionCookie } from '../../core/access/session-cookies.ts';
import { type EmptyReply, type PageReply, page, type ReplyHeaders, redirect } from '../../core/reply.ts';
import type { AnyRoute } from '../../core/router.ts';
import { requestOriginOf, requireFormToken } from '../access-check.ts';
import { portalRoute } from '../route.ts';
import { ERROR_PAGE_CODES, errorPage } from './error-page.ts';
import { plainQuery, themeOf } from './page-options.ts';
import { pageHeaders } from './page-policy.ts';

const COOKIE = 'sealwright-waiting';
export const formText = z.string().max(4_096).default('');
const CHOICE = /^([\da-f-]{36})\.([\da-f-]{36})\.([\da-f-]{36})\.(\d{1,9})\.(\d{1,15})$/;
/** Boxes of documents have any names that begin so. */
const CHOSEN = 'sign-';
const signForm = z.looseObject({ token: formText, name: formText });

const FAULTS: { readonly [code in PortalRefusalCode]?: WaitingFault } = {
  BadRequest: 'email',
  InvalidAuthenticationCode: 'code',
  TooManyWrongCodes: 'codes',
  TooManyRequests: 'busy',
};

export const WAITING_COMMON = {
  group: 'Pages',
  auth: 'anonymous',
  headers: ['accept-language', 'cookie', 'origin', 'sec-fetch-site', 'user-agent'],
  query: plainQuery,
  refusals: [],
  responses: { 200: 'page', 302: 'empty', 403: 'page', 422: 'page', 429: 'page', ...ERROR_PAGE_CODES },
  failurePage: errorPage('none'),
} as const;

export function waitingPageRoutes(waiting: WaitingDocuments): readonly AnyRoute[] {
  return [showRoute(waiting), enterRoute(waiting), signRoute(waiting), leaveRoute(waiting)];
}

export interface WaitingRequest {
  readonly query: z.infer<typeof plainQuery>;
  readonly header: (name: string) => string;
  readonly caller: Caller;
}

export function shownTo({ query, header }: WaitingRequest) {
  return { words: textsFor(query.culture, header('accept-language')), theme: themeOf(query) };
}

function cookieName({ caller }: WaitingRequest): string {
  return hostCookie(COOKIE, caller.https);
}

export function ticketOf(request: WaitingRequest): string {
  return readCookie(request.header('cookie'), cookieName(request));
}

function forget(request: WaitingRequest): ReplyHeaders {
  return [['Set-Cookie', clearedCookie(cookieName(request), request.caller.https)]];
}

export function reply(status: number, html: string, headers: ReplyHeaders = []): PageReply {
  return page(status, html, [...pageHeaders('none', 'own'), ...headers]);
}

/** Of a session that is over, the form for another one. */
export async function inSession(
  request: WaitingRequest,
  answer: (ticket: string) => Promise<PageReply | EmptyReply>,
): Promise<PageReply | EmptyReply> {
  const ticket = ticketOf(request);
  const start = { ...shownTo(request), email: '', asksCode: false } as const;
  if (ticket === '') return reply(200, waitingStartPage(start));
  try {
    return await answer(ticket);
  } catch (error) {
    if (!(error instanceof PortalRefusal) || error.code !== 'InvalidTicket') throw error;
    return reply(200, waitingStartPage({ ...start, fault: 'over' }), forget(request));
  }
}

/** Refusals: `Forbidden`. */
export function requireOwnPage(
  { header, caller }: WaitingRequest,
  form?: { ticket: string; token: string },
): void {
  const from = { origin: header('origin'), fetchSite: header('sec-fetch-site') };
  if (!isSameOrigin(from, caller))
    throw new PortalRefusal('Forbidden', 'The request was sent by a page of another site.');
  if (form !== undefined) requireFormToken({ formToken: formTokenOf(form.ticket) }, form.token);
}

async function listed(
  waiting: WaitingDocuments,
  request: WaitingRequest,
  ticket: string,
  more: Pick<ShownWaiting, 'results' | 'fault' | 'typedName' | 'selected'> & {
    readonly after?: string | undefined;
  } = {},
): Promise<PageReply> {
  const found = await waiting.list(ticket, more.after);
  const shown = { ...shownTo(request), ...found, ...more, formToken: formTokenOf(ticket) };
  return reply(more.fault === undefined ? 200 : 422, waitingPage(shown));
}

function showRoute(waiting: WaitingDocuments): AnyRoute {
  return portalRoute({
    ...WAITING_COMMON,
    method: 'GET',
    path: WAITING_PATH,
    summary: 'The page of a person: all documents that wait for the mailbox, over all organizations.',
    description:
      'Without a session, the form that asks for the address. It sets no cookie, cannot be framed, and works without scripts.',
    query: plainQuery.extend({
      after: z.string().max(20).optional(),
      all: z.string().optional().describe('`yes`: what can be signed together is selected.'),
    }),
    handle: (request) =>
      inSession(request, (ticket) => {
        const { after, all } = request.query;
        return listed(waiting, request, ticket, { after, selected: all === 'yes' ? 'all' : undefined });
      }),
  });
}

function enterRoute(waiting: WaitingDocuments): AnyRoute {
  return portalRoute({
    ...WAITING_COMMON,
    method: 'POST',
    path: WAITING_PATH,
    summary: 'Takes the address and sends a code, or takes the code and begins a session.',
    description:
      'The rules are those of `POST /api/waiting/code` and `POST /api/waiting/session`. The page is the same for every address. A session that the browser had ends.',
    rate: 'visit',
    bodyPolicy: 'form',
    body: z.object({ email: formText, code: formText, do: formText }),
    async handle(request) {
      requireOwnPage(request);
      const { sessions } = waiting;
      const network = siteNetwork(request.caller.address);
      const { email, code: given, do: wish } = request.body;
      const shown = shownTo(request);
      const code = wish === 'again' ? '' : given.trim();
      if (wish === 'change') return reply(200, waitingStartPage({ ...shown, email, asksCode: false }));
      try {
        if (code === '') {
          const { language } = shown.words;
          const resend = wish === 'again';
          await sessions.sendCode(parsedInput(sendWaitingCode.body, { email, language, resend }), network);
          return reply(200, waitingStartPage({ ...shown, email, asksCode: true }));
        }
        const entry = parsedInput(beginWaitingSession.body, { email, code });
        const { ticket } = await sessions.begin(entry.email, entry.code, network);
        const before = ticketOf(request);
        if (before !== '') await sessions.leave(before);
        const { https } = request.caller;
        const onward = `${WAITING_PATH}?culture=${shown.words.language}`;
        return redirect(302, onward, [['Set-Cookie', sessionCookie(cookieName(request), ticket, https)]]);
      } catch (error) {
        const fault = error instanceof PortalRefusal ? FAULTS[error.code] : undefined;
        if (fault === undefined) throw error;
        const asksCode = fault !== 'email' && (code !== '' || wish === 'again');
        return reply(fault === 'busy' ? 429 : 422, waitingStartPage({ ...shown, email, asksCode, fault }));
      }
    },
  });
}

function signRoute(waiting: WaitingDocuments): AnyRoute {
  return portalRoute({
    ...WAITING_COMMON,
    method: 'POST',
    path: `${WAITING_PATH}/sign`,
    summary: 'Signs or approves the selected documents, each by itself, and lists what is left.',
    description: 'The rules are those of `POST /api/waiting/signatures`. Sent twice, it signs once.',
    bodyPolicy: 'form',
    body: signForm,
    handle: (request) =>
      inSession(request, async (ticket) => {
        const { body } = request;
        requireOwnPage(request, { ticket, token: body.token });
        const chosen = Object.entries(body).flatMap(([name, value]) =>
          name.startsWith(CHOSEN) && typeof value === 'string' ? [value] : [],
        );
        const typedName = body.name;
        const again = { typedName, selected: new Set(chosen) };
        if (chosen.length === 0)
          return listed(waiting, request, ticket, { ...again, fault: 'none-selected' });
        const documents = chosen.map(choiceOf);
        const given = parsedInput(signWaiting.body, { ticket, typedName, documents });
        if (!given.typedName) return listed(waiting, request, ticket, { ...again, fault: 'no-name' });
        const results = await waiting.sign(ticket, given, requestOriginOf(request));
        return listed(waiting, request, ticket, { results });
      }),
  });
}

/** Refusals: `BadRequest`. */
export function choiceOf(value: string) {
  const [, documentId, flowActionId, userId, version, date] = CHOICE.exec(value) ?? [];
  if (date === undefined) throw badField('Documents', 'is not as the page has sent it');
  const actionDate = new Date(Number(date)).toISOString();
  return { documentId, flowActionId, userId, documentVersion: Number(version), actionDate };
}

function leaveRoute(waiting: WaitingDocuments): AnyRoute {
  return portalRoute({
    ...WAITING_COMMON,
    method: 'POST',
    path: `${WAITING_PATH}/leave`,
    summary: 'Ends the session of the browser.',
    description: 'The rules are those of `POST /api/waiting/session/end`.',
    bodyPolicy: 'form',
    body: z.object({ token: formText }),
    handle: (request) =>
      inSession(request, async (ticket) => {
        requireOwnPage(request, { ticket, token: request.body.token });
        await waiting.sessions.leave(ticket);
        return redirect(302, WAITING_PATH, forget(request));
      }),
  });
}
