/** Steps no machine is asked about. */
import { STOPPED_PREFIX, STOPPED_VIEW } from './census.ts';
import type { Step, StoredActor } from './ports.ts';
import type { StepContext } from './step.ts';

/**
 * A step that changes no state: it settles an effect whose outcome nobody wants any more, forgets a deadline the
 * machine ignored, or stops and restarts the actor.
 */
export function bareStep(
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
    ...stoppedFacts(stored, stopped),
  };
}

/** What is kept of stopped actors, so that they are found among all others. */
function stoppedFacts({ address, stopped: before }: StoredActor, stopped: StoredActor['stopped']) {
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
