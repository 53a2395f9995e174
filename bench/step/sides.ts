/** The two compared sides: the runtime, and plain LMDB writing the same rows. */
import { openLmdbStore } from '@sealwright/runtime/lmdb';
import { CollectedChanges, write, writeCounters } from '#runtime/store/lmdb/lmdb-changes.js';
import {
  openTables,
  type PlannedStep,
  readStepText,
  stepText,
  transact,
} from '#runtime/store/lmdb/lmdb-tables.js';
import { Unverified } from '../frame/bench.ts';
import { quietRuntime } from '../frame/quiet.ts';
import { ACTORS, addressOf, definition, eventOf, input, newborn, stepOf } from './actor.ts';

export interface Side {
  /** Resolves when the next step is durable. */
  step(): Promise<void>;
  close(): Promise<void>;
}

/** Commits one synchronous transaction for all requests in one turn of the event loop. */
export function plainLmdb(folder: string): Side {
  const tables = openTables(folder);
  const planned: (readonly PlannedStep[])[] = Array.from({ length: ACTORS }, (_, n) => {
    const claim = stepOf(newborn(n).actor, 'CLAIM', 2);
    return [claim, stepOf(claim.actor, 'RESTARTED', 3)].map((step) => readStepText(stepText(step)));
  });
  let next = 0;
  let waiting: { readonly planned: PlannedStep; readonly answer: () => void }[] = [];
  const commit = (): void => {
    const group = waiting;
    waiting = [];
    transact(tables, () => {
      const gathered = new CollectedChanges();
      for (const one of group) write(tables, one.planned, gathered, []);
      writeCounters(tables.counters, gathered.counted);
    });
    for (const { answer } of group) answer();
  };
  return {
    step: () =>
      new Promise((answer) => {
        const n = next++;
        const round = Math.floor(n / ACTORS);
        const one = planned[n % ACTORS]?.[round % 2];
        if (one !== undefined) waiting.push({ planned: withLine(one, round + 1), answer });
        if (waiting.length === 1) setImmediate(commit);
      }),
    close: () => tables.root.close(),
  };
}

/** The journal grows as that of the runtime: the same line again would fill fewer pages. */
function withLine({ plan, values }: PlannedStep, line: number): PlannedStep {
  return { type: 'step', plan: { ...plan, journal: [line] }, values };
}

export interface RuntimeSide extends Side {
  /**
   * Counts the actors whose state equals the last response, after the store was closed and reopened.
   * @param damage expects a state of one actor that was never reported
   */
  verify(damage: boolean): Promise<number>;
}

export async function runtimeOn(folder: string): Promise<RuntimeSide> {
  const store = openLmdbStore({ folder });
  const never = {
    after: 'visible',
    run: async () => ({ type: 'NEVER' }),
    failed: () => ({ type: 'NEVER' }),
  } as const;
  const runtime = quietRuntime({ store, definitions: [definition], handlers: { never } });
  for (let first = 0; first < ACTORS; first += 100) {
    const some = Array.from({ length: 100 }, (_, k) => first + k);
    await Promise.all(some.map((n) => runtime.system.create(addressOf(n), { ...input(n) })));
  }
  const answered = new Array<number>(ACTORS).fill(1);
  let next = 0;
  const close = async (): Promise<void> => {
    await runtime.stop();
    await store.close();
  };
  return {
    async step() {
      const n = next++;
      const outcome = await runtime.system.send(addressOf(n), eventOf(n));
      if (!outcome.accepted) throw new Error(`A step was refused: ${outcome.reason}.`);
      answered[n % ACTORS] = outcome.revision;
    },
    close,
    async verify(damage) {
      await close();
      if (damage) answered[0] = 0;
      const again = openLmdbStore({ folder });
      for (const [n, revision] of answered.entries()) {
        const address = addressOf(n);
        const found = await again.load(address);
        const history = await again.journal(address);
        if (found?.revision !== revision || history.length !== revision - 1)
          throw new Unverified(`${address.id} was answered ${revision} and is stored as ${found?.revision}.`);
      }
      await again.close();
      return answered.length;
    },
  };
}
