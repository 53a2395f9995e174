/**
 * Decides from successive samples whether a file is complete. Pure.
 *
 * A file is complete once its size and modification time are equal in `requiredSamples` samples taken `intervalMs`
 * apart. A file still changing after `timeoutMs` is skipped. Times of files are compared with each other only: the clock
 * of a share may differ from that of this machine.
 *
 * Source: docs/batch-values.md §7; `docs/decisions/0003-stability.md`, `docs/decisions/0162-files-still-written.md`.
 */
import { accessSync, constants, lstatSync, type Stats } from 'node:fs';

/** Samples of files of watched folders: type and state of a file, from one `lstat`. */
export type FileSample =
  | { readonly is: 'file'; readonly sample: Sample }
  | { readonly is: 'gone' }
  | { readonly is: 'directory' }
  /** A symbolic link, a device, or an empty file. */
  | { readonly is: 'not-a-file' }
  | { readonly is: 'unreadable'; readonly code: string };

/** Converts the answer of `lstat`; without an error, missing state means a missing file. */
export function sampleOf(error: NodeJS.ErrnoException | null, stats: Stats | undefined): FileSample {
  if (error !== null) {
    // ENOTDIR: the folder was replaced; the next listing reports it.
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return { is: 'gone' };
    return { is: 'unreadable', code: error.code ?? error.message };
  }
  if (stats === undefined) return { is: 'gone' };
  if (stats.isDirectory()) return { is: 'directory' };
  if (!stats.isFile() || stats.size === 0) return { is: 'not-a-file' };
  return {
    is: 'file',
    sample: { size: stats.size, mtimeMs: stats.mtimeMs, inode: stats.ino, bornMs: stats.birthtimeMs },
  };
}

/** Samples a file on this thread; blocks while the file system does. */
export function sampleSync(path: string): FileSample {
  try {
    return sampleOf(null, lstatSync(path, { throwIfNoEntry: false }));
  } catch (error) {
    return sampleOf(error as NodeJS.ErrnoException, undefined);
  }
}

/** Error code when the file cannot be opened for reading, null when it can; blocks while the file system does. */
export function refusalSync(path: string): string | null {
  try {
    accessSync(path, constants.R_OK);
    return null;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return code ?? message;
  }
}

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
