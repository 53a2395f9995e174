import test from 'ava';
import { readLines, tableOf } from '../../../../actors/shared/generation-data.ts';
import {
  placeholdersIn,
  readTemplate,
  replacePlaceholders,
} from '../../../../actors/shared/generation-template.ts';
import { decodeWindows1252 } from '../../../../actors/shared/windows-1252.ts';

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
  t.throws(() => tableOf([Array.from({ length: 201 }, () => 'same')]), { message: /more than 200 columns/ });
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
    t.deepEqual(table(bytes), { columns: ['name', 'city'], rows: [['Łucja', 'Łódź']] });
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
  t.deepEqual(table('name,email,,\nAna,ana@example.org,,\nRui,,,\n,,,,\n'), expected);
  t.deepEqual(table('name,,email\nAna,,ana@example.org\nRui\n'), expected);
  t.deepEqual(table(`name,email${','.repeat(300)}\nAna,ana@example.org\nRui\n`), expected);
  const named = { message: /^Column 2 has cells but no name/ };
  t.throws(() => table('name,,email\nAna,,ana@example.org\nRui,x\n'), named);
});

test('the line sep= names the delimiter and is no row', (t) => {
  const expected = { columns: ['name', 'note'], rows: [['Ana', 'a;b,c']] };
  t.deepEqual(table('sep=|\r\nname|note\r\nAna|a;b,c\r\n'), expected);
  t.deepEqual(table('\ufeff"sep=\t"\nname\tnote\nAna\ta;b,c\n'), expected);
  t.deepEqual(table('sep=a\nAna\n').columns, ['sep=a'], 'a letter is no delimiter');
});

test('a cell written as a formula of a text has the text', (t) => {
  const { rows } = table('number,other\n="00123",=1+1\n"=""0,5""",+351\n');
  t.deepEqual(rows, [
    ['00123', '=1+1'],
    ['0,5', '+351'],
  ]);
});
