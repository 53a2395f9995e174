import test from 'ava';
import { setup } from 'xstate';
import { machineChart } from '#runtime/inspection/machine-chart.js';

test('a chart lists the states and each transition once, with the events of parent states and deadlines', (t) => {
  const machine = setup({ types: { events: {} as { type: 'GO' | 'STOP' | 'NOTE' } } }).createMachine({
    initial: 'Idle',
    states: {
      Idle: { on: { GO: [{ target: 'Busy' }, { target: 'Busy' }] } },
      Busy: {
        initial: 'First',
        on: { STOP: 'Done' },
        states: { First: { after: { 1000: 'Second' }, on: { NOTE: {} } }, Second: { always: '#end' } },
      },
      Done: { id: 'end' },
    },
  });
  t.deepEqual(machineChart({ kind: 'thing', version: 3, machine }), {
    kind: 'thing',
    version: 3,
    initial: 'Idle',
    states: [
      { name: 'Idle', final: false },
      { name: 'Busy.First', final: false },
      { name: 'Busy.Second', final: false },
      { name: 'Done', final: true },
    ],
    transitions: [
      { from: 'Idle', to: 'Busy.First', event: 'GO' },
      { from: 'Busy.First', to: 'Busy.First', event: 'NOTE' },
      { from: 'Busy.First', to: 'Busy.Second', event: 'after 1000' },
      { from: 'Busy.First', to: 'Done', event: 'STOP' },
      { from: 'Busy.Second', to: 'Done', event: 'always' },
      { from: 'Busy.Second', to: 'Done', event: 'STOP' },
    ],
  });
});
