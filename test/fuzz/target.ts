import type { Mutation } from './mutate/mutation.ts';
import type { World } from './world.ts';

/** One reader, or one way through signing or validation, that is given bad bytes. */
export interface Target {
  readonly name: string;
  /** Good inputs to begin with. */
  readonly seeds: readonly Buffer[];
  readonly mutation: Mutation;
  /**
   * What came out, in a few words that tell ways through the code apart: new ones are worth keeping their input for.
   * Refusals and reports are outcomes, and so is a CryptoError; anything else that is thrown is a crash.
   * A broken promise is a `BrokenPromise`.
   */
  run(input: Buffer): string | Promise<string>;
}

export type TargetMaker = (world: World) => Target | Promise<Target>;

/** No crash, and still wrong: a forgery that passes, a signed file that no longer holds what it was made of. */
export class BrokenPromise extends Error {}
