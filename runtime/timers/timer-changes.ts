/** Differences of an actor's deadlines between two steps. Pure. */
import type { Millis, Step, StoredActor } from '../ports.ts';

const NO_TIMERS: Step['timers'] = { arm: [], disarm: [] };

/** Arms only deadlines that are valid at the end of the step; disarms those that moved or were removed. */
export function timerChanges(
  before: StoredActor['timers'],
  after: ReadonlyMap<string, Millis>,
  armed: Step['timers']['arm'],
): Step['timers'] {
  if (armed.length === 0 && Object.keys(before).length === 0) return NO_TIMERS;
  const last = new Map(armed.map((timer) => [timer.name, timer]));
  const arm = [...last.values()].filter((timer) => after.get(timer.name) === timer.due);
  const rearmed = new Set(arm.map((timer) => timer.name));
  const disarm = Object.entries(before)
    .filter(([name]) => !after.has(name) || rearmed.has(name))
    .map(([name, due]) => ({ name, due }));
  return { arm, disarm };
}
