/** Tables of lists that are given up while a list reads them. */
import test from 'ava';
import { ObservedTable } from '../../../actors/shared/tables/observed-table.ts';

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
