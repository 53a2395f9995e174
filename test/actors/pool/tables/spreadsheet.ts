/** Spreadsheets written part by part, as programs write them that the library of our reports does not know. */
import { crc32, deflateRawSync } from 'node:zlib';

export const MAIN = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
export const OFFICE = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';

/** A ZIP archive (APPNOTE 4.3) of packed files. */
export function archive(files: Readonly<Record<string, string | Buffer>>): Buffer {
  const locals: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const [path, content] of Object.entries(files)) {
    const name = Buffer.from(path);
    const packed = deflateRawSync(content);
    const sizes = Buffer.alloc(20);
    sizes.writeUInt16LE(20, 0);
    sizes.writeUInt16LE(8, 4);
    sizes.writeUInt32LE(crc32(content), 10);
    sizes.writeUInt32LE(packed.length, 14);
    const lengths = Buffer.alloc(8);
    lengths.writeUInt32LE(Buffer.byteLength(content), 0);
    lengths.writeUInt16LE(name.length, 4);
    // Version, flags, method, time, date, checksum and sizes stand alike in both headers.
    const shared = Buffer.concat([sizes.subarray(0, 18), lengths]);
    const local = Buffer.concat([Buffer.from('PK\u0003\u0004'), shared, name, packed]);
    const entry = Buffer.concat([Buffer.from('PK\u0001\u0002\u0014\u0000'), shared, Buffer.alloc(14), name]);
    entry.writeUInt32LE(offset, 42);
    locals.push(local);
    directory.push(entry);
    offset += local.length;
  }
  const end = Buffer.alloc(22);
  end.write('PK\u0005\u0006');
  end.writeUInt16LE(directory.length, 8);
  end.writeUInt16LE(directory.length, 10);
  end.writeUInt32LE(Buffer.concat(directory).length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...locals, ...directory, end]);
}

export interface BookOptions {
  /** Number formats; cell style `n` has the one at `n`. */
  readonly formats?: readonly string[];
  /** Elements of the workbook before its sheets. */
  readonly properties?: string;
  /** Content of `sst`. */
  readonly strings?: string;
  /** Elements of the sheet behind its cells. */
  readonly after?: string;
  /** Parts in the place of, or beside, the written ones. */
  readonly parts?: Readonly<Record<string, string | Buffer>>;
}

/** @param rows content of `sheetData` */
export function bookParts(
  rows: string,
  { formats = [], properties = '', strings = '', after = '', parts = {} }: BookOptions = {},
): Readonly<Record<string, string | Buffer>> {
  const escaped = (code: string) =>
    code.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
  return {
    'xl/workbook.xml': `<workbook xmlns="${MAIN}" xmlns:r="${OFFICE}">${properties}<sheets><sheet name="Gäste" sheetId="1" r:id="rId1"/></sheets></workbook>`,
    'xl/_rels/workbook.xml.rels': `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="${OFFICE}/worksheet" Target="worksheets/sheet1.xml"/><Relationship Id="rId2" Type="${OFFICE}/styles" Target="styles.xml"/><Relationship Id="rId3" Type="${OFFICE}/sharedStrings" Target="/xl/sharedStrings.xml"/></Relationships>`,
    'xl/styles.xml': `<styleSheet xmlns="${MAIN}"><numFmts>${formats.map((code, at) => `<numFmt numFmtId="${200 + at}" formatCode="${escaped(code)}"/>`).join('')}</numFmts><cellStyleXfs><xf numFmtId="14"/></cellStyleXfs><cellXfs>${formats.map((_, at) => `<xf numFmtId="${200 + at}"/>`).join('')}</cellXfs></styleSheet>`,
    'xl/sharedStrings.xml': `<sst xmlns="${MAIN}">${strings}</sst>`,
    'xl/worksheets/sheet1.xml': `<worksheet xmlns="${MAIN}"><sheetData>${rows}</sheetData>${after}</worksheet>`,
    ...parts,
  };
}

export function spreadsheet(rows: string, parts?: BookOptions): Buffer {
  return archive(bookParts(rows, parts));
}

/** Cells without references. */
export function textCells(...texts: readonly string[]): string {
  return texts.map((text) => `<c t="inlineStr"><is><t>${text}</t></is></c>`).join('');
}
