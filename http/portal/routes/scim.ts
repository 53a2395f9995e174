/**
 * `/scim/v2`: users and groups for the identity service of an organization. Not part of the API description: clients of
 * SCIM read the documents that these routes serve.
 *
 * Source: RFC 7644; docs/decisions/0278-provisioning.md.
 */
import { z } from 'zod';
import {
  attributesOn,
  CORE,
  type Expected,
  entityTag,
  GROUP,
  MAX_PAGE,
  MESSAGES,
  metaOf,
  type Provisioning,
  RESOURCE_TYPES,
  type ResourceType,
  ScimRefusal,
  type ScimResource,
  schemaDocuments,
} from '../../../actors/portal/api.ts';
import type { Method } from '../../../contracts/operation.ts';
import type { OrganizationId } from '../../../machines/ids.ts';
import type { Problem } from '../../core/problem.ts';
import type { EmptyReply, JsonReply, ReplyHeaders } from '../../core/reply.ts';
import type { AnyRoute } from '../../core/router.ts';
import { portalRoute } from '../route.ts';

const BASE = '/scim/v2';
const CONTENT_TYPE = 'application/scim+json; charset=utf-8';
const DEFAULT_COUNT = 100;
/** Numbers beyond it are as good as it. */
const MAX_NUMBER = 1_000_000_000;

const anyId = z.object({ id: z.string() });
const text = z.string().optional();
const query = z.object({
  filter: text,
  startindex: text,
  count: text,
  attributes: text,
  excludedattributes: text,
});
type Query = z.infer<typeof query>;

interface Asked {
  readonly organization: OrganizationId;
  readonly id: string;
  readonly query: Query;
  readonly body: object;
  header(name: string): string;
}

/** Error replies. Source: RFC 7644 §3.12. */
const PROBLEMS = {
  challenge: 'Bearer realm="scim"',
  contentType: CONTENT_TYPE,
  body: ({ status, detail }: Problem) =>
    errorBody(status, detail, status === 400 ? 'invalidSyntax' : undefined),
};

function errorBody(status: number, detail: string, scimType: string | undefined): object {
  return { schemas: [`${MESSAGES}Error`], status: String(status), ...(scimType && { scimType }), detail };
}

function reply(status: number, body: object, headers: ReplyHeaders = []): JsonReply {
  return { kind: 'json', status, body, contentType: CONTENT_TYPE, headers };
}

