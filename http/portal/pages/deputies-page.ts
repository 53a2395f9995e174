/** `/waiting/deputies`: deputies of a person, and what a deputy does for others. Source: docs/decisions/0580-deputies.md. */
import { z } from 'zod';
import { type Deputies, type DeputySigning, formTokenOf, parsedInput } from '../../../actors/portal/api.ts';
import { FILE_HEADERS } from '../../../contracts/portal/operation.ts';
import type { PortalRefusalCode } from '../../../contracts/portal/refusals.ts';
import {
  actAsDeputy,
  endDeputy,
  listForDeputy,
  nameDeputy,
  readAsDeputy,
} from '../../../contracts/portal/signing/deputies.ts';
import { DAY_MS } from '../../../contracts/times.ts';
import { PortalRefusal } from '../../../machines/portal/portal-refusals.ts';
import {
  DEPUTIES_PATH,
  type DeputyFormFault,
  deputiesPage,
  type ShownDeputies,
} from '../../../web/pages/portal/forms/deputies-view.tsx';
import { siteNetwork } from '../../core/access/addresses.ts';
import { type EmptyReply, type PageReply, redirect } from '../../core/reply.ts';
import type { AnyRoute } from '../../core/router.ts';
import { requestOriginOf } from '../access-check.ts';
import { portalRoute } from '../route.ts';
import { storedFileReply } from '../stored-file.ts';
import { plainQuery } from './page-options.ts';
import {
  choiceOf,
  formText,
  inSession,
  reply,
  requireOwnPage,
  shownTo,
  ticketOf,
  WAITING_COMMON,
  type WaitingRequest,
} from './waiting-page.ts';

const INPUTS = ['name', 'email', 'reason', 'from', 'until'] as const;
const form = z.object({
  token: formText,
  name: formText,
  email: formText,
  reason: formText,
  from: formText,
  until: formText,
});
const act = z.object({ token: formText, of: formText, person: formText, name: formText });
const TURN = /^([\da-f-]{36})\.([\da-f-]{36})\.([\da-f-]{36})$/;

const FAULTS: { readonly [code in PortalRefusalCode]?: DeputyFormFault } = {
  InvalidFlowAction: 'gone',
  InvalidAuthenticationCode: 'code',
  Forbidden: 'gone',
  LimitExceeded: 'many',
  TooManyRequests: 'busy',
  DocumentNotFound: 'gone',
  DocumentIsDeleted: 'gone',
  InvalidDocumentStatus: 'gone',
};
const MEMBERS = {
  name: 'name',
  email: 'email',
  reason: 'reason',
  startdate: 'time',
  enddate: 'time',
} as const;

interface DeputyServices {
  readonly deputies: Deputies;
  readonly acts: DeputySigning;
}

export function deputiesPageRoutes(of: DeputyServices): readonly AnyRoute[] {
  return [showRoute(of), fileRoute(of), nameRoute(of), endRoute(of), actRoute(of)];
}

function showRoute(of: DeputyServices): AnyRoute {
  return portalRoute({
    ...WAITING_COMMON,
    method: 'GET',
    path: DEPUTIES_PATH,
    summary: 'The page of a person: deputies, and what waits for people whose deputy the person is.',
    description: 'Needs the session of the page of documents that wait.',
    query: plainQuery.extend({
      person: z.string().max(254).optional().describe('Whose documents are listed.'),
      after: z.string().max(20).optional(),
    }),
    handle: (request) =>
      inSession(request, (ticket) => {
        const { person, after } = request.query;
        return listed(of, request, ticket, { person, after });
      }),
  });
}

function fileRoute(of: DeputyServices): AnyRoute {
  return portalRoute({
    ...WAITING_COMMON,
    method: 'GET',
    path: `${DEPUTIES_PATH}/file`,
    summary: 'The file that a deputy reads.',
    description: 'The rules are those of `POST /api/waiting/deputies/content`.',
    headers: [...WAITING_COMMON.headers, ...FILE_HEADERS],
    query: plainQuery.extend({ of: z.string().max(200).default('') }),
    responses: { ...WAITING_COMMON.responses, 200: 'file', 206: 'file' },
    refusals: readAsDeputy.refusals,
    async handle(request) {
      const [, documentId, flowActionId, userId] = TURN.exec(request.query.of) ?? [];
      const ticket = ticketOf(request);
      const given = parsedInput(readAsDeputy.body, { ticket, documentId, flowActionId, userId });
      return storedFileReply(await of.acts.content(ticket, given, requestOriginOf(request)), request.header);
    },
  });
}

