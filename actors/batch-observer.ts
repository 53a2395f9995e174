/** What happens to jobs, told once each as it is committed: the source of counters and histograms. */
import type { Millis } from '../machines/ids.ts';
import type { JobFormat } from '../machines/job-context.ts';
import type { RemoteObserver } from './remote-signing.ts';

/** Part of a job's way. Source: batch-gaps §11, `batch_stage_duration_seconds`. */
export type Stage = 'queue' | 'stage' | 'sign' | 'verify' | 'encrypt' | 'publish';

/** Times in milliseconds. Called synchronously with each commit: must be quick and must not throw. */
export interface BatchObserver extends RemoteObserver {
  /** @param folder null for uploads */
  enqueued(folder: string | null): void;
  stage(stage: Stage, took: Millis): void;
  /** @param took from the claim to the published output */
  completed(job: {
    readonly format: JobFormat;
    readonly profile: string;
    readonly encrypted: boolean;
    readonly verified: boolean;
    readonly took: Millis;
  }): void;
  failed(job: { readonly profile: string; readonly code: string | null }): void;
  canceled(): void;
  diverged(profile: string): void;
  paused(): void;
  resumed(): void;
  /** A thread that hosts actors was lost and is replaced. */
  threadLost(): void;
}

const nothing = () => {};

/** Hears everything and does nothing. */
export const NO_OBSERVER: BatchObserver = {
  enqueued: nothing,
  stage: nothing,
  completed: nothing,
  failed: nothing,
  canceled: nothing,
  diverged: nothing,
  paused: nothing,
  resumed: nothing,
  threadLost: nothing,
  dispatched: nothing,
  callFailed: nothing,
  polled: nothing,
};
