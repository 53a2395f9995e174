/** Pages about no document: what the portal is, and where marks are placed. */
import { z } from 'zod';
import type { MarksSessionService } from '../../../actors/portal/api.ts';
import { homePage } from '../../../web/pages/portal/home-view.tsx';
import { textsFor } from '../../../web/pages/portal/language.ts';
import { marksOverPage, marksPage } from '../../../web/pages/portal/marks-view.tsx';
import { page } from '../../core/reply.ts';
import type { AnyRoute } from '../../core/router.ts';
import { portalRoute } from '../route.ts';
import { ERROR_PAGE_CODES, errorPage } from './error-page.ts';
import { plainQuery, themeOf } from './page-options.ts';
import { pageHeaders } from './page-policy.ts';

/**
 * `/position-marks/{id}`: the page of a marks session. Holders of its id have access for an hour.
 *
 * Source: docs/portal-values.md §20.
 */
export function marksRoutes(sessions: MarksSessionService): readonly AnyRoute[] {
  return [
    portalRoute({
      method: 'GET',
      path: '/position-marks/{id}',
      group: 'Pages',
      summary: 'A page for people: place signatures on files.',
      description:
        'The page of `embedUrl` of a marks session, usually in a frame. It posts `marksPositioned` to its parent and stores nothing.',
      auth: 'anonymous',
      headers: ['accept-language'],
      params: z.object({ id: z.string() }),
      query: plainQuery,
      responses: { 200: 'page', 404: 'page', ...ERROR_PAGE_CODES },
      refusals: [],
      failurePage: errorPage('any'),
      async handle({ params: { id }, query, header }) {
        const words = textsFor(query.culture, header('accept-language'));
        const theme = themeOf(query);
        const session = await sessions.get(id).catch((error: unknown) => {
          const { code } = error as { readonly code?: string };
          if (code === 'MarksSessionNotFound' || code === 'NotFound') return undefined;
          throw error;
        });
        if (session === undefined) return page(404, marksOverPage(words, theme), pageHeaders('any'));
        const { embedOrigins: origins = [] } = session;
        const html = marksPage(session, words, theme, origins);
        return page(200, html, pageHeaders(origins.length === 0 ? 'any' : origins));
      },
    }),
  ];
}

/** `/`: tells visitors of the portal where their documents are, and leads to the check page. */
export function homePageRoutes(): readonly AnyRoute[] {
  return [
    portalRoute({
      method: 'GET',
      path: '/',
      group: 'Pages',
      summary: 'A page for people: what this portal is, with links to its other pages.',
      description: 'Needs no key and sets no cookie. In the language of the browser, or of `culture`.',
      auth: 'anonymous',
      headers: ['accept-language'],
      query: plainQuery,
      responses: { 200: 'page', ...ERROR_PAGE_CODES },
      refusals: [],
      failurePage: errorPage('none'),
      handle({ query, header }) {
        const words = textsFor(query.culture, header('accept-language'));
        return page(200, homePage(words, themeOf(query)), pageHeaders('none'));
      },
    }),
  ];
}
