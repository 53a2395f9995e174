/**
 * Writes the operation types of clients/typescript/ from the OpenAPI documents: `npm run build && node scripts/write-client.mjs`.
 * With --check it writes nothing, names the files that are not up to date, and ends with exit code 1.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const root = join(import.meta.dirname, '..');
const built = (path) => import(pathToFileURL(join(root, process.env.SEALWRIGHT_DIST ?? 'dist', path)).href);
const isCheck = process.argv.includes('--check');

const { batchDocument, portalDocument } = await built('test/http/descriptions.js');
const { withPartsInPlace } = await built('http/core/openapi/shared-parts.js');

const documents = { portal: withPartsInPlace(portalDocument()), batch: withPartsInPlace(batchDocument()) };
const files = Object.entries(documents).map(([name, document]) => [`${name}.d.ts`, typesOf(document, name)]);
files.push(['idempotency-keys.ts', idempotencyKeys(Object.values(documents))]);
for (const [name, text] of files) {
  const file = join(root, 'clients', 'typescript', name);
  if (!isCheck) writeFileSync(file, text);
  else if (readFileSync(file, 'utf8') !== text) {
    console.error(`${file} is not up to date. Run: npm run build && node scripts/write-client.mjs`);
    process.exitCode = 1;
  }
}

/** Operations that may have the header, for the client at run time. */
function idempotencyKeys(descriptions) {
  const names = descriptions.flatMap(({ paths }) =>
    Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods)
        .filter(([, { parameters = [] }]) => parameters.some((one) => /^idempotency-key$/i.test(one.name)))
        .map(([method]) => `${method.toUpperCase()} ${path}`),
    ),
  );
  const lines = names.sort().map((name) => `  '${name}',`);
  return [
    '/** Operations that may have an `Idempotency-Key`. Written by scripts/write-client.mjs; do not edit. */',
    'export const IDEMPOTENCY_KEYS: ReadonlySet<string> = new Set([',
    ...lines,
    ']);',
    '',
  ].join('\n');
}

function typesOf({ paths, components }, name) {
  const title = `${name[0].toUpperCase()}${name.slice(1)}`;
  const lines = [`/** Types of the ${name} API. Written by scripts/write-client.mjs; do not edit. */`, ''];
  for (const [schema, value] of Object.entries(components.schemas))
    lines.push(`export type ${schema} = ${typeOf(value)};`);
  lines.push('', `export interface ${title}Operations {`);
  for (const [path, methods] of Object.entries(paths)) {
    if (!path.startsWith('/api/')) continue;
    for (const [method, operation] of Object.entries(methods)) {
      lines.push(`  /** ${operation.summary} */`);
      lines.push(`  readonly ${JSON.stringify(`${method.toUpperCase()} ${path}`)}: {`);
      lines.push(`    readonly params: ${parametersOf(operation, 'path')};`);
      lines.push(`    readonly query: ${parametersOf(operation, 'query')};`);
      lines.push(`    readonly body: ${bodyOf(operation)};`);
      lines.push(`    readonly answer: ${answerOf(operation)};`);
      lines.push(`    readonly code: ${codesOf(operation)};`);
      lines.push('  };');
    }
  }
  lines.push('}', '');
  return lines.join('\n');
}

function parametersOf({ parameters = [] }, place) {
  const found = parameters.filter((one) => one.in === place);
  const members = found.map(
    ({ name, required, schema }) =>
      `readonly ${JSON.stringify(name)}${required ? '' : '?'}: ${typeOf(schema)}`,
  );
  return `{ ${members.join('; ')} }`;
}

function bodyOf({ requestBody }) {
  const content = requestBody?.content ?? {};
  const json = content['application/json'];
  if (json === undefined) return Object.keys(content).length > 0 ? 'FormData' : 'undefined';
  return requestBody.required ? typeOf(json.schema) : `${typeOf(json.schema)} | undefined`;
}

/** `never` for files. */
function answerOf({ responses }) {
  const contents = ['200', '202']
    .map((status) => responses[status]?.content)
    .filter((content) => content !== undefined);
  const types = contents.flatMap((content) => content['application/json']?.schema ?? []).map(typeOf);
  if (types.length > 0) return types.join(' | ');
  return contents.length > 0 ? 'never' : 'undefined';
}

/** Codes of all refusals; of those without a code in the body, none. */
function codesOf({ responses }) {
  const codes = Object.values(responses)
    .flatMap(({ content = {} }) => Object.values(content))
    .flatMap(({ schema = {} }) => schema.properties?.code?.enum ?? schema.properties?.code?.const ?? []);
  const found = [...new Set(codes)].sort();
  return found.length === 0 ? 'never' : found.map((code) => JSON.stringify(code)).join(' | ');
}

function typeOf(schema) {
  if (schema.$ref !== undefined) return schema.$ref.slice(schema.$ref.lastIndexOf('/') + 1);
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum !== undefined) return schema.enum.map((value) => JSON.stringify(value)).join(' | ');
  if (schema.anyOf !== undefined) return schema.anyOf.map((one) => `(${typeOf(one)})`).join(' | ');
  if (schema.allOf !== undefined) return schema.allOf.map((one) => `(${typeOf(one)})`).join(' & ');
  const types = [schema.type].flat();
  return types.map((type) => plainType(type, schema)).join(' | ');
}

function plainType(type, schema) {
  switch (type) {
    case 'object':
      return objectType(schema);
    case 'array':
      return `readonly (${typeOf(schema.items ?? {})})[]`;
    case 'integer':
      return 'number';
    case undefined:
      return 'unknown';
    default:
      return type;
  }
}

function objectType({ properties, required = [], additionalProperties }) {
  if (properties === undefined) {
    const value = typeof additionalProperties === 'object' ? typeOf(additionalProperties) : 'unknown';
    return `{ readonly [name: string]: ${value} }`;
  }
  const members = Object.entries(properties).map(
    ([name, schema]) =>
      `readonly ${JSON.stringify(name)}${required.includes(name) ? '' : '?'}: ${typeOf(schema)}`,
  );
  return `{ ${members.join('; ')} }`;
}
