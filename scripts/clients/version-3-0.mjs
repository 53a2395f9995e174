/**
 * Converts a description to OpenAPI 3.0.3, for the generators of clients, which read no later version.
 *
 * Source: OpenAPI 3.0.3 §4.7.24 ("Schema Object"); 3.1.0 for what changed.
 */

/** Keywords of JSON Schema 2020-12 that 3.0 lacks; it says less without them. */
const UNKNOWN = new Set(['contentMediaType', 'contentEncoding', 'propertyNames', 'examples', 'const']);

/** Keywords whose value has schemas by name. */
const MAPS = new Set(['properties', 'schemas']);
/** Keywords whose value is a schema, or a list of schemas. */
const SCHEMAS = new Set(['schema', 'items', 'additionalProperties', 'allOf', 'anyOf', 'oneOf', 'not']);
/** Keywords whose value is data. */
const DATA = new Set(['example', 'default', 'enum']);

/** The same operations as OpenAPI 3.0.3, which has no webhooks. */
export function asOpenApi30({ webhooks: _, ...document }) {
  return { ...convert(document, 'other'), openapi: '3.0.3' };
}

function convert(value, kind) {
  if (Array.isArray(value)) return value.map((one) => convert(one, kind));
  if (typeof value !== 'object' || value === null) return value;
  const converted = Object.fromEntries(
    Object.entries(value).map(([keyword, inner]) => [keyword, convertMember(keyword, inner, kind)]),
  );
  return kind === 'schema' ? withoutLaterKeywords(converted) : converted;
}

function convertMember(keyword, inner, kind) {
  if (kind === 'map') return convert(inner, 'schema');
  if (DATA.has(keyword) || (kind === 'schema' && keyword === 'examples')) return inner;
  if (MAPS.has(keyword)) return convert(inner, 'map');
  return convert(inner, SCHEMAS.has(keyword) ? 'schema' : 'other');
}

/** `type: [X, "null"]` becomes `nullable`, `const` a list of one value, and a reference stands alone. */
function withoutLaterKeywords(schema) {
  const types = [schema['type'] ?? []].flat().filter((type) => type !== 'null');
  const choices = schema['anyOf'] ?? [];
  const named = choices.filter((one) => one['nullable'] !== true || Object.keys(one).length > 1);
  const isNullable = types.length < [schema['type'] ?? []].flat().length || named.length < choices.length;
  const made = Object.fromEntries(Object.entries(schema).filter(([keyword]) => !UNKNOWN.has(keyword)));
  delete made['type'];
  delete made['anyOf'];
  if (types.length === 1) made['type'] = types[0];
  if (types.length > 1) made['anyOf'] = types.map((type) => ({ type }));
  // Generators know a reference that may be null as `allOf` of one.
  if (named.length > 0) made[named.length === 1 ? 'allOf' : 'anyOf'] = named;
  if (isNullable) made['nullable'] = true;
  if (schema['const'] !== undefined) made['enum'] = [schema['const']];
  if (made['enum'] !== undefined) made['type'] ??= typeOf(made['enum'][0]);
  if (schema['contentEncoding'] === 'base64') made['format'] = 'byte';
  if (Array.isArray(schema['examples'])) made['example'] = schema['examples'][0];
  const { $ref, ...beside } = made;
  return $ref === undefined
    ? made
    : Object.keys(beside).length === 0
      ? { $ref }
      : { ...beside, allOf: [{ $ref }] };
}

function typeOf(value) {
  return Number.isInteger(value) ? 'integer' : typeof value;
}
