/**
 * When is a file complete? A pure answer from what successive looks at it have shown.
 *
 * A file is complete once its size and modification time were equal in `requiredSamples` looks taken
 * `intervalMs` apart. A file whose modification time is already older than that whole span when it is first
 * seen needs only one confirming look. A file that is still changing after `timeoutMs` is given up.
 *
 * Source: values chosen where the batch document is silent, section 7, "Stability" and "Fast path";
 * how many files are watched at once is `docs/decisions/0003-stability.md`.
 */
import type { Millis } from '../../../runtime/index.ts';

/** What one look shows of a regular, non-empty file. */
export interface Sample {
  /** Bytes. */
  readonly size: number;
  /** Modification time, milliseconds since the epoch with fraction. */
  readonly mtimeMs: number;
  readonly inode: number;
  /** Creation time in the form of `mtimeMs`; 0 where the file system keeps none. */
  readonly bornMs: number;
}

export interface StabilityRules {
  /** Milliseconds between two looks (`WatchedFolder:StabilityPollIntervalMs`). */
  readonly intervalMs: number;
  /** Equal looks in a row, at least 1 (`WatchedFolder:StabilityRequiredSamples`). */
  readonly requiredSamples: number;
  /** Milliseconds after which a file that still changes is given up (`WatchedFolder:StabilityTimeoutSeconds`). */
  readonly timeoutMs: number;
}

/** What is known of one file between two looks. */
export interface Track {
  readonly sample: Sample;
  /** Looks in a row that showed `sample`, this one included. */
  readonly equal: number;
  /** Equal looks this file needs. */
  readonly needed: number;
  /** Monotonic milliseconds at first sight. */
  readonly since: number;
}

/** True when both looks show the same file with the same content, as far as its metadata tells. */
export function sameSample(one: Sample, other: Sample): boolean {
  return (
    one.size === other.size &&
    one.mtimeMs === other.mtimeMs &&
    one.inode === other.inode &&
    one.bornMs === other.bornMs
  );
}

/** The first look. `now` is wall-clock time (the file's own times are), `elapsed` monotonic time. */
export function firstSight(sample: Sample, now: Millis, elapsed: number, rules: StabilityRules): Track {
  const old = now - sample.mtimeMs > rules.requiredSamples * rules.intervalMs;
  const needed = old ? Math.min(2, rules.requiredSamples) : rules.requiredSamples;
  return { sample, equal: 1, needed, since: elapsed };
}

/** A further look. A change starts the count again and ends the fast path. */
export function nextSight(track: Track, sample: Sample, rules: StabilityRules): Track {
  if (sameSample(track.sample, sample)) return { ...track, equal: track.equal + 1 };
  return { sample, equal: 1, needed: rules.requiredSamples, since: track.since };
}

export function isStable(track: Track): boolean {
  return track.equal >= track.needed;
}

/**
 * True when the last look still showed a change and the time is up. A file that has gone quiet is never given
 * up, however late: it only needs the rest of its looks.
 */
export function isHopeless(track: Track, elapsed: number, rules: StabilityRules): boolean {
  return track.equal === 1 && elapsed - track.since >= rules.timeoutMs;
}
