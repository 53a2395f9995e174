import { pathToFileURL } from 'node:url';
import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import test from 'ava';
import { z } from 'zod';
import { REFUSALS } from '../../../contracts/batch/refusals.ts';
import { moment } from '../../../contracts/batch/requests.ts';
import { batchApi } from '../../../http/batch/reference.ts';
import { batchRefusals } from '../../../http/batch/refusal-info.ts';
import { describeApi, type OpenApiDocument } from '../../../http/core/openapi/document.ts';
import { operationId } from '../../../http/core/openapi/operation.ts';
import { schemaView } from '../../../http/core/openapi/schema-view.ts';
import { type Schema, SchemaBook } from '../../../http/core/openapi/schemas.ts';
import { withPartsInPlace } from '../../../http/core/openapi/shared-parts.ts';
import { json } from '../../../http/core/reply.ts';
import { type AnyRoute, route } from '../../../http/core/router.ts';
import { bookOf } from '../answers.ts';
import { batchDocument, batchTable, portalDocument, SETTINGS } from '../descriptions.ts';
import { assertProblem, KEY, startServer } from '../harness.ts';

/** Of the generators of clients. */
const generators = await import(pathToFileURL('scripts/clients/version-3-0.mjs').href);
const { asOpenApi30 } = generators as { asOpenApi30(document: OpenApiDocument): object };

interface Operation {
  readonly operationId: string;
  readonly security: readonly object[];
  readonly requestBody?: {
    readonly content: { readonly [type: string]: { readonly schema: { properties?: object } } };
  };
  readonly parameters?: readonly {
    readonly in: string;
    readonly name: string;
    readonly example?: unknown;
    readonly schema: Schema;
  }[];
  readonly responses: { readonly [status: string]: { readonly content?: object; readonly $ref?: string } };
}

/** Made once: no test changes them. */
const BATCH = batchDocument();
const PORTAL = portalDocument();

/** Operations by name, with shared parts in place of references to them. */
function operationsOf(document: OpenApiDocument): readonly (readonly [name: string, operation: Operation])[] {
  return Object.entries(withPartsInPlace(document).paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(
      ([method, operation]) => [`${method.toUpperCase()} ${path}`, operation as Operation] as const,
    ),
  );
}

function operationAt(document: OpenApiDocument, name: string): Operation {
  const [, found] = operationsOf(document).find(([one]) => one === name) ?? [];
  if (found === undefined) throw new Error(`no ${name}`);
  return found;
}

test('the served description is valid OpenAPI 3.1', async (t) => {
  const { call } = await startServer(t);
  const served = await call('/openapi/v1.json');
  t.is(served.status, 200);
  const text = await served.text();
  const verdict = await new Validator().validate(JSON.parse(text));
  t.deepEqual(verdict.errors ?? [], []);
  t.true(verdict.valid);
  const broken = JSON.parse(text);
  broken.paths['/api/jobs'].get.responses = 7;
  t.false((await new Validator().validate(broken)).valid, 'the validator says yes to anything');
});

test('the description names the configured address, and has a variable where there is none', (t) => {
  const serversFor = (publicUrl?: string) =>
    describeApi([], batchApi({ ...SETTINGS, ...(publicUrl !== undefined && { publicUrl }) }, 'test')).servers;
  t.deepEqual(serversFor('https://sign.example.org/batch/'), [{ url: 'https://sign.example.org/batch' }]);
  for (const unknown of [undefined, 'http://127.0.0.1:0', 'http://0.0.0.0:8080', 'http://[::]:8080/']) {
    const [{ url, variables }] = serversFor(unknown);
    t.is(url, '{address}', unknown);
    t.regex(variables?.address.default ?? '', /^http:/);
  }
  t.deepEqual(serversFor('http://10.0.0.0:8080'), [{ url: 'http://10.0.0.0:8080' }]);
});

test('exactly the served routes are described', (t) => {
  const described = operationsOf(BATCH).map(([name]) => name);
  const routes = batchTable().map(({ method, path }) => `${method} ${path}`);
  t.deepEqual([...described].sort(), [...routes].sort());
});

