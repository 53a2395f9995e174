/**
 * The process that is killed while a schedule runs. Says the times of all runs, as JSON, once there are enough.
 *
 * node schedule-worker.js <folder> <runs> <faults>   its clock is ahead by that many runs, so that all are missed ones
 */
import { createRuntime, defineActor, Faults, systemClock } from '@sealwright/runtime';
import { lmdb } from '@sealwright/runtime/lmdb';
import { schedule, schedules } from '@sealwright/runtime/schedules';
import { assign, setup } from 'xstate';

const EVERY_MS = 1000;
const [, , folder = '', wanted = '', faults = ''] = process.argv;
const clerk = defineActor('clerk', {
  version: 1,
  machine: setup({
    types: {} as { context: { runs: readonly number[] }; events: { type: 'RUN'; due: number } },
    actions: { run: assign({ runs: ({ context, event }) => [...context.runs, event.due] }) },
  }).createMachine({ context: { runs: [] }, on: { RUN: { actions: 'run' } } }),
});
const runtime = await createRuntime({
  store: lmdb(folder),
  actors: [clerk],
  clock: { ...systemClock, now: () => systemClock.now() + Number(wanted) * EVERY_MS },
  faults: Faults.parse(faults),
  schedules: schedules([
    schedule('s', { everyMs: EVERY_MS, to: clerk, id: 'c', event: { type: 'RUN' }, missed: 'all' }),
  ]),
});
await runtime.create(clerk, 'c');
const { context } = await runtime.waitFor(clerk, 'c', (one) => one.context.runs.length >= Number(wanted), {
  timeoutMs: 60_000,
});
process.stdout.write(JSON.stringify(context.runs));
await runtime.stop();
