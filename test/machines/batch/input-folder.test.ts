import test from 'ava';
import { transition } from 'xstate';
import { inputFolderMachine } from '../../../machines/batch/input-folder.ts';
import { attempt, declared, initialContext, readTable } from '../table.ts';

const fresh = initialContext(inputFolderMachine, { name: 'default', budget: 3 });

test('the input folder table and its machine agree in every state, on every event, at both limits of the budget', async (t) => {
  const table = await readTable('machines/batch/input-folder.ts');
  const { states, events } = declared(inputFolderMachine);
  t.deepEqual([...states].sort(), [...new Set(table.flatMap((row) => [row.from, row.to]))].sort());
  for (const [condition, failuresInARow] of [
    ['within the budget', 1],
    ['beyond the budget', 2],
  ] as const) {
    for (const from of states) {
      for (const type of events) {
        const rows = table.filter((row) => row.from === from && row.event === type);
        const row = rows.length > 1 ? rows.find((candidate) => candidate.condition === condition) : rows[0];
        const outcome = attempt(
          inputFolderMachine,
          from,
          { ...fresh, failuresInARow },
          { type, at: 1, error: 'EIO', budget: 3 },
        );
        t.is(outcome.accepted, row !== undefined, `${from} × ${type} ${condition}`);
        t.is(outcome.to, row?.to ?? from, `${from} × ${type} ${condition}`);
      }
    }
  }
});

test('a success restores the whole budget of the watcher', (t) => {
  const failed = { type: 'ENQUEUE_FAILED', at: 1, error: 'EIO' } as const;
  const start = inputFolderMachine.resolveState({ value: 'Running', context: fresh as never });
  const [afterTwo] = transition(inputFolderMachine, transition(inputFolderMachine, start, failed)[0], failed);
  t.like(afterTwo.context, { failuresInARow: 2, lastError: 'EIO' });
  const [recovered] = transition(inputFolderMachine, afterTwo, { type: 'ENQUEUED', at: 9 });
  t.like(recovered.context, { failuresInARow: 0, lastError: null, lastEnqueueAt: 9 });
  const [again] = transition(
    inputFolderMachine,
    transition(inputFolderMachine, recovered, failed)[0],
    failed,
  );
  t.is(again.value, 'Running');
  t.is(transition(inputFolderMachine, again, failed)[0].value, 'Stopped');
});
