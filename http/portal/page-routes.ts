/**
 * Pages of the portal for people: signing, checking, placing marks; their assets; and the widget for other sites.
 * Those for participants change nothing and set no cookie; users sign in to theirs.
 */

import { z } from 'zod';
import type { MarksSessionService, PortalService } from '../../actors/portal/api.ts';
import { homePage } from '../../web/pages/portal/home-view.tsx';
import { textsFor } from '../../web/pages/portal/language.ts';
import { marksOverPage, marksPage } from '../../web/pages/portal/marks-view.tsx';
import { page } from '../core/reply.ts';
import type { AnyRoute } from '../core/router.ts';
import type { HttpProcess } from '../core/server.ts';
import { applicationPageRoutes } from './accounts/application-pages.ts';
import { brandingPageRoutes } from './accounts/branding-pages.ts';
import { organizationPageRoutes } from './accounts/organization-page.ts';
import { secondFactorRoutes } from './accounts/second-factor-pages.ts';
import { signInRoutes } from './accounts/sign-in-pages.ts';
import { userPageRoutes } from './accounts/user-pages.ts';
import { editorSessionPageRoutes } from './pages/editor-page.ts';
import { ERROR_PAGE_CODES, errorPage } from './pages/error-page.ts';
import { plainQuery, themeOf } from './pages/page-options.ts';
import { pageHeaders } from './pages/page-policy.ts';
import { brandingAssetRoutes, portalAssetRoutes, widgetRoutes } from './pages/portal-assets.ts';
import { signingRoutes } from './pages/signing-page.ts';
import { validationPageRoutes } from './pages/validation-page.ts';
import { portalRoute } from './route.ts';
import { bulkPageRoutes } from './sender/bulk-pages.ts';
import { senderRoutes } from './sender/sender-pages.ts';
import { templatePageRoutes } from './sender/template-pages.ts';

/**
 * `/position-marks/{id}`: the page of a marks session. Holders of its id have access for an hour.
 *
 * Source: docs/portal-values.md §20.
 */
function marksRoutes(sessions: MarksSessionService): readonly AnyRoute[] {
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
function homePageRoutes(): readonly AnyRoute[] {
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

/** The part of the portal that the pages use. */
export type PageService = Pick<
  PortalService,
  | 'signing'
  | 'signingPages'
  | 'validation'
  | 'marksSessions'
  | 'signIn'
  | 'userSessions'
  | 'secondFactors'
  | 'providerSignIn'
  | 'administration'
  | 'webhooks'
  | 'mails'
  | 'users'
  | 'branding'
  | 'documents'
  | 'senderOverview'
  | 'drafts'
  | 'templates'
  | 'idempotency'
  | 'editorSessions'
  | 'folders'
  | 'generations'
>;

export function portalPageRoutes(
  service: PageService,
  {
    clock,
    ids,
    nodes,
    providers,
  }: Pick<HttpProcess, 'clock' | 'ids' | 'nodes'> & {
    /** Identity providers of organizations. @default none */
    providers?: Parameters<typeof signInRoutes>[1]['providers'];
  },
): readonly AnyRoute[] {
  return [
    ...homePageRoutes(),
    ...signingRoutes(service.signingPages, clock),
    ...validationPageRoutes(service.validation, clock),
    ...marksRoutes(service.marksSessions),
    ...brandingAssetRoutes(service.branding),
    ...widgetRoutes(),
    ...signInRoutes(
      {
        signIn: service.signIn,
        sessions: service.userSessions,
        providerSignIn: service.providerSignIn,
        factors: service.secondFactors,
      },
      { providers, clock, nodes },
    ),
    ...secondFactorRoutes({
      factors: service.secondFactors,
      administration: service.administration,
      signIn: service.signIn,
    }),
    ...organizationPageRoutes(service, clock),
    ...applicationPageRoutes(service.administration, service.folders, clock),
    ...brandingPageRoutes(service),
    ...userPageRoutes(service.users, service.userSessions, service.secondFactors, service.administration),
    ...senderRoutes(service, clock),
    ...templatePageRoutes({ ...service, ids }),
    ...bulkPageRoutes({ ...service, ids }),
    ...editorSessionPageRoutes(service.editorSessions),
    ...portalAssetRoutes(),
  ];
}
