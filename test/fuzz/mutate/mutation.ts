import type { Random } from '../random.ts';

/**
 * Returns a changed copy of `input`; `other` is a second seed to take parts from. Returns `input` itself when it
 * can't be changed; never modifies either.
 */
export type Mutation = (input: Buffer, random: Random, other: Buffer) => Buffer;

/** Maximum input length in bytes; longer results are truncated. */
export const MAX_INPUT = 1 << 18;

/** Selects one mutation; entries listed more often are selected more often. */
export function oneOf(mutations: readonly Mutation[]): Mutation {
  return (input, random, other) => random.pick(mutations)(input, random, other);
}

/** Applies up to `most` mutations in sequence, mostly one. */
export function several(mutation: Mutation, most = 5): Mutation {
  return (input, random, other) => {
    let changed = input;
    for (let left = random.few(most); left > 0; left--) changed = mutation(changed, random, other);
    return changed.length > MAX_INPUT ? changed.subarray(0, MAX_INPUT) : changed;
  };
}

/** Returns `input` with `[from, to)` replaced. */
export function replaced(input: Buffer, from: number, to: number, by: Uint8Array): Buffer {
  return Buffer.concat([input.subarray(0, from), by, input.subarray(to)]);
}
