import type { FuzzEnvironment } from './environment.ts';
import type { Mutation } from './mutate/mutation.ts';

/** Function under test: a reader, or a path through signing or validation. */
export interface Target {
  readonly name: string;
  /** Valid inputs to start with. */
  readonly seeds: readonly Buffer[];
  readonly mutation: Mutation;
  /**
   * Returns the outcome as a short text that distinguishes code paths: inputs with new outcomes are kept. Refusals,
   * reports and CryptoErrors are outcomes; any other error is a crash. A violated invariant is a `BrokenPromise`.
   */
  run(input: Buffer): string | Promise<string>;
}

export type TargetMaker = (environment: FuzzEnvironment) => Target | Promise<Target>;

/** A violated invariant without a crash: a forgery that passes, a signed file that lost its content. */
export class BrokenPromise extends Error {}
