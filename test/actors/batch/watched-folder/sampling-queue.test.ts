import test from 'ava';
import { createFifoQueue } from '../../../../actors/batch/watched-folder/file-reader.ts';

test('a queue returns all entries in order while it grows and shrinks', (t) => {
  const queue = createFifoQueue<number>();
  const taken: number[] = [];
  let next = 0;
  for (let turn = 0; turn < 3_000; turn += 1) {
    for (let i = 0; i < 7; i += 1) queue.push(next++);
    for (let i = 0; i < 4; i += 1) taken.push(queue.shift() ?? -1);
  }
  t.is(queue.length, 9_000);
  t.is(queue.peek(), 12_000);
  while (queue.length > 0) taken.push(queue.shift() ?? -1);
  t.deepEqual(
    taken,
    Array.from({ length: 21_000 }, (_, index) => index),
  );
  t.is(queue.shift(), undefined);
});

test('a cleared queue is empty and can be used again', (t) => {
  const queue = createFifoQueue<string>();
  queue.push('a');
  queue.push('b');
  queue.shift();
  queue.clear();
  t.is(queue.length, 0);
  queue.push('c');
  t.is(queue.shift(), 'c');
});
