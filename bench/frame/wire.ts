/** Messages between the command and the benchmark process, as plain data. */
import type { BenchSettings, Figure, Limit, Spent } from './bench.ts';

/** Request to the process. */
export interface Order {
  readonly name: string;
  readonly settings: BenchSettings;
}

/** Messages from the process in order; `ended` is the last. */
export type BenchMessage =
  | { readonly type: 'begun'; readonly question: string; readonly against: readonly string[] }
  | { readonly type: 'progress'; readonly label: string; readonly done: number; readonly of: number }
  | { readonly type: 'limit'; readonly limit: Limit }
  | { readonly type: 'figure'; readonly figure: Figure }
  | { readonly type: 'verified'; readonly by: string; readonly outputs: number }
  | { readonly type: 'spent'; readonly spent: Spent }
  | { readonly type: 'ended'; readonly spent: Spent; readonly failure?: Failure };

export interface Failure {
  /** `bench.unverified` for an invalid output. */
  readonly code: string;
  readonly message: string;
}
