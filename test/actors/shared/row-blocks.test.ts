/** Rows in blocks: lists of them are what a look at each row finds, whatever has changed. */
import test from 'ava';
import { RowBlocks, type RowTest, type TableRow } from '../../../actors/shared/tables/row-blocks.ts';
import { SharedRecords } from '../../../actors/shared/tables/shared-records.ts';
import { inBytes } from '../../../actors/shared/tables/text-block.ts';
import { fieldsOf, recordsOf, type TextSearch } from '../../../actors/shared/tables/texts.ts';
import { roundsOf } from '../../project/rounds.ts';
import { random } from '../portal/documents/some-documents.ts';

const ROUNDS = roundsOf(12, 200);
/** A scan has turns of the event loop in them. */
const COUNT = 140_000;
const ALL = { groups: [], newestFirst: false, offset: 0, limit: 3 };

const next = random(33);
const below = (count: number) => Math.floor(next() * count);
const WORDS = [
  'ana',
  'silva',
  'größe',
  '語',
  'an',
  'a',
  '',
  'anna.silva@example.org',
  '12-34',
  'x'.repeat(300),
  'İ',
  'aaab',
];
const someText = () => Array.from({ length: below(3) }, () => WORDS[below(WORDS.length)]).join(' ');
const someSearch = (): TextSearch => {
  const text =
    below(4) === 0 ? WORDS.join(' ') : `${WORDS[below(WORDS.length)]} ${WORDS[below(WORDS.length)]}`;
  const from = below(text.length);
  const pattern = text.slice(from, from + 1 + below(below(3) === 0 ? 300 : 4));
  return { pattern, ...(below(3) === 0 && { fields: [below(3)] }), ...(below(5) === 0 && { isWhole: true }) };
};

interface Item {
  readonly code: number;
  readonly fields: readonly string[];
  readonly records: readonly (readonly string[])[];
}

const someItem = (): Item => ({
  code: below(5),
  fields: Array.from({ length: below(4) }, someText),
  records: Array.from({ length: below(3) }, () => [`${WORDS[below(5)]} ${below(3_000)}`, someText()]),
});

function has(all: readonly string[], { pattern, fields, isWhole }: TextSearch): boolean {
  return all.some(
    (text, at) =>
      (fields?.includes(at) ?? true) && (isWhole === true ? text === pattern : text.includes(pattern)),
  );
}

type Means = (item: Item, order: number) => boolean;

test('any page of any filter is what a look at each row finds, while rows come, change and go', async (t) => {
  const rows = new RowBlocks({ codes: 1, texts: [false, true] });
  const records = new SharedRecords();
  const items = new Map<number, Item>();
  const put = (order: number, item: Item | undefined) => {
    if (item === undefined) items.delete(order);
    else items.set(order, item);
    rows.set(order, item && rowOf(item));
  };
  const rowOf = ({ code, fields, records: all }: Item): TableRow => ({
    codes: [code],
    texts: [fieldsOf(fields), all.map((record) => records.numberOf(recordsOf([record])))],
  });
  const someTest = async (): Promise<readonly [RowTest, Means]> => {
    const search = someSearch();
    const kind = below(8);
    if (kind === 0) {
      const code = below(5);
      const chosen = new Uint8Array(65_536);
      chosen[code] = 1;
      return [{ codes: 0, chosen }, (item) => item.code === code];
    }
    if (kind === 1) {
      const without = new Set([...items.keys()].filter(() => below(300) === 0));
      return [{ without: [...without].sort((a, b) => a - b) }, (_, order) => !without.has(order)];
    }
    if (kind < 5) return [{ texts: 0, search: inBytes(search) }, ({ fields }) => has(fields, search)];
    const found = await records.search([inBytes(search)]);
    return [{ records: 1, found }, (item) => item.records.some((record) => has(record, search))];
  };
  const check = async (of: RowBlocks) => {
    const groups: (readonly [RowTest, Means])[][] = [];
    for (let left = below(3); left >= 0; left -= 1) {
      const tests = [await someTest()];
      if (below(3) === 0) tests.push(await someTest());
      groups.push(tests);
    }
    // Records may be new since they were searched.
    if (of === rows) for (let change = below(3); change > 0; change -= 1) put(1 + below(9_000), someItem());
    const bounds = below(3) === 0 ? { from: below(5_000), below: 4_000 + below(5_000) } : {};
    const scan = { ...bounds, newestFirst: below(2) === 0, offset: below(30), limit: 1 + below(40) };
    const all = [...items]
      .filter(([order]) => order >= (bounds.from ?? 0) && order < (bounds.below ?? Infinity))
      .filter(([order, item]) => groups.every((tests) => tests.some(([, means]) => means(item, order))))
      .map(([order]) => order)
      .sort((a, b) => (scan.newestFirst ? b - a : a - b));
    const page = await of.page({ ...scan, groups: groups.map((tests) => tests.map(([one]) => one)) });
    const orders = all.slice(scan.offset, scan.offset + scan.limit);
    t.deepEqual(page, { orders, totalCount: all.length });
    const known = await of.page({
      ...scan,
      total: all.length,
      groups: groups.map((tests) => tests.map(([one]) => one)),
    });
    t.deepEqual(known.orders, orders);
    return all.length;
  };
  for (let order = 2; order <= 6_000; order += 1 + below(2)) put(order, someItem());
  let found = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    // New ones at the end, older ones between others, changes, and a part of which most goes.
    for (let change = below(60); change > 0; change -= 1) put(6_000 + below(40) + round * 12, someItem());
    for (let change = below(60); change > 0; change -= 1) put(1 + below(6_000), someItem());
    if (round % 8 === 0)
      for (let order = round * 20; order < round * 20 + 1_500; order += 1)
        if (below(9) > 0) put(order, undefined);
    t.is(rows.size, items.size);
    found += await check(rows);
  }
  t.true(found > 100 * ROUNDS, `${found} were found`);
  for (const [order, item] of items) {
    const { texts } = rowOf(item);
    t.deepEqual([rows.text(order, 0), rows.text(order, 1)], [...texts]);
  }
});

