/** `/document/key/{key}/pass-on`: the page on which a participant hands an action on. Source: docs/decisions/0550-passing-on.md. */
import { z } from 'zod';
import { parsedInput, type Signing, type SigningPages } from '../../../actors/portal/api.ts';
import type { PortalRefusalCode } from '../../../contracts/portal/refusals.ts';
import { passOn } from '../../../contracts/portal/signing/passing-on.ts';
import { PortalRefusal } from '../../../machines/portal/portal-refusals.ts';
import {
  type PassingFault,
  passingPage,
  type ShownPassing,
} from '../../../web/pages/portal/forms/passing-on-view.tsx';
import { textsFor } from '../../../web/pages/portal/language.ts';
import { type EmptyReply, type PageReply, page, redirect } from '../../core/reply.ts';
import type { AnyRoute } from '../../core/router.ts';
import { requestOriginOf } from '../access-check.ts';
import { portalRoute } from '../route.ts';
import { ERROR_PAGE_CODES, errorPage } from './error-page.ts';
import { plainQuery, themeOf, ticketQuery } from './page-options.ts';
import { pageHeaders } from './page-policy.ts';

const formText = z.string().max(4_096).default('');
const INPUTS = ['name', 'email', 'phone', 'identifier', 'reason'] as const;
const body = z.object({
  ...(Object.fromEntries(INPUTS.map((name) => [name, formText])) as Record<
    (typeof INPUTS)[number],
    typeof formText
  >),
  code: formText,
  do: formText,
});
const query = plainQuery.extend(ticketQuery.shape);

const FAULTS: { readonly [code in PortalRefusalCode]?: PassingFault } = {
  InvalidAuthenticationCode: 'code',
  TooManyWrongCodes: 'codes',
  TooManyRequests: 'busy',
  LimitExceeded: 'often',
  InvalidFlowAction: 'person',
  InvalidIdentifier: 'person',
};

interface PassingPages {
  readonly signing: Pick<Signing, 'passOn' | 'sendCode'>;
  readonly signingPages: Pick<SigningPages, 'page'>;
}

const COMMON = {
  path: '/document/key/{key}/pass-on',
  group: 'Pages',
  auth: 'anonymous',
  headers: ['accept-language', 'user-agent'],
  params: z.object({ key: z.string().max(64) }),
  query,
  refusals: [],
  failurePage: errorPage('none'),
} as const;

export function passingOnPageRoutes(pages: PassingPages): readonly AnyRoute[] {
  return [
    portalRoute({
      ...COMMON,
      method: 'GET',
      summary: 'The page on which a participant hands the action on to another person.',
      description:
        'Needs the ticket of the link. Where the action cannot be handed on now, it leads to the signing page. It cannot be framed.',
      responses: { 200: 'page', 302: 'empty', ...ERROR_PAGE_CODES },
      handle: async (request) => {
        const shown = await shownOf(pages, request);
        return 'back' in shown ? reply(200, shown) : shown;
      },
    }),
    portalRoute({
      ...COMMON,
      method: 'POST',
      summary: 'Takes the form of a participant who hands on: sends the code, or hands on.',
      description: 'The rules are those of `POST /api/documents/keys/{key}/passing-on`.',
      rate: 'visit',
      bodyPolicy: 'form',
      body,
      responses: { 200: 'page', 302: 'empty', 422: 'page', 429: 'page', ...ERROR_PAGE_CODES },
      handle: async (request) => {
        const shown = await shownOf(pages, request);
        return 'back' in shown ? carriedOut(pages, shown, request) : shown;
      },
    }),
  ];
}

interface PassingRequest {
  readonly params: { readonly key: string };
  readonly query: z.infer<typeof query>;
  readonly header: (name: string) => string;
  readonly caller: Parameters<typeof requestOriginOf>[0]['caller'];
}

function reply(status: number, shown: ShownPassing): PageReply {
  return page(status, passingPage(shown), pageHeaders('none', 'own'));
}

/** Redirects where nothing can be handed on: the signing page says why. */
async function shownOf(
  { signingPages }: PassingPages,
  request: PassingRequest,
): Promise<ShownPassing | EmptyReply> {
  const { params, query: asked, header } = request;
  const { ticket, culture = '' } = asked;
  const view = await signingPages.page(params.key, ticket ?? '', requestOriginOf(request));
  const words = textsFor(culture || view.language, header('accept-language'));
  const address = (name: string) =>
    `/document/key/${encodeURIComponent(params.key)}/${name}?${new URLSearchParams({ ticket: ticket ?? '', ...(culture && { culture }) })}`;
  const { action, document: shown } = view;
  if (view.state !== 'ready' || action?.mayPassOn !== true || shown === undefined)
    return redirect(302, address('sign'));
  return {
    words,
    theme: themeOf(asked),
    branding: view.branding,
    name: shown.name,
    address: address('pass-on'),
    back: address('sign'),
    asksPhone: action.codes.some(({ channel }) => channel === 'Sms' || channel === 'Whatsapp'),
    asksIdentifier: !action.allowElectronicSignature && action.type === 'Signer',
    values: {},
    asksCode: false,
  };
}

/** One step of the form: data, code, the act. */
async function carriedOut(
  { signing }: PassingPages,
  shown: ShownPassing,
  request: PassingRequest & { readonly body: z.infer<typeof body> },
): Promise<PageReply | EmptyReply> {
  const { params, query: asked, body: form } = request;
  const values = Object.fromEntries(INPUTS.flatMap((name) => (form[name] ? [[name, form[name]]] : [])));
  const step = { ...shown, values };
  if (form.do === 'change') return reply(200, step);
  const isAgain = form.do === 'again';
  const code = isAgain ? '' : form.code.trim();
  const access = { by: 'ticket', key: params.key, ticket: asked.ticket ?? '' } as const;
  const asksCode = code !== '' || isAgain;
  try {
    const given = parsedInput(passOn.body, { ...values, ticket: access.ticket, emailCode: code || null });
    try {
      await signing.passOn(access, given, requestOriginOf(request));
    } catch (error) {
      // What else is wrong is said before a code is sent.
      if (code !== '' || !(error instanceof PortalRefusal) || error.code !== 'InvalidAuthenticationCode')
        throw error;
      await signing.sendCode(access, 'Email', isAgain);
      return reply(200, { ...step, asksCode: true });
    }
    return redirect(302, shown.back);
  } catch (error) {
    const fault = faultOf(error);
    if (fault === undefined) throw error;
    const isOfCode = fault === 'code' || fault === 'codes' || fault === 'busy';
    return reply(fault === 'busy' ? 429 : 422, { ...step, asksCode: asksCode && isOfCode, fault });
  }
}

/** Undefined for what the participant cannot mend. */
function faultOf(error: unknown): PassingFault | undefined {
  if (!(error instanceof PortalRefusal)) return undefined;
  const members = Object.keys(error.errors ?? {}).map((name) => name.toLowerCase());
  const member = (['name', 'email', 'phone', 'reason'] as const).find((name) => members.includes(name));
  return member ?? FAULTS[error.code];
}
