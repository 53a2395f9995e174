/** HTML view of schemas: a line for each member, with its type, rules and description. */
import { type Html, type HtmlValue, html, raw } from '../../../contracts/texts/html.ts';
import type { Schema } from './schemas.ts';

/** Longest example that a line shows, characters. */
const MAX_EXAMPLE = 80;

const REFERENCE = '#/components/schemas/';

/** Renders a schema and all nested schemas. */
export function schemaView(schema: Schema): Html {
  const target = inner(schema);
  const members = Object.entries((target['properties'] ?? {}) as { readonly [name: string]: Schema });
  const text = html`<span class="type">${typeText(schema)}</span>${rulesText(schema)}${noteText(schema)}`;
  if (members.length === 0) return text;
  const required = new Set((target['required'] ?? []) as readonly string[]);
  const rows = members.map(
    ([name, member]) =>
      html`<li><code>${name}</code>${required.has(name) ? undefined : html` <em>optional</em>`} ${schemaView(member)}</li>`,
  );
  return html`${text}<ul class="members">${rows}</ul>`;
}

/** The item schema of a list, or the alternative to null. */
function inner(schema: Schema): Schema {
  if (typeof schema['items'] === 'object' && schema['items'] !== null)
    return inner(schema['items'] as Schema);
  return choices(schema).find((one) => one['type'] !== 'null') ?? schema;
}

function choices(schema: Schema): readonly Schema[] {
  return (schema['anyOf'] ?? schema['oneOf'] ?? []) as readonly Schema[];
}

function typeText(schema: Schema): HtmlValue {
  const { $ref, type, items, additionalProperties } = schema;
  if (typeof $ref === 'string' && $ref.startsWith(REFERENCE)) {
    const name = $ref.slice(REFERENCE.length);
    return html`<a href="#schema-${name}">${name}</a>`;
  }
  if (choices(schema).length > 0) {
    return choices(schema).map((one, index) => html`${index === 0 ? '' : ' or '}${typeText(one)}`);
  }
  if ('const' in schema) return JSON.stringify(schema['const']);
  const orNull = [type].flat().includes('null') ? ' or null' : '';
  if (typeof items === 'object' && items !== null) return html`list of ${typeText(items as Schema)}${orNull}`;
  if (typeof additionalProperties === 'object' && additionalProperties !== null) {
    return html`map of ${typeText(additionalProperties as Schema)}${orNull}`;
  }
  if (schema['format'] === 'binary') return 'file';
  const names = Array.isArray(type) ? type : [type ?? 'any'];
  const format = typeof schema['format'] === 'string' ? ` (${schema['format']})` : '';
  return names.join(' or ') + format;
}

const RULES: { readonly [keyword: string]: string } = {
  minimum: 'at least',
  maximum: 'at most',
  minLength: 'characters, at least',
  maxLength: 'characters, at most',
  default: 'default',
};

function rulesText(schema: Schema): Html | undefined {
  const found: string[] = [];
  const names = (schema['enum'] ?? inner(schema)['enum']) as readonly unknown[] | undefined;
  if (names !== undefined) found.push(names.map((name) => String(name)).join(' | '));
  for (const [keyword, text] of Object.entries(RULES)) {
    if (schema[keyword] !== undefined) found.push(`${text} ${JSON.stringify(schema[keyword])}`);
  }
  return found.length === 0 ? undefined : html` <span class="rules">${found.join('; ')}</span>`;
}

function noteText(schema: Schema): Html | undefined {
  const { description } = schema;
  if (typeof description !== 'string') return undefined;
  return html` <span class="note">${richText(description)}${exampleText(schema)}</span>`;
}

/** The example of a text, a number or a list; that of a flag or of a listed value says nothing. */
function exampleText(schema: Schema): Html | undefined {
  const examples = schema['examples'] as readonly unknown[] | undefined;
  if (examples === undefined || schema['enum'] !== undefined || inner(schema)['enum'] !== undefined)
    return undefined;
  const [example] = examples;
  if (typeof example === 'boolean' || example === null) return undefined;
  const text = typeof example === 'string' ? example : JSON.stringify(example);
  return text === '' || text.length > MAX_EXAMPLE ? undefined : html` Example: <code>${text}</code>.`;
}

/** Renders the subset of CommonMark that the descriptions use: paragraphs and code. */
export function richText(text: string): Html {
  const escaped = html`${text}`.text;
  return raw(escaped.replace(/`([^`]+)`/g, '<code>$1</code>').replace(/\n\n+/g, '<br>'));
}
