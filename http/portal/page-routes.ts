/**
 * Pages of the portal for people: signing, checking, placing marks; their assets; and the widget for other sites.
 * Those for participants change nothing and set no cookie, but for signatures at a provider; users sign in to theirs.
 */

import type { PortalService } from '../../actors/portal/api.ts';
import type { AnyRoute } from '../core/router.ts';
import type { HttpProcess } from '../core/server.ts';
import { applicationPageRoutes } from './accounts/application-pages.ts';
import { brandingPageRoutes } from './accounts/branding-pages.ts';
import { organizationPageRoutes } from './accounts/organization-page.ts';
import { secondFactorRoutes } from './accounts/second-factor-pages.ts';
import { signInRoutes } from './accounts/sign-in-pages.ts';
import { signingProviderPageRoutes } from './accounts/signing-provider-pages.ts';
import { userPageRoutes } from './accounts/user-pages.ts';
import { deputiesPageRoutes } from './pages/deputies-page.ts';
import { editorSessionPageRoutes } from './pages/editor-page.ts';
import { herePageRoutes } from './pages/here-page.ts';
import { homePageRoutes, marksRoutes } from './pages/open-pages.ts';
import { passingOnPageRoutes } from './pages/passing-on-page.ts';
import { brandingAssetRoutes, portalAssetRoutes, widgetRoutes } from './pages/portal-assets.ts';
import { providerSigningRoutes } from './pages/provider-signing-page.ts';
import { publicLinkPageRoutes } from './pages/public-link-page.ts';
import { signingRoutes } from './pages/signing-page.ts';
import { validationPageRoutes } from './pages/validation-page.ts';
import { waitingPageRoutes } from './pages/waiting-page.ts';
import { bulkPageRoutes } from './sender/bulk-pages.ts';
import { linkPageRoutes } from './sender/link-pages.ts';
import { senderRoutes } from './sender/sender-pages.ts';
import { templatePageRoutes } from './sender/template-pages.ts';

/** The part of the portal that the pages use. */
export type PageService = Pick<
  PortalService,
  | 'signing'
  | 'signingPages'
  | 'providerSigning'
  | 'validation'
  | 'marksSessions'
  | 'signIn'
  | 'userSessions'
  | 'secondFactors'
  | 'providerSignIn'
  | 'administration'
  | 'webhooks'
  | 'signingProviders'
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
  | 'retention'
  | 'legalHolds'
  | 'erasures'
  | 'generations'
  | 'linkVisits'
  | 'publicLinks'
  | 'linkDevices'
  | 'waiting'
  | 'deputies'
  | 'deputySigning'
>;

export function portalPageRoutes(
  service: PageService,
  {
    clock,
    ids,
    nodes,
    providers,
    used = { use: async () => false },
  }: Pick<HttpProcess, 'clock' | 'ids' | 'nodes'> & {
    /** Identity providers of organizations. @default none */
    providers?: Parameters<typeof signInRoutes>[1]['providers'];
    /** Keeps answers of signing providers that are used up. @default no answer counts */
    used?: Parameters<typeof providerSigningRoutes>[2]['used'];
  },
): readonly AnyRoute[] {
  return [
    ...homePageRoutes(),
    ...signingRoutes(service.signingPages, clock),
    ...providerSigningRoutes(service.providerSigning, clock, { nodes, used }),
    ...validationPageRoutes(service.validation, clock),
    ...marksRoutes(service.marksSessions),
    ...passingOnPageRoutes(service),
    ...waitingPageRoutes(service.waiting),
    ...deputiesPageRoutes({ deputies: service.deputies, acts: service.deputySigning }),
    ...publicLinkPageRoutes(service.linkVisits, ids),
    ...herePageRoutes({ ...service, ids }),
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
    ...signingProviderPageRoutes(service.signingProviders, clock),
    ...applicationPageRoutes(service.administration, service.folders, clock),
    ...brandingPageRoutes(service),
    ...userPageRoutes(service.users, service.userSessions, service.secondFactors, service.administration),
    ...senderRoutes(service, clock),
    ...templatePageRoutes({ ...service, ids }),
    ...bulkPageRoutes({ ...service, ids }),
    ...linkPageRoutes({ ...service, ids }),
    ...editorSessionPageRoutes(service.editorSessions),
    ...portalAssetRoutes(),
  ];
}
