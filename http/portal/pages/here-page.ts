/**
 * `/here`: the page of a device of the sender at which persons sign one after the other. A cookie names the device; whoever
 * opens the page begins anew, so that nothing of the last person is left.
 *
 * Source: docs/decisions/0470-links-for-anybody.md.
 */
import type { Ids } from '@sealwright/runtime';
import { z } from 'zod';
import {
  type LinkDevices,
  type LinkVisits,
  parsedInput,
  type UserSignIn,
} from '../../../actors/portal/api.ts';
import { visitPublicLink } from '../../../contracts/portal/saved-requests/public-links.ts';
import { PortalRefusal } from '../../../machines/portal/portal-refusals.ts';
import {
  HERE_PATH,
  hereStartPage,
  type ShownLink,
} from '../../../web/pages/portal/forms/public-link-view.tsx';
import { textsFor } from '../../../web/pages/portal/language.ts';
import type { Caller } from '../../core/access/caller.ts';
import { isSameOrigin } from '../../core/access/origin.ts';
import { clearedCookie, hostCookie, passingCookie, readCookie } from '../../core/access/session-cookies.ts';
import { type EmptyReply, type PageReply, page, type ReplyHeaders, redirect } from '../../core/reply.ts';
import type { AnyRoute } from '../../core/router.ts';
import { SIGN_IN_PATH, signedOut, userCookie } from '../access-check.ts';
import { portalRoute } from '../route.ts';
import { ERROR_PAGE_CODES, errorPage } from './error-page.ts';
import { plainQuery, themeOf, ticketQuery } from './page-options.ts';
import { pageHeaders } from './page-policy.ts';
import { faultOf, fieldsOf, linkInputs, pathOf, shownReply, valuesOf, withEnds } from './public-link-page.ts';

const COOKIE = 'sealwright-here';

export interface HerePages {
  readonly linkDevices: LinkDevices;
  readonly linkVisits: LinkVisits;
  readonly signIn: Pick<UserSignIn, 'end'>;
  readonly ids: Pick<Ids, 'uuid'>;
}

const COMMON = {
  group: 'Pages',
  auth: 'anonymous',
  headers: ['accept-language', 'cookie'],
  query: plainQuery,
  refusals: [],
  responses: { 200: 'page', 302: 'empty', 404: 'page', 422: 'page', 429: 'page', ...ERROR_PAGE_CODES },
  failurePage: errorPage('none'),
} as const;

export function herePageRoutes(pages: HerePages): readonly AnyRoute[] {
  return [beginRoute(pages), startRoute(pages), visitRoute(pages), leaveRoute(pages)];
}

/** Headers that take an opened device into a browser, whose session ends: the next person may use it. */
export async function deviceHeaders(
  { linkDevices, signIn }: Pick<HerePages, 'linkDevices' | 'signIn'>,
  address: string,
  { https, cookies }: { readonly https: boolean; readonly cookies: string },
): Promise<ReplyHeaders> {
  const { cookie, seconds } = await linkDevices.take(address);
  await signIn.end(readCookie(cookies, userCookie(https)));
  const name = hostCookie(COOKIE, https);
  return [['Set-Cookie', passingCookie(name, cookie, seconds, https)], ...signedOut(https)];
}

interface HereRequest {
  readonly query: z.infer<typeof plainQuery>;
  readonly header: (name: string) => string;
  readonly caller: Caller;
}

function cookieOf({ header, caller: { https } }: Pick<HereRequest, 'header' | 'caller'>): string {
  return readCookie(header('cookie'), hostCookie(COOKIE, https));
}

/**
 * Of a device that is over, the page that says so; the browser forgets the device. Browsers send no cookie with requests of
 * other sites, which must not end a device; of a link that is used up the last person still signs.
 */
function withEnd<Reply>(request: HereRequest, answer: () => Promise<Reply>): Promise<Reply | PageReply> {
  const { https } = request.caller;
  const forget: ReplyHeaders = [['Set-Cookie', clearedCookie(hostCookie(COOKIE, https), https)]];
  const hasCookie = cookieOf(request) !== '';
  return withEnds(request, answer, (end) => (hasCookie && end !== 'full' ? forget : []));
}

/** The form for the next person. */
async function nextPerson(
  { linkDevices, linkVisits, ids }: HerePages,
  request: HereRequest,
  here: NonNullable<ShownLink['here']> = {},
): Promise<PageReply> {
  const visitId = ids.uuid();
  const found = await linkDevices.next(cookieOf(request), visitId);
  const shown = await shownAt(linkVisits, found, request);
  const status = here.pinFault === undefined ? 200 : here.pinFault === 'wrongPin' ? 422 : 429;
  return shownReply(status, { ...shown, visitId, values: {}, asksCode: false, here });
}