function nameRoute(of: DeputyServices): AnyRoute {
  return portalRoute({
    ...WAITING_COMMON,
    method: 'POST',
    path: `${DEPUTIES_PATH}/new`,
    summary: 'Names a deputy from the start of one day to the end of another, UTC.',
    description: 'The rules are those of `POST /api/waiting/deputies`.',
    bodyPolicy: 'form',
    body: form,
    handle: (request) =>
      acted(of, request, async (ticket) => {
        const { name, email, reason, from, until } = request.body;
        const startDate = from === '' ? null : dayOf(from);
        const endDate = dayOf(until, DAY_MS);
        const { language } = shownTo(request).words;
        const given = { ticket, name, email, reason, startDate, endDate, language };
        const network = siteNetwork(request.caller.address);
        await of.deputies.name(ticket, parsedInput(nameDeputy.body, given), network);
        return {};
      }),
  });
}

function endRoute(of: DeputyServices): AnyRoute {
  return portalRoute({
    ...WAITING_COMMON,
    method: 'POST',
    path: `${DEPUTIES_PATH}/over`,
    summary: 'Ends a deputy now, by the person or by the deputy.',
    description: 'The rules are those of `POST /api/waiting/deputies/end`.',
    bodyPolicy: 'form',
    body: act,
    handle: (request) =>
      acted(of, request, async (ticket) => {
        const { of: id, person } = request.body;
        const given = parsedInput(endDeputy.body, { ticket, id, person: person || null });
        await of.deputies.end(ticket, given.id, given.person);
        return {};
      }),
  });
}

function actRoute(of: DeputyServices): AnyRoute {
  return portalRoute({
    ...WAITING_COMMON,
    method: 'POST',
    path: `${DEPUTIES_PATH}/sign`,
    summary: 'Signs or approves in place of a person, and lists what is left.',
    description: 'The rules are those of `POST /api/waiting/deputies/act`.',
    bodyPolicy: 'form',
    body: act,
    handle: (request) =>
      acted(of, request, async (ticket) => {
        const { of: choice, person, name: deputyName } = request.body;
        const given = parsedInput(actAsDeputy.body, { ticket, ...choiceOf(choice), deputyName });
        await of.acts.act(ticket, given, requestOriginOf(request));
        return { person, isDone: true };
      }),
  });
}

interface Shown extends Pick<ShownDeputies, 'fault' | 'values' | 'isDone'> {
  readonly person?: string | undefined;
  readonly after?: string | undefined;
}

async function listed(
  of: DeputyServices,
  request: WaitingRequest,
  ticket: string,
  { person, after, ...more }: Shown,
): Promise<PageReply> {
  const found = await of.deputies.view(ticket);
  const query = person && parsedInput(listForDeputy.body, { ticket, person, cursor: after ?? null });
  const page = query && (await of.acts.list(ticket, query.person, query.cursor));
  const represented = person && page ? { person, ...page } : undefined;
  const shown = { ...shownTo(request), ...found, ...more, represented, formToken: formTokenOf(ticket) };
  const status = more.fault === undefined ? 200 : more.fault === 'busy' ? 429 : 422;
  return reply(status, deputiesPage(shown));
}

/** Carries a form out and leads on; of what the person can mend, the page says so. */
function acted(
  of: DeputyServices,
  request: WaitingRequest & { readonly body: { readonly token: string; readonly person?: string } },
  carryOut: (ticket: string) => Promise<Shown>,
): Promise<PageReply | EmptyReply> {
  return inSession(request, async (ticket) => {
    const { token, person } = request.body;
    requireOwnPage(request, { ticket, token });
    try {
      const next = await carryOut(ticket);
      return next.isDone === true
        ? await listed(of, request, ticket, next)
        : redirect(302, `${DEPUTIES_PATH}?culture=${shownTo(request).words.language}`);
    } catch (error) {
      const fault = 'reason' in request.body ? namingFaultOf(error) : faultOf(error);
      if (fault === undefined) throw error;
      const given: object = request.body;
      const values = Object.fromEntries(
        Object.entries(given).filter(([name]) => INPUTS.some((one) => one === name)),
      );
      return listed(of, request, ticket, { fault, values, person });
    }
  });
}

/** Of a form that names: what is refused is the name, or the address. */
function namingFaultOf(error: unknown): DeputyFormFault | undefined {
  if (!(error instanceof PortalRefusal) || error.code !== 'InvalidFlowAction') return faultOf(error);
  return error.details?.['field'] === 'name' ? 'name' : 'email';
}

/** Undefined for what the person cannot mend. */
function faultOf(error: unknown): DeputyFormFault | undefined {
  if (!(error instanceof PortalRefusal)) return undefined;
  const members = Object.keys(error.errors ?? {}).map((name) => name.toLowerCase());
  const member = Object.entries(MEMBERS).find(([name]) => members.includes(name))?.[1];
  return member ?? FAULTS[error.code];
}

/** Start of a day, UTC; what is no day is left to the contract. @param later milliseconds */
function dayOf(text: string, later = 0): string {
  const at = /^\d{4}-\d\d-\d\d$/.test(text) ? Date.parse(`${text}T00:00:00Z`) : Number.NaN;
  return Number.isNaN(at) ? 'none' : new Date(at + later).toISOString();
}
