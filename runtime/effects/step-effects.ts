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
 * Adds the partitions of effects. Refuses, before anything is stored, effects without a handler.
 * @param effects known effects, with the function for the partition where there is one
 */
export function withPartitions(
  step: Step,
  effects: ReadonlyMap<string, ((effect: Effect) => string) | null>,
): Step {
  let partitioned = false;
  for (const { effect } of step.effects) {
    const partitionOf = effects.get(effect.do);
    if (partitionOf === undefined)
      throw new Fatal('effect.unknown', `No handler exists for the effect "${effect.do}".`);
    partitioned ||= partitionOf !== null;
  }
  if (!partitioned) return step;
  return {
    ...step,
    effects: step.effects.map((stored) => {
      const partitionOf = effects.get(stored.effect.do);
      return partitionOf
        ? { ...stored, partition: partitionName(stored.effect.do, partitionOf(stored.effect)) }
        : stored;
    }),
  };
}
