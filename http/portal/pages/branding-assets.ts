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
  /** @param read returns the asset of an organization; undefined where it has none */
  const route = (
    name: string,
    what: string,
    summary: string,
    read: (id: string) => Promise<ReturnType<typeof asset> | undefined>,
  ) =>
    portalRoute({
      method: 'GET',
      path: `${BRANDING}/{id}/${name}`,
      group: 'Pages',
      summary,
      description: `Part of the pages that everybody with a link sees, so it needs no key. 404 without ${what}.`,
      auth: 'anonymous',
      headers: ['if-none-match'],
      params,
      responses: { 200: 'asset' },
      refusals: ['NotFound'],
      async handle({ params: { id }, header }) {
        const found = await read(id);
        if (found === undefined) throw new PortalRefusal('NotFound');
        return assetReply(found, header('if-none-match'));
      },
    });
  return [
    route('logo', 'a logo', 'The logo on the pages of an organization.', async (id) => {
      const logo = await branding.logo(id);
      return logo && asset(logo.contentType, logo.bytes);
    }),
    route('colors.css', 'colors', 'The colors of the pages of an organization.', async (id) => {
      const rules = await branding.stylesheet(id);
      return rules === undefined ? undefined : asset('text/css; charset=utf-8', rules);
    }),
  ];
}