export function scimRoutes(provisioning: Provisioning, publicUrl: () => string): readonly AnyRoute[] {
  const address = ({ type, id }: Pick<ScimResource, 'type' | 'id'>) =>
    `${publicUrl()}${BASE}${type.endpoint}/${id}`;
  const shown = (resource: ScimResource, asked: Query) => {
    const { type, id, attributes } = resource;
    const schemas = [
      type.schema,
      ...(type.extension && type.extension in attributes ? [type.extension] : []),
    ];
    const meta = { ...metaOf(resource), location: address(resource) };
    return { schemas, ...projected(type, { id, ...attributes, meta }, asked) };
  };
  const one = (status: number, resource: ScimResource, asked: Query): JsonReply => {
    const headers: [string, string][] = [['ETag', entityTag(resource)]];
    if (status === 201) headers.push(['Location', address(resource)]);
    return reply(status, shown(resource, asked), headers);
  };
  const resources = RESOURCE_TYPES.flatMap((type) => [
    scimRoute('GET', type.endpoint, async ({ organization, query: asked }) => {
      const startIndex = Math.max(1, numberOf(asked.startindex, 1, 'startIndex'));
      const count = Math.min(MAX_PAGE, numberOf(asked.count, DEFAULT_COUNT, 'count'));
      const { filter } = asked;
      const page = await provisioning.list(organization, type, { filter, skip: startIndex - 1, count });
      return reply(
        200,
        listOf(
          page.resources.map((resource) => shown(resource, asked)),
          page.total,
          startIndex,
        ),
      );
    }),
    scimRoute('POST', type.endpoint, async ({ organization, body, query: asked }) =>
      one(201, await provisioning.create(organization, type, body), asked),
    ),
    scimRoute('GET', `${type.endpoint}/{id}`, async ({ organization, id, query: asked, header }) => {
      const found = await provisioning.get(organization, type, id);
      if (tagsIn(header('if-none-match'))?.includes(entityTag(found)))
        return { kind: 'empty', status: 304, headers: [['ETag', entityTag(found)]] };
      return one(200, found, asked);
    }),
    scimRoute('PUT', `${type.endpoint}/{id}`, async ({ organization, id, body, query: asked, header }) =>
      one(
        200,
        await provisioning.replace(organization, type, {
          id,
          given: body,
          expected: tagsIn(header('if-match')),
        }),
        asked,
      ),
    ),
    scimRoute('PATCH', `${type.endpoint}/{id}`, async ({ organization, id, body, query: asked, header }) => {
      const changed = await provisioning.patch(organization, type, {
        id,
        given: body,
        expected: tagsIn(header('if-match')),
      });
      // Groups are large, and their members are not asked for.
      if (type === GROUP && asked.attributes === undefined)
        return { kind: 'empty', status: 204, headers: [['ETag', entityTag(changed)]] };
      return one(200, changed, asked);
    }),
    scimRoute('DELETE', `${type.endpoint}/{id}`, async ({ organization, id, header }) => {
      await provisioning.remove(organization, type, id, tagsIn(header('if-match')));
      return { kind: 'empty', status: 204 };
    }),
  ]);
  return [
    ...resources,
    scimRoute('GET', '/ServiceProviderConfig', () => reply(200, configuration(publicUrl()))),
    ...documentRoutes('/Schemas', () =>
      schemaDocuments().map((document) => ({
        ...document,
        meta: { resourceType: 'Schema', location: `${publicUrl()}${BASE}/Schemas/${document.id}` },
      })),
    ),
    ...documentRoutes('/ResourceTypes', () => RESOURCE_TYPES.map((type) => resourceType(type, publicUrl()))),
  ];
}

/** A list of documents, and each by its id. */
function documentRoutes(
  path: string,
  documents: () => readonly { readonly id: string }[],
): readonly AnyRoute[] {
  return [
    scimRoute('GET', path, () => {
      const all = documents();
      return reply(200, listOf(all, all.length, 1));
    }),
    scimRoute('GET', `${path}/{id}`, ({ id }) => {
      const found = documents().find((document) => document.id === id);
      if (found === undefined) throw new ScimRefusal(404, 'Nothing has this id.');
      return reply(200, found);
    }),
  ];
}

function scimRoute(
  method: Method,
  path: string,
  handle: (asked: Asked) => JsonReply | EmptyReply | Promise<JsonReply | EmptyReply>,
): AnyRoute {
  const takesBody = method === 'POST' || method === 'PUT' || method === 'PATCH';
  return portalRoute<{ id?: string }, Query, unknown>({
    method,
    path: `${BASE}${path}`,
    group: 'Provisioning',
    auth: 'provisioning',
    problems: PROBLEMS,
    summary: `SCIM: ${method} ${path}.`,
    description: 'For the identity service of an organization.',
    ...(path.includes('{id}') && { params: anyId }),
    query,
    ...(takesBody && { body: z.unknown() }),
    headers: ['if-match', 'if-none-match'],
    responses: { 200: z.unknown() },
    refusals: [],
    async handle({ tenant, params, query: asked, body, header }) {
      try {
        const organization = tenant.organization.id;
        return await handle({ organization, id: params.id ?? '', query: asked, body: Object(body), header });
      } catch (error) {
        if (!(error instanceof ScimRefusal)) throw error;
        const { status, message, scimType } = error;
        return { ...reply(status, errorBody(status, message, scimType)), ascii: true };
      }
    },
  });
}

