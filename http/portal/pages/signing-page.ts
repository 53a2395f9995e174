/**
 * `/document/key/{key}/sign`, `/sign-embedded` and `/read`: the pages of participants and observers, and their file. The ticket in the address is the
 * only credential; opening the page changes nothing.
 *
 * Source: docs/portal-values.md §9.
 */

import { promisify } from 'node:util';
import { brotliDecompress } from 'node:zlib';
import type { Clock } from '@sealwright/runtime';
import { z } from 'zod';
import type { SigningPages, SigningPageView } from '../../../actors/portal/api.ts';
import { queryWord } from '../../../contracts/portal/lists.ts';
import { FILE_HEADERS } from '../../../contracts/portal/operation.ts';
import { PortalRefusal } from '../../../machines/portal/portal-refusals.ts';
import { beginsWithFirstSheet } from '../../../web/pages/portal/document-part.tsx';
import { languageOf, textsFor } from '../../../web/pages/portal/language.ts';
import { noticePage, refusedFramePage } from '../../../web/pages/portal/notice-view.tsx';
import { signingPage } from '../../../web/pages/portal/signing-view.tsx';
import { clientNetwork } from '../../core/access/addresses.ts';
import { createRateLimiter } from '../../core/access/rate-limit.ts';
import { asset, assetReply } from '../../core/asset.ts';
import { page } from '../../core/reply.ts';
import type { AnyRoute } from '../../core/router.ts';
import { requestOriginOf } from '../access-check.ts';
import { portalRoute } from '../route.ts';
import { storedFileReply } from '../stored-file.ts';
import { ERROR_PAGE_CODES, errorPage } from './error-page.ts';
import { plainQuery, signingPageOptions, signingQuery, themeOf, ticketQuery } from './page-options.ts';
import { PICTURE_HEADERS, pageHeaders } from './page-policy.ts';
import { codingFor } from './portal-assets.ts';

const params = z.object({ key: z.string() });
/** Longer tickets are invalid. */
const TICKET_LENGTH = 2_000;
const KEY_LENGTH = 64;
/** New links that one network may ask for, against trying addresses. */
const LINK_REQUESTS = { permits: 10, windowSeconds: 60 };
const NOTHING: SigningPageView = { state: 'unknown', embedOrigins: [] };

export function signingRoutes(
  signing: SigningPages,
  clock: Pick<Clock, 'elapsed' | 'after'>,
): readonly AnyRoute[] {
  const pages = { signing, requests: createRateLimiter(LINK_REQUESTS, clock) };
  return [
    pageRoute(signing, 'sign', {
      summary: 'The signing page of one participant.',
      description:
        'Needs the ticket of the link; without a valid one the page says what to do. Loading it records nothing. In the language of the browser, or of `culture`.',
    }),
    pageRoute(signing, 'sign-embedded', {
      summary: 'The signing page of one participant, for a frame in another page.',
      description:
        'As the signing page, with messages to its parent: `documentSigned`, `documentApproved`, `documentRefused`. 403 in a frame of an origin that the organization does not list.',
    }),
    pageRoute(signing, 'read', {
      summary: 'The page on which an observer reads a document and its state.',
      description:
        'Needs the ticket of the e-mail. Shows the document, its participants and their progress; it has no actions.',
    }),
    newLinkRoute(pages),
    linkRequestRoute(pages),
    contentRoute(pages),
    pictureRoute(pages),
    attachmentRoute(pages),
  ];
}

interface SigningRoutes {
  readonly signing: SigningPages;
  readonly requests: ReturnType<typeof createRateLimiter>;
}

function newLinkRoute({ signing }: SigningRoutes): AnyRoute {
  return portalRoute({
    method: 'POST',
    path: '/document/key/{key}/new-link',
    group: 'Pages',
    summary: 'Sends the participant of an expired link a new link by e-mail.',
    description:
      'Sent by the page of an expired link. The e-mail goes to the address of the participant. The reply is a page.',
    auth: 'anonymous',
    headers: ['accept-language'],
    params,
    query: plainQuery.extend(ticketQuery.shape),
    responses: { 200: 'page', 404: 'page', ...ERROR_PAGE_CODES },
    refusals: [],
    failurePage: errorPage('any'),
    async handle({ params: { key }, query, header }) {
      const isSent = await isNewLinkSent(signing, key, query.ticket ?? '');
      const words = textsFor(query.culture, header('accept-language'));
      if (!isSent) {
        const html = signingPage(NOTHING, words, signingPageOptions(query, false), addressesOf(key, query));
        return page(404, html, pageHeaders('any', 'own'));
      }
      const html = noticePage({ words, theme: themeOf(query), message: words.newLinkSent, icon: 'mail' });
      return page(200, html, pageHeaders('any'));
    },
  });
}

