/** Reads the table of a generation and fills its template: evaluates caller input under the time limit of a task. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import {
  type DataTable,
  invalid,
  type Lines,
  MAX_COLUMNS,
  MAX_ROWS,
  readLines,
  rowsOf,
  tableOf,
} from '../../shared/generation-data.ts';
import {
  countPlaceholders,
  filledLength,
  filledText,
  readTemplate,
} from '../../shared/generation-template.ts';
import type { FillTask, GenerationFilePath, GenerationTask, PortalResults } from '../portal-tasks.ts';
import { readSheet } from './read-sheet.ts';
import { typeset } from './typeset.ts';

const SHEET = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet';

/** @throws {PortalRefusal} `InvalidGenerationFile`, `LimitExceeded` */
export async function readGeneration({
  data,
  template,
  texts,
  maxCharacters,
}: GenerationTask): Promise<PortalResults['portal.generation']> {
  const table = tableOf(await linesOf(data));
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
  const [row] = rowsOf({ columns, rows: [cells] });
  if (row === undefined) throw new Error('A table of one row has one.');
  const filled = filledText(text, row, escaping);
  if (makes === 'pages') typeset({ text: filled, title, at, output });
  else {
    rmSync(output, { force: true });
    writeFileSync(output, filled, { flag: 'wx' });
  }
  return { makes };
}

async function linesOf({ path, name, contentType }: GenerationFilePath): Promise<Lines> {
  const bytes = readFileSync(path);
  if (contentType !== SHEET && !/\.xlsx$/i.test(name)) return readLines(bytes, { name, contentType });
  // One row holds the column names; one more than the maximum shows that the table is too long.
  return readSheet(bytes, { maxRows: MAX_ROWS + 2, maxColumns: MAX_COLUMNS });
}

function assertFits(
  table: DataTable,
  template: GenerationFilePath,
  texts: unknown,
  maxCharacters: number,
): void {
  const { text } = readTemplate(readFileSync(template.path), template);
  const counts = countPlaceholders([text, template.name, texts], table.columns);
  for (const [index, row] of rowsOf(table).entries())
    if (filledLength(counts, row) > maxCharacters)
      throw invalid(`The document of row ${index + 1} would have more than ${maxCharacters} characters.`);
}
