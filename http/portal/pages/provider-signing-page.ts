/**
 * `/signing-provider/{name}`: a participant signs with a certificate that a signing provider keeps. The visit is in a
 * cookie, so the answer of the provider counts only in the browser that began it.
 *
 * Source: docs/decisions/0405-keys-behind-the-network.md.
 */
import { z } from 'zod';
import {
  PROVIDER_STEP_MS,
  type ProviderSigning,
  type SealedVisit,
  type SigningStepOutcome,
} from '../../../actors/portal/api.ts';
import { providerStart } from '../../../contracts/portal/signing/provider-visits.ts';
import {
  certificateChoicePage,
  onTheWayPage,
  providerTroublePage,
  secretsPage,
} from '../../../web/pages/portal/accounts/provider-signing-view.tsx';
import { languageOf, textsFor } from '../../../web/pages/portal/language.ts';
import { clientNetwork } from '../../core/access/addresses.ts';
import type { Caller } from '../../core/access/caller.ts';
import { cookiesIn, hostCookie, readCookie } from '../../core/access/session-cookies.ts';
import { limiterOf, type OtherNodes } from '../../core/other-nodes.ts';
import {
  type EmptyReply,
  json,
  type PageReply,
  page,
  type ReplyHeaders,
  redirect,
} from '../../core/reply.ts';
import type { AnyRoute } from '../../core/router.ts';
import { requestOriginOf } from '../access-check.ts';
import { portalRoute } from '../route.ts';
import { ERROR_PAGE_CODES, errorPage } from './error-page.ts';
import { plainQuery } from './page-options.ts';
import { pageHeaders } from './page-policy.ts';

const PATH = '/signing-provider/{name}';
/** Steps of one client that ask a provider something. */
const STEPS = { permits: 300, windowSeconds: 60 } as const;
/** Longer answers are refused: the parts of one have some hundred characters. */
const MAX_ANSWER = 8192;
const MAX_STATE = 64;
/** Characters of a PIN or a code. */
const MAX_TYPED = 200;
/** Characters of the state in the name of the cookie: visits side by side do not end each other. */
const NAME_LENGTH = 8;
/** Characters of visits that a browser keeps: with more, its requests would become too long (`MAX_HEAD_BYTES`). */
const MAX_KEPT = 8_000;

const params = z.object({ name: z.string().max(80) });
const state = z
  .string()
  .max(MAX_STATE)
  .regex(/^[\w-]*$/);
const PAGES = { 200: 'page', 403: 'page', 404: 'page', 429: 'page', ...ERROR_PAGE_CODES } as const;
const COMMON = {
  group: 'Pages',
  auth: 'anonymous',
  params,
  refusals: [],
  failurePage: errorPage('none'),
} as const;

interface Parts {
  readonly signing: ProviderSigning;
  readonly steps: ReturnType<typeof limiterOf>;
  readonly used: { use(id: string): Promise<boolean> };
}

/** @param used where the states of steps that have ended are kept */
export function providerSigningRoutes(
  signing: ProviderSigning,
  clock: Parameters<typeof limiterOf>[3],
  { nodes, used }: { readonly nodes: OtherNodes | undefined; readonly used: Parts['used'] },
): readonly AnyRoute[] {
  const parts: Parts = { signing, used, steps: limiterOf(nodes, 'signing-provider', STEPS, clock) };
  return [
    startRoute(parts),
    returnRoute(parts),
    choiceRoute(parts),
    chooseRoute(parts),
    secretsRoute(parts),
    authorizeRoute(parts),
  ];
}

function startRoute({ signing, steps }: Parts): AnyRoute {
  return portalRoute({
    method: 'POST',
    path: '/document/key/{key}/sign-at-provider',
    group: 'Pages',
    summary: 'Prepares a signature with a certificate that a signing provider keeps.',
    description:
      'Sent by the signing page, with the ticket of its link. Checks what the participant fills in and answers the address at the provider; the cookie of the reply is needed for its answer, within 10 minutes. Nothing is signed yet.',
    auth: 'anonymous',
    headers: ['accept-language', 'cookie'],
    params: z.object({ key: z.string().max(MAX_STATE) }),
    body: providerStart.body,
    responses: { 200: providerStart.reply },
    refusals: providerStart.refusals,
    async handle({ params: { key }, body, header, caller }) {
      await steps.acquire(clientNetwork(caller.address));
      const { ticket, documentVersion, culture, ...given } = body;
      const { language } = textsFor(culture ?? undefined, header('accept-language'));
      const access = { by: 'ticket', key, ticket, documentVersion } as const;
      const { address, visit } = await signing.begin(access, { ...given, language });
      const headers = cookieHeaders({ set: [visit], spent: [] }, { header, caller });
      return { ...json(200, { address }), headers };
    },
  });
}

