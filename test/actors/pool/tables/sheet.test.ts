/** Sheets are read by their standard; what is not certain is refused by the name of its cell. */
import test from 'ava';
import { readSheet } from '../../../../actors/pool/tables/index.ts';
import { tableOf } from '../../../../actors/shared/generation/data-table.ts';
import { archive, type BookOptions, bookParts, MAIN, OFFICE, spreadsheet, textCells } from './spreadsheet.ts';

const lines = (file: Buffer) => readSheet(file, 'refuse').lines;
const HEAD = `<row r="1">${textCells('name', 'other')}</row>`;
/** Below the head, a row with a name and this cell. */
const cellOf = (cell: string, parts?: BookOptions) =>
  spreadsheet(`${HEAD}<row r="2">${textCells('Ana')}${cell}</row>`, parts);

test('rows and cells without references follow those before them', (t) => {
  const rows = `<row r="1">${textCells('name', 'city')}</row><row>${textCells('One', 'x')}</row><row>${textCells('Two', 'y')}</row>`;
  t.deepEqual(lines(spreadsheet(rows)), [
    ['name', 'city'],
    ['One', 'x'],
    ['Two', 'y'],
  ]);
  const mixed = `<row r="5"><c r="C5"><v>3</v></c><c><v>4</v></c><c r="A5"><v>1</v></c></row><row r="2">${textCells('a')}</row>`;
  t.deepEqual(
    lines(spreadsheet(mixed)),
    [['a'], ['1', '', '3', '4']],
    'order of references, not of the file',
  );
});

test('texts are read from each place that a cell may have them', (t) => {
  const strings =
    '<si><t>plain</t></si><si><r><rPr><b/></rPr><t xml:space="preserve">rich </t></r><r><t>text</t></r><rPh sb="0" eb="1"><t>spoken</t></rPh><phoneticPr fontId="1"/></si><si><t>a_x000D_b _x005F_x0041_</t></si><si><t/></si>';
  const cells =
    '<c t="s"><v>0</v></c><c t="s"><v> 1 </v></c><c t="s"><v>2</v></c><c t="s"><v>3</v></c><c t="str"><f>A1</f><v>result</v></c><c t="str"><f>""</f><v></v></c><c t="inlineStr"><is><r><t>in</t></r><r><t>line</t></r></is></c><c t="b"><v>1</v></c><c t="b"><v>false</v></c><c><v>1.5E3</v></c><c t="inlineStr"><is><t><![CDATA[a<b]]>&amp;&#x41;</t></is></c>';
  t.deepEqual(lines(spreadsheet(`<row>${cells}</row>`, { strings })), [
    ['plain', 'rich text', 'a\rb _x0041_', '', 'result', '', 'inline', 'true', 'false', '1500', 'a<b&A'],
  ]);
});

test('elements with a prefix, strict namespaces and parts in UTF-16 are read', (t) => {
  const expected = [
    ['name', 'day'],
    ['Ana', '2030-01-31'],
  ];
  const rows = `<row r="1">${textCells('name', 'day')}</row><row r="2">${textCells('Ana')}<c r="B2" t="d"><v>2030-01-31T00:00:00</v></c></row>`;
  const parts = bookParts(rows);
  const sheet = String(parts['xl/worksheets/sheet1.xml']);
  t.deepEqual(lines(archive(parts)), expected);
  const prefixed = sheet.replaceAll('<', '<x:').replaceAll('<x:/', '</x:').replace('xmlns=', 'xmlns:x=');
  t.deepEqual(lines(archive({ ...parts, 'xl/worksheets/sheet1.xml': prefixed })), expected);
  const utf16 = Buffer.from(`\ufeff<?xml version="1.0" encoding="UTF-16"?>${sheet}`, 'utf16le');
  for (const part of [utf16, Buffer.from(utf16).swap16()])
    t.deepEqual(lines(archive({ ...parts, 'xl/worksheets/sheet1.xml': part })), expected);
  const strict = Object.entries(parts).map(([name, text]) => [
    name,
    String(text)
      .replaceAll(MAIN, 'http://purl.oclc.org/ooxml/spreadsheetml/main')
      .replaceAll(OFFICE, 'http://purl.oclc.org/ooxml/officeDocument/relationships'),
  ]);
  t.deepEqual(lines(archive(Object.fromEntries(strict))), expected);
  t.throws(() => lines(archive({ ...parts, 'xl/worksheets/sheet1.xml': sheet.replace(MAIN, 'urn:other') })), {
    message: /no sheet with cells/,
  });
});

