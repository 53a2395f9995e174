/** Steps as other nodes are told of them: the text of a change, which nodes of other versions may have written. */
import type { Step } from '@sealwright/runtime';
import test from 'ava';
import { changeText, encodeStep, parseChange } from '#runtime/store/postgres/steps-as-arrays.js';
import { A, stepOf } from '../../contract/steps.ts';

/** Text that would end the head, were it not inside of a value. */
const TRICKY = '"],"actor":{"x"\n\u0000';

function told(): Step {
  const { actor, ...others } = stepOf({ ...A, id: TRICKY }, 3);
  return {
    ...others,
    actor: { ...actor, state: TRICKY, context: { actor: TRICKY }, journalHash: 'ab' },
    counters: { actor: 1, [TRICKY]: -2 },
    journal: [{ id: 1, at: 5, state: 'S', message: TRICKY, cause: 'C' }],
    rows: { put: [{ view: 'v', key: ['k'], value: { actor: 1 } }], remove: [] },
  };
}

/** Members of a step that other nodes are told of: its work is not among them. */
function toldOf({ actor, basedOn, journal, rows, names, counters, moved, ends, events }: Step) {
  return JSON.parse(JSON.stringify({ actor, basedOn, journal, rows, names, counters, moved, ends, events }));
}

test('a step that was told is the step, also one that ends its actor', (t) => {
  for (const step of [told(), { ...told(), ends: true as const }]) {
    const text = changeText(encodeStep(step));
    t.false(text.includes('\n'));
    t.deepEqual(toldOf(parseChange(text)), toldOf(step));
  }
});

test('the rest of a step that was told is not read before an observer asks for it', (t) => {
  const text = changeText(encodeStep(told()));
  const { actor, counters } = parseChange(text.slice(0, text.indexOf(',"journal":')));
  t.deepEqual(
    { ...actor.address, state: actor.state, revision: actor.revision, ...counters },
    {
      kind: A.kind,
      id: TRICKY,
      state: TRICKY,
      revision: 4,
      actor: 1,
      [TRICKY]: -2,
    },
  );
  t.throws(() => actor.context, { instanceOf: SyntaxError });
});

test('nodes of an earlier version read what is told, and this one what they tell', (t) => {
  const step = told();
  t.deepEqual(toldOf(JSON.parse(changeText(encodeStep(step)))), toldOf(step));
  t.deepEqual(toldOf(parseChange(JSON.stringify(toldOf(step)))), toldOf(step));
});
