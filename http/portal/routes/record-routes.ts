/** The five operations that saved flows, drafts and templates have in common. */

import { z } from 'zod';
import type { IdempotentRequests, Tenant } from '../../../actors/portal/api.ts';
import { members } from '../../../contracts/fields.ts';
import { type Page, pageOf, paging, queryText } from '../../../contracts/portal/lists.ts';
import type { PortalRefusalCode } from '../../../machines/portal/portal-refusals.ts';
import { fingerprintOf } from '../../core/body/json-body.ts';
import { json } from '../../core/reply.ts';
import type { AnyRoute } from '../../core/router.ts';
import { IDEMPOTENCY_HEADER, idempotencyKeyOf, withIdempotency } from '../idempotency.ts';
import { idParams } from '../input/ids.ts';
import { DONE, portalRoute } from '../route.ts';
import { pageBody } from '../shapes/shared-shapes.ts';

/** Query of every list of records. */
export const recordQuery = { q: queryText.describe('Names contain this text, in any case.'), ...paging };

type RecordQuery = z.infer<z.ZodObject<typeof recordQuery>>;

/** Differences between the descriptions of operations. */
type OperationTexts = Pick<AnyRoute, 'summary' | 'description' | 'examples'>;

export interface RecordRoutes<Item, View, Body, Query extends RecordQuery, Version> {
  readonly path: string;
  /** Group in the API description. */
  readonly group: string;
  readonly texts: Readonly<Record<'list' | 'create' | 'get' | 'replace' | 'remove', OperationTexts>>;
  readonly body: z.ZodType<Body>;
  readonly largeBody: string;
  readonly notFound: PortalRefusalCode;
  /** Codes of what is not kept. */
  readonly notSaved: readonly PortalRefusalCode[];
  /** Codes of a record that cannot be changed now. */
  readonly fixed: readonly PortalRefusalCode[];
  readonly item: { readonly shape: z.ZodType; body(item: Item): object };
  readonly view: { readonly shape: z.ZodType; body(view: View): object };
  readonly listQuery: z.ZodType<Query>;
  /** Filters and order that a cursor is for. @default the list has no cursors */
  cursorFilter?(query: Query): object;
  /** Query of the operation that reads one record, and its codes. */
  readonly getQuery: z.ZodType<Version>;
  readonly notRead: readonly PortalRefusalCode[];
  /** Requests that may have an idempotency key. */
  readonly requests: IdempotentRequests;
  /** True: each replacement stays, so that requests for one may have an idempotency key too. @default false */
  readonly keepsReplacements?: boolean;
  readonly records: {
    list(tenant: Tenant, query: Query & { readonly newestFirst: boolean }): Promise<Page<Item>>;
    /** @param seed of a request that may be executed again */
    create(tenant: Tenant, body: Body, seed?: string): Promise<Item>;
    get(tenant: Tenant, id: string, query: Version): Promise<View>;
    /** @param request names the request, for `keepsReplacements` */
    replace(tenant: Tenant, id: string, body: Body, request?: string): Promise<unknown>;
    remove(tenant: Tenant, id: string): Promise<void>;
  };
}

/** Query of records of which there is one version. */
export const noQuery = z.object({});

export function recordRoutes<Item, View, Body, Query extends RecordQuery, Version>(
  definition: RecordRoutes<Item, View, Body, Query, Version>,
): readonly AnyRoute[] {
  const { path, group, texts, body, largeBody, notFound, notSaved, fixed, item, view, records } = definition;
  const { requests, keepsReplacements = false } = definition;
  const one = `${path}/{id}`;
  return [
    portalRoute({
      method: 'GET',
      path,
      group,
      ...texts.list,
      scope: 'Read',
      query: definition.listQuery,
      responses: { 200: pageOf(item.shape) },
      refusals: [],
      async handle({ tenant, query }) {
        const newestFirst = query.order === 'Desc';
        const page = await records.list(tenant, { ...query, newestFirst });
        return json(200, pageBody(page, item.body, definition.cursorFilter?.(query) ?? {}));
      },
    }),
    portalRoute({
      method: 'POST',
      path,
      group,
      ...texts.create,
      scope: 'Create',
      headers: [IDEMPOTENCY_HEADER],
      ...{ body, largeBody },
      responses: { 200: item.shape },
      refusals: [...notSaved, 'IdempotencyConflict'],
      async handle({ tenant, body: given, fingerprint, header }) {
        const key = idempotencyKeyOf(header(IDEMPOTENCY_HEADER));
        const request = { route: `POST ${path}`, key, fingerprint: key ? fingerprint() : '' };
        const made = await withIdempotency(requests, tenant, request, async (seed) =>
          item.body(await records.create(tenant, given, seed)),
        );
        return json(200, made);
      },
    }),
    portalRoute({
      method: 'GET',
      path: one,
      group,
      ...texts.get,
      scope: 'Read',
      params: idParams,
      query: definition.getQuery,
      responses: { 200: view.shape },
      refusals: [notFound, ...definition.notRead],
      async handle({ tenant, params, query }) {
        return json(200, view.body(await records.get(tenant, params.id.toLowerCase(), query)));
      },
    }),
    portalRoute({
      method: 'PUT',
      path: one,
      group,
      ...texts.replace,
      scope: 'Create',
      headers: keepsReplacements ? [IDEMPOTENCY_HEADER] : [],
      params: idParams,
      ...{ body, largeBody },
      responses: { 200: 'empty' },
      refusals: [
        notFound,
        ...fixed,
        ...notSaved,
        ...(keepsReplacements ? (['IdempotencyConflict'] as const) : []),
      ],
      async handle({ tenant, params, body: given, fingerprint, header }) {
        const id = params.id.toLowerCase();
        const replace = async (seed?: string) => {
          await records.replace(tenant, id, given, seed);
          return null;
        };
        const key = keepsReplacements ? idempotencyKeyOf(header(IDEMPOTENCY_HEADER)) : undefined;
        const sent = key ? fingerprintOf([id, fingerprint()]) : '';
        await withIdempotency(requests, tenant, { route: `PUT ${one}`, key, fingerprint: sent }, replace);
        return DONE;
      },
    }),
    portalRoute({
      method: 'DELETE',
      path: one,
      group,
      ...texts.remove,
      scope: 'Create',
      params: idParams,
      responses: { 200: 'empty' },
      refusals: [notFound, ...fixed],
      async handle({ tenant, params }) {
        await records.remove(tenant, params.id.toLowerCase());
        return DONE;
      },
    }),
  ];
}

/** Schema of the query of a list. */
export const recordListQuery = members(recordQuery);