function returnRoute({ signing, steps, used }: Parts): AnyRoute {
  return portalRoute({
    ...COMMON,
    method: 'GET',
    path: `${PATH}/return`,
    summary: 'Takes the answer of a signing provider.',
    description:
      'Works once, in the browser that went there. Leads to the choice of a certificate, or signs the document with the authorized one and leads back to it.',
    headers: ['accept-language', 'cookie', 'user-agent'],
    query: plainQuery.loose(),
    responses: { 302: 'empty', ...PAGES },
    async handle({ params: { name }, query, header, caller }) {
      const found = state.safeParse(query['state']);
      const isShort = JSON.stringify(query).length <= MAX_ANSWER;
      const visit = visitOf(found.data ?? '', header('cookie'), caller);
      await steps.acquire(clientNetwork(caller.address));
      // Some browsers send no cookie on the way from another site, and send it from a page of ours.
      if (visit.sealed === '' && visit.state !== '' && isShort && query['again'] === undefined) {
        const to = `return?${new URLSearchParams({ ...textsOf(query), again: '1' })}`;
        const frame = await frameOf(signing, name, { page: undefined, header });
        return page(200, onTheWayPage(frame, { to, text: 'returned' }), pageHeaders('none'));
      }
      const outcome = await signing.answer(name, isShort ? visit : { state: '', sealed: '' }, {
        query,
        origin: requestOriginOf({ caller, header }),
        use: (id) => used.use(`signing-provider/${name}\0${id}`),
      });
      return replyTo(signing, outcome, { name, header, caller });
    },
  });
}

function choiceRoute({ signing, steps }: Parts): AnyRoute {
  return portalRoute({
    ...COMMON,
    method: 'GET',
    path: PATH,
    summary: 'The certificates that the participant has at a signing provider.',
    description: 'In the browser that came back from the provider, for 10 minutes.',
    headers: ['accept-language', 'cookie'],
    query: plainQuery.extend({ visit: state.default(''), again: z.string().max(5).optional() }),
    responses: { 302: 'empty', ...PAGES },
    async handle({ params: { name }, query, header, caller }) {
      await steps.acquire(clientNetwork(caller.address));
      const found = await signing.choices(name, visitOf(query.visit, header('cookie'), caller));
      if ('kind' in found) return replyTo(signing, found, { name, header, caller });
      const { document, credentials, page: back } = found;
      const html = certificateChoicePage(await frameOf(signing, name, { page: back, header }), {
        action: `/signing-provider/${encodeURIComponent(name)}`,
        visit: query.visit,
        document,
        credentials,
        back,
        isAgain: query.again !== undefined,
      });
      return page(200, html, pageHeaders('none', 'own'));
    },
  });
}

function chooseRoute({ signing, steps }: Parts): AnyRoute {
  return portalRoute({
    ...COMMON,
    method: 'POST',
    path: PATH,
    summary: 'Starts the signature with a certificate of a signing provider.',
    description: 'The page leads on to the provider, which is to authorize the hash of this document.',
    bodyPolicy: 'form',
    headers: ['accept-language', 'cookie', 'user-agent'],
    body: z.object({ visit: state.default(''), credential: z.string().max(500).default('') }),
    responses: { 302: 'empty', ...PAGES },
    async handle({ params: { name }, body, header, caller }) {
      await steps.acquire(clientNetwork(caller.address));
      const visit = visitOf(body.visit, header('cookie'), caller);
      const outcome = await signing.choose(name, visit, body.credential);
      return replyTo(signing, outcome, { name, header, caller });
    },
  });
}

function secretsRoute({ signing, steps }: Parts): AnyRoute {
  return portalRoute({
    ...COMMON,
    method: 'GET',
    path: `${PATH}/authorization`,
    summary: 'Asks for what authorizes the signature with a certificate of a signing provider.',
    description: 'A PIN or codes, where the certificate is not confirmed on a page of the provider.',
    headers: ['accept-language', 'cookie'],
    query: plainQuery.extend({ visit: state.default(''), again: z.string().max(5).optional() }),
    responses: { 302: 'empty', ...PAGES },
    async handle({ params: { name }, query, header, caller }) {
      await steps.acquire(clientNetwork(caller.address));
      const found = await signing.secrets(name, visitOf(query.visit, header('cookie'), caller));
      if ('kind' in found) return replyTo(signing, found, { name, header, caller });
      const html = secretsPage(await frameOf(signing, name, { ...found, header }), {
        ...found,
        action: `/signing-provider/${encodeURIComponent(name)}/authorization`,
        visit: query.visit,
        isAgain: query.again !== undefined,
      });
      return page(200, html, pageHeaders('none', 'own'));
    },
  });
}

const typed = z.string().max(MAX_TYPED).default('');

