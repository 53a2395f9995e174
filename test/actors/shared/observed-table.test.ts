/** Tables of lists that are given up while a list reads them. */
import test from 'ava';
import { ObservedTable } from '../../../actors/shared/observed-table.ts';

/** A scan has a turn of the event loop in them. */
const COUNT = 70_000;

async function* records(): AsyncGenerator<readonly [number, string]> {
  for (let order = 1; order <= COUNT; order += 1) yield [order, `text ${order}`];
}

test('a table that is given up while a page is read gives none', async (t) => {
  const table = new ObservedTable<string>(
    { codes: 0, texts: 1, codesOf: () => [], textsOf: (text) => [text] },
    { read: records, count: () => COUNT, most: COUNT },
  );
  const scan = { groups: [], newestFirst: false, offset: 0, limit: 3 };
  t.deepEqual((await table.page(scan))?.orders, [1, 2, 3]);
  const page = table.page(scan);
  setImmediate(() => table.reset());
  t.is(await page, undefined);
});
