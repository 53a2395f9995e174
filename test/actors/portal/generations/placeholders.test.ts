import test from 'ava';
import { decodeWindows1252 } from '../../../../actors/shared/files/windows-1252.ts';
import { RowList, readLines, tableOf } from '../../../../actors/shared/generation/data-table.ts';
import {
  placeholdersIn,
  readTemplate,
  replacePlaceholders,
} from '../../../../actors/shared/generation/placeholders.ts';

const names = (text: string) => [...placeholdersIn(text)].map(({ name }) => name);

test('placeholders are found in any surrounding text', (t) => {
  t.deepEqual(names('a {{one}} {{ two }}{{three}}'), ['one', 'two', 'three']);
  t.deepEqual(names('{{{name}}} {{a{{b}} {{c}d}} {{e}'), ['name', 'b']);
  t.deepEqual(names('{{}} {{\n \t}} {{ a b \n}}'), ['', 'a b']);
  t.deepEqual(names(`{{${'x'.repeat(200)}}} {{${'x'.repeat(201)}}}`), ['x'.repeat(200)]);
  t.is(
    replacePlaceholders('<{{a}}|{{b}}>{{', (name) => name.toUpperCase()),
    '<A|B>{{',
  );
  t.is(
    replacePlaceholders('nothing', () => 'x'),
    'nothing',
  );
});

test('each character of a text is read once, also with an unclosed placeholder', (t) => {
  for (const text of [
    `Hello {{name}}\n{{${'\n'.repeat(120_000)}`,
    '{{ '.repeat(40_000),
    '{'.repeat(120_000),
    `{{${'a'.repeat(120_000)}}`,
  ]) {
    let reads = 0;
    const counted = new Proxy(Object(text) as object, {
      get(target, key) {
        if (typeof key === 'string' && /^\d+$/.test(key)) reads += 1;
        const value = Reflect.get(target, key) as unknown;
        return typeof value === 'function' ? value.bind(text) : value;
      },
    });
    t.notThrows(() => [...placeholdersIn(counted as unknown as string)]);
    t.true(reads <= 3 * text.length, `${reads} reads of ${text.length} characters`);
  }
});

test('columns are counted while a JSON table is read, before its rows are filled', (t) => {
  const objects = Array.from({ length: 1_000 }, (_, row) =>
    Object.fromEntries(Array.from({ length: 130 }, (_, column) => [`c${row * 130 + column}`, 1])),
  );
  const bytes = Buffer.from(JSON.stringify(objects));
  let reads = 0;
  const hasOwn = Object.hasOwn;
  Object.hasOwn = (object, key) => {
    reads += 1;
    return hasOwn(object, key);
  };
  t.teardown(() => {
    Object.hasOwn = hasOwn;
  });
  t.throws(() => readLines(bytes, { name: 'a.json', contentType: 'application/json' }), {
    message: /more than 200 columns/,
  });
  t.true(reads < 1_000, `${reads} cells were filled up`);
});

test('a table with too many columns is refused before the names are compared', (t) => {
  const lines = [Array.from({ length: 201 }, () => 'same')];
  const none = new RowList();
  t.throws(() => tableOf({ lines, hidden: none, empty: none }), { message: /more than 200 columns/ });
});

const CSV = { name: 'people.csv', contentType: 'text/csv' };
const table = (text: string | Buffer) => tableOf(readLines(Buffer.from(text), CSV));

test('a Windows-1252 table has all characters of its encoding', (t) => {
  const bytes = Buffer.from('name;price\r\nO\x92Hara \x8aimon \x9cuvre \x99;\x80 5\x962\r\n', 'latin1');
  t.deepEqual(table(bytes).rows, [['O’Hara Šimon œuvre ™', '€ 5–2']]);
  const high = decodeWindows1252(Buffer.from(Array.from({ length: 128 }, (_, at) => 128 + at)));
  // Node reads this neighbouring code page right; it has the same punctuation.
  const codes = [0x80, 0x85, 0x91, 0x92, 0x93, 0x94, 0x96, 0x97];
  const neighbour = new TextDecoder('windows-1254').decode(Buffer.from(codes));
  t.is(codes.map((code) => high[code - 128]).join(''), neighbour);
  t.is(high.slice(32), Buffer.from(Array.from({ length: 96 }, (_, at) => 160 + at)).toString('latin1'));
});

test('a table in UTF-16 with its mark is read in both orders of bytes', (t) => {
  const little = Buffer.from('\ufeffname\tcity\r\nŁucja\tŁódź\r\n', 'utf16le');
  for (const bytes of [little, Buffer.from(little).swap16()])
    t.like(table(bytes), { columns: ['name', 'city'], rows: [['Łucja', 'Łódź']] });
});

test('bytes with the mark of UTF-16 that are no text in it are refused', (t) => {
  for (const bytes of [
    Buffer.from('fffe00006e0000000a00000061000000', 'hex'), // UTF-32
    Buffer.from('\ufeffname\n\ud800x', 'utf16le'),
    Buffer.from('fffe6e000a0061', 'hex'),
  ])
    t.throws(() => table(bytes), { message: /no text/ });
});