test('operation ids are unique, made of letters and digits, and duplicates are refused', (t) => {
  const ids = operationsOf(BATCH).map(([, operation]) => operation.operationId);
  t.is(new Set(ids).size, ids.length);
  for (const id of ids) t.regex(id, /^[a-z][A-Za-z0-9]*$/);
  t.is(operationId({ method: 'GET', path: '/api/jobs/{id}/output', auth: 'operator' }), 'getJobsByIdOutput');
  t.is(operationId({ method: 'GET', path: '/', auth: 'page' }), 'getRootPage');
  t.is(operationId({ method: 'GET', path: '/jobs', auth: 'page' }), 'getJobsPage');
  const facts = {
    title: 'x',
    version: '1',
    description: 'x',
    groups: [{ name: 'All', description: 'x' }],
    fileTypes: [],
    refusals: batchRefusals,
    security: { schemes: {}, of: () => [] },
  };
  t.throws(() => describeApi([sample('/a-b'), sample('/a/b')], facts), { message: /getAB/ });
  t.throws(() => describeApi([sample('/a')], { ...facts, groups: [] }), { message: /group All/ });
});

function sample(path: string): AnyRoute {
  return route({
    method: 'GET',
    path,
    group: 'All',
    summary: 'A sample.',
    description: 'For a test.',
    auth: 'anonymous',
    rate: 'none',
    bodyPolicy: 'none',
    headers: [],
    params: z.object({}),
    query: z.object({}),
    body: z.unknown(),
    invalidInput: {
      params: 'route.not-found',
      query: 'validation.filter-invalid',
      body: 'validation.body-invalid',
    },
    responses: { 200: z.object({}) },
    refusals: [],
    handle: () => json(200, {}),
  });
}

test('every reference inside the description resolves', (t) => {
  const document = BATCH;
  const references = [...JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g)].map(
    ([, target = '']) => target,
  );
  t.true(references.length > 100);
  for (const reference of new Set(references)) {
    const found = reference
      .slice(2)
      .split('/')
      .reduce<unknown>((at, step) => (at as { [step: string]: unknown } | undefined)?.[step], document);
    t.not(found, undefined, reference);
  }
});

test('the header that names a start is described where both services send it', (t) => {
  for (const found of [BATCH, PORTAL])
    t.like(found, {
      paths: {
        '/api/health': {
          get: { responses: { 200: { headers: { 'X-Run-Id': { $ref: '#/components/headers/X-Run-Id' } } } } },
        },
      },
      components: { headers: { 'X-Run-Id': { schema: { type: 'string' } } } },
    });
});

test('only the documented endpoints are described as public', (t) => {
  const open = operationsOf(BATCH)
    .filter(([, { security }]) => security.length === 0)
    .map(([name]) => name);
  t.deepEqual(open.sort(), [
    'GET /api/health',
    'GET /api/ready',
    'GET /favicon.ico',
    'GET /login',
    // docs/decisions/0276-single-sign-on.md
    'GET /login/{name}',
    'GET /login/{name}/callback',
    'GET /login/{name}/metadata',
    'POST /api/auth/login',
    'POST /api/auth/logout',
    'POST /login/{name}/acs',
    'POST /login/{name}/logout',
  ]);
});

test('each status of an operation lists exactly the codes that it is answered with', (t) => {
  const document = BATCH;
  const codesAt = (path: string, method: string, status: number): readonly string[] => {
    const operation = operationAt(document, `${method.toUpperCase()} ${path}`);
    const content = operation.responses[status]?.content as {
      'application/problem+json': { schema: { properties: { code: { enum: string[] } } } };
    };
    return content['application/problem+json'].schema.properties.code.enum;
  };
  t.deepEqual(codesAt('/api/jobs/{id}/cancel', 'post', 409), ['job.not-queued', 'job.race-lost']);
  t.deepEqual(codesAt('/api/jobs/{id}', 'get', 404), ['job.not-found', 'route.not-found']);
  t.deepEqual(codesAt('/api/files', 'post', 429), ['rate-limited']);
  t.true(codesAt('/api/rescan', 'post', 404).includes('folder.not-found'));
  for (const [name, { responses }] of operationsOf(document)) {
    for (const [status, response] of Object.entries(responses)) {
      const problem = (
        response.content as { [type: string]: { schema: { properties: { code: { enum: string[] } } } } }
      )?.['application/problem+json'];
      for (const code of problem?.schema.properties.code.enum ?? []) {
        const row: { readonly status: number | null } = REFUSALS[code as keyof typeof REFUSALS];
        t.is(row.status, Number(status), `${code} at ${name}`);
      }
    }
  }
});

