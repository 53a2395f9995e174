/** Reads the table of a generation and fills its template: evaluates caller input under the time limit of a task. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { composePdf, type DrawnItem, type DrawnPage, wrapText } from '@sealwright/signatures';
import {
  type DataTable,
  type HiddenRows,
  invalid,
  type ReadLines,
  readLines,
  rowsOf,
  tableOf,
} from '../../shared/generation/data-table.ts';
import {
  countPlaceholders,
  filledLength,
  filledText,
  readTemplate,
} from '../../shared/generation/placeholders.ts';
import type { FillTask, GenerationFilePath, GenerationTask, PortalResults } from '../portal-tasks.ts';
import { readSheet } from '../tables/index.ts';

/** A4, points. */
const WIDTH = 595.28;
const HEIGHT = 841.89;
const MARGIN = 64;
const SIZE = 11;
const LEADING = 15;
const LINES = Math.floor((HEIGHT - 2 * MARGIN) / LEADING);

/** Typesets plain text as PDF pages. */
interface TypesetText {
  readonly text: string;
  readonly title: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** Path of the PDF. */
  readonly output: string;
}

/** Form feeds start a new page. The file is not synced. */
function typeset({ text, title, at, output }: TypesetText): void {
  rmSync(output, { force: true });
  composePdf({ output, parts: [{ pages: pagesOf(text) }], title, at });
}

function pagesOf(text: string): readonly DrawnPage[] {
  return text
    .replace(/\r\n?/g, '\n')
    .replaceAll('\t', '    ')
    .split('\f')
    .flatMap((part) => {
      const lines = wrapText(part, SIZE, WIDTH - 2 * MARGIN);
      return Array.from({ length: Math.ceil(lines.length / LINES) }, (_, page) =>
        pageOf(lines.slice(page * LINES, (page + 1) * LINES)),
      );
    });
}

function pageOf(lines: readonly string[]): DrawnPage {
  const items = lines.map(
    (text, index): DrawnItem => ({
      shape: 'text',
      x: MARGIN,
      y: MARGIN + index * LEADING + SIZE,
      size: SIZE,
      text,
    }),
  );
  return { width: WIDTH, height: HEIGHT, items };
}

const SHEET = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet';

/** @throws {PortalRefusal} `InvalidGenerationFile`, `LimitExceeded` */
export function readGeneration({
  data,
  hiddenRows,
  template,
  texts,
  maxCharacters,
}: GenerationTask): PortalResults['portal.generation'] {
  const table = tableOf(linesOf(data, hiddenRows));
  if (template !== null) assertFits(table, template, texts, maxCharacters);
  return table;
}

/** Fills the template. The file is not synced. */
export function fill({
  template,
  columns,
  cells,
  title,
  at,
  output,
}: FillTask): PortalResults['portal.fill'] {
  const {
    text,
    targetContentType: makes,
    escape: escaping,
  } = readTemplate(readFileSync(template.path), template);
  const [row] = rowsOf(columns, [cells]);
  if (row === undefined) throw new Error('A table of one row has one.');
  const filled = filledText(text, row, escaping);
  if (makes === 'pages') typeset({ text: filled, title, at, output });
  else {
    rmSync(output, { force: true });
    writeFileSync(output, filled, { flag: 'wx' });
  }
  return { makes };
}

function linesOf({ path, name, contentType }: GenerationFilePath, hiddenRows: HiddenRows): ReadLines {
  const bytes = readFileSync(path);
  if (contentType !== SHEET && !/\.xlsx$/i.test(name)) return readLines(bytes, { name, contentType });
  return readSheet(bytes, hiddenRows);
}

function assertFits(
  table: DataTable,
  template: GenerationFilePath,
  texts: unknown,
  maxCharacters: number,
): void {
  const { text } = readTemplate(readFileSync(template.path), template);
  const counts = countPlaceholders([text, template.name, texts], table.columns);
  for (const [index, row] of rowsOf(table.columns, table.rows).entries())
    if (filledLength(counts, row) > maxCharacters)
      throw invalid(`The document of row ${index + 1} would have more than ${maxCharacters} characters.`);
}
