/** Lists as CSV files that spreadsheet programs open. Source: RFC 4180. */
import { contentDisposition } from './file-reply.ts';
import type { StreamReply } from './reply.ts';

/** Tells spreadsheet programs that the file is UTF-8. */
const BYTE_ORDER_MARK = '\ufeff';

interface CsvTable<Item> {
  readonly columns: readonly string[];
  /** In the order of the columns. */
  readonly cellsOf: (item: Item) => readonly string[];
}

/** Streams the items as lines. Rejects with what the first page throws: it decides whether there is a file at all. */
export async function csvReply<Item>(
  fileName: string,
  pages: AsyncGenerator<readonly Item[]>,
  table: CsvTable<Item>,
): Promise<StreamReply> {
  const first = await pages.next();
  return {
    kind: 'stream',
    status: 200,
    headers: [
      ['Content-Type', 'text/csv; charset=utf-8'],
      ['Content-Disposition', contentDisposition(fileName)],
    ],
    chunks: csvOf(first.done === true ? [] : first.value, pages, table),
  };
}

async function* csvOf<Item>(
  first: readonly Item[],
  rest: AsyncGenerator<readonly Item[]>,
  { columns, cellsOf }: CsvTable<Item>,
): AsyncGenerator<Buffer> {
  const linesOf = (items: readonly Item[]) => items.map((item) => csvLine(cellsOf(item))).join('');
  try {
    yield Buffer.from(`${BYTE_ORDER_MARK}${csvLine(columns)}${linesOf(first)}`);
    for await (const items of rest) yield Buffer.from(linesOf(items));
  } finally {
    await rest.return(undefined);
  }
}

function csvLine(cells: readonly string[]): string {
  return `${cells.map(csvCell).join(',')}\r\n`;
}

/**
 * A quoted cell. Spreadsheet programs would run a text that begins like a formula; an apostrophe keeps it a text. Some
 * separate cells at semicolons, tabs and line breaks.
 */
export function csvCell(text: string): string {
  const inner = text.replace(/([;\t\r\n][^\S\t\r\n]*)([=+\-@\uff1d\uff0b\uff0d\uff20])/g, "$1'$2");
  const harmless = /^\s*[=+\-@\uff1d\uff0b\uff0d\uff20]|^[\t\r\n]/.test(inner) ? `'${inner}` : inner;
  return `"${harmless.replaceAll('"', '""')}"`;
}
