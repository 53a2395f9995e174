/** Tables of coded values, while rows come and go. */
import test from 'ava';
import { OrderedColumns } from '../../../actors/shared/tables/ordered-columns.ts';

/** A scan has a turn of the event loop in them. */
const COUNT = 70_000;

test('a row that is removed during a scan is not listed, and the next one takes its place', async (t) => {
  const rows = new OrderedColumns(0, 0);
  for (let order = 1; order <= COUNT; order += 1) rows.set(order, [], []);
  const page = rows.page({ groups: [], newestFirst: false, offset: 0, limit: 3 });
  rows.delete(2);
  t.deepEqual(await page, { orders: [1, 3, 4], totalCount: COUNT - 1 });
});
