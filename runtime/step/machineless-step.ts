/** Steps that are computed without the machine. */

import type { Step, StoredActor } from '../model/ports.ts';
import { STOPPED_PREFIX, STOPPED_VIEW } from './state-index.ts';
import type { StepContext } from './step.ts';

/**
 * Builds a step that changes no state: it settles an effect whose outcome is not accepted, removes a deadline that the
 * machine ignored, or stops and restarts the actor.
 */
export function machinelessStep(
  stored: StoredActor,
  context: StepContext,
  stopped: StoredActor['stopped'] = stored.stopped,
): Step {
  const fired = context.timer !== undefined && stored.timers[context.timer.name] === context.timer.due;
  const timers =
    fired && context.timer !== undefined ? without(stored.timers, context.timer.name) : stored.timers;
  return {
    actor: { ...stored, revision: stored.revision + 1, timers, stopped },
    basedOn: stored.revision,
    journal: [],
    effects: [],
    settles: context.settles ?? null,
    dropsEffects: false,
    timers: { arm: [], disarm: fired && context.timer !== undefined ? [context.timer] : [] },
    names: { take: [], release: [] },
    moved: null,
    ...stoppedRows(stored, stopped),
  };
}

/** Row and counter of stopped actors, for lists of them. */
function stoppedRows({ address, stopped: before }: StoredActor, stopped: StoredActor['stopped']) {
  const { kind, id } = address;
  const key = [kind, id];
  const row = { view: STOPPED_VIEW, key };
  if (stopped !== null && before === null) {
    return {
      rows: { put: [{ ...row, value: { at: stopped.at, error: stopped.error } }], remove: [] },
      counters: { [STOPPED_PREFIX + kind]: 1 },
    };
  }
  if (stopped === null && before !== null)
    return { rows: { put: [], remove: [row] }, counters: { [STOPPED_PREFIX + kind]: -1 } };
  return { rows: { put: [], remove: [] }, counters: {} };
}

function without(timers: StoredActor['timers'], name: string): StoredActor['timers'] {
  const { [name]: _, ...rest } = timers;
  return rest;
}
