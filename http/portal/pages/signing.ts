/**
 * `/document/key/{key}/sign` and `/sign-embedded`: the signing page, and the file it shows. The ticket in the address
 * is all that is needed; opening the page changes nothing, whoever opens it.
 *
 * Source: portal-gaps §9.
 */
import { z } from 'zod';
import type { PortalSigning, SigningPageView } from '../../../actors/portal/api.ts';
import { PortalRefusal } from '../../../machines/portal-refusals.ts';
import { page } from '../../reply.ts';
import type { AnyRoute } from '../../router.ts';
import { portalRoute } from '../route.ts';
import { FILE_HEADERS, storedFileReply } from '../stored-file.ts';
import { FAILURES, failurePage } from './failure.ts';
import { wordsFor } from './language.ts';
import { pageHeaders } from './page-policy.ts';
import { signingPage } from './signing-view.ts';
import { signingQuery, signingWishes, ticketQuery } from './wishes.ts';

const params = z.object({ key: z.string() });
/** Longer ones are none of ours. */
const TICKET_LENGTH = 2_000;
const KEY_LENGTH = 64;
const NOTHING: SigningPageView = { state: 'unknown', embedOrigins: [] };

export function signingRoutes(signing: Pick<PortalSigning, 'page' | 'pageContent'>): readonly AnyRoute[] {
  return [
    pageRoute(signing, 'sign', 'The signing page of one participant.'),
    pageRoute(signing, 'sign-embedded', 'The signing page of one participant, for a frame in another page.'),
    portalRoute({
      method: 'GET',
      path: '/document/key/{key}/content',
      summary: 'The file that the signing page shows.',
      auth: 'anonymous',
      headers: FILE_HEADERS,
      params,
      query: ticketQuery,
      responses: { 200: 'file', 206: 'file', 304: 'empty' },
      refusals: ['InvalidTicket', 'DocumentIsDeleted', 'RangeNotSatisfiable'],
      async handle({ params: { key }, query, header }) {
        const ticket = query.ticket ?? '';
        if (!isTicket(ticket)) throw new PortalRefusal('InvalidTicket');
        return storedFileReply(await signing.pageContent(key, ticket), header);
      },
    }),
  ];
}

function pageRoute(
  signing: Pick<PortalSigning, 'page'>,
  path: 'sign' | 'sign-embedded',
  summary: string,
): AnyRoute {
  const embedded = path === 'sign-embedded';
  return portalRoute({
    method: 'GET',
    path: `/document/key/{key}/${path}`,
    summary,
    auth: 'anonymous',
    headers: ['accept-language'],
    params,
    query: signingQuery,
    responses: { 200: 'page', 404: 'page', ...FAILURES },
    refusals: [],
    failurePage: failurePage(embedded ? 'anybody' : 'nobody'),
    async handle({ params: { key }, query, header }) {
      const ticket = query.ticket ?? '';
      const view = isTicket(ticket) && key.length <= KEY_LENGTH ? await signing.page(key, ticket) : NOTHING;
      const words = wordsFor(query.culture, header('accept-language'));
      const base = `/document/key/${encodeURIComponent(key)}`;
      const credential = `ticket=${encodeURIComponent(ticket)}`;
      const self = `${base}/${path}?${credential}${wishesAgain(query)}`;
      const html = signingPage(view, words, signingWishes(query, embedded), {
        key,
        ticket,
        content: `${base}/content?${credential}`,
        self,
      });
      const framing = embedded ? (view.embedOrigins.length === 0 ? 'anybody' : view.embedOrigins) : 'nobody';
      return page(view.state === 'unknown' ? 404 : 200, html, pageHeaders(framing));
    },
  });
}

function isTicket(text: string): boolean {
  return text !== '' && text.length <= TICKET_LENGTH;
}

/** The other parameters of the address, for looking again. */
function wishesAgain({ ticket: _, ...wishes }: z.infer<typeof signingQuery>): string {
  return Object.entries(wishes)
    .map(([name, value]) => `&${name}=${encodeURIComponent(value?.slice(0, 40) ?? '')}`)
    .join('');
}
