/** Columns of texts that change. */
import test from 'ava';
import { TextColumn } from '../../../actors/shared/text-column.ts';

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
  const found = await column.search({ pattern: 'text 4200;' });
  column.release();
  for (const [order, entry] of entries) {
    t.is(column.text(entry), `text ${order};`);
    t.is(found(entry), order === 4_200);
  }
});
