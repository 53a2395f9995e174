/**
 * Where a service describes itself: to programs at `/openapi/v1.json`, to people at `/scalar/v1`.
 *
 * Source: Batch Signing Service API, "Versioning" 2; batch-gaps §1 row 9 and §2 ("API document").
 */
import { z } from 'zod';
import type { PageLink } from '../pages/layout.ts';
import { json, page } from '../reply.ts';
import { type AnyRoute, route } from '../router.ts';
import { type ApiFacts, describeApi, type OpenApiDocument } from './document.ts';
import { referencePage } from './reference-page.ts';

export const DOCUMENT_PATH = '/openapi/v1.json';
export const REFERENCE_PATH = '/scalar/v1';

const COMMON = {
  method: 'GET',
  rate: 'none',
  bodyPolicy: 'none',
  headers: [],
  params: z.object({}),
  query: z.object({}),
  body: z.unknown(),
  unfit: { params: 'route.not-found', query: 'validation.filter-invalid', body: 'validation.body-invalid' },
  refusals: [],
} as const;

const documentShape = z
  .looseObject({ openapi: z.literal('3.1.1') })
  .meta({ description: 'An OpenAPI document: this one.' });

/** The routes, with those that describe them all. @param links of the reference page's frame */
export function withReference(
  routes: readonly AnyRoute[],
  facts: ApiFacts,
  links: readonly PageLink[],
): readonly AnyRoute[] {
  let made: { readonly document: OpenApiDocument; readonly html: string } | undefined;
  // Made when somebody asks: a start need not wait for it.
  const describe = () => {
    if (made === undefined) {
      const document = describeApi(all, facts);
      const frame = { path: REFERENCE_PATH, links, documentPath: DOCUMENT_PATH };
      made = { document, html: referencePage(document, frame) };
    }
    return made;
  };
  const all: readonly AnyRoute[] = [
    ...routes,
    route({
      ...COMMON,
      path: DOCUMENT_PATH,
      summary: 'This interface as an OpenAPI document.',
      auth: 'operator',
      responses: { 200: documentShape },
      handle: () => json(200, describe().document),
    }),
    route({
      ...COMMON,
      path: REFERENCE_PATH,
      summary: 'This interface as a page to read, search and try.',
      auth: 'page',
      responses: { 200: 'page' },
      handle: () => page(200, describe().html),
    }),
  ];
  return all;
}
