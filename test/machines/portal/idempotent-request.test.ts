import test from 'ava';
import { idempotentRequestMachine, REQUEST_EXPIRED } from '../../../machines/portal/idempotent-request.ts';
import { attempt, declared, initialContext, readTable } from '../table.ts';

const input = { fingerprint: 'f', seed: 's', answer: null };
const events: Readonly<Record<string, object>> = { ANSWER: { answer: '1' }, FORGET: {} };

test('the table of idempotent requests and their machine agree', async (t) => {
  const table = await readTable('machines/portal/idempotent-request.ts');
  const { states, events: names } = declared(idempotentRequestMachine);
  t.deepEqual([...states].sort(), ['Answered', 'Begun', REQUEST_EXPIRED]);
  const asked = names.filter((name) => !name.startsWith('xstate.after'));
  t.deepEqual([...asked].sort(), Object.keys(events).sort());
  const context = initialContext(idempotentRequestMachine, input);
  for (const from of states) {
    for (const type of asked) {
      const row = table.find((candidate) => candidate.from === from && candidate.event === type);
      const outcome = attempt(idempotentRequestMachine, from, context, { type, at: 9, ...events[type] });
      t.is(outcome.accepted, row !== undefined, `${from} × ${type}`);
      if (row) t.deepEqual([outcome.to, outcome.effects], [row.to, row.effects]);
    }
    const deadline = table.find(
      (candidate) => candidate.from === from && candidate.event.startsWith('after'),
    );
    const after = names.filter((name) => name.startsWith('xstate.after') && name.includes(`.${from}`));
    t.is(after.length, deadline === undefined ? 0 : 1, from);
  }
});
