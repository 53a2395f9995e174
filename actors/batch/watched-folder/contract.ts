/** Types and limits that watched folders, watched buckets and their callers share. */
import type { Clock, Log } from '@sealwright/runtime';
import type { StabilitySettings } from './file-systems.ts';

/**
 * Files or objects offered again in a listing because an active job had their path. A safety net for
 * `recheck`; offering all would cost one store read per queued job and listing.
 */
export const MAX_OFFERED_AGAIN = 256;

/** A complete file, offered once per content. */
export interface Candidate {
  /** Absolute, or of an object in a bucket. */
  readonly path: string;
  readonly fileName: string;
  /** Path of its directory relative to the folder, with `/` between names; `''` for the folder itself. */
  readonly subfolder: string;
  /** Bytes, at least 1. */
  readonly size: number;
  /** Milliseconds since the epoch with fraction. */
  readonly mtimeMs: number;
  /** Of an object in a bucket. */
  readonly etag?: string;
  /** Source of the discovery: an event of the file system, or a listing. */
  readonly seen: 'event' | 'sweep';
  /** Asks whether it is still a file at its path, for many files at once. @default undefined: ask the system */
  readonly isThere?: () => Promise<boolean>;
}

/**
 * Result of an offer. `enqueued`: a job was created. `active`: an unfinished job owns the path. `declined`: the newest
 * job of the path is Canceled or Failed and the file is unchanged since, or the file can never be accepted as it is.
 */
export type OfferResult = 'enqueued' | 'active' | 'declined';

export interface WatchedFolderSettings {
  readonly stability: StabilitySettings;
  /**
   * Maximum number of concurrent samples and of concurrent offers, at least 1 each
   * (`WatchedFolder:StabilityConcurrency`).
   */
  readonly concurrency: number;
  /** Suffixes with their dot, compared case-insensitively (`WatchedFolder:IgnoredExtensions`). */
  readonly ignoredExtensions: readonly string[];
  /** Compared case-sensitively with the start of the name (`WatchedFolder:IgnoredPrefixes`). */
  readonly ignoredPrefixes: readonly string[];
  /** True: files in directories below the folder are offered too (`Storage:Inputs[].Recursive`). @default false */
  readonly recursive?: boolean;
  /** Interval between two listings, milliseconds (`WatchedFolder:PollIntervalSeconds`). */
  readonly sweepIntervalMs: number;
  /** Interval of checks for a folder that is missing or cannot be read, milliseconds. @default 30000 */
  readonly missingRetryMs?: number;
}

/** State of a watched folder. A changed state is a new object. */
export interface WatchedFolderState {
  /** `Initializing` until the files found at start have been handled. */
  readonly phase: 'Initializing' | 'Running' | 'Stopped';
  readonly exists: boolean;
  /** `polling`: the system delivers no events, only listings find files. `none`: nothing to watch. */
  readonly notices: 'events' | 'polling' | 'none';
  /** Message about a folder or files that cannot be read; null when all can. */
  readonly error: string | null;
}

export interface WatchedFolderOptions {
  readonly name: string;
  readonly path: string;
  readonly settings: WatchedFolderSettings;
  readonly clock: Clock;
  readonly log: Log;
  /**
   * Accepts one file. After a rejection the file is offered again after a pause (`retryAfter` of the error, when
   * present), and the other files of the folder wait behind it.
   */
  readonly offer: (candidate: Candidate) => Promise<OfferResult>;
  /** True for a file that a job owns; it counts as offered. @default unknown */
  readonly isTaken?: (path: string) => boolean;
  readonly onState: (state: WatchedFolderState) => void;
}

/** Facts about a bucket. */
export interface Look {
  /** Reason why it cannot be listed. */
  readonly obstacle: string | undefined;
  /** Objects that stand for files; where another node watches, those of the first page. */
  readonly files: number;
}

export interface WatchedFolder {
  readonly name: string;
  /** Absolute. */
  readonly path: string;
  /** Starts watching; later calls, and a call after `stop`, do nothing. */
  start(): void;
  /**
   * Resolves when every file found at start has been offered, dropped or is still changing; at once when the folder is
   * missing or stopped. Never rejects.
   */
  readonly ready: Promise<void>;
  /** Offers an existing file again: its job has ended, or left a different file behind. */
  recheck(path: string): void;
  /**
   * Stops watching. Resolves when no timer, watch and sample is left. Makes no further offers; results of pending
   * offers are ignored.
   */
  stop(): Promise<void>;
  state(): WatchedFolderState;
  /** Checks the disk on each call. */
  exists(): Promise<boolean>;
  /** Facts about a bucket; absent for a folder. */
  look?(): Promise<Look>;
}