test('a row that is removed during a scan is not listed, and the next one takes its place', async (t) => {
  const rows = new RowBlocks({ codes: 0, texts: [] });
  for (let order = 1; order <= COUNT; order += 1) rows.set(order, { codes: [], texts: [] });
  const page = rows.page(ALL);
  rows.set(2, undefined);
  t.deepEqual(await page, { orders: [1, 3, 4], totalCount: COUNT - 1 });
});

test('rows that come, change and go during a scan are found once, as they were or as they are', async (t) => {
  const rows = new RowBlocks({ codes: 0, texts: [false] });
  const set = (order: number, text = 'some text') => rows.set(order, { codes: [], texts: [text] });
  for (let order = 1; order <= COUNT; order += 1) set(2 * order);
  const groups = [[{ texts: 0, search: inBytes({ pattern: 'text' }) }]];
  for (const newestFirst of [true, false]) {
    const page = rows.page({ groups, newestFirst, offset: 0, limit: COUNT });
    // Blocks become two or one on both sides of what was read.
    for (const middle of [1_000, 200_000])
      for (let order = middle; order < middle + 4_000; order += 1) {
        if (order % 2 === 1) set(order, 'another');
        else if (order % 50 > 0) set(order, 'a text again');
      }
    const { orders, totalCount } = await page;
    t.is(new Set(orders).size, COUNT);
    t.is(totalCount, COUNT);
  }
});

test('rows that are removed leave little in memory, and texts that are changed leave none', (t) => {
  const rows = new RowBlocks({ codes: 0, texts: [false] });
  for (let order = 1; order <= 50_000; order += 1) rows.set(order, { codes: [], texts: [`text ${order}`] });
  const before = rows.bytes;
  for (let order = 1; order <= 50_000; order += 1) rows.set(order, { codes: [], texts: [`texts ${order}`] });
  t.true(rows.bytes < 1.2 * before, `${rows.bytes} of ${before} bytes`);
  for (let order = 1; order <= 50_000; order += 1) if (order % 100 > 0) rows.set(order, undefined);
  t.is(rows.size, 500);
  t.true(rows.bytes < before / 10, `${rows.bytes} of ${before} bytes`);
  for (let order = 1; order <= 50_000; order += 1) rows.set(order, undefined);
  t.true(rows.bytes < before / 20, `${rows.bytes} of ${before} bytes`);
});

test('rows of one number are listed by their ids, over many blocks, while they come, change and go', async (t) => {
  const rows = new RowBlocks({ codes: 0, texts: [false, false], ids: 0 });
  const items = new Map<string, readonly [order: number, text: string]>();
  const put = (id: string, item: readonly [order: number, text: string] | undefined) => {
    const known = items.get(id);
    const order = item?.[0] ?? known?.[0] ?? 0;
    if (item === undefined) items.delete(id);
    else items.set(id, item);
    rows.set(order, item && { codes: [], texts: [id, fieldsOf([item[1]])] }, id);
  };
  for (let round = 0; round < 60; round += 1) {
    for (let change = 0; change < 300; change += 1) {
      const ids = [...items.keys()];
      const known = ids[below(ids.length)];
      const [order = 0] = items.get(known ?? '') ?? [];
      if (known !== undefined && below(4) === 0) put(known, undefined);
      else if (known !== undefined && below(3) === 0) put(known, [order, someText()]);
      else put(`id-${below(1_000_000_000)}`, [below(4), someText()]);
    }
    const others = new Set([...items.keys()].filter(() => below(50) === 0));
    const search: TextSearch = { pattern: 'an' };
    const groups: readonly (readonly RowTest[])[] = [
      [{ texts: 0, others }],
      ...(below(2) === 0 ? [[{ texts: 1, search: inBytes(search) }]] : []),
    ];
    const from = below(3);
    const end = from + below(4);
    const expected = [...items]
      .filter(([id, [order, text]]) => {
        const isFound = groups.length === 1 || has([text], search);
        return order >= from && order < end && !others.has(id) && isFound;
      })
      .sort(([id, [order]], [otherId, [other]]) => order - other || (id < otherId ? -1 : 1))
      .map(([id]) => id);
    const newestFirst = below(2) === 0;
    if (newestFirst) expected.reverse();
    const offset = below(expected.length + 2);
    const page = await rows.page({ from, below: end, groups, newestFirst, offset, limit: 20 });
    t.deepEqual(page.ids, expected.slice(offset, offset + 20), `${round}`);
    t.is(page.totalCount, expected.length);
    t.is(rows.size, items.size);
  }
  t.true(rows.size > 3_000);
});
