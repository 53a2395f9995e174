/** Columns of texts that change. */
import test from 'ava';
import { ASK, NO_ENTRY, recordsOf, TextColumn } from '../../../actors/shared/tables/text-column.ts';

test('texts that are removed before others follow leave nothing in memory', (t) => {
  const column = new TextColumn(() => t.fail('No entry is left to move.'));
  let last = 0;
  for (let order = 1; order <= 20_000; order += 1) {
    last = column.add(order, `text ${order}`);
    column.remove(last);
  }
  t.true(last < 4_096, `the last entry has the number ${last}`);
});

test('the few texts that are left of many are moved, and found', async (t) => {
  const entries = new Map<number, number>();
  const column = new TextColumn((order, entry) => entries.set(order, entry));
  for (let order = 1; order <= 20_000; order += 1) {
    const entry = column.add(order, `text ${order};`);
    if (order % 100 === 0) entries.set(order, entry);
    else column.remove(entry);
  }
  t.true([...entries.values()].every((entry) => entry < 4_096));
  column.hold();
  const found = await column.search([{ pattern: 'text 4200;' }]);
  column.release();
  for (const [order, entry] of entries) {
    t.is(column.text(entry), `text ${order};`);
    t.is(found.marks[entry] === 1, order === 4_200);
  }
});

test('a search finds what a look at each text finds, whatever its letters, fields and place', async (t) => {
  const words = [
    'ana',
    'silva',
    'größe',
    '語',
    'an',
    '',
    'anna.silva@example.org',
    '12-34',
    'a',
    'x'.repeat(300),
  ];
  const word = (seed: number) => words[(seed * seed + (seed >> 3)) % words.length] ?? '';
  const column = new TextColumn(() => {});
  const texts = new Map<number, readonly (readonly string[])[]>();
  for (let order = 1; order <= 1_700; order += 1) {
    const records = Array.from({ length: order % 3 }, (_, at) => [
      `${word(order + at)} ${word(order * 7)}`,
      word(order * 3 + at),
      word(order * 5),
    ]);
    texts.set(column.add(order, recordsOf(records)), records);
  }
  texts.delete(NO_ENTRY);
  for (const pattern of ['an', 'ana', 'öß', '語', 'a s', 'silva', 'a', 'x'.repeat(300)])
    for (const fields of [undefined, [0], [1, 2]])
      for (const isWhole of [false, true]) {
        const search = { pattern, isWhole, ...(fields && { fields }) };
        column.hold();
        const { marks, ask } = await column.search([search, { pattern: 'nowhere' }]);
        column.release();
        const has = (text: string) => (isWhole ? text === pattern : text.includes(pattern));
        for (const [entry, records] of texts) {
          const isFound = marks[entry] === ASK ? ask(entry) : marks[entry] === 1;
          const is = records.some((all) =>
            all.some((text, at) => (fields?.includes(at) ?? true) && has(text)),
          );
          if (isFound !== is) t.fail(JSON.stringify({ search, records, isFound }));
        }
      }
  t.true(texts.size > 1_100);
});
