/**
 * Routes of the API description: `/openapi/v1.json` for programs, `/scalar/v1` for people.
 *
 * Source: docs/batch-values.md §0, §1 row 9 and §2.
 */
import { z } from 'zod';
import { ACCESS_SCOPES, type AccessScope } from '../../../contracts/batch/access.ts';
import type { LinkGroup } from '../../../web/pages/batch/layout.tsx';
import { cachedJson, type JsonReply, page } from '../reply.ts';
import { type AnyRoute, type AuthPolicy, PLAIN_GET, route } from '../router.ts';
import { type ApiDescription, describeApi } from './document.ts';
import { referencePage } from './reference-page.ts';

const DOCUMENT_PATH = '/openapi/v1.json';
const REFERENCE_PATH = '/scalar/v1';

const documentShape = z
  .looseObject({ openapi: z.literal('3.1.1').describe('Version of the specification.') })
  .meta({ description: 'An OpenAPI document: this one.' });

/** Frame and access rule of the reference page. */
export interface ReferenceFrame {
  readonly groups: readonly LinkGroup[];
  readonly auth: { readonly document: AuthPolicy; readonly page: AuthPolicy };
  /** URL prefix of the page's assets. @default /assets */
  readonly assets?: string;
  /** Name of the header in which the page sends an API key. @default none: the page uses the session */
  readonly keyHeader?: string;
}

/** For callers with a session. */
export function operatorFrame(groups: readonly LinkGroup[]): ReferenceFrame {
  return { groups, auth: { document: 'operator', page: 'page' } };
}

/** Returns the routes, with those of the description added. */
export function withReference(
  routes: readonly AnyRoute[],
  description: ApiDescription,
  framing: ReferenceFrame,
): readonly AnyRoute[] {
  let document: JsonReply | undefined;
  /** The page by the scopes of the reader. */
  const pages = new Map<string, string>();
  // Built on the first request, so that it does not delay the start.
  const describe = () => {
    document ??= cachedJson(200, describeApi(all, description));
    return document;
  };
  const pageFor = (given: readonly AccessScope[] | undefined) => {
    const scopes = given && ACCESS_SCOPES.filter((scope) => given.includes(scope));
    const key = scopes?.join() ?? '*';
    const frame = { ...framing, path: REFERENCE_PATH, documentPath: DOCUMENT_PATH, scopes };
    const known = pages.get(key) ?? referencePage(describeApi(all, description), frame);
    pages.set(key, known);
    return known;
  };
  const all: readonly AnyRoute[] = [
    ...routes,
    route({
      ...PLAIN_GET,
      group: 'Description',
      path: DOCUMENT_PATH,
      summary: 'This interface as an OpenAPI document.',
      description: 'Built from the route table of the running service.',
      auth: framing.auth.document,
      responses: { 200: documentShape },
      // Encoded once: a quarter of a megabyte takes tens of milliseconds.
      handle: describe,
    }),
    route({
      ...PLAIN_GET,
      group: 'Description',
      path: REFERENCE_PATH,
      summary: 'This interface as a page to read, search and try.',
      description: 'Loads nothing from other hosts.',
      auth: framing.auth.page,
      responses: { 200: 'page' },
      handle: ({ identity }) => page(200, pageFor(identity?.scopes)),
    }),
  ];
  return all;
}
