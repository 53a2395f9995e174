/**
 * Decides from successive samples whether a file is complete. Pure.
 *
 * A file is complete once its metadata is equal in `requiredSamples` samples taken `intervalMs` apart and for at least
 * `quietMs`. A file still changing after `timeoutMs` is skipped. Times of files are compared with each other only: the
 * clock of a share may differ from that of this machine.
 *
 * Source: docs/batch-values.md §7; `docs/decisions/0003-stability.md`, `docs/decisions/0162-files-still-written.md`,
 * `docs/decisions/0316-files-on-shares.md`.
 */
import { closeSync, constants, fstatSync, lstatSync, openSync, type Stats } from 'node:fs';

/** Samples of files of watched folders: type and state of a file, from one `fstat` of the opened file. */
export type FileSample =
  | { readonly is: 'file'; readonly sample: Sample }
  | { readonly is: 'gone' }
  | { readonly is: 'directory' }
  /** A symbolic link, a device, or an empty file. */
  | { readonly is: 'not-a-file' }
  | { readonly is: 'unreadable'; readonly code: string };

/** Does not follow a link and does not wait for the writer of a named pipe. */
export const SAMPLE_FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** Sample of what is no regular file; undefined: it must be opened, because a share may answer `lstat` from memory. */
export function kindOf(stats: Stats | undefined): FileSample | undefined {
  if (stats === undefined) return { is: 'gone' };
  if (stats.isDirectory()) return { is: 'directory' };
  return stats.isFile() ? undefined : { is: 'not-a-file' };
}

/** Sample of an opened file. */
export function sampleOf(stats: Stats): FileSample {
  const kind = kindOf(stats);
  if (kind !== undefined) return kind;
  if (stats.size === 0) return { is: 'not-a-file' };
  const { size, mtimeMs, ctimeMs, ino, birthtimeMs, blocks } = stats;
  return { is: 'file', sample: { size, mtimeMs, ctimeMs, inode: ino, bornMs: birthtimeMs, blocks } };
}

/** Sample of a file that cannot be looked at or opened. */
export function sampleOfError({ code, message }: NodeJS.ErrnoException): FileSample {
  // ENOTDIR: the folder was replaced; the next listing reports it.
  if (code === 'ENOENT' || code === 'ENOTDIR') return { is: 'gone' };
  // Replaced by a link or a socket meanwhile.
  if (code === 'ELOOP' || code === 'ENXIO') return { is: 'not-a-file' };
  return { is: 'unreadable', code: code ?? message };
}

/** Samples a file on this thread; blocks while the file system does. */
export function sampleSync(path: string): FileSample {
  try {
    const kind = kindOf(lstatSync(path, { throwIfNoEntry: false }));
    if (kind !== undefined) return kind;
    const file = openSync(path, SAMPLE_FLAGS);
    try {
      return sampleOf(fstatSync(file));
    } finally {
      closeSync(file);
    }
  } catch (error) {
    return sampleOfError(error as NodeJS.ErrnoException);
  }
}

/** Metadata of a regular, non-empty file. */
export interface Sample {
  /** Bytes. */
  readonly size: number;
  /** Modification time, milliseconds since the epoch with fraction. */
  readonly mtimeMs: number;
  /** Time of the last change of content or metadata, like `mtimeMs`; writers cannot set it. */
  readonly ctimeMs: number;
  readonly inode: number;
  /** Creation time like `mtimeMs`; 0 where the file system stores none. */
  readonly bornMs: number;
  /** Allocated units of 512 bytes; grows under a file that has its final size already. */
  readonly blocks: number;
}

export interface StabilityRules {
  /** Interval between two samples, milliseconds (`WatchedFolder:StabilityPollIntervalMs`). */
  readonly intervalMs: number;
  /** Consecutive equal samples, at least 1 (`WatchedFolder:StabilityRequiredSamples`). */
  readonly requiredSamples: number;
  /** Minimum milliseconds between the first and the last of them (`Storage:Inputs[].StabilitySeconds`). */
  readonly quietMs: number;
  /** The same for a file with fewer blocks than its size needs, where blocks tell that. */
  readonly quietWithHolesMs: number;
  /** Milliseconds after which a changing file is skipped (`WatchedFolder:StabilityTimeoutSeconds`). */
  readonly timeoutMs: number;
}

/** State of one file between two samples. */
export interface StabilityTrack {
  readonly sample: Sample;
  /** Consecutive samples equal to `sample`, including it. */
  readonly equal: number;
  /** Monotonic time of the first of them, milliseconds. */
  readonly equalSince: number;
  /** Monotonic time of the first sample, milliseconds. */
  readonly since: number;
}

/**
 * True when both samples are of the same content as far as metadata tells. Without the time of change and the blocks:
 * a job that takes its input by a link changes the former.
 */
export function sameSample(one: Sample, other: Sample): boolean {
  return (
    one.size === other.size &&
    one.mtimeMs === other.mtimeMs &&
    one.inode === other.inode &&
    one.bornMs === other.bornMs
  );
}

/** True when nothing was done to the file between both samples. */
export function isUntouched(one: Sample, other: Sample): boolean {
  return sameSample(one, other) && one.ctimeMs === other.ctimeMs && one.blocks === other.blocks;
}

/** Starts a track with the first sample. `elapsed` is monotonic. */
export function firstSample(sample: Sample, elapsed: number): StabilityTrack {
  return { sample, equal: 1, equalSince: elapsed, since: elapsed };
}

/** Adds a sample. A change restarts the count. */
export function nextSample(track: StabilityTrack, sample: Sample, elapsed: number): StabilityTrack {
  if (isUntouched(track.sample, sample)) return { ...track, equal: track.equal + 1 };
  return { sample, equal: 1, equalSince: elapsed, since: track.since };
}

export function isStable(track: StabilityTrack, elapsed: number, rules: StabilityRules): boolean {
  const quietMs = hasHoles(track.sample) ? rules.quietWithHolesMs : rules.quietMs;
  return track.equal >= rules.requiredSamples && elapsed - track.equalSince >= quietMs;
}

/** Bytes of a block of most file systems; what is shorter may be stored beside the metadata. */
const BLOCK = 4_096;

/** True for fewer blocks than the size needs: preallocated and not yet written, sparse, or compressed. */
function hasHoles({ size, blocks }: Sample): boolean {
  return size - blocks * 512 >= BLOCK;
}

/**
 * True when the last sample shows a change and the time is over. A file that stopped changing is never skipped: it
 * only needs its remaining samples.
 */
export function hasTimedOut(track: StabilityTrack, elapsed: number, rules: StabilityRules): boolean {
  return track.equal === 1 && elapsed - track.since >= rules.timeoutMs;
}