function linkRequestRoute({ signing, requests }: SigningRoutes): AnyRoute {
  return portalRoute({
    method: 'POST',
    path: '/document/key/{key}/link-request',
    group: 'Pages',
    summary: 'Sends a new link by e-mail if something of the document waits for the address.',
    description:
      'Sent by the page of a link that is incomplete. The reply is the same page for every key and address. At most ten of a network in a minute.',
    auth: 'anonymous',
    bodyPolicy: 'form',
    headers: ['accept-language'],
    params,
    query: plainQuery,
    body: z.object({ email: z.string().max(320).default('') }),
    responses: { 200: 'page', 429: 'page', ...ERROR_PAGE_CODES },
    refusals: [],
    failurePage: errorPage('any'),
    async handle({ params: { key }, query, body, header, caller }) {
      await requests.acquire(clientNetwork(caller.address));
      // Not awaited: the time of the answer must not tell whether the address is known.
      void signing.requestLinkTo(key, body.email);
      const words = textsFor(query.culture, header('accept-language'));
      const html = noticePage({ words, theme: themeOf(query), message: words.linkRequested, icon: 'mail' });
      return page(200, html, pageHeaders('any'));
    },
  });
}

function contentRoute({ signing }: SigningRoutes): AnyRoute {
  return portalRoute({
    method: 'GET',
    path: '/document/key/{key}/content',
    group: 'Pages',
    summary: 'The file that the signing page shows.',
    description:
      'For the signing page; needs the ticket of its link. `type` selects the signed file or the manifest, which the history records as a download. A request with `Range` is answered with 206.',
    auth: 'anonymous',
    headers: [...FILE_HEADERS, 'user-agent'],
    params,
    query: ticketQuery.extend({
      type: queryWord(['Signatures', 'SignaturesManifest']).meta({
        description: 'A file of a signed document to download.',
      }),
    }),
    responses: { 200: 'file', 206: 'file', 304: 'empty' },
    refusals: [
      'InvalidTicket',
      'DocumentIsDeleted',
      'RangeNotSatisfiable',
      'DocumentHasNoSignatures',
      'DownloadTypeNotAvailable',
    ],
    async handle({ params: { key }, query, header, caller }) {
      const { ticket = '', type } = query;
      if (!isTicket(ticket)) throw new PortalRefusal('InvalidTicket');
      if (type === undefined) return storedFileReply(await signing.pageContent(key, ticket), header);
      const origin = requestOriginOf({ caller, header });
      return storedFileReply(await signing.pageDownload(key, ticket, type, origin), header);
    },
  });
}

const unpacked = promisify(brotliDecompress);
/** Most bytes of an unpacked picture: at most 4,000,000 characters are drawn. */
const MAX_PICTURE_BYTES = 8 << 20;

