/** Rows of messages and outcomes that their receivers did not accept. */

import { jsonType } from '../model/json.ts';
import { parseEffectKey } from '../model/keys.ts';
import type {
  ActorAddress,
  ActorEvent,
  ActorStore,
  EffectKey,
  Millis,
  Row,
  Step,
  StoredActor,
} from '../model/ports.ts';

/** View and counter of the rows, and kind of the actor that removes them. */
export const DEAD_LETTERS = 'runtime.dead-letters';

export interface DeadLetterValue {
  readonly key: EffectKey;
  readonly to: ActorAddress;
  readonly event: ActorEvent;
  readonly what: 'tell' | 'outcome';
  readonly because: 'not-accepted' | 'unknown-actor';
}

export const LETTER = jsonType<DeadLetterValue>();

/** Returns the letter that an event becomes which its receiver does not accept, where such are kept. */
export function letterOf(
  to: ActorAddress,
  event: ActorEvent,
  delivery: {
    readonly keeps?: true | undefined;
    readonly id?: string | undefined;
    readonly settles?: EffectKey | undefined;
  },
): DeadLetterValue | undefined {
  const { keeps, id, settles: key } = delivery;
  if (!keeps || key === undefined) return undefined;
  return { key, to, event, what: id === undefined ? 'outcome' : 'tell', because: 'not-accepted' };
}

/** Returns the step with the row of a letter; without a letter as it is. */
export function withDeadLetter(step: Step, now: Millis, letter: DeadLetterValue | undefined): Step {
  if (letter === undefined) return step;
  const row: Row = {
    view: DEAD_LETTERS,
    key: [now, ...parseEffectKey(letter.key)],
    value: LETTER.write(letter),
  };
  return {
    ...step,
    rows: { ...step.rows, put: [...step.rows.put, row] },
    counters: { ...step.counters, [DEAD_LETTERS]: 1 },
  };
}

/** True while nobody has taken, dropped or removed the letter with this key. */
export async function isLetterStored(store: Pick<ActorStore, 'rows'>, key: Row['key']): Promise<boolean> {
  return (await store.rows({ view: DEAD_LETTERS, prefix: key, limit: 1 })).length > 0;
}

/** Returns the step of an actor that takes the event of the letter with this key; without a key as it is. */
export function withoutDeadLetter(step: Step, key: Row['key'] | undefined): Step {
  if (key === undefined) return step;
  return {
    ...step,
    rows: { ...step.rows, remove: [...step.rows.remove, { view: DEAD_LETTERS, key }] },
    counters: { ...step.counters, [DEAD_LETTERS]: -1 },
  };
}

/** Builds the step of an actor without a machine that removes rows of letters. */
export function rowsStep(
  address: ActorAddress,
  stored: StoredActor | undefined,
  remove: readonly Row[],
): Step {
  const basedOn = stored?.revision ?? 0;
  return {
    actor: {
      address,
      revision: basedOn + 1,
      version: 1,
      state: '',
      context: {},
      timers: {},
      consumed: [],
      journalLength: 0,
      stopped: null,
    },
    basedOn,
    journal: [],
    effects: [],
    settles: null,
    dropsEffects: false,
    timers: { arm: [], disarm: [] },
    rows: { put: [], remove: remove.map(({ view, key }) => ({ view, key })) },
    names: { take: [], release: [] },
    counters: { [DEAD_LETTERS]: -remove.length },
    moved: null,
  };
}
