/** A spreadsheet costs what its cells are, wherever they stand. */

import { deflateRawSync } from 'node:zlib';
import test from 'ava';
import { readSheet } from '../../../../actors/pool/portal/generation.ts';

const LIMITS = { maxRows: 1_002, maxColumns: 200 };

/** A ZIP archive (APPNOTE 4.3) of packed files. */
function archive(files: Readonly<Record<string, string>>): Buffer {
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

function crc32(text: string): number {
  let crc = -1;
  for (const byte of Buffer.from(text)) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit += 1) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return ~crc >>> 0;
}

function spreadsheet(rows: string, formats: readonly string[] = [], properties = ''): Buffer {
  const main = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
  const office = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
  return archive({
    'xl/workbook.xml': `<workbook xmlns="${main}" xmlns:r="${office}">${properties}<sheets><sheet name="A" sheetId="1" r:id="rId1"/></sheets></workbook>`,
    'xl/_rels/workbook.xml.rels': `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="${office}/worksheet" Target="worksheets/sheet1.xml"/><Relationship Id="rId2" Type="${office}/styles" Target="styles.xml"/></Relationships>`,
    'xl/styles.xml': `<styleSheet xmlns="${main}"><numFmts>${formats.map((code, at) => `<numFmt numFmtId="${200 + at}" formatCode="${code}"/>`).join('')}</numFmts><cellXfs>${formats.map((_, at) => `<xf numFmtId="${200 + at}"/>`).join('')}</cellXfs></styleSheet>`,
    'xl/worksheets/sheet1.xml': `<worksheet xmlns="${main}"><sheetData>${rows}</sheetData></worksheet>`,
  });
}

test('cells without an address follow the previous one, and the last of duplicate rows counts', async (t) => {
  const cell = (text: string) => `<c t="inlineStr"><is><t>${text}</t></is></c>`;
  const file = spreadsheet(
    `<row r="2">${cell('old')}</row><row r="1">${cell('a')}${cell('b')}</row><row r="2">${cell('new')}</row>`,
  );
  t.deepEqual(await readSheet(file, LIMITS), [['a', 'b'], ['new']]);
});

test('numbers and times are read as the sheet shows them', async (t) => {
  const shown: readonly (readonly [format: string, value: string, text: string])[] = [
    ['General', '0.30000000000000004', '0.3'],
    ['General', '41', '41'],
    ['00000', '1234', '01234'],
    ['0%', '7.0000000000000007E-2', '7%'],
    ['#,##0.00', '1234.5', '1234.50'],
    ['[$€-407] #,##0.00;[Red]-0.00', '1.005', '1.01'],
    ['0.0##', '2.5', '2.5'],
    ['#,##0,', '1234567', '1234567'],
    ['0.00E+00', '1234567', '1234567'],
    [`0${'0'.repeat(30)}`, '5', '5'],
    ['hh:mm', '0.354166666666667', '08:30:00'],
    ['[h]:mm', '1.10416666666667', '26:30:00'],
    ['[h]:mm', '-0.104166666666667', '-02:30:00'],
    ['[&lt;1]0%;0', '5', '5'],
    ['[&gt;=1]0;0.00', '0.5', '0.5'],
    ['0;(0.00)', '-1.5', '-1.50'],
    ['0%;-0%;0.0', '0', '0.0'],
    ['General', '1234567890123456', '1234567890123456'],
    ['0', '9007199254740991', '9007199254740991'],
    ['dd.mm.yyyy', '46112', '2026-03-31'],
    ['dd.mm.yyyy hh:mm', '46112.75', '2026-03-31T18:00:00'],
  ];
  const cells = shown.map(([, value], at) => `<c s="${at}"><v>${value}</v></c>`).join('');
  const file = spreadsheet(
    `<row r="1">${cells}</row>`,
    shown.map(([format]) => format),
  );
  t.deepEqual(await readSheet(file, LIMITS), [shown.map(([, , text]) => text)]);
});

test('dates and times count from 1904 where the workbook says so', async (t) => {
  const shown = [
    ['General', '41', '41'],
    ['hh:mm', '0.354166666666667', '08:30:00'],
    ['[h]:mm', '1.10416666666667', '26:30:00'],
    ['[h]:mm', '-1.5', '-36:00:00'],
    ['dd.mm.yyyy', '44650', '2026-03-31'],
  ] as const;
  const cells = shown.map(([, value], at) => `<c s="${at}"><v>${value}</v></c>`).join('');
  const formats = shown.map(([format]) => format);
  const file = spreadsheet(`<row r="1">${cells}</row>`, formats, '<workbookPr date1904="1"/>');
  t.deepEqual(await readSheet(file, LIMITS), [shown.map(([, , text]) => text)]);
});

test('60,000 cells in the last possible column cost no more than elsewhere', async (t) => {
  t.timeout(60_000);
  const rows = Array.from(
    { length: 60_000 },
    (_, at) => `<row r="${at + 1}"><c r="XFD${at + 1}"><v>1</v></c></row>`,
  );
  const file = spreadsheet(`<row r="1"><c r="A1"><v>1</v></c></row>${rows.join('')}`);
  t.true(file.length < 400_000, `${file.length} bytes`);
  t.deepEqual(await readSheet(file, LIMITS), []);
});