function listOf(items: readonly object[], total: number, startIndex: number): object {
  return {
    schemas: [`${MESSAGES}ListResponse`],
    totalResults: total,
    startIndex,
    itemsPerPage: items.length,
    Resources: items,
  };
}

/** A number of items; below 0 it is 0. Refusals: `invalidValue`. */
function numberOf(given: string | undefined, otherwise: number, name: string): number {
  if (given === undefined) return otherwise;
  if (!/^[+-]?\d{1,15}$/.test(given))
    throw new ScimRefusal(400, `${name} must be a whole number.`, 'invalidValue');
  return Math.min(MAX_NUMBER, Math.max(0, Number(given)));
}

/** Entity tags of a condition; undefined = there is none. */
function tagsIn(header: string): Expected {
  if (header.trim() === '') return undefined;
  return header.split(',').map((tag) => {
    const given = tag.trim();
    return given === '*' || given.startsWith('W/') ? given : `W/${given}`;
  });
}

/** The members that a request asks for; the id always is one. Source: RFC 7644 §3.9. */
function projected(
  type: ResourceType,
  resource: { readonly id: string; readonly [name: string]: unknown },
  { attributes, excludedattributes }: Query,
): object {
  const { id } = resource;
  if (attributes !== undefined) {
    let kept: { [name: string]: unknown } = {};
    for (const names of pathsIn(type, attributes)) kept = copied(resource, names, kept);
    return { ...kept, id };
  }
  if (excludedattributes === undefined) return resource;
  return { ...pathsIn(type, excludedattributes).reduce<object>(without, resource), id };
}

function pathsIn(type: ResourceType, list: string): readonly (readonly string[])[] {
  return list
    .split(',')
    .slice(0, 100)
    .flatMap((path) => {
      const found = attributesOn(type, path.trim());
      return found === undefined ? [] : [found.map(({ name }) => name)];
    });
}

type Members = { readonly [name: string]: unknown };

/** `into` with what is at a path of `from`. */
function copied(from: Members, [name = '', ...below]: readonly string[], into: Members): Members {
  const value = from[name];
  if (value === undefined) return into;
  if (below.length === 0) return { ...into, [name]: value };
  const before = into[name];
  const inner = Array.isArray(value)
    ? value.map((one, index) => copied(one, below, Array.isArray(before) ? before[index] : {}))
    : copied(value as Members, below, (before as Members | undefined) ?? {});
  return { ...into, [name]: inner };
}

function without(from: object, [name = '', ...below]: readonly string[]): object {
  const { [name]: value, ...rest } = from as Members;
  if (value === undefined || below.length === 0) return rest;
  const inner = Array.isArray(value)
    ? value.map((one) => without(one, below))
    : without(value as Members, below);
  return { ...rest, [name]: inner };
}

function configuration(url: string): object {
  return {
    schemas: [`${CORE}ServiceProviderConfig`],
    patch: { supported: true },
    bulk: { supported: false, maxOperations: 0, maxPayloadSize: 0 },
    filter: { supported: true, maxResults: MAX_PAGE },
    changePassword: { supported: false },
    sort: { supported: false },
    etag: { supported: true },
    authenticationSchemes: [
      {
        type: 'oauthbearertoken',
        name: 'Bearer token',
        description: 'A key of an application with the scope Provision.',
        primary: true,
      },
    ],
    meta: { resourceType: 'ServiceProviderConfig', location: `${url}${BASE}/ServiceProviderConfig` },
  };
}

function resourceType({ name, endpoint, schema, extension, description }: ResourceType, url: string) {
  return {
    schemas: [`${CORE}ResourceType`],
    id: name,
    name,
    endpoint,
    description,
    schema,
    ...(extension && { schemaExtensions: [{ schema: extension, required: false }] }),
    meta: { resourceType: 'ResourceType', location: `${url}${BASE}/ResourceTypes/${name}` },
  };
}