function pictureRoute({ signing }: SigningRoutes): AnyRoute {
  return portalRoute({
    method: 'GET',
    path: '/document/key/{key}/first-page',
    group: 'Pages',
    summary: 'A picture of the first page, which the signing page shows until it has drawn the document.',
    description:
      'For the signing page; needs the ticket of its link. An SVG without scripts. 404 for a page that is drawn in the browser alone.',
    auth: 'anonymous',
    headers: ['if-none-match', 'accept-encoding'],
    params,
    query: ticketQuery,
    responses: { 200: 'asset' },
    refusals: ['InvalidTicket', 'DocumentIsDeleted', 'NotFound'],
    async handle({ params: { key }, query: { ticket = '' }, header }) {
      if (!isTicket(ticket)) throw new PortalRefusal('InvalidTicket');
      const packed = await signing.pagePicture(key, ticket);
      const isPacked = codingFor(header('accept-encoding')) === 'br';
      const stored = asset('image/svg+xml', packed);
      const etag = isPacked ? stored.etag : stored.etag.replace(/"$/, '-plain"');
      const reply = assetReply({ ...stored, etag }, header('if-none-match'));
      const coding = isPacked ? ([['Content-Encoding', 'br']] as const) : [];
      const headers = [...(reply.headers ?? []), ...coding, ...PICTURE_HEADERS];
      if (reply.kind === 'empty') return { ...reply, headers };
      if (isPacked) return { ...reply, headers, isConfidential: true };
      const body = await unpacked(packed, { maxOutputLength: MAX_PICTURE_BYTES });
      return { ...reply, body, headers, isConfidential: true };
    },
  });
}

function attachmentRoute({ signing }: SigningRoutes): AnyRoute {
  return portalRoute({
    method: 'GET',
    path: '/document/key/{key}/attachments/{attachmentId}',
    group: 'Pages',
    summary: 'An attachment that the signing page offers.',
    description:
      'For the signing page; needs the ticket of its link. Private attachments are not among them (`AttachmentNotFound`).',
    auth: 'anonymous',
    headers: FILE_HEADERS,
    params: params.extend({ attachmentId: z.string() }),
    query: ticketQuery,
    responses: { 200: 'file', 206: 'file', 304: 'empty' },
    refusals: ['InvalidTicket', 'DocumentIsDeleted', 'AttachmentNotFound', 'RangeNotSatisfiable'],
    async handle({ params: { key, attachmentId }, query, header }) {
      const ticket = query.ticket ?? '';
      if (!isTicket(ticket)) throw new PortalRefusal('InvalidTicket');
      return storedFileReply(await signing.pageAttachment(key, ticket, attachmentId), header);
    },
  });
}

function pageRoute(
  signing: Pick<SigningPages, 'page'>,
  path: 'sign' | 'sign-embedded' | 'read',
  texts: Pick<AnyRoute, 'summary' | 'description'>,
): AnyRoute {
  const embedded = path === 'sign-embedded';
  return portalRoute({
    method: 'GET',
    path: `/document/key/{key}/${path}`,
    group: 'Pages',
    ...texts,
    auth: 'anonymous',
    headers: ['accept-language', 'referer', 'sec-fetch-dest', 'user-agent'],
    params,
    query: signingQuery,
    responses: { 200: 'page', 403: 'page', 404: 'page', ...ERROR_PAGE_CODES },
    refusals: [],
    failurePage: errorPage(embedded ? 'any' : 'none'),
    async handle({ params: { key }, query, header, caller }) {
      // Mail clients take the full stop or bracket after a link for a part of it.
      const ticket = /^[\w-]+/.exec(query.ticket ?? '')?.[0] ?? '';
      const origin = requestOriginOf({ caller, header });
      const known = isTicket(ticket) ? ticket : '';
      const wishes = signingPageOptions(query, embedded);
      const asked = { firstPage: beginsWithFirstSheet(wishes) };
      const view = key.length <= KEY_LENGTH ? await signing.page(key, known, origin, asked) : NOTHING;
      // The language that the person chooses on the page, or the application in the address, comes first.
      const spoken =
        languageOf(query.culture ?? '') === undefined ? (view.language ?? query.culture) : query.culture;
      const words = textsFor(spoken, header('accept-language'));
      if (embedded && isForeignFrame(header, view.embedOrigins))
        return page(403, refusedFramePage(words, themeOf(query)), pageHeaders('any'));
      const { culture, theme } = query;
      const look = wishesAgain({ ...(culture && { culture }), ...(theme && { theme }) });
      const visit = view.visit?.map((one) => ({ ...one, href: `${one.href}${look}` }));
      const html = signingPage(
        visit === undefined ? view : { ...view, visit },
        words,
        wishes,
        addressesOf(key, { ...query, ticket, ...(spoken && { culture: spoken }) }, path),
      );
      const framing = embedded ? (view.embedOrigins.length === 0 ? 'any' : view.embedOrigins) : 'none';
      const forms = view.canRequestLink === true || view.state === 'unknown' ? 'own' : 'by-script';
      return page(view.state === 'unknown' ? 404 : 200, html, pageHeaders(framing, forms));
    },
  });
}

/** Addresses of the page of a link. */
function addressesOf(
  key: string,
  query: z.infer<typeof signingQuery>,
  path = 'sign',
): Parameters<typeof signingPage>[3] {
  const { ticket = '' } = query;
  const base = `/document/key/${encodeURIComponent(key)}`;
  const credential = `ticket=${encodeURIComponent(ticket)}`;
  const wishes = wishesAgain(query);
  return {
    key,
    ticket,
    content: `${base}/content?${credential}`,
    picture: `${base}/first-page?${credential}`,
    self: `${base}/${path}?${credential}${wishes}`,
    newLink: `${base}/new-link?${credential}${wishes}`,
    passOn: `${base}/pass-on?${credential}${wishes}`,
    linkRequest: `${base}/link-request?${wishes.slice(1)}`,
    attachment: (id) => `${base}/attachments/${encodeURIComponent(id)}?${credential}`,
  };
}

/** False for a link that is not one of an expired mail. */
async function isNewLinkSent(
  signing: Pick<SigningPages, 'requestLink'>,
  key: string,
  ticket: string,
): Promise<boolean> {
  if (!isTicket(ticket) || key.length > KEY_LENGTH) return false;
  try {
    await signing.requestLink(key, ticket);
    return true;
  } catch (error) {
    if (error instanceof PortalRefusal && error.code === 'InvalidTicket') return false;
    throw error;
  }
}

/**
 * True when a page of an origin that the organization does not list frames this one. `frame-ancestors` refuses such
 * frames without a word; where the browser names the parent, a page without any content tells it.
 */
export function isForeignFrame(header: (name: string) => string, origins: readonly string[]): boolean {
  if (origins.length === 0 || header('sec-fetch-dest') !== 'iframe') return false;
  const referer = header('referer');
  const parent = URL.canParse(referer) ? new URL(referer).origin : undefined;
  // Pages of apps have none that can be compared: `frame-ancestors` decides.
  return (
    parent !== undefined &&
    parent !== 'null' &&
    !origins.some((origin) => origin.toLowerCase() === parent.toLowerCase())
  );
}

function isTicket(text: string): boolean {
  return text !== '' && text.length <= TICKET_LENGTH;
}

/** The other parameters of the address, for a reload. */
function wishesAgain({ ticket: _, ...wishes }: z.infer<typeof signingQuery>): string {
  return Object.entries(wishes)
    .map(([name, value]) => `&${name}=${encodeURIComponent(value?.slice(0, 40) ?? '')}`)
    .join('');
}