test('a markup template declares the encoding in which its copies are written', (t) => {
  const textIn = (name: string, bytes: Buffer) => readTemplate(bytes, { name, contentType: '' }).text;
  const xml = (encoding: string) => `<?xml version="1.0" encoding="${encoding}"?><r>\u00e9 {{name}}</r>`;
  t.is(textIn('a.xml', Buffer.from(`\ufeff${xml('UTF-16')}`, 'utf16le')), xml('utf-8'));
  t.is(textIn('a.xml', Buffer.from(xml('ISO-8859-1'), 'latin1')), xml('utf-8'));
  t.is(textIn('a.xml', Buffer.from(xml('UTF-8'))), xml('UTF-8'));
  const html = (charset: string) => `<html><head><meta charset=${charset}></head>\u00e9</html>`;
  t.is(textIn('a.html', Buffer.from(html('windows-1252'), 'latin1')), html('utf-8'));
});

test('columns that are empty in all rows are left out, others without a name are refused by number', (t) => {
  const expected = { columns: ['name', 'email'], rows: [['Ana', 'ana@example.org'], ['Rui']] };
  t.like(table('name,email,,\nAna,ana@example.org,,\nRui,,,\n,,,,\n'), expected);
  t.like(table('name,,email\nAna,,ana@example.org\nRui\n'), expected);
  t.like(table(`name,email${','.repeat(300)}\nAna,ana@example.org\nRui\n`), expected);
  const named = { message: /^Column 2 has cells but no name/ };
  t.throws(() => table('name,,email\nAna,,ana@example.org\nRui,x\n'), named);
});

test('the line sep= names the delimiter and is no row', (t) => {
  const expected = { columns: ['name', 'note'], rows: [['Ana', 'a;b,c']] };
  t.like(table('sep=|\r\nname|note\r\nAna|a;b,c\r\n'), expected);
  t.like(table('\ufeff"sep=\t"\nname\tnote\nAna\ta;b,c\n'), expected);
  t.deepEqual(table('sep=a\nAna\n').columns, ['sep=a'], 'a letter is no delimiter');
});

test('quotes behind white space are refused by their place, as programs read them in two ways', (t) => {
  t.throws(() => table('buyer.name, buyer.email\r\nAna, "ana@x.test"\r\n'), {
    message: 'Line 2, cell 2 has white space before its quotes. Remove one of them.',
  });
  t.throws(() => table('"name", "text"\n"Doe, Jane","b"\n'), { message: /^Line 1, cell 2 has white space/ });
  t.deepEqual(table('name,text\nPipe 5" wide, b\n').rows, [['Pipe 5" wide', ' b']]);
});

test('a cell written as a formula of a text has the text', (t) => {
  const { rows } = table('number,other\n="00123",=1+1\n"=""0,5""",+351\n');
  t.deepEqual(rows, [
    ['00123', '=1+1'],
    ['0,5', '+351'],
  ]);
});

/** Cells that refuse a table, each with a twin that is read. */
const FAULTS: readonly (readonly [bad: string | Buffer, why: RegExp, good: string | Buffer])[] = [
  ['5,29982E+10', /column b: It is a number that a program shortened/, '52998224725'],
  ['1E+05', /shortened/, '1E5'],
  ['#N/A', /column b: It is an error/, 'N/A'],
  ['#VALOR!', /an error/, '#1 VALOR!'],
  ['########', /an error/, '#'],
  ['Jos\ufffd', /lost/, 'José'],
  ['JosÃ© Conceição', /read in another code page/, 'IRMÃ José'],
  ['Oâ€™Hara', /read in another code page/, 'O’Hara'],
  // DOS (850), and Macs.
  [Buffer.from('Jos\x82', 'latin1'), /^Line 2, cell 2: Its letters are of another code page/, 'José'],
  [Buffer.from('S\xc6o Paulo', 'latin1'), /another code page/, Buffer.from('S\xe3o Paulo', 'latin1')],
  [Buffer.from('GON\x80ALVES', 'latin1'), /another code page/, Buffer.from('GON\xc7ALVES \x80', 'latin1')],
  [Buffer.from('Jos\x8e', 'latin1'), /another code page/, Buffer.from('\x8eivko \xc6r\xf8', 'latin1')],
  [Buffer.from('M\x81ller', 'latin1'), /another code page/, Buffer.from('M\xfcller, STRA\xdfE', 'latin1')],
];

for (const [bad, why, good] of FAULTS)
  test(`the cell ${bad.toString('latin1')} of a CSV is refused, and ${good.toString('latin1')} is read`, (t) => {
    const withCell = (cell: string | Buffer) =>
      Buffer.concat([Buffer.from('a;b\nx;"'), Buffer.from(cell as string), Buffer.from('"\n')]);
    t.throws(() => table(withCell(bad)), { message: why });
    t.is(table(withCell(good)).rows.length, 1);
  });

test('empty lines of a table are counted, and columns of one name are named', (t) => {
  t.is(table('\na;b\n1;2\n\n;\n"3\n4";5\n\n').leftOut.empty, '4, 5');
  t.throws(() => table('a;b;A\n1;2;3\n'), { message: 'Columns 1 and 3 have one name: a. Rename one.' });
  t.deepEqual(table('a|b\n1|2\n').rows, [['1', '2']]);
});

test('a JSON list of lists is a table', (t) => {
  const json = (value: unknown) =>
    tableOf(readLines(Buffer.from(JSON.stringify(value)), { name: 'a.json', contentType: '' }));
  t.like(json([['a', 'b'], [1, null], []]), { columns: ['a', 'b'], rows: [['1'], []] });
  t.throws(() => json([['a'], { a: 1 }]), { message: 'Row 1 is no JSON list.' });
});
