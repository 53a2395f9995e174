/**
 * `/link`: the page of a link for anybody. Opening it changes nothing, so that previews of messages count as no visit.
 *
 * Source: docs/decisions/0470-links-for-anybody.md.
 */
import type { Ids } from '@sealwright/runtime';
import { z } from 'zod';
import { type LinkVisits, parsedInput } from '../../../actors/portal/api.ts';
import type { PortalRefusalCode } from '../../../contracts/portal/refusals.ts';
import {
  MAX_LINK_FIELDS,
  sendPublicLinkCode,
  visitPublicLink,
} from '../../../contracts/portal/saved-requests/public-links.ts';
import { PortalRefusal } from '../../../machines/portal/portal-refusals.ts';
import {
  type LinkEnd,
  type LinkFault,
  publicLinkEndPage,
  publicLinkPage,
  type ShownLink,
} from '../../../web/pages/portal/forms/public-link-view.tsx';
import { languageOf, textsFor } from '../../../web/pages/portal/language.ts';
import { type EmptyReply, type PageReply, page, type ReplyHeaders, redirect } from '../../core/reply.ts';
import type { AnyRoute } from '../../core/router.ts';
import { portalRoute } from '../route.ts';
import { ERROR_PAGE_CODES, errorPage } from './error-page.ts';
import { plainQuery, themeOf, ticketQuery } from './page-options.ts';
import { pageHeaders } from './page-policy.ts';

const MAX_TICKET = 1_024;
const formText = z.string().max(4096).default('');
/** Beside those of the fields. */
const INPUTS = ['name', 'email', 'phone'] as const;
const VALUES = Array.from({ length: MAX_LINK_FIELDS }, (_, at) => `value-${at}`);

const query = plainQuery.extend(ticketQuery.shape);
/** Entries of a visitor. */
export const linkInputs = z.object({
  visit: formText,
  ...Object.fromEntries([...INPUTS, ...VALUES].map((name) => [name, z.string().max(4096).optional()])),
});
const body = linkInputs.extend({ code: formText, do: formText });
type LinkForm = z.infer<typeof body>;
type LinkInputs = { readonly [name in (typeof INPUTS)[number]]?: string };

const ENDS: { readonly [code in PortalRefusalCode]?: LinkEnd } = {
  PublicLinkNotFound: 'unknown',
  PublicLinkEnded: 'ended',
  PublicLinkExpired: 'expired',
  PublicLinkFull: 'full',
  PublicLinkPersonFull: 'personFull',
};
const FAULTS: { readonly [code in PortalRefusalCode]?: LinkFault } = {
  InvalidAuthenticationCode: 'code',
  TooManyWrongCodes: 'codes',
  TooManyRequests: 'busy',
};

const COMMON = {
  path: '/link',
  group: 'Pages',
  auth: 'anonymous',
  headers: ['accept-language'],
  query,
  refusals: [],
  failurePage: errorPage('none'),
} as const;

export function publicLinkPageRoutes(visits: LinkVisits, ids: Pick<Ids, 'uuid'>): readonly AnyRoute[] {
  return [
    portalRoute({
      ...COMMON,
      method: 'GET',
      summary: 'The page of a link for anybody: the form of what it asks.',
      description:
        'Needs the ticket of the link; for a link that is unknown, ended or used up the page says so and names nothing. In the language of the link, of `culture`, or of the browser. It cannot be framed.',
      responses: { 200: 'page', 404: 'page', ...ERROR_PAGE_CODES },
      handle: (request) =>
        withEnds(request, async () => {
          const link = await shownLink(visits, request);
          return shownReply(200, { ...link, visitId: ids.uuid(), values: {}, asksCode: false });
        }),
    }),
    portalRoute({
      ...COMMON,
      method: 'POST',
      summary:
        'Takes the form of a link for anybody: sends the code, or makes the document and leads to its signing page.',
      description:
        'The rules are those of `POST /api/public-links/code` and `POST /api/public-links/documents`. The form names its visit, so that one that is sent twice makes one document.',
      rate: 'visit',
      bodyPolicy: 'form',
      body,
      responses: { 200: 'page', 302: 'empty', 404: 'page', 422: 'page', 429: 'page', ...ERROR_PAGE_CODES },
      handle: (request) =>
        withEnds(request, async () => {
          // The link may take no more visits since.
          const { visit: visitId, name, email, phone } = request.body as LinkForm & LinkInputs;
          const given = { ticket: ticketOf(request.query), visitId, name, email, phone };
          const repeated = await visits.repeated(given);
          if (repeated !== undefined) return redirect(302, pathOf(repeated));
          return carriedOut(visits, await shownLink(visits, request), request.body);
        }),
    }),
  ];
}

type Shown = Pick<ShownLink, 'words' | 'theme' | 'page' | 'branding' | 'ticket' | 'inputs'>;
interface LinkRequest {
  readonly query: z.infer<typeof query>;
  readonly header: (name: string) => string;
}

