/** Logo and stylesheet of an organization's pages. Nobody needs a key: both are shown to everybody who gets a link. */
import { z } from 'zod';
import type { BrandingService } from '../../../actors/portal/api.ts';
import { PortalRefusal } from '../../../machines/portal/portal-refusals.ts';
import { BRANDING } from '../../../web/pages/portal/page-frame.tsx';
import { asset, assetReply } from '../../core/asset.ts';
import type { AnyRoute } from '../../core/router.ts';
import { portalRoute } from '../route.ts';

const params = z.object({ id: z.string() });

export function brandingAssetRoutes(
  branding: Pick<BrandingService, 'logo' | 'stylesheet'>,
): readonly AnyRoute[] {
  return [
    portalRoute({
      method: 'GET',
      path: `${BRANDING}/{id}/logo`,
      group: 'Pages',
      summary: 'The logo on the pages of an organization.',
      description:
        'Part of the pages that everybody with a link sees, so it needs no key. 404 without a logo.',
      auth: 'anonymous',
      headers: ['if-none-match'],
      params,
      responses: { 200: 'asset' },
      refusals: ['NotFound'],
      async handle({ params: { id }, header }) {
        const logo = await branding.logo(id);
        if (logo === undefined) throw new PortalRefusal('NotFound');
        return assetReply(asset(logo.contentType, logo.bytes), header('if-none-match'));
      },
    }),
    portalRoute({
      method: 'GET',
      path: `${BRANDING}/{id}/colors.css`,
      group: 'Pages',
      summary: 'The colors of the pages of an organization.',
      description:
        'Part of the pages that everybody with a link sees, so it needs no key. 404 without colors.',
      auth: 'anonymous',
      headers: ['if-none-match'],
      params,
      responses: { 200: 'asset' },
      refusals: ['NotFound'],
      async handle({ params: { id }, header }) {
        const rules = await branding.stylesheet(id);
        if (rules === undefined) throw new PortalRefusal('NotFound');
        return assetReply(asset('text/css; charset=utf-8', rules), header('if-none-match'));
      },
    }),
  ];
}
