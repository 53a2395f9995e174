import test from 'ava';
import { readLines, tableOf } from '../../../../actors/shared/generation-data.ts';
import { placeholdersIn, replacePlaceholders } from '../../../../actors/shared/placeholders.ts';

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
