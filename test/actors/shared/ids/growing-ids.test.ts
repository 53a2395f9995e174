import { seededIds } from '@sealwright/runtime/testing';
import test from 'ava';
import { GrowingIds } from '../../../../actors/shared/ids/growing-ids.ts';

const UUID4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const DAY = 86_400_000;

test('ids are of version 4, grow with the time, and differ in their first eight digits', (t) => {
  const ids = new GrowingIds(seededIds(1));
  // Several of one millisecond, and a clock that is set back.
  const times = [5 * DAY, 5 * DAY, 5 * DAY, 5 * DAY + 0.5, 5 * DAY + 1, 5 * DAY - 1000, 5 * DAY + 2000];
  const made = times.map((at) => ids.next(at));
  for (const id of made) t.regex(id, UUID4);
  t.deepEqual([...made].sort(), made);
  t.is(new Set(made.map((id) => id.slice(0, 8))).size, made.length);
  t.is(new Set(made.map((id) => id.slice(8))).size, made.length);
});

test('the digits begin again after 50 days', (t) => {
  const ids = new GrowingIds(seededIds(1));
  t.is(ids.next(2 ** 32 - 1).slice(0, 8), 'ffffffff');
  t.is(ids.next(2 ** 32 - 1).slice(0, 8), '00000000');
  t.is(ids.next(2 ** 32).slice(0, 8), '00000001');
  t.is(ids.next(2 ** 32 + 7).slice(0, 8), '00000007');
});
