/**
 * Texts with places for what stands in a row: `{{column}}`, without regard to case.
 */
import { columnName, type DataRow, decodedText, invalid } from './generation-data.ts';

const PLACE = /\{\{\s*([^{}]{1,200}?)\s*\}\}/g;

/** How a template becomes a document. */
export interface Template {
  readonly text: string;
  /** `pages`: plain text is set on pages; `as-is`: the text is the file. */
  readonly makes: 'pages' | 'as-is';
  readonly escape: (text: string) => string;
}

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
    text,
    makes: isPlain && !isMarkup ? 'pages' : 'as-is',
    escape: isMarkup ? inMarkup : contentType === 'application/json' ? inJson : (plain) => plain,
  };
}

/** What texts will have in them: how often each column, and how many characters without. */
export interface Places {
  readonly length: number;
  readonly byColumn: ReadonlyMap<string, number>;
}

/** Refusals: `InvalidGenerationFile` for places that no column fills. */
export function placesIn(texts: unknown, columns: ReadonlySet<string>): Places {
  const json = JSON.stringify(texts);
  const byColumn = new Map<string, number>();
  for (const [, place = ''] of json.matchAll(PLACE)) {
    // Of a JSON text: a quote or backslash in the name of a column is escaped there.
    const name = columnName(JSON.parse(`"${place}"`) as string);
    if (!columns.has(name)) throw invalid(`The data has no column ${name} for {{${name}}}.`);
    byColumn.set(name, (byColumn.get(name) ?? 0) + 1);
  }
  return { length: json.length, byColumn };
}

/** Characters of the texts once they are filled, before they are. */
export function filledLength({ length, byColumn }: Places, row: DataRow): number {
  let sum = length;
  for (const [name, count] of byColumn) sum += count * (row.get(name)?.length ?? 0);
  return sum;
}

export function filledText(
  text: string,
  row: DataRow,
  escaping: (text: string) => string = (plain) => plain,
): string {
  return text.replace(PLACE, (_, name: string) => escaping(row.get(columnName(name)) ?? ''));
}

/** The same for every text in it. */
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
  // What XML cannot hold at all would make the whole document unreadable.
  return text
    .replace(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, '')
    .replace(/[&<>"']/g, (character) => MARKUP[character] ?? '');
}

function inJson(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}
