/** A runtime for tests: one kind of actor, a recording log, a function that waits for a committed step. */

import {
  type ActorDefinition,
  type ActorStore,
  type EffectHandler,
  Faults,
  type Log,
  type Step,
} from '@sealwright/runtime';
import { dropEffects, note } from '@sealwright/runtime/actions';
import { MemoryStore, SimulatedClock, seededIds } from '@sealwright/runtime/testing';
import { assign, setup } from 'xstate';
import { type BuiltRuntime, buildRuntime, type RuntimeSettings } from '#runtime/runtime.js';
import { reached } from '../project/waiting.ts';
import { anyEffect } from './any-effect.ts';

export interface TallyContext {
  readonly count: number;
  readonly heard: readonly string[];
}

type TallyEvent = {
  type: string;
  at: number;
  what?: string;
  to?: { kind: string; id: string };
  event?: { type: string };
};

/**
 * Counts. ADD +1; WORK asks for the effect `work`; WORKED counts its outcome; WAIT goes to sleep for 1,000 ms and
 * comes back by deadline or WAKE; THROW throws; SEND asks for a message to another actor; CLAIM takes a name.
 */
const tallyMachine = setup({
  types: { context: {} as TallyContext, events: {} as TallyEvent },
  actions: {
    effect: anyEffect,
    note,
    dropEffects,
    hear: assign({
      heard: ({ context, event }) => [...context.heard, event.what ?? event.type].slice(-50),
      count: ({ context }) => context.count + 1,
    }),
    fail: assign(() => {
      throw new Error('this machine throws on purpose');
    }),
  },
}).createMachine({
  id: 'tally',
  context: { count: 0, heard: [] },
  initial: 'awake',
  states: {
    awake: {
      on: {
        ADD: { actions: 'hear' },
        WORK: {
          actions: { type: 'effect', params: ({ event }) => ({ do: 'work', what: event.what ?? '' }) },
        },
        DROP: { actions: 'dropEffects' },
        UNKNOWN: { actions: { type: 'effect', params: { do: 'unheard-of' } } },
        WAIT: 'asleep',
        SEND: {
          actions: {
            type: 'effect',
            params: ({ event }) => ({ do: 'tell', to: event.to, event: event.event }),
          },
        },
        CLAIM: 'claimed',
        THROW: { actions: 'fail' },
      },
    },
    asleep: {
      on: { WAKE: 'awake', THROW: { actions: 'fail' } },
      after: { 1000: { target: 'awake', actions: 'hear' } },
    },
    claimed: { on: { FREE: 'awake' } },
    over: { type: 'final' },
  },
  on: {
    WORKED: {
      actions: ['hear', { type: 'note', params: ({ event }) => ({ message: `worked ${event.what ?? ''}` }) }],
    },
    WORK_FAILED: { actions: 'hear' },
    END: '.over',
  },
});

export const tally: ActorDefinition = {
  kind: 'tally',
  machine: tallyMachine,
  version: 1,
  names: ({ state }) => (state === 'claimed' ? ['the-name'] : []),
  counters: ({ context }) => ({ 'tally.count': (context as TallyContext).count }),
  rows: ({ id, state }) => [{ view: 'tally', key: [id], value: state }],
  mailboxLimit: 8,
};

/** A tally that END ends, so that it can be made anew. */
export const mortalTally: ActorDefinition = { ...tally, ends: ({ state }) => state === 'over' };

export const T1 = { kind: 'tally', id: 't1' };
export const T2 = { kind: 'tally', id: 't2' };

export interface TestRuntime {
  readonly runtime: BuiltRuntime;
  readonly system: BuiltRuntime['system'];
  readonly store: ActorStore;
  readonly clock: SimulatedClock;
  readonly faults: Faults;
  readonly logged: string[];
  /** Receivers of outcomes, messages and deadlines that they did not accept. */
  readonly unaccepted: string[];
  /** Resolves once a committed step (also an earlier one) satisfies `wanted`. */
  committed(wanted: (step: Step) => boolean): Promise<Step>;
}

/** A handler whose tries the test lets go one by one. */
export function gate() {
  const runs: {
    readonly key: string;
    readonly what: string;
    readonly signal: AbortSignal;
    done(): void;
    fail(error: unknown): void;
  }[] = [];
  const handler: EffectHandler = {
    ...echo,
    run: (effect, { key, signal }) =>
      new Promise((resolve, reject) => {
        runs.push({
          key,
          what: effect.what,
          signal,
          done: () => resolve({ type: 'WORKED', what: effect.what }),
          fail: reject,
        });
      }),
  };
  return { runs, handler };
}

export const echo: EffectHandler = {
  after: 'visible',
  run: async (effect) => ({ type: 'WORKED', what: effect.what }),
  failed: (_, failure) => ({ type: 'WORK_FAILED', what: failure.code }),
};

export function createTestRuntime(
  more: Pick<RuntimeSettings, 'effects' | 'cachedActors' | 'restarts'> & {
    readonly store?: ActorStore;
    readonly work?: EffectHandler;
    readonly clock?: SimulatedClock;
    readonly definition?: ActorDefinition;
    /** Another seed for another life of the process: real ids never repeat. @default 1 */
    readonly seed?: number;
    readonly crashJournal?: string;
  } = {},
): TestRuntime {
  const clock = more.clock ?? new SimulatedClock();
  const faults = new Faults();
  const store = more.store ?? new MemoryStore();
  const logged: string[] = [];
  const write = (text: string, properties?: object): void => {
    logged.push(`${text} ${JSON.stringify(properties ?? {})}`);
  };
  const log: Log = { debug: write, info: write, warn: write, error: write };
  const unaccepted: string[] = [];
  const seen: Step[] = [];
  const waiting = new Set<(step: Step) => void>();
  const { effects, cachedActors, restarts } = more;
  const runtime = buildRuntime({
    store,
    clock,
    ids: seededIds(more.seed ?? 1),
    log,
    faults,
    definitions: [more.definition ?? tally],
    handlers: { work: more.work ?? echo },
    onCommitted: (step) => {
      seen.push(step);
      for (const look of waiting) look(step);
    },
    onUnaccepted: ({ id }, what) => unaccepted.push(`${what} to ${id}`),
    ...(effects && { effects }),
    ...(cachedActors !== undefined && { cachedActors }),
    ...(restarts && { restarts }),
    ...(more.crashJournal !== undefined && { crashJournal: more.crashJournal }),
  });
  return {
    runtime,
    system: runtime.system,
    store,
    clock,
    faults,
    logged,
    unaccepted,
    committed: (wanted) => {
      const before = seen.find(wanted);
      if (before !== undefined) return Promise.resolve(before);
      return new Promise((resolve) => {
        const look = (step: Step): void => {
          if (!wanted(step)) return;
          waiting.delete(look);
          resolve(step);
        };
        waiting.add(look);
      });
    },
  };
}

export function heard(step: Step): readonly string[] {
  return (step.actor.context as unknown as TallyContext).heard;
}

/** Lets everything run that does not wait for time: some turns of the event loop. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
}

/** Resolves once `isSo`; rejects with what was waited for. */
export async function until(what: string, isSo: () => boolean | Promise<boolean>): Promise<void> {
  await reached(isSo).catch((error: Error) => {
    throw new Error(`Waited in vain for ${what}.`, { cause: error });
  });
}
