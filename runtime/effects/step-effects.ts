/** Prepares the effects of a computed step for the store. */
import { Fatal } from '../failures.ts';
import type { Step, StoredEffect } from '../ports.ts';
import { partitionName } from './effect-partitions.ts';

type Effect = StoredEffect['effect'];

/** Leaves out unnecessary effects. @param isNeeded functions by the `do` of an effect */
export function withoutNeedless(
  step: Step,
  isNeeded: ReadonlyMap<string, (effect: Effect) => boolean> | undefined,
): Step {
  if (isNeeded === undefined) return step;
  const needed = ({ effect }: StoredEffect) => isNeeded.get(effect.do)?.(effect) ?? true;
  return step.effects.every(needed) ? step : { ...step, effects: step.effects.filter(needed) };
}

/**
 * Adds the queue keys of effects. Refuses, before anything is stored, effects without a handler.
 * @param effects known effects, with the function for the queue key where there is one
 */
export function withPartitions(
  step: Step,
  effects: ReadonlyMap<string, ((effect: Effect) => string) | null>,
): Step {
  let partitioned = false;
  for (const { effect } of step.effects) {
    const queueKeyOf = effects.get(effect.do);
    if (queueKeyOf === undefined)
      throw new Fatal('effect.unknown', `No handler exists for the effect "${effect.do}".`);
    partitioned ||= queueKeyOf !== null;
  }
  if (!partitioned) return step;
  return {
    ...step,
    effects: step.effects.map((stored) => {
      const queueKeyOf = effects.get(stored.effect.do);
      return queueKeyOf
        ? { ...stored, lane: partitionName(stored.effect.do, queueKeyOf(stored.effect)) }
        : stored;
    }),
  };
}
