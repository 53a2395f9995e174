import type { ActorStore } from '@sealwright/runtime';
import { stepOf } from '../../contract/steps.ts';

const STEPS_AT_ONCE = 50;

/** Stores actors whose keys grow, each with a row in six lists, as a service does. */
export async function writeSideBySide(store: ActorStore, from: number, to: number): Promise<void> {
  // Behind the lists and actors, so that none of them is the last one of its database.
  const put = Array.from({ length: 4 }, (_, at) => ({ view: 'z', key: [at], value: at }));
  await store.commit(stepOf({ kind: 'z', id: `z-${from}` }, 0, { rows: { put, remove: [] } }));
  for (let first = from; first < to; first += STEPS_AT_ONCE) {
    const numbers = Array.from({ length: STEPS_AT_ONCE }, (_, at) => first + at);
    await Promise.all(
      numbers.map((number) => {
        const put = Array.from({ length: 6 }, (_, list) => ({
          view: `list-${list}`,
          key: [1_500_000_000_000 + number],
          value: `row ${number} `.repeat(8),
        }));
        const address = { kind: 'job', id: `job-${1_000_000 + number}` };
        const context = { text: 'x'.repeat(40) };
        return store.commit(stepOf(address, 0, { rows: { put, remove: [] } }, { context }));
      }),
    );
  }
}
