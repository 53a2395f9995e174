/**
 * Decides from successive samples whether a file is complete. Pure.
 *
 * A file is complete once its size and modification time are equal in `requiredSamples` samples taken `intervalMs`
 * apart. A file whose modification time is older than that whole span at the first sample needs one confirming sample
 * only. A file still changing after `timeoutMs` is skipped.
 *
 * Source: docs/batch-values.md §7; for concurrency see `docs/decisions/0003-stability.md`.
 */
import type { Millis } from '../../../runtime/index.ts';

/** Metadata of a regular, non-empty file. */
export interface Sample {
  /** Bytes. */
  readonly size: number;
  /** Modification time, milliseconds since the epoch with fraction. */
  readonly mtimeMs: number;
  readonly inode: number;
  /** Creation time like `mtimeMs`; 0 where the file system stores none. */
  readonly bornMs: number;
}

export interface StabilityRules {
  /** Interval between two samples, milliseconds (`WatchedFolder:StabilityPollIntervalMs`). */
  readonly intervalMs: number;
  /** Consecutive equal samples, at least 1 (`WatchedFolder:StabilityRequiredSamples`). */
  readonly requiredSamples: number;
  /** Milliseconds after which a changing file is skipped (`WatchedFolder:StabilityTimeoutSeconds`). */
  readonly timeoutMs: number;
}

/** State of one file between two samples. */
export interface StabilityTrack {
  readonly sample: Sample;
  /** Consecutive samples equal to `sample`, including it. */
  readonly equal: number;
  /** Required number of equal samples. */
  readonly needed: number;
  /** Monotonic time of the first sample, milliseconds. */
  readonly since: number;
}

/** True when both samples have the same metadata. */
export function sameSample(one: Sample, other: Sample): boolean {
  return (
    one.size === other.size &&
    one.mtimeMs === other.mtimeMs &&
    one.inode === other.inode &&
    one.bornMs === other.bornMs
  );
}

/** Starts a track with the first sample. `now` is wall-clock time, like the times of files; `elapsed` is monotonic. */
export function firstSample(
  sample: Sample,
  now: Millis,
  elapsed: number,
  rules: StabilityRules,
): StabilityTrack {
  const old = now - sample.mtimeMs > rules.requiredSamples * rules.intervalMs;
  const needed = old ? Math.min(2, rules.requiredSamples) : rules.requiredSamples;
  return { sample, equal: 1, needed, since: elapsed };
}

/** Adds a sample. A change restarts the count and ends the fast path. */
export function nextSample(track: StabilityTrack, sample: Sample, rules: StabilityRules): StabilityTrack {
  if (sameSample(track.sample, sample)) return { ...track, equal: track.equal + 1 };
  return { sample, equal: 1, needed: rules.requiredSamples, since: track.since };
}

export function isStable(track: StabilityTrack): boolean {
  return track.equal >= track.needed;
}

/**
 * True when the last sample shows a change and the time is over. A file that stopped changing is never skipped: it
 * only needs its remaining samples.
 */
export function isHopeless(track: StabilityTrack, elapsed: number, rules: StabilityRules): boolean {
  return track.equal === 1 && elapsed - track.since >= rules.timeoutMs;
}
