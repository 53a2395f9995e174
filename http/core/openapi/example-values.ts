/**
 * Composes examples of bodies from the examples of their properties.
 *
 * Source: JSON Schema 2020-12 Validation §9.5 (`examples`).
 */
import type { Schema } from './schemas.ts';

type Schemas = { readonly [name: string]: object };

/**
 * A value that the schema accepts: that of `example` or `examples`, or one made of its parts. Inside itself a schema is null,
 * and a list of it is empty.
 */
export function exampleOf(schema: Schema, components: Schemas): unknown {
  const { $ref, anyOf, allOf, type } = schema;
  if (schema['example'] !== undefined) return schema['example'];
  const examples = schema['examples'];
  if (Array.isArray(examples) && examples.length > 0) return examples[0];
  if (schema['const'] !== undefined) return schema['const'];
  const words = schema['enum'];
  if (Array.isArray(words)) return words.find((word) => word !== null);
  if (typeof $ref === 'string') {
    const name = $ref.slice($ref.lastIndexOf('/') + 1);
    const { [name]: target, ...others } = components;
    return target === undefined ? null : exampleOf(target as Schema, others);
  }
  if (Array.isArray(allOf)) return exampleOfAll(schema, allOf, components);
  if (Array.isArray(anyOf)) {
    const first = anyOf.find((one: Schema) => one['type'] !== 'null');
    return first === undefined ? null : exampleOf(first, components);
  }
  const kind = Array.isArray(type) ? type.find((one) => one !== 'null') : type;
  switch (kind) {
    case 'object':
      return exampleOfObject(schema, components);
    case 'array': {
      const item = exampleOf((schema['items'] ?? { type: 'null' }) as Schema, components);
      return item === null ? [] : [item];
    }
    case 'boolean':
      return false;
    case 'integer':
    case 'number':
      return schema['default'] ?? schema['minimum'] ?? 1;
    case 'string':
      return schema['default'] ?? exampleText(schema);
    case 'null':
      return null;
    default:
      return {};
  }
}

function exampleOfAll(schema: Schema, allOf: readonly Schema[], components: Schemas): unknown {
  const { allOf: _, ...own } = schema;
  const parts = [...allOf.map((one) => exampleOf(one, components)), exampleOfObject(own, components)];
  return Object.assign({}, ...parts.filter((part) => typeof part === 'object'));
}

function exampleOfObject(schema: Schema, components: Schemas): object {
  const properties = (schema['properties'] ?? {}) as { readonly [name: string]: Schema };
  const names = Object.keys(properties);
  return Object.fromEntries(names.map((name) => [name, exampleOf(properties[name] ?? {}, components)]));
}

function exampleText(schema: Schema): string {
  switch (schema['format']) {
    case 'uuid':
      return '3f2504e0-4f89-41d3-9a0c-0305e82c3301';
    case 'date-time':
      return '2026-05-26T15:42:11.123Z';
    case 'date':
      return '2026-05-26';
    case 'uri':
      return 'https://sign.example.com/';
    default:
      return schema['contentEncoding'] === 'base64' ? 'JVBERi0xLjc=' : 'text';
  }
}
