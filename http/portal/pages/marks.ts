/**
 * `/position-marks/{id}`: the page of a marks session. Whoever has its id may see it for an hour.
 *
 * Source: portal-gaps §20, "Marks session".
 */
import { z } from 'zod';
import type { MarksSessions } from '../../../actors/portal/api.ts';
import { page } from '../../reply.ts';
import type { AnyRoute } from '../../router.ts';
import { portalRoute } from '../route.ts';
import { FAILURES, failurePage } from './failure.ts';
import { wordsFor } from './language.ts';
import { marksOverPage, marksPage } from './marks-view.ts';
import { pageHeaders } from './page-policy.ts';
import { plainQuery, themeOf } from './wishes.ts';

export function marksRoutes(sessions: Pick<MarksSessions, 'get'>): readonly AnyRoute[] {
  return [
    portalRoute({
      method: 'GET',
      path: '/position-marks/{id}',
      summary: 'A page for people: place signatures on files.',
      auth: 'anonymous',
      headers: ['accept-language'],
      params: z.object({ id: z.string() }),
      query: plainQuery,
      responses: { 200: 'page', 404: 'page', ...FAILURES },
      refusals: [],
      failurePage: failurePage('anybody'),
      async handle({ params: { id }, query, header }) {
        const words = wordsFor(query.culture, header('accept-language'));
        const theme = themeOf(query);
        const session = await sessions.get(id).catch((error: unknown) => {
          const { code } = error as { readonly code?: string };
          if (code === 'MarksSessionNotFound' || code === 'NotFound') return undefined;
          throw error;
        });
        if (session === undefined) return page(404, marksOverPage(words, theme), pageHeaders('anybody'));
        const { embedOrigins: origins = [] } = session;
        const html = marksPage(session, words, theme, origins);
        return page(200, html, pageHeaders(origins.length === 0 ? 'anybody' : origins));
      },
    }),
  ];
}
