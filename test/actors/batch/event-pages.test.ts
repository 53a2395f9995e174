/** Pages of system events. */
import { createRuntime, Faults, type RowQuery } from '@sealwright/runtime';
import { MemoryStore, SimulatedClock, seededIds } from '@sealwright/runtime/testing';
import test from 'ava';
import { EventLog } from '../../../actors/batch/job-records/events.ts';
import { definitions } from '../../../actors/batch/registry.ts';
import { SILENT } from '../portal/uploads/upload-harness.ts';

test('a late page of the events of one kind reads the rows of the page', async (t) => {
  const store = new MemoryStore();
  const clock = new SimulatedClock(1_000);
  const kind = definitions.filter((one) => one.kind === 'system-event');
  const parts = { store, clock, ids: seededIds(3), log: SILENT, faults: new Faults() };
  const actors = await createRuntime({ ...parts, actors: kind, start: 'never' });
  let read = 0;
  const counting = {
    counters: (prefix: string) => store.counters(prefix),
    async rows(query: RowQuery) {
      const rows = await store.rows(query);
      read += rows.length;
      return rows;
    },
  };
  const events = new EventLog({ ...parts, actors, store: Object.assign(Object.create(store), counting) });
  const expected: string[] = [];
  for (let at = 0; at < 60; at += 1) {
    const isFailure = at % 2 === 0;
    const message = `Event ${at}.`;
    if (isFailure) expected.unshift(message);
    await events.record({
      at,
      kind: isFailure ? 'JobFailed' : 'RecoverySwept',
      actor: 'system',
      jobId: null,
      code: null,
      message,
    });
  }
  const { items, totalCount } = await events.list({ kinds: ['JobFailed'], page: 6, pageSize: 5 });
  t.deepEqual([items.map(({ message }) => message), totalCount, read], [expected.slice(25, 30), 30, 5]);
});
