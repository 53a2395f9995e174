/** `/`: tells visitors of the portal where their documents are, and leads to the check page. */
import { homePage } from '../../../web/pages/portal/home-view.tsx';
import { textsFor } from '../../../web/pages/portal/language.ts';
import { page } from '../../core/reply.ts';
import type { AnyRoute } from '../../core/router.ts';
import { portalRoute } from '../route.ts';
import { ERROR_PAGE_CODES, errorPage } from './error-page.ts';
import { plainQuery, themeOf } from './page-options.ts';
import { pageHeaders } from './page-policy.ts';

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
