/** Numbers are read as the sheet shows them. */
import test from 'ava';
import { readSheet } from '../../../../actors/pool/tables/index.ts';
import { spreadsheet } from './spreadsheet.ts';

type Shown = readonly [format: string, value: string, text: string];

function texts(
  shown: readonly (readonly [format: string, value: string, ...more: unknown[]])[],
  properties = '',
) {
  const cells = shown.map(([, value], at) => `<c s="${at}"><v>${value}</v></c>`).join('');
  const formats = shown.map(([format]) => format);
  return readSheet(spreadsheet(`<row r="1">${cells}</row>`, { formats, properties }), 'refuse').lines[0];
}

const expected = (shown: readonly Shown[]) => shown.map(([, , text]) => text);

test('numbers and times are read as the sheet shows them', (t) => {
  const shown: readonly Shown[] = [
    ['General', '0.30000000000000004', '0.3'],
    ['General', '41', '41'],
    ['General', '0.0000001', '0.0000001'],
    ['@', '41', '41'],
    ['00000', '1234', '01234'],
    ['0000#', '7', '00007'],
    ['0%', '7.0000000000000007E-2', '7%'],
    ['0.0%', '0.125', '12.5%'],
    ['#,##0.00', '1234.5', '1234.50'],
    ['#,###', '1234.5', '1235'],
    ['#.##', '0.5', '0.5'],
    ['.00', '0.5', '0.50'],
    ['0.', '5', '5'],
    ['# ##0.00', '1234.5', '1234.50'],
    ['[$€-407] #,##0.00;[Red]-0.00', '1.005', '1.01'],
    ['"R$"\\ #,##0.00', '1234.5', '1234.50'],
    ['R$ #,##0.00', '1234.5', '1234.50'],
    ['_-"EUR"* #,##0.00_-;-"EUR"* #,##0.00_-;_-"EUR"* "-"??_-;_-@_-', '-3', '-3.00'],
    ['_-* #,##0.00_-;-* #,##0.00_-;_-* "-"??_-;_-@_-', '0', '0'],
    ['0.0##', '2.5', '2.5'],
    ['#,##0,', '1234567', '1234567'],
    ['0.00E+00', '1234567', '1234567'],
    ['# ?/?', '0.5', '0.5'],
    [`0${'0'.repeat(30)}`, '5', '5'],
    ['0;-0;;@', '0', '0'],
    ['0;@', '-5', '-5'],
    ['0;(0.00)', '-1.5', '-1.50'],
    ['0', '-0.2', '0'],
    ['0%;-0%;0.0', '0', '0.0'],
    ['General', '1234567890123456', '1234567890123456'],
    ['0', '9007199254740991', '9007199254740991'],
  ];
  t.deepEqual(texts(shown), expected(shown));
});

test('masks keep their zeros and texts, and units stay', (t) => {
  const shown: readonly Shown[] = [
    ['000"."000"."000"-"00', '1234567890', '012.345.678-90'],
    ['000\\.000\\.000\\-00', '1234567890', '012.345.678-90'],
    ['000000000-00', '1234567890', '012345678-90'],
    ['00\\.000\\.000\\/0000\\-00', '191', '00.000.000/0001-91'],
    ['00000-000', '1310100', '01310-100'],
    ['[$-416]00000\\-000', '1310100', '01310-100'],
    ['\\(00\\)\\ 00000\\-0000', '11987654321', '(11) 98765-4321'],
    ['[<=99999999]####\\-####;\\(##\\)\\ ####\\-####', '33334444', '3333-4444'],
    ['[<=99999999]####\\-####;\\(##\\)\\ ####\\-####', '1133334444', '(11) 3333-4444'],
    ['[<=99999999999]000\\.000\\.000\\-00;00\\.000\\.000\\/0000\\-00', '191', '000.000.001-91'],
    ['000-00-0000', '123456789012', '123456-78-9012'],
    ['"CLI-"0000', '42', 'CLI-0042'],
    ['0" kg"', '5', '5 kg'],
    ['0" kg";-0" kg"', '-5', '-5 kg'],
    ['0\\d', '5', '5d'],
    ['0.0"m"', '1.25', '1.3m'],
    ['[<1]0%;0', '5', '5'],
    ['[<1]0%;0', '0.5', '50%'],
    ['[>=1]0;0.00', '0.5', '0.50'],
  ];
  t.deepEqual(texts(shown), expected(shown));
});

