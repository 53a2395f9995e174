/** Prepares the effects of a computed step for the store. */
import { Fatal } from '../model/failures.ts';
import type { Step, StoredEffect } from '../model/ports.ts';
import { pairOf, partitionName } from './effect-partitions.ts';
import { checkedMessage, SEND_EFFECT } from './tell.ts';

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
  const stored = step.effects.map((one) => {
    const partition = partitionOfEffect(one, effects);
    if (partition === undefined) return one;
    partitioned = true;
    return { ...one, partition };
  });
  return partitioned ? { ...step, effects: stored } : step;
}

function partitionOfEffect(
  { actor, effect }: StoredEffect,
  effects: ReadonlyMap<string, ((effect: Effect) => string) | null>,
): string | undefined {
  if (effect.do === SEND_EFFECT) return partitionName(SEND_EFFECT, pairOf(actor, checkedMessage(effect).to));
  const partitionOf = effects.get(effect.do);
  if (partitionOf === undefined)
    throw new Fatal('effect.unknown', `No handler exists for the effect "${effect.do}".`);
  return partitionOf === null ? undefined : partitionName(effect.do, partitionOf(effect));
}
