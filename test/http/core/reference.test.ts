import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import test from 'ava';
import { payloadOf } from '../../../actors/portal/webhooks/webhook-payloads.ts';
import { EVENT_TYPES } from '../../../contracts/portal/webhooks/webhooks.ts';
import { hasExample, type OpenApiDocument } from '../../../http/core/openapi/document.ts';
import { withPartsInPlace } from '../../../http/core/openapi/shared-parts.ts';
import type { DocumentEvent } from '../../../machines/portal/portal-types.ts';
import { batchDocument, portalDocument } from '../descriptions.ts';

interface Content {
  readonly [type: string]: { readonly schema?: object; readonly example?: unknown };
}

interface Operation {
  readonly summary?: string;
  readonly description?: string;
  readonly parameters?: readonly { readonly name: string; readonly description?: string }[];
  readonly requestBody?: { readonly content: Content };
  readonly responses: { readonly [status: string]: { readonly content?: Content } };
}

const documents = {
  batch: withPartsInPlace(batchDocument()),
  portal: withPartsInPlace(portalDocument()),
};

function operationsOf(document: OpenApiDocument): readonly (readonly [string, Operation])[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(
      ([method, operation]) => [`${method.toUpperCase()} ${path}`, operation as Operation] as const,
    ),
  );
}

/** Every property of the value at any depth, with the place where it is. */
function* propertiesIn(
  value: unknown,
  place: string,
): Generator<[place: string, name: string, schema: object]> {
  if (typeof value !== 'object' || value === null) return;
  for (const [keyword, inner] of Object.entries(value)) {
    if (keyword === 'example' || keyword === 'examples') continue;
    if (keyword === 'properties') {
      for (const [name, schema] of Object.entries(inner as object)) {
        yield [`${place}.${name}`, name, schema];
        yield* propertiesIn(schema, `${place}.${name}`);
      }
    } else yield* propertiesIn(inner, place);
  }
}

/** False for objects and references, whose own properties have the examples, and for files. */
function isLeaf(schema: object): boolean {
  const { $ref, allOf, anyOf, properties, items, contentMediaType } = schema as {
    readonly [keyword: string]: unknown;
  };
  if ([$ref, allOf, properties, contentMediaType].some((keyword) => keyword !== undefined)) return false;
  if (Array.isArray(anyOf)) return anyOf.every((one: object) => isLeaf(one));
  return typeof items !== 'object' || items === null || isLeaf(items);
}

const FILLER = new Set(['the', 'a', 'an', 'of', 'its', 'is', 'are', 'to', 'this', 'whether', 'it']);

/** True when the text has no word beyond those of the name. */
function repeats(name: string, text: string): boolean {
  const words = (given: string) =>
    given
      .replace(/([a-z])([A-Z])/g, '$1 $2')
      .toLowerCase()
      .split(/[^a-z0-9]+/)
      .filter((word) => word !== '' && !FILLER.has(word));
  const known = new Set(words(name));
  return words(text).every((word) => known.has(word));
}

for (const [service, document] of Object.entries(documents)) {
  test(`every property and parameter of the ${service} service has a description beyond its name`, (t) => {
    let count = 0;
    const wrong: string[] = [];
    for (const [place, name, schema] of propertiesIn(
      { ...document.paths, ...document.components },
      service,
    )) {
      const { description = '' } = schema as { readonly description?: string };
      if (repeats(name, description)) wrong.push(`${place}: ${description}`);
      count += 1;
    }
    t.true(count > 600, `${count} properties were examined`);
    for (const [operation, { parameters = [] }] of operationsOf(document)) {
      for (const { name, description = '' } of parameters) {
        if (repeats(name, description)) wrong.push(`${operation} ${name}: ${description}`);
      }
    }
    t.deepEqual(wrong, []);
  });

  test(`every value property of the ${service} service has an example that fits its schema`, (t) => {
    const ajv = new Ajv2020({ strict: false });
    formats.default(ajv);
    const without: string[] = [];
    const wrong: string[] = [];
    const checked = new Set<string>();
    let count = 0;
    const { paths, webhooks = {}, components } = document;
    for (const [place, , schema] of propertiesIn({ paths, webhooks, components }, service)) {
      if (!isLeaf(schema)) continue;
      count += 1;
      if (!hasExample({ ...schema })) without.push(place);
      const text = JSON.stringify(schema);
      if (checked.has(text)) continue;
      checked.add(text);
      const { examples = [] } = schema as { readonly examples?: readonly unknown[] };
      if (!examples.every((example) => ajv.validate(schema, example)))
        wrong.push(`${place}: ${JSON.stringify(examples)} ${ajv.errorsText()}`);
    }
    t.true(count > 600, `${count} properties were examined`);
    t.deepEqual(without, []);
    t.deepEqual(wrong, []);
  });

  test(`every JSON answer of the ${service} service has an example that fits its schema`, (t) => {
    const ajv = new Ajv2020({ strict: false, allErrors: true });
    formats.default(ajv);
    ajv.addSchema({ $id: 'api', components: document.components });
    const wrong: string[] = [];
    for (const [operation, { responses }] of operationsOf(document)) {
      for (const [status, { content }] of Object.entries(responses)) {
        const body = content?.['application/json'];
        if (body === undefined || Number(status) >= 400) continue;
        const schema = JSON.parse(
          JSON.stringify(body.schema).replaceAll('"#/components', '"api#/components'),
        );
        if (body.example === undefined || !ajv.validate(schema, body.example))
          wrong.push(`${operation} ${status}: ${ajv.errorsText()}`);
      }
    }
    t.deepEqual(wrong, []);
  });
}

