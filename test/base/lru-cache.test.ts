import test from 'ava';
import { LruCache } from '../../base/lru-cache.ts';

test('a full cache evicts the entry that was used least recently', (t) => {
  const cache = new LruCache<string, number>({ entries: 2 });
  cache.set('a', 1);
  cache.set('b', 2);
  t.is(cache.get('a'), 1);
  cache.set('c', 3);
  t.deepEqual(
    ['a', 'b', 'c'].map((key) => cache.get(key)),
    [1, undefined, 3],
  );
  t.is(cache.size, 2);
});

test('a value that is replaced or read often has one entry, and a deleted one has none', (t) => {
  const cache = new LruCache<string, number>({ entries: 10, bytes: 10, sizeOf: (size) => size });
  for (const size of [9, 8, 1]) cache.set('a', size);
  cache.set('b', 9);
  t.is(cache.size, 2);
  cache.delete('b');
  cache.set('c', 9);
  t.true(cache.has('a'));
});

test('the sizes of all values together stay within the limit; a larger value is not stored', (t) => {
  const evicted: string[] = [];
  const cache = new LruCache<string, number>({
    entries: 100,
    bytes: 10,
    sizeOf: (size) => size,
    onEvict: (key) => evicted.push(key),
  });
  for (const key of ['a', 'b', 'c']) t.true(cache.set(key, 4));
  t.deepEqual(evicted, ['a']);
  t.false(cache.set('d', 11));
  t.deepEqual([cache.has('b'), cache.has('c'), cache.has('d')], [true, true, false]);
});

test('an undefined value is stored, and a cache of size 0 stores nothing', (t) => {
  const cache = new LruCache<string, undefined>({ entries: 1 });
  cache.set('a', undefined);
  t.true(cache.has('a'));
  const none = new LruCache<string, number>({ entries: 0 });
  t.false(none.set('a', 1));
  t.is(none.get('a'), undefined);
});
