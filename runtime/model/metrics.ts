/** Metrics as a dependency; `openTelemetryMetrics` of the entry `otel` makes one. */
import type { Millis } from './ports.ts';

/** End of one attempt of an effect or of the delivery of a message between actors (`tell`). */
export type AttemptOutcome = 'done' | 'retried' | 'given-up' | 'set-aside' | 'stopped';

/** Activity of this process; counts are since its start. */
export interface Activity {
  /** By kind of actor. `restarts`: steps that threw. */
  readonly kinds: {
    readonly [kind: string]: {
      readonly accepted: number;
      readonly refused: number;
      readonly restarts: number;
    };
  };
  /** Messages that wait for an actor or are in progress, each actor with any. */
  readonly mailboxes: readonly number[];
  readonly effectsInFlight: number;
}

export interface Metrics {
  /** @param name of the effect */
  attempt(name: string, outcome: AttemptOutcome, duration: Millis): void;
  /** Called at the start. The returned function is called at the stop. */
  observe(read: () => Promise<Activity>): () => void;
}