test('a section with a condition is taken below, at and above its limit as the sign says', (t) => {
  const shown = Object.entries({
    '<': ['yes', 'no', 'no'],
    '<=': ['yes', 'yes', 'no'],
    '=': ['no', 'yes', 'no'],
    '>=': ['no', 'yes', 'yes'],
    '>': ['no', 'no', 'yes'],
    '<>': ['yes', 'no', 'yes'],
  }).flatMap(([sign, taken]) =>
    taken.map((is, at): Shown => [`[${sign}5]"yes-"0;"no-"0`, `${4 + at}`, `${is}-${4 + at}`]),
  );
  t.deepEqual(texts(shown), expected(shown));
});

test('dates and times are told by their format', (t) => {
  const shown: readonly Shown[] = [
    ['hh:mm', '0.354166666666667', '08:30:00'],
    ['h:mm AM/PM', '0.75', '18:00:00'],
    ['mm:ss.0', '0.0006944444444', '00:01:00'],
    ['[h]:mm', '1.10416666666667', '26:30:00'],
    ['[h]:mm', '-0.104166666666667', '-02:30:00'],
    ['[mm]:ss', '1.5', '36:00:00'],
    ['dd.mm.yyyy', '46112', '2026-03-31'],
    ['[$-416]dd/mm/yyyy;@', '46112', '2026-03-31'],
    ['d "de" mmmm "de" yyyy', '46112', '2026-03-31'],
    ['dd.mm.yyyy hh:mm', '46112.75', '2026-03-31T18:00:00'],
    ['hh:mm', '46112.75', '2026-03-31T18:00:00'],
    ['yyyy-mm-dd', '61', '1900-03-01'],
    ['yyyy-mm-dd', '2958465', '9999-12-31'],
  ];
  t.deepEqual(texts(shown), expected(shown));
});

test('dates and times count from 1904 where the workbook says so', (t) => {
  const shown: readonly Shown[] = [
    ['General', '41', '41'],
    ['hh:mm', '0.354166666666667', '08:30:00'],
    ['[h]:mm', '1.10416666666667', '26:30:00'],
    ['[h]:mm', '-1.5', '-36:00:00'],
    ['dd.mm.yyyy', '44650', '2026-03-31'],
  ];
  for (const value of ['1', 'true'])
    t.deepEqual(texts(shown, `<workbookPr date1904="${value}"/>`), expected(shown));
});

/** Formats with a number that they are not certain for. */
const REFUSED: readonly (readonly [format: string, value: string, why: RegExp, good: string])[] = [
  ['yyyy-mm-dd', '60', /before 1900-03-01/, '61'],
  ['yyyy-mm-dd', '0', /before 1900-03-01 or none/, '61'],
  ['yyyy-mm-dd', '2958466', /no date before the year 10000/, '2958465'],
  ['hh:mm', '1.5', /longer than a day.*\[h\]:mm/, '0.5'],
  ['"yes";"no"', '1', /shows a text in place/, '0'],
  ['000-00', '1.5', /whole digits/, '1'],
  ['0,"k"', '1500', /thousands with a text/, '0'],
  ['00.000.000/0000-00', '191', /texts between digits, and decimals/, ''],
  ['0 kg', '5', /letters that may be a date or a text/, ''],
];

for (const [format, value, why, good] of REFUSED)
  test(`the number ${value} in the format ${format} is refused`, (t) => {
    t.throws(() => texts([[format, value]]), { message: new RegExp(`cell A1: .*${why.source}`) });
    if (good !== '' && !format.startsWith('"') && !format.includes('k'))
      t.notThrows(() => texts([[format, good]]));
  });

test('formats that the standard numbers are known, others must be described', (t) => {
  const one = (id: number) => {
    const parts = {
      'xl/styles.xml': `<styleSheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><cellXfs><xf numFmtId="${id}"/></cellXfs></styleSheet>`,
    };
    return readSheet(spreadsheet('<row><c s="0"><v>46112.5</v></c></row>', { parts }), 'refuse')
      .lines[0]?.[0];
  };
  t.deepEqual([0, 1, 2, 9, 14, 22, 46, 31, 44].map(one), [
    '46112.5',
    '46113',
    '46112.50',
    '4611250%',
    '2026-03-31T12:00:00',
    '2026-03-31T12:00:00',
    '1106700:00:00',
    '2026-03-31T12:00:00',
    '46112.50',
  ]);
  for (const id of [23, 59, 164]) t.throws(() => one(id), { message: /number format is missing/ });
});
