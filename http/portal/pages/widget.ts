/**
 * `/widget.js`: the script with which other sites embed the signing page. A classic script and not a module, so that
 * it works in any page; see docs/embedding.md.
 */
import { assetReply } from '../../core/asset.ts';
import { readAsset } from '../../core/page-assets.ts';
import type { AnyRoute } from '../../core/router.ts';
import { portalRoute } from '../route.ts';

export function widgetRoutes(): readonly AnyRoute[] {
  const widget = readAsset('portal', 'widget.js');
  return [
    portalRoute({
      method: 'GET',
      path: '/widget.js',
      group: 'Pages',
      summary: 'The script with which other applications show the signing page or the editor.',
      description: 'Shows the page of an `embedUrl` in a frame, and passes its messages on.',
      auth: 'anonymous',
      headers: ['if-none-match'],
      responses: { 200: 'asset' },
      refusals: [],
      handle({ header }) {
        const reply = assetReply(widget, header('if-none-match'));
        // Cross-origin isolated sites load only resources that permit it.
        return {
          ...reply,
          headers: [...(reply.headers ?? []), ['Cross-Origin-Resource-Policy', 'cross-origin']],
        };
      },
    }),
  ];
}