test('the refusal of an undecodable path is described where it occurs', async (t) => {
  const { call } = await startServer(t);
  // The harness validates the reply by the description.
  await assertProblem(t, await call('/api/jobs/%zz'), 'route.not-found');
});

test('uploads are described as a form with a file, outputs as bytes, refusals as problem bodies', (t) => {
  const upload = operationAt(BATCH, 'POST /api/files');
  t.like(upload.requestBody?.content['multipart/form-data']?.schema.properties, {
    file: { type: 'string', format: 'binary', contentMediaType: 'application/octet-stream' },
  });
  const output = operationAt(BATCH, 'GET /api/jobs/{id}/output');
  t.deepEqual(output.responses['200']?.content, output.responses['206']?.content);
  t.like(output.responses['200']?.content, {
    'application/pdf': { schema: { type: 'string', format: 'binary' } },
  });
  t.true(Object.hasOwn(output.responses, '416'));
  t.deepEqual(
    output.parameters?.map(({ in: place, name }) => `${place} ${name}`),
    ['path id', 'query redirect', 'header Range', 'header If-Range', 'header If-None-Match'],
  );
});

test('the description has the configured names of key header and cookie', async (t) => {
  const { url } = await startServer(t, { apiKeyHeader: 'X-My-Key', cookieName: 'my-cookie' });
  const answer = await fetch(`${url}/openapi/v1.json`, { headers: { 'X-My-Key': KEY } });
  const document = (await answer.json()) as OpenApiDocument;
  t.like(document.components['securitySchemes'], {
    ApiKey: { type: 'apiKey', in: 'header', name: 'X-My-Key' },
    Session: { type: 'apiKey', in: 'cookie', name: 'my-cookie' },
  });
});

test('description and reference page need credentials of the service', async (t) => {
  const { url } = await startServer(t);
  await assertProblem(t, await fetch(`${url}/openapi/v1.json`), 'auth.invalid-credentials');
  const page = await fetch(`${url}/scalar/v1`, { redirect: 'manual' });
  t.is(page.status, 302);
  t.is(page.headers.get('location'), '/login?ReturnUrl=%2Fscalar%2Fv1');
  await assertProblem(t, await fetch(`${url}/assets/reference.js`), 'auth.invalid-credentials');
});

