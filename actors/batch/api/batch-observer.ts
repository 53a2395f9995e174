/** Port for metrics: one call per committed change of a job. */

import type { Unaccepted } from '@sealwright/runtime';
import type { IndependentOutcome, JobFormat } from '../../../machines/batch/job-context.ts';
import type { Millis } from '../../../machines/ids.ts';
import type { RemoteObserver } from '../remote/remote-signing.ts';

/** Stage of a job. Source: docs/batch-values.md §11, `batch_stage_duration_seconds`. */
export type Stage = 'queue' | 'stage' | 'sign' | 'verify' | 'encrypt' | 'publish';

/** Times in milliseconds. Called synchronously with each commit; must be fast and must not throw. */
export interface BatchObserver extends RemoteObserver {
  /** @param folder null for uploads */
  enqueued(folder: string | null): void;
  stageCompleted(stage: Stage, took: Millis): void;
  /** @param took time from the claim to the published output */
  completed(job: {
    readonly format: JobFormat;
    readonly profile: string;
    readonly encrypted: boolean;
    readonly verified: boolean;
    /** Verdict of the second implementation; undefined when it is not configured. */
    readonly independent?: IndependentOutcome['verdict'];
    readonly took: Millis;
  }): void;
  failed(job: { readonly profile: string; readonly code: string | null }): void;
  canceled(): void;
  diverged(profile: string): void;
  paused(): void;
  resumed(): void;
  /** A webhook was called for the end of a job. @param delivered false when another attempt is needed */
  webhookCalled(delivered: boolean): void;
  /** No further attempt follows. */
  webhookEnded(status: 'Delivered' | 'Failed'): void;
  /** A thread that hosts actors was lost and is replaced. */
  threadLost(): void;
  /** An actor did not accept an outcome of an effect, a message of another actor, or a deadline. */
  unaccepted(what: Unaccepted): void;
}

const nothing = () => {};

/** An observer that ignores all calls. */
export const NO_OBSERVER: BatchObserver = {
  enqueued: nothing,
  stageCompleted: nothing,
  completed: nothing,
  failed: nothing,
  canceled: nothing,
  diverged: nothing,
  paused: nothing,
  resumed: nothing,
  webhookCalled: nothing,
  webhookEnded: nothing,
  threadLost: nothing,
  unaccepted: nothing,
  dispatched: nothing,
  callFailed: nothing,
  polled: nothing,
};
