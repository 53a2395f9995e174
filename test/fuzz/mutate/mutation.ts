import type { Random } from '../random.ts';

/**
 * A changed copy of `input`; `other` is a second seed to take parts from. Gives `input` itself when it has nothing to
 * work on; never writes to either.
 */
export type Mutation = (input: Buffer, random: Random, other: Buffer) => Buffer;

/** Longest input that is passed on; what a mutation makes longer is cut. Bytes. */
export const MAX_INPUT = 1 << 18;

/** One of several, most often the first ones in proportion to how often they are listed. */
export function oneOf(mutations: readonly Mutation[]): Mutation {
  return (input, random, other) => random.pick(mutations)(input, random, other);
}

/** Some mutations one after the other, mostly one. */
export function several(mutation: Mutation, most = 5): Mutation {
  return (input, random, other) => {
    let changed = input;
    for (let left = random.few(most); left > 0; left--) changed = mutation(changed, random, other);
    return changed.length > MAX_INPUT ? changed.subarray(0, MAX_INPUT) : changed;
  };
}

/** `input` with `[from, to)` replaced. */
export function replaced(input: Buffer, from: number, to: number, by: Uint8Array): Buffer {
  return Buffer.concat([input.subarray(0, from), by, input.subarray(to)]);
}
