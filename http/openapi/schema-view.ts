/**
 * Schemas as people read them: a line for each member, with its type, its rules and what it is for.
 */
import { escapeHtml } from '../html.ts';
import type { Schema } from './schemas.ts';

const REFERENCE = '#/components/schemas/';

/** HTML of a schema and everything inside it. */
export function schemaView(schema: Schema): string {
  const target = inner(schema);
  const members = Object.entries((target['properties'] ?? {}) as { readonly [name: string]: Schema });
  const text = `<span class="type">${typeText(schema)}</span>${rulesText(schema)}${noteText(schema)}`;
  if (members.length === 0) return text;
  const required = new Set((target['required'] ?? []) as readonly string[]);
  const rows = members.map(
    ([name, member]) =>
      `<li><code>${escapeHtml(name)}</code>${required.has(name) ? '' : ' <em>optional</em>'} ${schemaView(member)}</li>`,
  );
  return `${text}<ul class="members">${rows.join('')}</ul>`;
}

/** What a list or a choice with null is made of. */
function inner(schema: Schema): Schema {
  if (typeof schema['items'] === 'object' && schema['items'] !== null)
    return inner(schema['items'] as Schema);
  return choices(schema).find((one) => one['type'] !== 'null') ?? schema;
}

function choices(schema: Schema): readonly Schema[] {
  return (schema['anyOf'] ?? schema['oneOf'] ?? []) as readonly Schema[];
}

function typeText(schema: Schema): string {
  const { $ref, type, items, additionalProperties } = schema;
  if (typeof $ref === 'string' && $ref.startsWith(REFERENCE)) {
    const name = $ref.slice(REFERENCE.length);
    return `<a href="#schema-${escapeHtml(name)}">${escapeHtml(name)}</a>`;
  }
  if (choices(schema).length > 0) return choices(schema).map(typeText).join(' or ');
  if ('const' in schema) return escapeHtml(JSON.stringify(schema['const']));
  if (typeof items === 'object' && items !== null) return `list of ${typeText(items as Schema)}`;
  if (typeof additionalProperties === 'object' && additionalProperties !== null) {
    return `map of ${typeText(additionalProperties as Schema)}`;
  }
  if (schema['contentMediaType'] !== undefined) return 'file';
  const names = Array.isArray(type) ? type : [type ?? 'any'];
  const format = typeof schema['format'] === 'string' ? ` (${schema['format']})` : '';
  return escapeHtml(names.join(' or ') + format);
}

const RULES: { readonly [keyword: string]: string } = {
  minimum: 'at least',
  maximum: 'at most',
  minLength: 'characters, at least',
  maxLength: 'characters, at most',
  default: 'default',
};

function rulesText(schema: Schema): string {
  const found: string[] = [];
  const names = (schema['enum'] ?? inner(schema)['enum']) as readonly unknown[] | undefined;
  if (names !== undefined) found.push(names.map((name) => String(name)).join(' | '));
  for (const [keyword, text] of Object.entries(RULES)) {
    if (schema[keyword] !== undefined) found.push(`${text} ${JSON.stringify(schema[keyword])}`);
  }
  return found.length === 0 ? '' : ` <span class="rules">${escapeHtml(found.join('; '))}</span>`;
}

function noteText(schema: Schema): string {
  const { description } = schema;
  return typeof description === 'string' ? ` <span class="note">${richText(description)}</span>` : '';
}

/** The little of CommonMark that our descriptions use: paragraphs and code. */
export function richText(text: string): string {
  return escapeHtml(text)
    .replace(/`([^`]+)`/g, '<code>$1</code>')
    .replace(/\n\n+/g, '<br>');
}