function authorizeRoute({ signing, steps, used }: Parts): AnyRoute {
  return portalRoute({
    ...COMMON,
    method: 'POST',
    path: `${PATH}/authorization`,
    summary: 'Signs with a certificate of a signing provider, by what the participant typed.',
    description: 'Works once for each page. What was typed goes to the provider alone, and is not kept.',
    bodyPolicy: 'form',
    headers: ['accept-language', 'cookie', 'user-agent'],
    body: z.object({
      visit: state.default(''),
      secret0: typed,
      secret1: typed,
      secret2: typed,
      secret3: typed,
    }),
    responses: { 302: 'empty', ...PAGES },
    async handle({ params: { name }, body, header, caller }) {
      await steps.acquire(clientNetwork(caller.address));
      const { visit, secret0, secret1, secret2, secret3 } = body;
      const outcome = await signing.authorize(name, visitOf(visit, header('cookie'), caller), {
        values: [secret0, secret1, secret2, secret3],
        origin: requestOriginOf({ caller, header }),
        use: (id) => used.use(`signing-provider/${name}\0${id}`),
      });
      return replyTo(signing, outcome, { name, header, caller });
    },
  });
}

function textsOf(query: Readonly<Record<string, unknown>>): Record<string, string> {
  const texts = Object.entries(query).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string',
  );
  return Object.fromEntries(texts);
}

interface Step {
  readonly name: string;
  readonly header: (name: string) => string;
  readonly caller: Caller;
}

async function replyTo(
  signing: ProviderSigning,
  outcome: SigningStepOutcome,
  step: Step,
): Promise<PageReply | EmptyReply> {
  const { name, header } = step;
  const path = `/signing-provider/${encodeURIComponent(name)}`;
  const visits = ['visit' in outcome && outcome.visit, 'choice' in outcome && outcome.choice];
  const set = visits.filter((one) => typeof one === 'object');
  const cookies = cookieHeaders({ set, spent: outcome.spent ?? [] }, step);
  switch (outcome.kind) {
    case 'signed':
      return redirect(302, outcome.page, cookies);
    case 'choose': {
      const { visit, isAgain } = outcome;
      const query = `visit=${visit.state}${isAgain ? '&again=1' : ''}`;
      return redirect(302, `${path}?${query}`, cookies);
    }
    case 'secrets': {
      const { visit, isAgain } = outcome;
      const query = `visit=${visit.state}${isAgain ? '&again=1' : ''}`;
      return redirect(302, `${path}/authorization?${query}`, cookies);
    }
    case 'onward': {
      const html = onTheWayPage(await frameOf(signing, name, { page: undefined, header }), {
        to: outcome.address,
        text: 'onward',
      });
      return page(200, html, [...pageHeaders('none'), ...cookies]);
    }
    case 'failed': {
      const status = outcome.why === 'unavailable' ? 503 : 403;
      const choice = outcome.back && `${path}?visit=${outcome.back}`;
      const html = providerTroublePage(await frameOf(signing, name, { ...outcome, header }), {
        ...outcome,
        choice,
      });
      return page(status, html, [...pageHeaders('none'), ...cookies]);
    }
  }
}

/** The page is in the language of the visit, as far as that is known. */
async function frameOf(
  signing: ProviderSigning,
  name: string,
  { page: back, header }: { readonly page: string | undefined; readonly header: Step['header'] },
) {
  const culture = new URLSearchParams(back?.split('?')[1]).get('culture') ?? '';
  return {
    words: textsFor(languageOf(culture), header('accept-language')),
    provider: await signing.titleOf(name),
  };
}

function visitOf(own: string, cookies: string, { https }: Pick<Caller, 'https'>): SealedVisit {
  return { state: own, sealed: own === '' ? '' : readCookie(cookies, cookieName(own, https)) };
}

/** Keeps and forgets visits; the oldest are forgotten where they become too many. */
function cookieHeaders(
  { set, spent }: { readonly set: readonly SealedVisit[]; readonly spent: readonly string[] },
  { header, caller }: Pick<Step, 'header' | 'caller'>,
): ReplyHeaders {
  const kept = set.map((visit) => cookieName(visit.state, caller.https));
  const gone = new Set(spent.map((own) => cookieName(own, caller.https)));
  const prefix = cookieName('', caller.https);
  let room = MAX_KEPT - set.reduce((sum, { sealed }) => sum + sealed.length, 0);
  for (const [name, value] of [...cookiesIn(header('cookie'))].reverse()) {
    if (!name.startsWith(prefix) || kept.includes(name) || gone.has(name)) continue;
    room -= value.length;
    if (room < 0) gone.add(name);
  }
  return [
    ...[...gone]
      .filter((name) => !kept.includes(name))
      .map((name) => ['Set-Cookie', forgotten(name, caller)] as const),
    ...set.map((visit) => ['Set-Cookie', visitCookie(visit, caller)] as const),
  ];
}

function visitCookie({ state: own, sealed }: SealedVisit, { https }: Pick<Caller, 'https'>): string {
  const attributes = `Max-Age=${PROVIDER_STEP_MS / 1000}; Path=/; HttpOnly; SameSite=Lax`;
  return `${cookieName(own, https)}=${sealed}; ${attributes}${https ? '; Secure' : ''}`;
}

function forgotten(name: string, { https }: Pick<Caller, 'https'>): string {
  return `${name}=; Max-Age=0; Path=/; HttpOnly; SameSite=Lax${https ? '; Secure' : ''}`;
}

function cookieName(own: string, https: boolean): string {
  return hostCookie(`sealwright-provider-${own.slice(0, NAME_LENGTH)}`, https);
}
