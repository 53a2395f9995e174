/**
 * `/assets/{name}`: scripts and styles of the pages, as the build bundles them: one script for each page.
 *
 * Source: web/README.md.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { z } from 'zod';
import { shown } from '../../contracts/fields.ts';
import { Refusal } from '../../machines/refusals.ts';
import { type Asset, asset, assetReply } from './asset.ts';
import { ICON } from './icon.ts';
import { type AnyRoute, PLAIN_GET, route } from './router.ts';

/** Media types of the bundles. */
const TYPES: { readonly [extension: string]: string } = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  woff2: 'font/woff2',
};

/** Folder of the bundled scripts and styles, which the build makes (`scripts/bundle.mjs`). */
export const PAGE_ASSETS = new URL('../../web/assets/', import.meta.url);

/** Names of the scripts, styles and fonts of a service. The source maps beside them are for developers. */
export function assetNames(service: 'batch' | 'portal'): readonly string[] {
  return readdirSync(new URL(service, PAGE_ASSETS)).filter((name) => /\.(js|css|woff2)$/.test(name));
}

/** @param name one of `assetNames`, never a client's text */
export function readAsset(service: 'batch' | 'portal', name: string): Asset {
  const extension = name.slice(name.lastIndexOf('.') + 1);
  const bytes = readFileSync(new URL(`${service}/${name}`, PAGE_ASSETS));
  return asset(TYPES[extension] ?? '', extension === 'woff2' ? bytes : bytes.toString());
}

/**
 * Builds the routes of the assets of `batch`.
 * @param names the files that are served. @default all
 * @param at where they are, their group in the API description, and who may have them. @default `/assets`, for operators
 */
export function assetRoutes(
  names: readonly string[] = assetNames('batch'),
  at: { readonly prefix: string; readonly group: string; readonly auth: 'operator' | 'anonymous' } = {
    prefix: '/assets',
    group: 'Pages',
    auth: 'operator',
  },
): readonly AnyRoute[] {
  const loaded = new Map<string, Asset>([['icon.svg', ICON]]);
  const find = (name: string): Asset | undefined => {
    const known = loaded.get(name);
    if (known !== undefined || !names.includes(name)) return known;
    const found = readAsset('batch', name);
    loaded.set(name, found);
    return found;
  };
  return [
    route({
      ...PLAIN_GET,
      path: `${at.prefix}/{name}`,
      group: at.group,
      summary: 'A script or style of the pages.',
      description:
        'Loaded by the pages. A browser that has it asks with `If-None-Match` whether it has changed.',
      auth: at.auth,
      headers: ['if-none-match'],
      params: z.object({
        name: shown(z.string(), 'Name of the file, as the page has it.', 'icon.svg'),
      }),
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