test('the first sheet that is shown is read, wherever its part is', (t) => {
  const parts = bookParts(`<row>${textCells('hidden')}</row>`, {
    parts: {
      'xl/workbook.xml': `<workbook xmlns="${MAIN}" xmlns:q="${OFFICE}"><sheets><sheet name="A" sheetId="1" state="veryHidden" q:id="rId1"/><sheet name="B" sheetId="9" q:id="rId9"/></sheets></workbook>`,
      'xl/_rels/workbook.xml.rels': `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="${OFFICE}/worksheet" Target="worksheets/sheet1.xml"/><Relationship Id="rId9" Type="${OFFICE}/worksheet" Target="/Data/Sheet%202.XML"/><Relationship Id="rId2" Type="${OFFICE}/externalLink" Target="file:///etc/passwd" TargetMode="External"/></Relationships>`,
      'data/sheet 2.xml': `<worksheet xmlns="${MAIN}"><sheetData><row>${textCells('shown')}</row></sheetData></worksheet>`,
    },
  });
  t.deepEqual(lines(archive(parts)), [['shown']]);
});

test('rows that are hidden refuse the file, or are left out where the caller says so', (t) => {
  const row = (number: number, more: string) =>
    `<row r="${number}"${more}>${textCells(`P${number}`, 'x')}</row>`;
  const file = (more: string) => spreadsheet(`${HEAD}${row(2, more)}${row(3, '')}${row(6, '')}`);
  for (const more of [' hidden="1"', ' hidden="true"', ' ht="0" customHeight="1"']) {
    t.throws(() => readSheet(file(more), 'refuse'), {
      message: /^Sheet "Gäste" has rows that are hidden.*: 2\. .*skipHiddenRows/,
    });
    const skipped = readSheet(file(more), 'skip');
    t.deepEqual(skipped.lines, [
      ['name', 'other'],
      ['P3', 'x'],
      ['P6', 'x'],
    ]);
    t.is(String(skipped.hidden), '2');
    t.is(String(skipped.empty), '4, 5');
    t.is(readSheet(file(more), 'read').lines.length, 4);
  }
  t.is(readSheet(file(' hidden="0"'), 'refuse').lines.length, 4);
  const head = spreadsheet(`${HEAD.replace('<row', '<row hidden="1"')}${row(2, '')}`);
  t.throws(() => readSheet(head, 'skip'), { message: /row 1 with the names of the columns is hidden/ });
  const broken = `<row r="2" hidden="1">${textCells('P')}<c t="e"><v>#N/A</v></c></row>`;
  t.is(
    readSheet(spreadsheet(`${HEAD}${broken}${row(3, '')}`), 'skip').lines.length,
    2,
    'nobody sees the error',
  );
});

