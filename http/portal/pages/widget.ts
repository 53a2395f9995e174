/**
 * `/widget.js`: the script with which other sites embed the signing page. A classic script and not a module, so that
 * it works in any page; see docs/embedding.md.
 */
import { type Asset, asset, assetReply } from '../../core/asset.ts';
import type { AnyRoute } from '../../core/router.ts';
import { portalRoute } from '../route.ts';
import { readScript } from './portal-assets.ts';

export function widgetRoutes(): readonly AnyRoute[] {
  let loading: Promise<Asset> | undefined;
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
      async handle({ header }) {
        loading ??= load();
        const reply = assetReply(await loading, header('if-none-match'));
        // Cross-origin isolated sites load only resources that permit it.
        return {
          ...reply,
          headers: [...(reply.headers ?? []), ['Cross-Origin-Resource-Policy', 'cross-origin']],
        };
      },
    }),
  ];
}

/** Wrapped in a function, so that its names do not collide with those of the page. */
async function load(): Promise<Asset> {
  const text = (await readScript('widget.js')).replace(/\bexport \{\};\s*$/, '');
  return asset('text/javascript; charset=utf-8', `(() => {\n${text}\n})();\n`);
}
