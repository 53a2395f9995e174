/**
 * Decides from successive samples whether a file is complete. Pure.
 *
 * A file is complete once its size and modification time are equal in `requiredSamples` samples taken `intervalMs`
 * apart. A file still changing after `timeoutMs` is skipped. Times of files are compared with each other only: the clock
 * of a share may differ from that of this machine.
 *
 * Source: docs/batch-values.md §7; `docs/decisions/0003-stability.md`, `docs/decisions/0162-files-still-written.md`.
 */

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

/** Starts a track with the first sample. `elapsed` is monotonic. */
export function firstSample(sample: Sample, elapsed: number): StabilityTrack {
  return { sample, equal: 1, since: elapsed };
}

/** Adds a sample. A change restarts the count. */
export function nextSample(track: StabilityTrack, sample: Sample): StabilityTrack {
  if (sameSample(track.sample, sample)) return { ...track, equal: track.equal + 1 };
  return firstSample(sample, track.since);
}

export function isStable(track: StabilityTrack, rules: StabilityRules): boolean {
  return track.equal >= rules.requiredSamples;
}

/**
 * True when the last sample shows a change and the time is over. A file that stopped changing is never skipped: it
 * only needs its remaining samples.
 */
export function hasTimedOut(track: StabilityTrack, elapsed: number, rules: StabilityRules): boolean {
  return track.equal === 1 && elapsed - track.since >= rules.timeoutMs;
}
