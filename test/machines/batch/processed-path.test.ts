import test from 'ava';
import { processedPathMachine, REMOVED_STATE } from '../../../machines/batch/processed-path.ts';
import { attempt, declared, initialContext, readTable } from '../table.ts';

const input = { pathKey: 'k', jobId: 'j-1', size: 3, mtimeMs: 5 };
const events: Readonly<Record<string, object>> = {
  KEEP: { jobId: 'j-2', size: 4, mtimeMs: 6 },
  FORGET: {},
};

test('the table of kept paths and their machine agree in every state and on every event', async (t) => {
  const table = await readTable('machines/batch/processed-path.ts');
  const { states, events: names } = declared(processedPathMachine);
  t.deepEqual([...states].sort(), [REMOVED_STATE, 'Kept']);
  t.deepEqual([...names].sort(), Object.keys(events).sort());
  const context = initialContext(processedPathMachine, input);
  for (const from of states) {
    for (const type of names) {
      const row = table.find((candidate) => candidate.from === from && candidate.event === type);
      const outcome = attempt(processedPathMachine, from, context, { type, at: 9, ...events[type] });
      t.is(outcome.accepted, row !== undefined, `${from} × ${type}`);
      if (row) t.deepEqual([outcome.to, outcome.effects], [row.to, row.effects]);
    }
  }
});
