/**
 * Pages of the portal for people: signing, checking, placing marks; their assets; and the widget for other sites.
 * Those for participants change nothing and set no cookie; users sign in to theirs.
 */
import type { PortalService } from '../../actors/portal/api.ts';
import type { AnyRoute } from '../core/router.ts';
import type { HttpProcess } from '../core/server.ts';
import { applicationPageRoutes } from './account/application-pages.ts';
import { brandingPageRoutes } from './account/branding-pages.ts';
import { organizationPageRoutes } from './account/organization-page.ts';
import { signInRoutes } from './account/sign-in-pages.ts';
import { userPageRoutes } from './account/user-pages.ts';
import { editorSessionPageRoutes } from './pages/editor-page.ts';
import { homePageRoutes } from './pages/home-page.ts';
import { marksRoutes } from './pages/marks-page.ts';
import { brandingAssetRoutes, portalAssetRoutes, widgetRoutes } from './pages/portal-assets.ts';
import { signingRoutes } from './pages/signing-page.ts';
import { validationPageRoutes } from './pages/validation-page.ts';
import { senderRoutes } from './sender/sender-pages.ts';
import { templatePageRoutes } from './sender/template-pages.ts';

/** The part of the portal that the pages use. */
export type PageService = Pick<
  PortalService,
  | 'signingPages'
  | 'validation'
  | 'marksSessions'
  | 'signIn'
  | 'administration'
  | 'webhooks'
  | 'mails'
  | 'users'
  | 'branding'
  | 'documents'
  | 'drafts'
  | 'templates'
  | 'idempotency'
  | 'editorSessions'
  | 'folders'
>;

export function portalPageRoutes(
  service: PageService,
  { clock, ids }: Pick<HttpProcess, 'clock' | 'ids'>,
): readonly AnyRoute[] {
  return [
    ...homePageRoutes(),
    ...signingRoutes(service.signingPages),
    ...validationPageRoutes(service.validation, clock),
    ...marksRoutes(service.marksSessions),
    ...brandingAssetRoutes(service.branding),
    ...widgetRoutes(),
    ...signInRoutes(service.signIn, clock),
    ...organizationPageRoutes(service, clock),
    ...applicationPageRoutes(service.administration, service.folders),
    ...brandingPageRoutes(service.branding),
    ...userPageRoutes(service.users),
    ...senderRoutes(service.documents, service.drafts, service.mails),
    ...templatePageRoutes({ ...service, ids }),
    ...editorSessionPageRoutes(service.editorSessions),
    ...portalAssetRoutes(),
  ];
}
