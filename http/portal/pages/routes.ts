/**
 * Pages of the portal for people: signing, checking, placing marks; their assets; and the widget for other sites.
 * These routes change nothing and set no cookie.
 */
import type { PortalService } from '../../../actors/portal/api.ts';
import type { Clock } from '../../../runtime/index.ts';
import type { AnyRoute } from '../../core/router.ts';
import { homePageRoutes } from './home-page.ts';
import { marksRoutes } from './marks-page.ts';
import { portalAssetRoutes } from './portal-assets.ts';
import { signingRoutes } from './signing-page.ts';
import { validationPageRoutes } from './validation-page.ts';
import { widgetRoutes } from './widget.ts';

/** The part of the portal that the pages use. */
export type PageService = Pick<PortalService, 'signing' | 'validation' | 'marksSessions'>;

export function portalPageRoutes(
  service: PageService,
  clock: Pick<Clock, 'elapsed' | 'after'>,
): readonly AnyRoute[] {
  return [
    ...homePageRoutes(),
    ...signingRoutes(service.signing),
    ...validationPageRoutes(service.validation, clock),
    ...marksRoutes(service.marksSessions),
    ...widgetRoutes(),
    ...portalAssetRoutes(),
  ];
}
