import test from 'ava';
import { processedPathMachine } from '../../../machines/batch/processed-path.ts';
import { assertAgreement, initialContext } from '../table.ts';

test('the table of kept paths and their machine agree in every state and on every event', async (t) => {
  const context = initialContext(processedPathMachine, { pathKey: 'k', jobId: 'j-1', size: 3, mtimeMs: 5 });
  await assertAgreement(t, {
    file: 'machines/batch/processed-path.ts',
    machine: processedPathMachine,
    events: { KEEP: { jobId: 'j-2', size: 4, mtimeMs: 6 }, FORGET: {} },
    contextOf: () => context,
  });
});
