/** Steps as text, on their way to the writing thread. */

import type { Step } from '@sealwright/runtime';
import test from 'ava';
import { readStepText, stepOfText, stepText } from '#runtime/store/lmdb/lmdb-tables.js';
import { A, B, effectOf, stepOf } from '../../contract/steps.ts';

const FULL: Step = stepOf(
  A,
  3,
  {
    journal: [
      { id: 1, at: 5, state: 'Queued', message: 'two\nlines', cause: 'ENQUEUE' },
      { id: 2, at: 5, state: 'Queued', message: '', cause: 'ENQUEUE' },
    ],
    effects: [effectOf(A, 4, 0, 5), { ...effectOf(A, 4, 1, 6), partition: 'tell/somewhere else' }],
    settles: 'job/b/7/0',
    dropsEffects: true,
    timers: {
      arm: [{ name: 'late', due: 99, event: { type: 'LATE', at: 5 } }],
      disarm: [{ name: 'early', due: 9 }],
    },
    rows: {
      put: [
        { view: 'v', key: [1, 'a'], value: null },
        { view: 'v', key: [], value: { text: 'a\r\nb\u2028', list: [1, 2.5] } },
      ],
      remove: [{ view: 'w', key: ['gone', 3] }],
    },
    names: { take: ['path:1'], release: ['path:2'] },
    counters: { c: 1, d: -2 },
  },
  { consumed: ['m1'], journalLength: 2, timers: { late: 99 } },
);

test('a step read from its text equals the original step, for every member', (t) => {
  for (const step of [FULL, stepOf(B, 0), { ...stepOf(B, 2, { dropsEffects: true }), ends: true } as Step])
    t.deepEqual(stepOfText(stepText(step)), step);
});

test('the values in the text of a step equal the stored values', (t) => {
  const { values } = readStepText(stepText(FULL));
  t.deepEqual(
    values.map((value) => JSON.parse(value)),
    [
      FULL.actor,
      ...FULL.journal,
      ...FULL.effects.map(({ effect, failures, lastError }) => ({ effect, failures, lastError })),
      { type: 'LATE', at: 5 },
      ...FULL.rows.put.map(({ value }) => value),
    ],
  );
});