function ticketOf({ ticket = '' }: LinkRequest['query']): string {
  return /^[\w-]+/.exec(ticket)?.[0].slice(0, MAX_TICKET) ?? '';
}

/** Without its host: that of this request may be another name of the portal. */
export function pathOf({ url }: { readonly url: string }): string {
  return url.slice(url.indexOf('/document/key/'));
}

async function shownLink(visits: LinkVisits, { query, header }: LinkRequest): Promise<Shown> {
  const ticket = ticketOf(query);
  const link = await visits.page(ticket);
  // The language that the person chooses comes first.
  const chosen = languageOf(query.culture ?? '') === undefined ? link.page.language : query.culture;
  const words = textsFor(chosen ?? undefined, header('accept-language'));
  return { ...link, ticket, words, theme: themeOf(query) };
}

/** One step of the form: data, code, document. */
async function carriedOut(visits: LinkVisits, link: Shown, form: LinkForm): Promise<PageReply | EmptyReply> {
  const { ticket, words } = link;
  const values = valuesOf(form, link.inputs.length);
  const visitId = form.visit;
  const step = { ...link, visitId, values };
  if (form.do === 'change') return shownReply(200, { ...step, asksCode: false });
  const { name, email, phone } = values;
  const visitor = { ticket, language: words.language, name, email, phone };
  const isAgain = form.do === 'again';
  const code = isAgain ? '' : form.code.trim();
  const asksCode = code !== '' || isAgain;
  try {
    if (code === '') {
      await visits.sendCode(parsedInput(sendPublicLinkCode.body, { ...visitor, resend: isAgain }));
      return shownReply(200, { ...step, asksCode: true });
    }
    const fieldValues = fieldsOf(link, values);
    const visit = parsedInput(visitPublicLink.body, { ...visitor, visitId, code, fieldValues });
    return redirect(302, pathOf(await visits.visit(visit)));
  } catch (error) {
    const fault = faultOf(error);
    if (fault === undefined) throw error;
    const isOfData = fault.of !== 'code' && fault.of !== 'codes' && fault.of !== 'busy';
    return shownReply(fault.of === 'busy' ? 429 : 422, { ...step, asksCode: asksCode && !isOfData, fault });
  }
}

/** The inputs of the form that have a value. @param count of fields */
export function valuesOf(form: z.infer<typeof linkInputs>, count: number): Readonly<Record<string, string>> {
  const given = form as Readonly<Record<string, string | undefined>>;
  const names = [...INPUTS, ...VALUES.slice(0, count)];
  return Object.fromEntries(names.flatMap((name) => (given[name] ? [[name, given[name]]] : [])));
}

export function fieldsOf(
  { page: { fields }, inputs }: Pick<Shown, 'page' | 'inputs'>,
  values: Readonly<Record<string, string>>,
): Readonly<Record<string, string | boolean>> {
  const entries = fields.flatMap(({ name, type }): [string, string | boolean][] => {
    const value = values[`value-${inputs.indexOf(name)}`] ?? '';
    if (type === 'Checkbox') return [[name, value === 'true']];
    return value.trim() === '' ? [] : [[name, value]];
  });
  return Object.fromEntries(entries);
}

/** Undefined for what the visitor cannot mend. */
export function faultOf(error: unknown): ShownLink['fault'] {
  if (!(error instanceof PortalRefusal)) return undefined;
  const { code, errors = {}, details } = error;
  const of = FAULTS[code];
  if (of !== undefined) return { of };
  const members = Object.keys(errors).map((name) => name.toLowerCase());
  const member = (['name', 'email', 'phone'] as const).find((name) => members.includes(name));
  if (member !== undefined) return { of: member };
  if (code !== 'InvalidFieldValue' && code !== 'LimitExceeded' && code !== 'BadRequest') return undefined;
  return { of: 'values', fields: new Set(Object.keys(details ?? {})) };
}

/** Of a link that takes no visits, the page that says so. @param headersOf headers of that page */
export async function withEnds<Reply>(
  { query, header }: { readonly query: z.infer<typeof plainQuery>; readonly header: LinkRequest['header'] },
  answer: () => Promise<Reply>,
  headersOf: (end: LinkEnd) => ReplyHeaders = () => [],
): Promise<Reply | PageReply> {
  try {
    return await answer();
  } catch (error) {
    const end = error instanceof PortalRefusal ? ENDS[error.code] : undefined;
    if (end === undefined) throw error;
    const words = textsFor(query.culture, header('accept-language'));
    return page(404, publicLinkEndPage(words, themeOf(query), end), [
      ...pageHeaders('none'),
      ...headersOf(end),
    ]);
  }
}

export function shownReply(status: number, shown: ShownLink): PageReply {
  return page(status, publicLinkPage(shown), pageHeaders('none', 'own'));
}
