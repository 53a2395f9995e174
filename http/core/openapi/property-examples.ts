/**
 * Adds examples to properties whose type determines one: booleans, enumerations with null, ids and times.
 *
 * Source: JSON Schema 2020-12 Validation §9.5 (`examples`).
 */
import { exampleOf } from './example-values.ts';
import type { Schema } from './schemas.ts';

type Mutable = { [keyword: string]: unknown };

/** Maximum nesting of schemas that get examples. */
const MAX_DEPTH = 40;

/** Texts with these formats have one example each. */
const FORMATS = new Set(['uuid', 'date-time', 'date']);

/**
 * Adds the examples in place, at any depth, to properties that have none. `flag`: example of a boolean; true in
 * requests, which send a flag to set it.
 */
export function exemplifyProperties(schema: unknown, flag: boolean, depth = 0): void {
  if (typeof schema !== 'object' || schema === null || depth > MAX_DEPTH) return;
  for (const [keyword, value] of Object.entries(schema)) {
    if (keyword === 'example' || keyword === 'examples') continue;
    if (keyword === 'properties') exemplifyMembers(value as Mutable, flag, depth);
    else exemplifyProperties(value, flag, depth + 1);
  }
}

function exemplifyMembers(properties: Mutable, flag: boolean, depth: number): void {
  for (const [name, given] of Object.entries(properties)) {
    properties[name] = withExample(given as Schema, flag);
    exemplifyProperties(properties[name], flag, depth + 1);
  }
}

function withExample(schema: Schema, flag: boolean): Schema {
  if (hasExample(schema) || !determinesExample(schema)) return schema;
  return { ...schema, examples: [isFlag(schema) ? flag : exampleOf(schema, {})] };
}

/** True when the schema states an example, or lists its values. */
export function hasExample(schema: Schema): boolean {
  return ['examples', 'example', 'const', 'enum'].some((keyword) => schema[keyword] !== undefined);
}

function isFlag({ type }: Schema): boolean {
  return [type].flat().includes('boolean');
}

function determinesExample(schema: Schema): boolean {
  const { anyOf, type, format, items } = schema;
  if (hasExample(schema) || isFlag(schema)) return true;
  if (Array.isArray(anyOf)) return anyOf.every((one: Schema) => determinesExample(one));
  if (typeof format === 'string') return FORMATS.has(format);
  if (typeof items === 'object' && items !== null) return determinesExample(items as Schema);
  return type === 'null';
}
