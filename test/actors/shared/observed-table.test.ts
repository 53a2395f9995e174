/** Tables of lists that are given up while a list reads them. */
import test from 'ava';
import { type Condition, ObservedTable } from '../../../actors/shared/tables/observed-table.ts';

/** A scan has a turn of the event loop in them. */
const COUNT = 70_000;

async function* records(): AsyncGenerator<readonly (readonly [number, string])[]> {
  for (let order = 1; order <= COUNT; order += 1) yield [[order, `text ${order}`]];
}

test('a table that is given up while a page is read gives none', async (t) => {
  const table = new ObservedTable<string>(
    { codes: 0, texts: 1, codesOf: () => [], textsOf: (text) => [text] },
    { read: records, count: () => COUNT, bytesEach: 30, mayTake: () => true },
  );
  const scan = { groups: [], newestFirst: false, offset: 0, limit: 3 };
  t.deepEqual((await table.page(scan))?.orders, [1, 2, 3]);
  const page = table.page(scan);
  setImmediate(() => table.reset());
  t.is(await page, undefined);
});

test('a table whose texts take more memory than it may have is given up', async (t) => {
  const tableOf = (most: number) =>
    new ObservedTable<string>(
      { codes: 0, texts: 1, codesOf: () => [], textsOf: (text) => [text.repeat(20)] },
      { read: records, count: () => COUNT, bytesEach: 30, mayTake: (bytes) => bytes <= most },
    );
  const scan = { groups: [], newestFirst: false, offset: 0, limit: 3 };
  const large = tableOf(40_000_000);
  t.is((await large.page(scan))?.totalCount, COUNT);
  t.true(large.bytes > 15_000_000, `${large.bytes} bytes`);
  for (const most of [8_000_000, 2_000_000]) t.is(await tableOf(most).page(scan), undefined);
});

interface Item {
  readonly kind: string;
  readonly texts: readonly [string, string];
}

const KINDS = ['open', 'done', 'gone'];

/** Some have a text that few others have. */
function itemOf(order: number, round: number): Item {
  const seldom = order % 599 === round % 599 ? `rare${order % 7}` : '';
  return {
    kind: KINDS[(order * 7 + round) % 3] ?? '',
    texts: [`name ${order % 1_000} ${seldom}`, order % 3 === 0 ? '' : `who${(order * 31 + round) % 4_001}`],
  };
}

async function itemTable(items: Map<number, Item>): Promise<ObservedTable<Item>> {
  const table = new ObservedTable<Item>(
    { codes: 1, texts: 2, codesOf: ({ kind }) => [kind], textsOf: ({ texts }) => texts },
    {
      async *read() {
        yield [...items];
      },
      count: () => items.size,
      bytesEach: 30,
      mayTake: () => true,
    },
  );
  await table.prepare();
  return table;
}

/** Groups of conditions, and what they mean. */
function filtersOf(round: number): readonly (readonly [readonly Condition[], (item: Item) => boolean])[] {
  const has = (texts: 0 | 1, pattern: string) =>
    [{ texts, pattern }, (item: Item) => item.texts[texts].includes(pattern)] as const;
  const kind = KINDS[round % 3] ?? '';
  const is = [
    { codes: 0, passes: (text: string | null) => text === kind },
    (item: Item) => item.kind === kind,
  ] as const;
  const parts = [
    has(0, 'rare'),
    has(0, `rare${round % 7}`),
    has(1, `who${round % 400}`),
    has(0, 'name 5'),
    has(1, '1'),
  ];
  const one = parts[round % 5] ?? is;
  const other = parts[(round >> 2) % 5] ?? is;
  const either = [[is[0], one[0]], (item: Item) => is[1](item) || one[1](item)] as const;
  const both = [[one[0], other[0]], (item: Item) => one[1](item) || other[1](item)] as const;
  return (
    [[[is], [one]], [[one], [other]], [[is], [one], [other]], [[one]]][round % 4]
      ?.flat()
      .map(([condition, means]) => [[condition], means] as const)
      .concat(round % 3 === 0 ? [either as never] : round % 3 === 1 ? [both as never] : []) ?? []
  );
}

