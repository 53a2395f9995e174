/** Templates with placeholders `{{column}}` for the cells of a row; case-insensitive. */
import { columnName, type DataRow, decodedText, invalid } from './data-table.ts';

/**
 * Finds the placeholders `{{name}}` of a text in one pass, in linear time. Names have 1 to 200 characters without
 * braces; surrounding white space is ignored.
 */
interface Placeholder {
  readonly name: string;
  /** Start offset, and the offset after the end. */
  readonly start: number;
  readonly end: number;
}

const MAX_NAME = 200;

export function* placeholdersIn(text: string): Generator<Placeholder> {
  let at = text.indexOf('{{');
  while (at >= 0) {
    // Of more than two braces, the last two open the placeholder.
    let from = at + 2;
    while (text[from] === '{') from += 1;
    let to = from;
    while (to < text.length && text[to] !== '{' && text[to] !== '}') to += 1;
    const isClosed = to > from && text.startsWith('}}', to);
    const name = isClosed ? text.slice(from, to).trim() : '';
    if (isClosed && name.length <= MAX_NAME) yield { name, start: from - 2, end: to + 2 };
    // No placeholder starts before this offset.
    at = text.indexOf('{{', to);
  }
}

/** Replaces each placeholder by the result of `textOf` for its name. */
export function replacePlaceholders(text: string, textOf: (name: string) => string): string {
  const parts: string[] = [];
  let from = 0;
  for (const { name, start, end } of placeholdersIn(text)) {
    parts.push(text.slice(from, start), textOf(name));
    from = end;
  }
  return from === 0 ? text : parts.join('') + text.slice(from);
}

/** A template and its output format. */
export interface Template {
  readonly text: string;
  /** `pages`: plain text is typeset as PDF; `as-is`: the text is the file. */
  readonly targetContentType: 'pages' | 'as-is';
  readonly escape: (text: string) => string;
}

/** The encoding that a markup file declares, other than UTF-8, in which the filled files are written. */
const DECLARED =
  /^(\s*<\?xml\b[^>]*?\bencoding\s*=\s*["']|[\s\S]{0,1024}?<meta\b[^>]{0,200}?\bcharset\s*=\s*["']?)(?!utf-?8\b)[\w.:-]+/i;

/** Refusals: `InvalidGenerationFile`. */
export function readTemplate(
  bytes: Buffer,
  { name, contentType }: { readonly name: string; readonly contentType: string },
): Template {
  const text = decodedText(bytes);
  if (text === undefined)
    throw invalid(
      'The template is no text. Plain text becomes a PDF; HTML, XML and other texts stay what they are.',
    );
  const isPlain = /^text\/(?:plain|markdown)$/.test(contentType) || /\.(?:txt|md)$/i.test(name);
  const isMarkup = /(?:html|xml)$/.test(contentType) || /\.(?:html?|xml)$/i.test(name);
  return {
    text: isMarkup ? text.replace(DECLARED, '$1utf-8') : text,
    targetContentType: isPlain && !isMarkup ? 'pages' : 'as-is',
    escape: isMarkup ? inMarkup : contentType === 'application/json' ? inJson : (plain) => plain,
  };
}

/** Number of placeholders per column and total length of the texts. Plain data. */
export interface PlaceholderCounts {
  readonly length: number;
  readonly byColumn: readonly (readonly [column: string, count: number])[];
}

/**
 * @param texts plain data; all strings in it are scanned. Refusals: `InvalidGenerationFile` for a placeholder without a
 * column.
 */
export function countPlaceholders(texts: unknown, columns: readonly string[]): PlaceholderCounts {
  const known = new Set(columns);
  const byColumn = new Map<string, number>();
  const count = (value: unknown): void => {
    if (typeof value === 'string')
      for (const placeholder of placeholdersIn(value)) {
        const name = columnName(placeholder.name);
        if (!known.has(name)) throw invalid(`The data has no column ${name} for {{${name}}}.`);
        byColumn.set(name, (byColumn.get(name) ?? 0) + 1);
      }
    else if (typeof value === 'object' && value !== null) for (const one of Object.values(value)) count(one);
  };
  count(texts);
  return { length: JSON.stringify(texts).length, byColumn: [...byColumn] };
}

/** Computes the length of the filled texts. */
export function filledLength({ length, byColumn }: PlaceholderCounts, row: DataRow): number {
  let sum = length;
  for (const [name, count] of byColumn) sum += count * (row.get(name)?.length ?? 0);
  return sum;
}

export function filledText(
  text: string,
  row: DataRow,
  escaping: (text: string) => string = (plain) => plain,
): string {
  return replacePlaceholders(text, (name) => escaping(row.get(columnName(name)) ?? ''));
}

/** Fills all texts of a value. */
export function filledIn<Value>(value: Value, row: DataRow): Value {
  if (typeof value === 'string') return filledText(value, row) as Value;
  if (Array.isArray(value)) return value.map((one: unknown) => filledIn(one, row)) as Value;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, filledIn(one, row)])) as Value;
}

const MARKUP: { readonly [character: string]: string } = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function inMarkup(text: string): string {
  // Characters that XML forbids would make the document unreadable.
  return text
    .replace(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, '')
    .replace(/[&<>"']/g, (character) => MARKUP[character] ?? '');
}

function inJson(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}