test('every JSON body of an operation or a webhook has an example that fits its schema', (t) => {
  const wrong: string[] = [];
  for (const document of Object.values(documents)) {
    const calls = Object.entries(document.webhooks ?? {}).map(
      ([type, { post }]) => [type, post as Operation] as const,
    );
    t.true(calls.length > 0);
    for (const [name, { requestBody, description = '' }] of [...operationsOf(document), ...calls]) {
      const body = requestBody?.content['application/json'];
      const { properties = {} } = resolved(document, body?.schema) as { readonly properties?: object };
      if (body === undefined || Object.keys(properties).length === 0 || name.endsWith('/restart')) continue;
      if (!fits(document, body)) wrong.push(`${name}: ${JSON.stringify(body.example)?.slice(0, 300)}`);
      if (calls.some(([type]) => type === name)) t.not(description, '', name);
    }
  }
  t.deepEqual(wrong, []);
});

/** A schema in place of a reference to it. */
function resolved({ components }: OpenApiDocument, schema: object = {}): object {
  const name = (schema as { readonly $ref?: string }).$ref?.split('/').at(-1);
  return name === undefined ? schema : (components['schemas']?.[name] ?? {});
}

const validators = new Map<OpenApiDocument, Ajv2020>();

function fits(document: OpenApiDocument, body: Content[string]): boolean {
  const ajv = validators.get(document) ?? new Ajv2020({ strict: false });
  if (!validators.has(document)) {
    formats.default(ajv);
    ajv.addSchema({ $id: 'api', components: document.components });
    validators.set(document, ajv);
  }
  const schema = JSON.parse(JSON.stringify(body.schema).replaceAll('"#/components', '"api#/components'));
  return body.example !== undefined && ajv.validate(schema, body.example);
}

test('webhooks send exactly the described members of their event', async (t) => {
  const at = Date.UTC(2026, 4, 26);
  const principal = {
    id: '5f0ce3b8-7c1d-4a34-8f16-3a1c1a3f2b11',
    type: 'Application',
    name: 'Billing',
  } as const;
  const summary = {
    id: '3f2504e0-4f89-41d3-9a0c-0305e82c3301',
    organizationId: principal.id,
    name: 'Lease',
    creationDate: at,
    updateDate: at,
    folderId: principal.id,
    createdBy: principal,
  };
  const by = {
    flowActionId: summary.id,
    userId: summary.id,
    name: 'Ana',
    identifier: null,
    emailAddress: null,
  };
  const more = {
    by,
    canceledBy: principal,
    reason: 'late',
    expirationDate: at,
    values: [{ name: 'a', value: 'b' }],
  };
  const places = {
    publicUrl: () => 'https://portal.example.test',
    organization: async () => ({ name: 'Acme', identifier: null }),
    folder: async () => ({ name: 'Contracts', parentId: null }),
  };
  const described = Object.entries(documents.portal.webhooks ?? {});
  t.deepEqual(described.map(([type]) => type).sort(), [...EVENT_TYPES, 'Test'].sort());
  // The sample is sent by another way.
  for (const [type, { post }] of described.filter(([type]) => type !== 'Test')) {
    const event = { type, sequence: 1, at, document: summary, ...more } as unknown as DocumentEvent;
    const body = (post as Operation).requestBody?.content['application/json'];
    const example = JSON.parse(await payloadOf(event, places));
    t.true(fits(documents.portal, { ...body, example }), `${type}: ${JSON.stringify(example)}`);
  }
});

test('a description that only repeats the name is reported', (t) => {
  t.true(repeats('creationDate', 'The creation date.'));
  t.true(repeats('isEnvelope', 'Whether it is an envelope.'));
  t.false(repeats('creationDate', 'Time at which it was made, UTC.'));
});
