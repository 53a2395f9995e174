/**
 * Where a service describes itself: to programs at `/openapi/v1.json`, to people at `/scalar/v1`.
 *
 * Source: Batch Signing Service API, "Versioning" 2; batch-gaps §1 row 9 and §2 ("API document").
 */
import { z } from 'zod';
import type { PageLink } from '../pages/layout.ts';
import { json, page } from '../reply.ts';
import { type AnyRoute, type AuthPolicy, route } from '../router.ts';
import { type ApiFacts, describeApi, type OpenApiDocument } from './document.ts';
import { referencePage } from './reference-page.ts';

const DOCUMENT_PATH = '/openapi/v1.json';
const REFERENCE_PATH = '/scalar/v1';

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

/** How the reference page is framed, and who may see it. */
export interface ReferenceFrame {
  readonly links: readonly PageLink[];
  readonly auth: { readonly document: AuthPolicy; readonly page: AuthPolicy };
  /** Where the files of the page are. @default /assets */
  readonly assets?: string;
  /** Name of the header in which the page sends a key that is typed into it. @default none: it has a session */
  readonly keyHeader?: string;
}

/** For those who are logged in. */
export function operatorFrame(links: readonly PageLink[]): ReferenceFrame {
  return { links, auth: { document: 'operator', page: 'page' } };
}

/** The routes, with those that describe them all. */
export function withReference(
  routes: readonly AnyRoute[],
  facts: ApiFacts,
  framing: ReferenceFrame,
): readonly AnyRoute[] {
  let made: { readonly document: OpenApiDocument; readonly html: string } | undefined;
  // Made when somebody asks: a start need not wait for it.
  const describe = () => {
    if (made === undefined) {
      const document = describeApi(all, facts);
      const frame = { ...framing, path: REFERENCE_PATH, documentPath: DOCUMENT_PATH };
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
      auth: framing.auth.document,
      responses: { 200: documentShape },
      handle: () => json(200, describe().document),
    }),
    route({
      ...COMMON,
      path: REFERENCE_PATH,
      summary: 'This interface as a page to read, search and try.',
      auth: framing.auth.page,
      responses: { 200: 'page' },
      handle: () => page(200, describe().html),
    }),
  ];
  return all;
}
