/**
 * `/document/editor` and `/document/editor-embedded`: the editor of a session in another application. Opening a page changes
 * nothing; its script uses the link.
 *
 * Source: docs/decisions/0119-editor-in-other-applications.md.
 */
import type { EditorSessionService } from '../../../actors/portal/api.ts';
import { textsFor } from '../../../web/pages/portal/language.ts';
import { refusedFramePage } from '../../../web/pages/portal/notice-view.tsx';
import {
  editorSessionOverPage,
  editorSessionPage,
} from '../../../web/pages/portal/sender/editor-session-view.ts';
import { page } from '../../core/reply.ts';
import type { AnyRoute } from '../../core/router.ts';
import { portalRoute } from '../route.ts';
import { ERROR_PAGE_CODES, errorPage } from './error-page.ts';
import { plainQuery, themeOf, ticketQuery } from './page-options.ts';
import { pageHeaders } from './page-policy.ts';
import { isForeignFrame } from './signing-page.ts';

/** Longer tickets are invalid. */
const TICKET_LENGTH = 1024;

export function editorSessionPageRoutes(sessions: Pick<EditorSessionService, 'page'>): readonly AnyRoute[] {
  return [
    pageRoute(sessions, 'editor', 'A page for people: the editor of a session.'),
    pageRoute(sessions, 'editor-embedded', 'The editor of a session, for a frame in another page.'),
  ];
}

function pageRoute(
  sessions: Pick<EditorSessionService, 'page'>,
  path: 'editor' | 'editor-embedded',
  summary: string,
): AnyRoute {
  const embedded = path === 'editor-embedded';
  return portalRoute({
    method: 'GET',
    path: `/document/${path}`,
    group: 'Pages',
    summary,
    description:
      'Needs the ticket of a link of `POST /api/editor-sessions`. Opening the page does not use the link; its script does.',
    auth: 'anonymous',
    headers: ['accept-language', 'referer', 'sec-fetch-dest'],
    query: plainQuery.extend(ticketQuery.shape),
    responses: { 200: 'page', 403: 'page', 404: 'page', ...ERROR_PAGE_CODES },
    refusals: [],
    failurePage: errorPage(embedded ? 'any' : 'none'),
    async handle({ query, header }) {
      const { ticket = '' } = query;
      const session =
        ticket === '' || ticket.length > TICKET_LENGTH ? undefined : await sessions.page(ticket);
      const words = textsFor(query.culture, header('accept-language'));
      const options = { words, theme: themeOf(query), embedded };
      const origins = session?.embedOrigins ?? [];
      if (embedded && isForeignFrame(header, origins))
        return page(403, refusedFramePage(words, options.theme), pageHeaders('any'));
      const framing = embedded ? (origins.length === 0 ? 'any' : origins) : 'none';
      if (session === undefined) return page(404, editorSessionOverPage(options), pageHeaders(framing));
      return page(200, editorSessionPage(session, ticket, options), pageHeaders(framing));
    },
  });
}