/** Cells, each with a twin that is read. */
const REFUSED: readonly (readonly [cell: string, why: RegExp, good: string, text: string])[] = [
  ['<c t="e"><v>#N/A</v></c>', /holds an error \(#N\/A\)/, '<c t="str"><v>N/A</v></c>', 'N/A'],
  ['<c><f>1+1</f></c>', /formula has no result/, '<c><f>1+1</f><v>2</v></c>', '2'],
  ['<c><f>1+1</f><v/></c>', /formula has no result/, '<c t="str"><f>1+1</f><v/></c>', ''],
  ['<c t="s"><v>1</v></c>', /text is missing/, '<c t="s"><v>0</v></c>', 'first'],
  ['<c t="s"><v></v></c>', /text is missing/, '<c><v></v></c>', ''],
  ['<c t="b"><v>2</v></c>', /neither true nor false/, '<c t="b"><v>0</v></c>', 'false'],
  ['<c><v>1,5</v></c>', /no number/, '<c><v>1.5</v></c>', '1.5'],
  ['<c><v>INF</v></c>', /no number/, '<c><v>-0.5</v></c>', '-0.5'],
  ['<c><v>9007199254740993</v></c>', /digits.*lost/, '<c><v>9007199254740991</v></c>', '9007199254740991'],
  ['<c><v>5.29982E+20</v></c>', /digits.*lost/, '<c><v>5.29982E+10</v></c>', '52998200000'],
  ['<c t="x"><v>1</v></c>', /type that is not read/, '<c t="n"><v>1</v></c>', '1'],
  [
    '<c t="inlineStr"><is><t>a</t></is><v>b</v></c>',
    /two things/,
    '<c t="inlineStr"><is><t>a</t></is></c>',
    'a',
  ],
  ['<c t="d"><v>2030-02-30</v></c>', /no date/, '<c t="d"><v>2030-02-28</v></c>', '2030-02-28'],
  [
    '<c t="d"><v>2030-01-31T09:30:00+02:00</v></c>',
    /no date/,
    '<c t="d"><v>2030-01-31T09:30:00.000Z</v></c>',
    '2030-01-31T09:30:00',
  ],
  ['<c t="d"><v>PT26H</v></c>', /no date/, '<c t="d"><v>08:30</v></c>', '08:30:00'],
  ['<c s="9"><v>1</v></c>', /number format is missing/, '<c s="0"><v>1</v></c>', '1'],
  ['<c r="B3"><v>1</v></c>', /has a cell B3 in row 2/, '<c r="B2"><v>1</v></c>', '1'],
  ['<c r="A2"><v>1</v></c>', /A2: It is in the file twice/, '<c r="B2"><v>1</v></c>', '1'],
  ['<c r="XFD2"><v>1</v></c>', /XFD2: .*more than 200 columns/, '<c r="XFD2"><v> </v></c>', ''],
  ['<c><x>1</x></c>', /content \(x\) that is not read/, '<c><v>1</v><extLst><ext/></extLst></c>', '1'],
  ['<a:c xmlns:a="urn:a"><v>1</v></a:c>', /content \(!c\)/, `<a:c xmlns:a="${MAIN}"><a:v>1</a:v></a:c>`, '1'],
];

for (const [cell, why, good, text] of REFUSED)
  test(`the cell ${cell} is refused by its name, and ${good} is read`, (t) => {
    const parts = { strings: '<si><t>first</t></si>' };
    const error = t.throws(() => tableOf(readSheet(cellOf(cell, parts), 'refuse')));
    t.like(error, { code: 'InvalidGenerationFile' });
    t.regex(error?.message ?? '', why);
    t.regex(error?.message ?? '', /^Sheet "Gäste"/);
    const [, row = []] = lines(cellOf(good, parts));
    t.is(row[1] ?? '', text);
  });

test('merged cells with a value are refused, others are not', (t) => {
  const rows = `${HEAD}<row r="2">${textCells('Ana', '950')}</row><row r="3">${textCells('Bo')}</row>`;
  const merged = (reference: string) =>
    spreadsheet(rows, { after: `<mergeCells><mergeCell ref="${reference}"/></mergeCells>` });
  t.throws(() => lines(merged('B2:B3')), { message: /the cells B2:B3 are merged\. Unmerge/ });
  t.throws(() => lines(merged('B2:Z')), { message: /merged cells B2:Z/ });
  t.is(lines(merged('B3:C3')).length, 3, 'no value');
  t.is(lines(merged('B2:B2')).length, 3, 'one cell');
  t.is(lines(merged('A9:XFD1048576')).length, 3, 'below the table');
});

test('a row or the cells of a sheet that are there twice are refused', (t) => {
  const row = `<row r="2">${textCells('Ana')}</row>`;
  t.is(lines(spreadsheet(HEAD + row)).length, 2);
  t.throws(() => lines(spreadsheet(HEAD + row + row)), { message: /has row 2 twice/ });
  t.throws(() => lines(spreadsheet(HEAD, { after: `<sheetData>${row}</sheetData>` })), {
    message: /its cells twice/,
  });
});

/** Files that harm a reader that trusts them. */
const HOSTILE: readonly (readonly [what: string, file: () => Buffer, why: RegExp])[] = [
  [
    'a document type',
    () => withSheet(`<!DOCTYPE x [<!ENTITY e "b">]><worksheet xmlns="${MAIN}"/>`),
    /document type/,
  ],
  [
    'elements that nest without end',
    () => withSheet(`<worksheet xmlns="${MAIN}">${'<a>'.repeat(100_000)}`),
    /nests more than/,
  ],
  ['a part that is not XML', () => withSheet('nothing'), /sheet1\.xml is damaged/],
  ['a row beyond the last', () => spreadsheet('<row r="1048577"><c><v>1</v></c></row>'), /beyond the last/],
  ['a row 0', () => spreadsheet('<row r="0"><c><v>1</v></c></row>'), /beyond the last/],
  [
    'a member outside of its folder',
    () => archive({ ...bookParts(HEAD), '../evil.xml': '' }),
    /leaves its folder/,
  ],
  [
    'names that differ by case alone',
    () => archive({ ...bookParts(HEAD), 'XL/workbook.xml': '' }),
    /differ too little/,
  ],
  [
    'a part that is there twice',
    () => twice('xl/workbook.xml', 'XL/workbook.xml'),
    /Two members have the name/,
  ],
  [
    'more shared texts than are unpacked',
    () => spreadsheet(HEAD, { strings: '<si><t>a text</t></si>'.repeat(1_600_000) }),
    /unpacks to more than|more than is unpacked/,
  ],
  [
    'a part that unpacks to 64 MiB',
    () => withSheet(' '.repeat(64 << 20)),
    /unpacks to more than|more than is unpacked/,
  ],
  [
    'a long text that many cells name',
    () =>
      spreadsheet(`${HEAD}<row>${'<c t="s"><v>0</v></c>'.repeat(190)}</row>`, {
        strings: `<si><t>${'x'.repeat(30_000)}</t></si>`,
      }),
    /more than 4194304 characters/,
  ],
  ['an external sheet', () => archive({ ...bookParts(HEAD), ...external() }), /no sheet that is shown/],
  ['an old format', () => Buffer.from('d0cf11e0a1b11ae1', 'hex'), /XLS.*Save it as XLSX/],
  ['a binary workbook', () => archive({ 'xl/workbook.bin': 'x' }), /XLSB.*Save it as XLSX/],
  ['an OpenDocument file', () => archive({ 'content.xml': '<a/>' }), /OpenDocument file\. Save it as XLSX/],
];

function withSheet(content: string): Buffer {
  return archive({ ...bookParts(''), 'xl/worksheets/sheet1.xml': content });
}

/** Two parts of one name: the second is written under another one of its length. */
function twice(name: string, other: string): Buffer {
  const bytes = archive({ ...bookParts(HEAD), [other]: '' });
  return Buffer.from(bytes.toString('latin1').replaceAll(other, name), 'latin1');
}

function external(): Readonly<Record<string, string>> {
  const rels = String(bookParts('')['xl/_rels/workbook.xml.rels']);
  return {
    'xl/_rels/workbook.xml.rels': rels.replace(
      'Target="worksheets/sheet1.xml"',
      'Target="http://127.0.0.1:9/s.xml" TargetMode="External"',
    ),
  };
}

for (const [what, file, why] of HOSTILE)
  test(`a spreadsheet with ${what} is refused with the reason`, (t) => {
    const error = t.throws(() => readSheet(file(), 'refuse'));
    t.like(error, { code: 'InvalidGenerationFile' });
    t.regex(error?.message ?? '', why);
  });

test('10,000 rows are read, and one more is refused', (t) => {
  const row = textCells(...Array.from({ length: 10 }, (_, at) => `text of column ${at}`));
  const rows = (count: number) =>
    spreadsheet(`<row>${textCells(...'abcdefghij')}</row>${`<row>${row}</row>`.repeat(count)}`);
  t.is(tableOf(readSheet(rows(10_000), 'refuse')).rows.length, 10_000);
  t.like(
    t.throws(() => readSheet(rows(10_001), 'refuse')),
    { code: 'LimitExceeded' },
  );
});

test('cells without content cost nothing, wherever they are', (t) => {
  const rows = Array.from(
    { length: 60_000 },
    (_, at) => `<row r="${at + 1}"><c r="XFD${at + 1}" s="0"/></row>`,
  );
  t.deepEqual(lines(spreadsheet(`${rows.join('')}<row r="1048576">${textCells('end')}</row>`)), [['end']]);
});
