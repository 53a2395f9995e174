/**
 * Adds descriptions and examples to properties and parameters whose schema has none, from a table by name. The table
 * holds what several schemas share; the text of one property of one operation is in its schema (`.describe()`).
 *
 * Source: JSON Schema 2020-12 Validation §9.1 (`description`) and §9.5 (`examples`).
 */
import type { Schema } from './schemas.ts';

/**
 * A description in CommonMark; with a second item, an example value. An object: the example of properties that their
 * schemas describe.
 */
export type PropertyText =
  | string
  | readonly [description: string, example: unknown]
  | { readonly example: unknown };

/**
 * Keys, the first that exists is used:
 *
 * | Key | Of |
 * |---|---|
 * | `Document.name` | the property `name` of the component `Document` |
 * | `files.name` | the property `name` of the object, or of each item of the list, `files` |
 * | `documents/{id}` | the path parameter `id` after the segment `documents` |
 * | `?page` | the query parameter `page` |
 * | `name` | every other property or parameter of this name |
 */
export type PropertyTexts = { readonly [key: string]: PropertyText };

type Mutable = { [keyword: string]: unknown };

/** Maximum nesting of schemas that are described; deeper ones stay as they are. */
const MAX_DEPTH = 40;

/** Describes every property of `schema`, in place, at any depth. `owner`: name of its component or property. */
export function describeProperties(schema: unknown, owner: string, texts: PropertyTexts, depth = 0): void {
  if (typeof schema !== 'object' || schema === null || depth > MAX_DEPTH) return;
  if (Array.isArray(schema)) {
    for (const one of schema) describeProperties(one, owner, texts, depth + 1);
    return;
  }
  for (const [keyword, value] of Object.entries(schema)) {
    if (keyword === 'properties') describeMembers(value as Mutable, owner, texts, depth);
    else if (keyword !== 'example' && keyword !== 'examples')
      describeProperties(value, owner, texts, depth + 1);
  }
}

function describeMembers(properties: Mutable, owner: string, texts: PropertyTexts, depth: number): void {
  for (const [name, given] of Object.entries(properties)) {
    const found = texts[`${owner}.${name}`] ?? texts[name];
    properties[name] = withText(given as Schema, found);
    describeProperties(properties[name], name, texts, depth + 1);
  }
}

/** Source: OpenAPI 3.1.1 §4.8.12 ("Parameter Object"). */
export interface Parameter {
  readonly in: string;
  readonly name: string;
  readonly description?: string;
  readonly schema: object;
  readonly required: boolean;
  readonly example?: unknown;
}

/** Adds texts to the parameters of one operation. */
export function describeParameters(
  parameters: readonly Parameter[],
  path: string,
  texts: PropertyTexts,
): readonly Parameter[] {
  return parameters.map((parameter) => {
    const { in: place, name } = parameter;
    const found =
      place === 'path'
        ? (texts[`${segmentBefore(path, name)}/{${name}}`] ?? texts[name])
        : (texts[`?${name}`] ?? texts[name]);
    if (found === undefined) return parameter;
    const { description, example } = partsOf(found);
    return {
      ...(description !== undefined && { description }),
      ...(example !== undefined && place === 'path' && { example }),
      ...parameter,
    };
  });
}

/** `/api/jobs/{id}/output`, `id` → `jobs`. */
function segmentBefore(path: string, name: string): string {
  const segments = path.split('/');
  return segments[segments.indexOf(`{${name}}`) - 1] ?? '';
}

/** The text of a table in parts. */
export function partsOf(text: PropertyText): { readonly description?: string; readonly example?: unknown } {
  if (typeof text === 'string') return { description: text };
  if ('example' in text) return text;
  const [description, example] = text;
  return { description, example };
}

function withText(schema: Schema, found: PropertyText | undefined): Schema {
  if (found === undefined) return schema;
  const { example, ...described } = partsOf(found);
  return {
    ...schema,
    ...(schema['description'] === undefined && described),
    ...(example !== undefined &&
      schema['examples'] === undefined &&
      accepts(schema, example) && { examples: [example] }),
  };
}

/** False when the type of the schema excludes the value, or the schema lists its values. */
function accepts(schema: Schema, value: unknown): boolean {
  const { type, anyOf } = schema;
  if (schema['enum'] !== undefined || schema['const'] !== undefined || schema['$ref'] !== undefined)
    return false;
  if (Array.isArray(anyOf)) return anyOf.some((one: Schema) => accepts(one, value));
  if (schema['format'] === 'uuid') return typeof value === 'string' && value.length === 36;
  if (type === undefined) return true;
  const types: readonly unknown[] = Array.isArray(type) ? type : [type];
  if (typeof value === 'number')
    return types.includes('number') || (types.includes('integer') && Number.isInteger(value));
  return types.includes(Array.isArray(value) ? 'array' : typeof value);
}
