/**
 * The pages of the portal for people: signing, checking, placing marks; what these load; and the widget that others
 * put on their own pages. Nothing here changes anything, and nothing sets a cookie.
 */
import type { PortalService } from '../../../actors/portal/api.ts';
import type { Clock } from '../../../runtime/index.ts';
import type { AnyRoute } from '../../router.ts';
import { checkRoutes } from './check.ts';
import { marksRoutes } from './marks.ts';
import { portalAssetRoutes } from './portal-assets.ts';
import { signingRoutes } from './signing.ts';
import { widgetRoutes } from './widget.ts';

/** The part of the portal that pages ask. */
export type PageService = Pick<PortalService, 'signing' | 'validation' | 'marksSessions'>;

export function portalPageRoutes(
  service: PageService,
  clock: Pick<Clock, 'elapsed' | 'after'>,
): readonly AnyRoute[] {
  return [
    ...signingRoutes(service.signing),
    ...checkRoutes(service.validation, clock),
    ...marksRoutes(service.marksSessions),
    ...widgetRoutes(),
    ...portalAssetRoutes(),
  ];
}