test('the reference page shows every operation, and loads nothing from other origins', async (t) => {
  const server = await startServer(t);
  // On a busy machine a connection that stays open is closed as idle, just when the next request is sent.
  const call = (path: string, headers = {}) =>
    server.call(path, { headers: { ...headers, connection: 'close' } });
  const answer = await call('/scalar/v1');
  t.is(answer.headers.get('content-type'), 'text/html; charset=utf-8');
  const html = await answer.text();
  const document = (await (await call('/openapi/v1.json')).json()) as OpenApiDocument;
  for (const [name, { operationId: id }] of operationsOf(document)) {
    t.true(html.includes(`<article class="operation" id="${id}"`), name);
  }
  const [cancel = ''] = html.slice(html.indexOf('id="postJobsByIdCancel"')).split('</article>');
  t.true(cancel.includes('job.race-lost'), 'no refusal');
  t.true(cancel.includes('0d9a7c3e-5b1f-4a6d-8c2e-1f3b5d7a9c0e'), 'no example of the parameter');
  t.false(cancel.includes('require https'), 'a search for a word of every operation finds all');
  t.notRegex(html, /<script(?![^>]* src="\/)|<style|\son\w+=|style=/, 'something inline');
  for (const [, target = ''] of html.matchAll(/\s(?:src|href|action)="([^"]*)"/g)) t.regex(target, /^[/#]/);
  for (const [, asset = ''] of html.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)) {
    const part = await call(asset);
    t.is(part.status, 200, asset);
    const text = await part.text();
    const again = await call(asset, { 'if-none-match': part.headers.get('etag') ?? '' });
    t.is(again.status, 304, asset);
    t.notRegex(text, /sourceMappingURL|https?:\/\/(?!www\.w3\.org\/)/);
  }
  await assertProblem(t, await call('/assets/..%2Fserver.js'), 'route.not-found');
});

test('the reference page says of texts, lists and maps that they may be null, and of files that they are', (t) => {
  const textOf = (schema: Schema) => schemaView(schema).text.replace(/<[^>]*>/g, '');
  t.is(textOf({ type: ['string', 'null'] }), 'string or null');
  t.is(textOf({ type: ['array', 'null'], items: { type: 'string' } }), 'list of string or null');
  t.is(
    textOf({ type: ['object', 'null'], additionalProperties: { type: 'integer' } }),
    'map of integer or null',
  );
  t.is(textOf({ type: 'array', items: { type: 'string' } }), 'list of string');
  t.is(textOf({ type: 'string', format: 'binary' }), 'file');
});

test('the described schema of a request may be simpler than the accepted one', (t) => {
  const book = new SchemaBook();
  const inner = z.object({ at: z.iso.datetime({ precision: 3 }), id: z.guid() }).meta({ id: 'Sample' });
  t.deepEqual(book.output(z.object({ list: z.array(inner) })), {
    type: 'object',
    properties: { list: { type: 'array', items: { $ref: '#/components/schemas/Sample' } } },
    required: ['list'],
    additionalProperties: false,
  });
  t.like(book.named['Sample'], { properties: { id: { type: 'string', format: 'uuid' } } });
  const page = z
    .string()
    .regex(/^\d+$/)
    .transform(Number)
    .meta({ openapi: { type: 'integer', minimum: 1, default: 1 }, description: 'Which page.' })
    .default(1);
  t.deepEqual(book.input(z.object({ page })), {
    type: 'object',
    properties: { page: { description: 'Which page.', type: 'integer', minimum: 1, default: 1 } },
  });
});

test('an answer that differs from its description is reported', (t) => {
  const book = bookOf('batch');
  const headers = new Headers({
    'content-type': 'application/json; charset=utf-8',
    'x-request-id': '0H00000000000:00000001',
  });
  const health = { method: 'GET', path: '/api/health', status: 200, headers, body: '{"status":"Healthy"}' };
  t.deepEqual(book.findings(health), []);
  t.is(book.findings({ ...health, body: '{"status":"Fine"}' }).length, 1, 'another value');
  t.is(book.findings({ ...health, body: '{"status":"Healthy","more":1}' }).length, 1, 'a member too many');
  t.is(book.findings({ ...health, body: '{}' }).length, 1, 'a member too few');
  t.is(book.findings({ ...health, status: 201 }).length, 1, 'another status');
  t.is(book.findings({ ...health, headers: new Headers() }).length, 2, 'no headers');
  t.is(book.findings({ ...health, method: 'PUT' }).length, 1, 'another method');
  t.is(book.findings({ ...health, path: '/api/nothing' }).length, 1, 'another path');
  const problem = {
    type: 'https://tools.ietf.org/html/rfc9110#section-15.5.5',
    title: 'x',
    status: 404,
    code: 'job.not-found',
    traceId: `00-${'0'.repeat(32)}-${'0'.repeat(16)}-00`,
    requestId: '0H00000000000:00000001',
  };
  const refused = (body: object, path = '/api/jobs/x') =>
    book.findings({
      method: 'GET',
      path,
      status: 404,
      headers: new Headers({
        'content-type': 'application/problem+json',
        'x-request-id': '0H00000000000:00000001',
      }),
      body: JSON.stringify(body),
    });
  t.deepEqual(refused(problem), []);
  t.is(refused({ ...problem, code: 'folder.not-found' }).length, 1, 'a code of another operation');
  t.is(refused({ ...problem, stack: 'x' }).length, 1, 'a member nobody described');
  t.is(refused(problem, '/nowhere').length, 1, 'a code of a route where there is none');
});

for (const [service, document] of Object.entries({ batch: BATCH, portal: PORTAL })) {
  test(`generators and importers read the description of the ${service}`, async (t) => {
    const text = JSON.stringify(document);
    t.true(text.length < 700_000, `${text.length} characters: importers stop at a megabyte`);
    for (const [name, { parameters = [], requestBody, responses }] of operationsOf(document)) {
      // A refusal without content makes the type of every refusal unknown.
      for (const [status, { content }] of Object.entries(responses))
        t.true(Number(status) < 400 || content !== undefined, `${status} of ${name}`);
      const json = requestBody?.content['application/json']?.schema as { $ref?: string } | undefined;
      t.true(json === undefined || json.$ref !== undefined, `the body of ${name} has no name`);
      const parts = requestBody?.content['multipart/form-data']?.schema.properties ?? {};
      for (const one of parameters)
        t.false(Object.hasOwn(parts, one.name), `${one.name} stands twice at ${name}`);
      for (const one of parameters.filter(({ in: place }) => place !== 'header'))
        t.false([undefined, 'text'].includes(one.example as string), `${one.name} of ${name} has no example`);
    }
    for (const [kind, named] of Object.entries(document.components))
      for (const component of kind === 'responses' || kind === 'schemas' ? Object.keys(named) : [])
        t.regex(component, /^[A-Z][A-Za-z0-9]*$/, 'generators name types by it');
    walk(document, (schema) => {
      const { anyOf = [], format, contentEncoding } = schema as PlainSchema;
      const named = anyOf.filter(({ type }) => type !== 'null');
      t.false(
        named.length === 1 && anyOf.length === 2 && typeof named[0]?.type === 'string',
        `null beside one plain type: ${JSON.stringify(schema).slice(0, 200)}`,
      );
      t.false(format === 'binary' && contentEncoding !== undefined);
      if ('contentMediaType' in schema) t.is(format, 'binary');
    });
    const members = Object.entries(document.components['schemas'] ?? {}).flatMap(
      ([name, { properties = {} }]: [string, { properties?: object }]) =>
        Object.entries(properties).map(
          ([member, schema]) => [`${name}.${member}`, schema as object] as const,
        ),
    );
    for (const [name, schema] of members)
      t.true(
        ['type', 'anyOf', 'allOf', '$ref', 'enum', 'const'].some((word) => word in schema),
        `${name} has no type`,
      );
  });

  test(`the description of the ${service} as OpenAPI 3.0 is valid and has the same operations`, async (t) => {
    const earlier = asOpenApi30(document) as OpenApiDocument;
    const verdict = await new Validator().validate(structuredClone({ ...earlier }));
    t.deepEqual(verdict.errors ?? [], []);
    t.deepEqual(
      operationsOf(earlier).map(([name, { operationId: id }]) => [name, id]),
      operationsOf(document).map(([name, { operationId: id }]) => [name, id]),
    );
    walk(earlier, (schema) => {
      t.false(Array.isArray((schema as PlainSchema).type) || (schema as PlainSchema).type === 'null');
    });
  });
}

interface PlainSchema {
  readonly type?: string | readonly string[];
  readonly anyOf?: readonly { readonly type?: string }[];
  readonly format?: string;
  readonly contentEncoding?: string;
}

/** Calls with each object of a document; examples are no schemas. */
function walk(value: unknown, see: (found: object) => void): void {
  if (typeof value !== 'object' || value === null) return;
  if (!Array.isArray(value)) see(value);
  for (const [name, inner] of Object.entries(value))
    if (!['example', 'examples', 'default', 'properties'].includes(name)) walk(inner, see);
    else if (name === 'properties') for (const one of Object.values(inner as object)) walk(one, see);
}

test('the OpenAPI 3.0 form says of several types, of null and of numbers what the other form says', (t) => {
  const sample = {
    properties: {
      several: { type: ['string', 'number', 'boolean', 'null'] },
      named: { anyOf: [{ $ref: '#/components/schemas/Folder' }, { type: 'null' }], description: 'A folder.' },
      whole: { const: 409 },
      number: { const: 0.5 },
      required: { type: 'string', minLength: 1 },
    },
  };
  const earlier = asOpenApi30({ ...PORTAL, components: { schemas: { Sample: sample } } });
  t.deepEqual((earlier as OpenApiDocument).components['schemas']?.['Sample'], {
    properties: {
      several: { anyOf: [{ type: 'string' }, { type: 'number' }, { type: 'boolean' }], nullable: true },
      named: { allOf: [{ $ref: '#/components/schemas/Folder' }], nullable: true, description: 'A folder.' },
      whole: { type: 'integer', enum: [409] },
      number: { type: 'number', enum: [0.5] },
      required: { type: 'string', minLength: 1 },
    },
  });
});

test('what a bound refuses stands in the schema: required texts, times and numbers of pages', (t) => {
  t.like(PORTAL.components['schemas']?.['NewTag'], { properties: { value: { minLength: 1 } } });
  for (const name of ['BulkRetryRequest', 'BulkCancellationRequest'])
    t.like(BATCH.components['schemas']?.[name], { additionalProperties: false });
  const of = (path: string, name: string) =>
    operationAt(BATCH, `GET ${path}`).parameters?.find((one) => one.name === name)?.schema;
  t.like(of('/api/jobs', 'page'), { minimum: 1, maximum: 999_999_999 });
  const time = new RegExp(String(of('/api/jobs', 'createdFrom')?.['pattern']), 'u');
  for (const written of ['2026-05-26', '2026-05-26T15:42:11Z', '2026-05-26T15:42:11.5+02:00'])
    t.true(time.test(written) && moment.safeParse(written).success, written);
  for (const written of ['2026-05-26T15:42Z', '2026-05-26T15:42:11', '2026-05-26T15:42:11,5Z'])
    t.false(time.test(written) || moment.safeParse(written).success, written);
});

test('every operation has a full description', (t) => {
  for (const [name, operation] of operationsOf(BATCH)) {
    const { summary = '', description = '' } = operation as { summary?: string; description?: string };
    t.true(description.length > 20 && description !== summary, `${name} has no description`);
  }
});

test('every JSON body of requests and answers has an example that its schema accepts', (t) => {
  const document = withPartsInPlace(BATCH);
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  formats.default(ajv);
  ajv.addSchema(document, 'api');
  type Json = { readonly example?: unknown } | undefined;
  const check = (name: string, place: readonly string[], json: Json) => {
    if (json === undefined) return;
    t.not(json.example, undefined, `${name} has no example`);
    const pointer = [...place, 'content', 'application/json', 'schema']
      .map((word) => encodeURIComponent(word.replaceAll('~', '~0').replaceAll('/', '~1')))
      .join('/');
    const accepts = ajv.compile({ $ref: `api#/${pointer}` });
    t.true(accepts(json.example), `${name}: ${JSON.stringify(accepts.errors)}`);
  };
  let bodies = 0;
  for (const [name, operation] of operationsOf(document)) {
    if (name === 'GET /openapi/v1.json') continue;
    const [method = '', path = ''] = name.split(' ');
    const place = ['paths', path, method.toLowerCase()];
    const content = operation.requestBody?.content as { readonly [type: string]: Json } | undefined;
    check(`what ${name} takes`, [...place, 'requestBody'], content?.['application/json']);
    for (const [status, response] of Object.entries(operation.responses)) {
      if (Number(status) >= 300) continue;
      const given = response.content as { readonly [type: string]: Json } | undefined;
      if (given?.['application/json']) bodies += 1;
      check(`${status} of ${name}`, [...place, 'responses', status], given?.['application/json']);
    }
  }
  t.true(bodies > 20);
});