async function shownAt(
  visits: LinkVisits,
  found: Parameters<LinkVisits['pageOf']>[0],
  { query, header }: HereRequest,
) {
  const link = await visits.pageOf(found);
  const words = textsFor(query.culture ?? link.page.language ?? undefined, header('accept-language'));
  return { ...link, ticket: '', words, theme: themeOf(query) };
}

function beginRoute(pages: HerePages): AnyRoute {
  return portalRoute({
    ...COMMON,
    method: 'GET',
    path: HERE_PATH,
    summary: 'The page of a device at which persons sign one after the other: the form for the next one.',
    description:
      'Needs the cookie of the device, or the ticket of its address, which a button on the page then takes. What the last person has not signed is canceled.',
    query: plainQuery.extend(ticketQuery.shape),
    handle: (request) =>
      withEnd(request, async () => {
        const { query, header } = request;
        const { ticket } = query;
        if (ticket === undefined) return nextPerson(pages, request);
        const words = textsFor(query.culture, header('accept-language'));
        return page(
          200,
          hereStartPage(words, themeOf(query), ticket.slice(0, 1_024)),
          pageHeaders('none', 'own'),
        );
      }),
  });
}

function startRoute(pages: HerePages): AnyRoute {
  return portalRoute({
    ...COMMON,
    method: 'POST',
    path: `${HERE_PATH}/start`,
    summary: 'Takes the address of a device into this browser, whose session of a user ends.',
    description: 'An address is taken once.',
    rate: 'visit',
    bodyPolicy: 'form',
    headers: ['accept-language', 'cookie', 'origin', 'sec-fetch-site'],
    responses: { 403: 'page', ...COMMON.responses },
    body: z.object({ ticket: z.string().max(1_024).default('') }),
    // What is wrong with this address says nothing about the device that the browser is.
    handle: (request) =>
      withEnds(request, async () => {
        const { body, header, caller } = request;
        const from = { origin: header('origin'), fetchSite: header('sec-fetch-site') };
        if (!isSameOrigin(from, caller))
          throw new PortalRefusal('Forbidden', 'The request was sent by a page of another site.');
        const { https } = caller;
        const headers = await deviceHeaders(pages, body.ticket, { https, cookies: header('cookie') });
        return redirect(302, HERE_PATH, headers);
      }),
  });
}

function visitRoute(pages: HerePages): AnyRoute {
  return portalRoute({
    ...COMMON,
    method: 'POST',
    path: HERE_PATH,
    summary: 'Takes the form of the person before a device, and leads to the signing page.',
    description:
      'A form of an earlier person leads to an empty one. A device makes at most 120 documents an hour.',
    bodyPolicy: 'form',
    body: linkInputs,
    handle: (request) => withEnd(request, () => visited(pages, request, request.body)),
  });
}

async function visited(
  { linkDevices, linkVisits }: HerePages,
  request: HereRequest,
  form: z.infer<typeof linkInputs>,
): Promise<PageReply | EmptyReply> {
  const { visit: visitId } = form;
  const cookie = cookieOf(request);
  const found = await linkDevices.present(cookie, visitId);
  if (found === undefined) return redirect(302, HERE_PATH);
  const shown = await shownAt(linkVisits, found, request);
  const values = valuesOf(form, shown.inputs.length);
  try {
    const { name, email, phone } = values;
    const fieldValues = fieldsOf(shown, values);
    const language = shown.words.language;
    const given = { ticket: 'here', visitId, name, email, phone, language, fieldValues };
    const { ticket: _, ...visit } = parsedInput(visitPublicLink.body, given);
    const url = await linkDevices.visit(cookie, visit);
    return redirect(302, url === undefined ? HERE_PATH : pathOf({ url }));
  } catch (error) {
    const fault = faultOf(error);
    if (fault === undefined) throw error;
    const status = fault.of === 'busy' ? 429 : 422;
    return shownReply(status, { ...shown, visitId, values, asksCode: false, here: {}, fault });
  }
}

function leaveRoute(pages: HerePages): AnyRoute {
  return portalRoute({
    ...COMMON,
    method: 'POST',
    path: `${HERE_PATH}/leave`,
    summary: 'Ends a device by its PIN, and leads to the sign-in page.',
    description: 'After five wrong PINs no other is taken for 15 minutes.',
    bodyPolicy: 'form',
    body: z.object({ pin: z.string().max(100).default('') }),
    handle: (request) =>
      withEnd(request, async () => {
        const { https } = request.caller;
        try {
          if (await pages.linkDevices.leave(cookieOf(request), request.body.pin))
            return redirect(302, SIGN_IN_PATH, [
              ['Set-Cookie', clearedCookie(hostCookie(COOKIE, https), https)],
            ]);
        } catch (error) {
          if (!(error instanceof PortalRefusal) || error.code !== 'TooManyRequests') throw error;
          return nextPerson(pages, request, { pinFault: 'tooManyPins' });
        }
        return nextPerson(pages, request, { pinFault: 'wrongPin' });
      }),
  });
}
