/**
 * `/assets/{name}`: scripts and styles of the pages. The scripts are the compiled files of `client/`, sent as compiled;
 * each is a module that imports the others by name.
 */
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { Refusal } from '../../machines/refusals.ts';
import { type Asset, asset, assetReply } from './asset.ts';
import { clientScriptUrl, servedScript } from './client-scripts.ts';
import { ICON } from './icon.ts';
import { type AnyRoute, route } from './router.ts';

/**
 * Builds the routes of the assets.
 * @param scripts names of compiled files, with those that they import
 * @param styles name → content
 * @param at where they are, their group in the API description, and who may have them. @default `/assets`, for operators
 */
export function assetRoutes(
  scripts: readonly string[],
  styles: { readonly [name: string]: string },
  at: { readonly prefix: string; readonly group: string; readonly auth: 'operator' | 'anonymous' } = {
    prefix: '/assets',
    group: 'Pages',
    auth: 'operator',
  },
): readonly AnyRoute[] {
  const loaded = new Map<string, Asset>(
    Object.entries(styles).map(([name, text]) => [name, asset('text/css; charset=utf-8', text)]),
  );
  loaded.set('icon.svg', ICON);
  const find = (name: string): Asset | undefined => {
    const known = loaded.get(name);
    if (known !== undefined || !scripts.includes(name)) return known;
    const text = servedScript(readFileSync(clientScriptUrl('batch', name), 'utf8'));
    const found = asset('text/javascript; charset=utf-8', text);
    loaded.set(name, found);
    return found;
  };
  return [
    route({
      method: 'GET',
      path: `${at.prefix}/{name}`,
      group: at.group,
      summary: 'A script or style of the pages.',
      description: 'The name contains a digest of the content, so it may be cached permanently.',
      auth: at.auth,
      rate: 'none',
      bodyPolicy: 'none',
      headers: ['if-none-match'],
      params: z.object({ name: z.string() }),
      query: z.object({}),
      body: z.unknown(),
      unfit: {
        params: 'route.not-found',
        query: 'validation.filter-invalid',
        body: 'validation.body-invalid',
      },
      responses: { 200: 'asset' },
      refusals: ['route.not-found'],
      handle({ params, header }) {
        const found = find(params.name);
        if (found === undefined) throw new Refusal('route.not-found', 'The pages have no such part.');
        return assetReply(found, header('if-none-match'));
      },
    }),
  ];
}
