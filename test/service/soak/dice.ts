/** Chance that can be repeated: the same seed rolls the same. */
import { seededIds } from '@sealwright/runtime/testing';

export interface Dice {
  /** A whole number from 0 to below `limit`. */
  roll(limit: number): number;
  /** True this often in a hundred. */
  percent(often: number): boolean;
  pick<Item>(items: readonly Item[]): Item | undefined;
}

export function dice(seed: number): Dice {
  const ids = seededIds(seed);
  const roll = (limit: number) => ids.bytes(4).readUInt32LE() % limit;
  return {
    roll,
    percent: (often) => roll(10_000) < often * 100,
    pick: (items) => (items.length === 0 ? undefined : items[roll(items.length)]),
  };
}
