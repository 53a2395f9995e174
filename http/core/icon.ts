/** Icon of all pages. */
import { asset, assetReply } from './asset.ts';
import { type AnyRoute, PLAIN_GET, route } from './router.ts';

/** A disc with a check mark. */
export const ICON_SVG = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><circle cx="16" cy="16" r="15" fill="#1b5fb4"/>
<path d="M9 16.5l5 5 9-10" fill="none" stroke="#fff" stroke-width="3.5" stroke-linecap="round"/></svg>
`;

export const ICON = asset('image/svg+xml', ICON_SVG);

/** `/favicon.ico`, which browsers request by themselves. */
export const FAVICON_ROUTE: AnyRoute = route({
  ...PLAIN_GET,
  path: '/favicon.ico',
  group: 'Pages',
  summary: 'The icon of the pages, as SVG.',
  description: 'Open to anyone, because browsers request it for every page, without credentials.',
  auth: 'anonymous',
  headers: ['if-none-match'],
  responses: { 200: 'asset' },
  handle: ({ header }) => assetReply(ICON, header('if-none-match')),
});
