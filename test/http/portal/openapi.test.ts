import { Validator } from '@seriousme/openapi-schema-validator';
import test from 'ava';
import { portalTable } from '../descriptions.ts';
import { assertRefused } from '../refused.ts';
import { startPortal } from './harness.ts';

interface Operation {
  readonly operationId: string;
  readonly security: readonly object[];
  readonly summary: string;
  readonly description: string;
  readonly requestBody?: { readonly content: { readonly [type: string]: { readonly example?: unknown } } };
}

interface Description {
  readonly paths: { readonly [path: string]: { readonly [method: string]: Operation } };
  readonly components: { readonly securitySchemes: object };
}

test('the OpenAPI 3.1 description of the portal is valid, public, and lists exactly its routes', async (t) => {
  const { url } = await startPortal(t);
  const text = await (await fetch(`${url}/openapi/v1.json`)).text();
  const verdict = await new Validator().validate(JSON.parse(text));
  t.deepEqual(verdict.errors ?? [], []);
  t.true(verdict.valid);
  const description = JSON.parse(text) as Description;
  const described = Object.entries(description.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  );
  const routes = portalTable().map(({ method, path }) => `${method} ${path}`);
  t.deepEqual(described.sort(), routes.sort());
  t.like(description.components.securitySchemes, { ApiKey: { in: 'header', name: 'X-Api-Key' } });
});

test('the description states which operations need a key, a key or a ticket, or neither', async (t) => {
  const { url } = await startPortal(t);
  const { paths } = (await (await fetch(`${url}/openapi/v1.json`)).json()) as Description;
  t.deepEqual(paths['/api/documents']?.['get']?.security, [{ ApiKey: ['Read'] }]);
  t.deepEqual(paths['/api/documents/keys/{key}/approval']?.['post']?.security, [{ ApiKey: ['Sign'] }, {}]);
  t.deepEqual(paths['/api/documents/{id}/download']?.['get']?.security, []);
});

test('each operation has a description beyond its summary, and an example for each JSON body that it takes', async (t) => {
  const { url } = await startPortal(t);
  const { paths } = (await (await fetch(`${url}/openapi/v1.json`)).json()) as Description;
  for (const [path, methods] of Object.entries(paths)) {
    for (const [method, { summary, description, requestBody }] of Object.entries(methods)) {
      const name = `${method.toUpperCase()} ${path}`;
      t.true(description.length > 20 && description !== summary, name);
      const json = requestBody?.content['application/json'];
      if (json !== undefined) t.not(json.example, undefined, `${name} has no example`);
    }
  }
});

test('every reference inside the description of the portal resolves, and internal notes are omitted', async (t) => {
  const { url } = await startPortal(t);
  const text = await (await fetch(`${url}/openapi/v1.json`)).text();
  t.notRegex(
    text,
    /"openapi":\{(?!"type":"string","const":"3\.1\.1")/,
    'what is told instead took its place',
  );
  const description: unknown = JSON.parse(text);
  const targets = new Set([...text.matchAll(/"\$ref":"#\/([^"]+)"/g)].map(([, target = '']) => target));
  t.true(targets.size > 10);
  for (const target of targets) {
    const found = target
      .split('/')
      .reduce<unknown>((at, step) => (at as { [step: string]: unknown } | undefined)?.[step], description);
    t.not(found, undefined, target);
  }
});

test('the reference page of the portal shows every operation, has a field for the key, and loads nothing from other origins', async (t) => {
  const { url } = await startPortal(t);
  const answer = await fetch(`${url}/scalar/v1`);
  t.is(answer.headers.get('content-type'), 'text/html; charset=utf-8');
  const html = await answer.text();
  const { paths } = (await (await fetch(`${url}/openapi/v1.json`)).json()) as Description;
  for (const operation of Object.values(paths).flatMap((methods) => Object.values(methods))) {
    t.true(html.includes(`<article class="operation" id="${operation.operationId}"`), operation.operationId);
  }
  t.regex(html, /<input id="api-key" type="password" data-header="X-Api-Key"/);
  t.false(html.includes('Log out'));
  t.notRegex(html, /<script(?![^>]* src="\/)|<style|\son\w+=|style=/, 'something inline');
  const assets = [...html.matchAll(/(?:src|href)="(\/scalar\/assets\/[^"]+)"/g)];
  t.true(assets.length >= 3);
  for (const [, asset = ''] of assets) {
    const part = await fetch(`${url}${asset}`);
    t.is(part.status, 200, asset);
    const again = await fetch(`${url}${asset}`, {
      headers: { 'if-none-match': part.headers.get('etag') ?? '' },
    });
    t.is(again.status, 304, asset);
  }
  await assertRefused(t, await fetch(`${url}/scalar/assets/..%2Fserver.js`), 'NotFound');
});