test('a page of seldom and of frequent texts is what a look at each record finds, while records change', async (t) => {
  const items = new Map<number, Item>();
  for (let order = 1; order <= 9_000; order += 1) items.set(order, itemOf(order, 0));
  const table = await itemTable(items);
  let found = 0;
  for (let round = 0; round < 100; round += 1) {
    const filters = filtersOf(round);
    const newestFirst = round % 2 === 0;
    const bounds = round % 5 === 0 ? { from: 700, below: 8_800 } : {};
    const scan = {
      ...bounds,
      groups: filters.map(([group]) => group),
      newestFirst,
      offset: round % 9,
      limit: 25,
    };
    const all = [...items]
      .filter(([order]) => order >= (bounds.from ?? 0) && order < (bounds.below ?? Infinity))
      .filter(([, item]) => filters.every(([, means]) => means(item)))
      .map(([order]) => order)
      .sort((a, b) => a - b);
    if (newestFirst) all.reverse();
    const page = await table.page(scan);
    t.is(page?.totalCount, all.length, `round ${round}`);
    t.deepEqual(page?.orders, all.slice(scan.offset, scan.offset + 25), `round ${round}`);
    found += all.length;
    for (let change = 0; change < 40; change += 1) {
      const order = 1 + ((round * 7_919 + change * 104_729) % 9_100);
      if (change % 10 === 0) items.delete(order);
      else items.set(order, itemOf(order, change % 3 === 0 ? order : round));
      table.observe(order, items.get(order));
    }
  }
  t.true(found > 1_000, `${found} were found`);
});

test('a record that changes while a page is read is found as it was or as it is', async (t) => {
  const items = new Map<number, Item>();
  for (let order = 1; order <= COUNT; order += 1)
    items.set(order, { kind: 'open', texts: [`text ${order}`, ''] });
  const table = await itemTable(items);
  const scan = { groups: [[{ texts: 0, pattern: 'text 70' }]], newestFirst: false, offset: 0, limit: 3 };
  const before = [...items.values()].filter(({ texts }) => texts[0].includes('text 70')).length;
  for (const order of [1, 40_000, 69_999]) {
    const page = table.page({ ...scan, groups: [[{ texts: 0, pattern: `text 70` }]] });
    setImmediate(() => table.observe(order, { kind: 'open', texts: ['text 70!', ''] }));
    const total = (await page)?.totalCount ?? 0;
    t.true(total >= before && total <= before + 3, `${total} of ${before}`);
  }
  await new Promise(setImmediate);
  const after = await table.page(scan);
  t.is(after?.totalCount, before + 3);
  t.deepEqual(after?.orders, [1, 70, 700]);
  const twice: readonly [string, string] = ['text 70!', 'text 70!'];
  for (let order = 10_001; order <= 11_600; order += 1) table.observe(order, { kind: 'open', texts: twice });
  t.is((await table.page(scan))?.totalCount, before + 1_603);
  for (let order = 1; order <= 5; order += 1) table.observe(order, { kind: 'open', texts: ['both', 'both'] });
  const either = [0, 1].map((texts) => ({ texts, pattern: 'both' }));
  t.is((await table.page({ ...scan, groups: [either] }))?.totalCount, 5);
});

test('a table whose records are mostly of removed texts is read anew', async (t) => {
  const items = new Map<number, string>();
  let reads = 0;
  const table = new ObservedTable<string>(
    { codes: 0, texts: 1, recurring: { 0: 0 }, codesOf: () => [], textsOf: (text) => [text] },
    {
      async *read() {
        reads += 1;
        yield [...items];
      },
      count: () => items.size,
      bytesEach: 30,
      mayTake: () => true,
    },
  );
  for (let order = 1; order <= 9_216; order += 1) items.set(order, `person ${order}`);
  await table.prepare();
  const bytes = table.bytes;
  for (let order = 1; order <= 9_216; order += 1) {
    items.set(order, `one of few ${order % 10}`);
    table.observe(order, items.get(order));
  }
  const scan = { groups: [[{ texts: 0, pattern: 'few 7' }]], newestFirst: false, offset: 0, limit: 2 };
  t.deepEqual(await table.page(scan), { orders: [7, 17], totalCount: 921 });
  t.is(reads, 2);
  t.true(table.bytes < bytes / 2, `${table.bytes} of ${bytes} bytes`);
});

test('a large table is not read anew for a record whose text changes all the time', async (t) => {
  let reads = 0;
  const table = new ObservedTable<string>(
    { codes: 0, texts: 1, recurring: { 0: 0 }, codesOf: () => [], textsOf: (text) => [text] },
    {
      async *read() {
        reads += 1;
        yield Array.from({ length: COUNT }, (_, at) => [at + 1, `one of few ${at % 10}`] as const);
      },
      count: () => COUNT,
      bytesEach: 30,
      mayTake: () => true,
    },
  );
  await table.prepare();
  const change = (from: number, below: number) => {
    for (let version = from; version < below; version += 1) table.observe(7, `version ${version}`);
  };
  change(0, 8_500);
  await table.prepare();
  t.is(reads, 1);
  change(8_500, 9_000);
  await table.prepare();
  t.is(reads, 2);
});
