/**
 * `/widget.js`: the script with which other sites show the signing page. A plain script and not a module, so that it
 * works in any page; see docs/embedding.md.
 */
import { type Asset, asset, assetReply } from '../../asset.ts';
import type { AnyRoute } from '../../router.ts';
import { portalRoute } from '../route.ts';
import { readScript } from './portal-assets.ts';

export function widgetRoutes(): readonly AnyRoute[] {
  let loading: Promise<Asset> | undefined;
  return [
    portalRoute({
      method: 'GET',
      path: '/widget.js',
      summary: 'The script with which other sites show the signing page.',
      auth: 'anonymous',
      headers: ['if-none-match'],
      responses: { 200: 'asset' },
      refusals: [],
      async handle({ header }) {
        loading ??= load();
        const reply = assetReply(await loading, header('if-none-match'));
        // Sites that isolate themselves load nothing from elsewhere that does not allow it.
        return {
          ...reply,
          headers: [...(reply.headers ?? []), ['Cross-Origin-Resource-Policy', 'cross-origin']],
        };
      },
    }),
  ];
}

/** Wrapped, so that its names do not meet those of the page. */
async function load(): Promise<Asset> {
  const text = (await readScript('widget.js')).replace(/\bexport \{\};\s*$/, '');
  return asset('text/javascript; charset=utf-8', `(() => {\n${text}\n})();\n`);
}
