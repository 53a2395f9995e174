/** Answers of tasks that wait for the network are given in groups. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import test from 'ava';
import { AnswersTogether } from '../../../actors/pool/answers-together.ts';

test('answers are given together: when many wait, after a while, and at the end', async (t) => {
  const due: (() => void)[] = [];
  const together = new AnswersTogether({ sleep: () => new Promise((resolve) => due.push(resolve)) });
  const given: number[] = [];
  const add = (from: number, to: number) => {
    for (let n = from; n < to; n += 1) together.add(() => given.push(n));
  };
  add(0, 15);
  t.deepEqual([given.length, due.length], [0, 1], 'one wait for all of them');
  add(15, 16);
  t.deepEqual(
    given,
    Array.from({ length: 16 }, (_, n) => n),
  );
  add(16, 18);
  due[0]?.();
  await nextTurn();
  t.is(given.length, 16, 'that wait was for the others');
  due[1]?.();
  await nextTurn();
  t.is(given.length, 18);
  // An answer that is added while others are given waits for the next ones.
  together.add(() => add(18, 19));
  together.give();
  t.is(given.length, 18);
  together.give();
  t.is(given.at(-1), 18);
});
