/** Sheets, number formats and texts of a workbook. Source: ECMA-376 part 1 §18.2, §18.4 and §18.8. */
import { invalid } from '../../shared/generation/data-table.ts';
import { unescaped, type Workbook } from './cell-text.ts';
import { builtInFormat, NumberFormat } from './number-format.ts';
import type { ElementVisitor, SheetPackage } from './sheet-package.ts';

/** Sheets, number formats and styles of cells; spreadsheet programs allow 64,000 styles. */
const MAX_SHEETS = 10_000;
const MAX_STYLES = 65_536;

export interface OpenWorkbook extends Workbook {
  readonly sheet: { readonly name: string; readonly part: string };
  /** The number format of a style, undefined when the file does not describe it. */
  format(style: number): NumberFormat | undefined;
}

/** Refusals: `InvalidGenerationFile`. */
export function openWorkbook(parts: SheetPackage): OpenWorkbook {
  const path = parts.workbook();
  const relationships = parts.relationships(path);
  const sheets: { name: string; id: string; isHidden: boolean }[] = [];
  let isDate1904 = false;
  const isThere = parts.visit(path, {
    open(name, _, attribute) {
      if (name === 'workbook' || name === 'sheets') return 'children';
      if (name === 'workbookPr') isDate1904 = isTrue(attribute('date1904'));
      if (name === 'sheet') {
        if (sheets.length >= MAX_SHEETS) throw invalid('The spreadsheet has too many sheets.');
        sheets.push({
          name: attribute('name') ?? '',
          id: attribute('r:id') ?? '',
          isHidden: (attribute('state') ?? 'visible') !== 'visible',
        });
      }
      return 'skip';
    },
    close() {},
  });
  if (!isThere) throw invalid('The file is no spreadsheet (XLSX).');
  const found = sheets.find(({ id, isHidden }) => !isHidden && relationships.get(id)?.type === 'worksheet');
  const part = found && relationships.get(found.id)?.part;
  if (found === undefined || part === undefined) throw invalid('The spreadsheet has no sheet that is shown.');
  const partOf = (wanted: string) =>
    [...relationships.values()].find(({ type }) => type === wanted)?.part ?? '';
  return {
    isDate1904,
    sheet: { name: found.name, part },
    strings: stringsOf(parts, partOf('sharedStrings')),
    format: formatsOf(parts, partOf('styles')),
  };
}

/** `xsd:boolean`. */
export function isTrue(value: string | undefined): boolean {
  return value === '1' || value === 'true';
}

/** Collects the text of `si` and `is`: of its runs, without phonetic ones. */
export class RichText {
  #text = '';

  /** As `ElementVisitor.open`, for elements inside. */
  open(name: string): ReturnType<ElementVisitor['open']> {
    return name === 't' ? 'text' : name === 'r' ? 'children' : 'skip';
  }

  close(name: string, text: string): void {
    if (name === 't') this.#text += text;
  }

  take(): string {
    const text = unescaped(this.#text);
    this.#text = '';
    return text;
  }
}

function stringsOf(parts: SheetPackage, part: string): readonly string[] {
  const strings: string[] = [];
  const rich = new RichText();
  parts.visit(part, {
    open(name) {
      if (name === 'sst' || name === 'si') return 'children';
      return rich.open(name);
    },
    close(name, text) {
      rich.close(name, text);
      // As many as fit into the unpacked size.
      if (name === 'si') strings.push(rich.take());
    },
  });
  return strings;
}

function formatsOf(parts: SheetPackage, part: string): OpenWorkbook['format'] {
  const codes = new Map<number, string>();
  const styles: number[] = [];
  parts.visit(part, {
    open(name, parent, attribute) {
      if (name === 'styleSheet' || name === 'numFmts' || name === 'cellXfs') return 'children';
      if (codes.size >= MAX_STYLES || styles.length >= MAX_STYLES)
        throw invalid('The spreadsheet has too many styles of cells.');
      if (name === 'numFmt' && parent === 'numFmts')
        codes.set(Number(attribute('numFmtId')), attribute('formatCode') ?? '');
      if (name === 'xf' && parent === 'cellXfs') styles.push(Number(attribute('numFmtId') ?? 0));
      return 'skip';
    },
    close() {},
  });
  const formats = new Map<number, NumberFormat | undefined>();
  return (style) => {
    // A file without styles has the first one.
    const id = styles[style] ?? (style === 0 ? 0 : undefined);
    if (id === undefined) return undefined;
    if (!formats.has(id)) {
      const code = codes.get(id) ?? builtInFormat(id);
      formats.set(id, code === undefined ? undefined : new NumberFormat(code));
    }
    return formats.get(id);
  };
}
