/** Steps made by hand, for tests of stores. */
import type { ActorAddress, Step, StoredActor, StoredEffect } from '../model/ports.ts';

export const A: ActorAddress = { kind: 'job', id: 'a' };
export const B: ActorAddress = { kind: 'job', id: 'b' };

/** A step that changes nothing but what `more` says. */
export function stepOf(
  address: ActorAddress,
  basedOn: number,
  more: Partial<Step> = {},
  actor: Partial<StoredActor> = {},
): Step {
  return {
    actor: {
      address,
      revision: basedOn + 1,
      version: 1,
      state: 'Queued',
      context: { size: 1 },
      timers: {},
      consumed: [],
      journalLength: 0,
      stopped: null,
      ...actor,
    },
    basedOn,
    journal: [],
    effects: [],
    settles: null,
    dropsEffects: false,
    timers: { arm: [], disarm: [] },
    rows: { put: [], remove: [] },
    names: { take: [], release: [] },
    counters: {},
    moved: null,
    ...more,
  };
}

export function effectOf(
  address: ActorAddress,
  revision: number,
  index: number,
  dueAt: number,
): StoredEffect {
  const key = `${address.kind}/${address.id}/${revision}/${index}`;
  return { key, actor: address, effect: { do: 'sign', n: index }, dueAt, failures: 0, lastError: null };
}
