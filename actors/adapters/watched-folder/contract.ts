/**
 * What a watched folder and whoever uses it say to each other.
 */
import type { Clock, Log } from '../../../runtime/index.ts';
import type { StabilityRules } from './stability.ts';

/** A complete file, offered once per content. */
export interface Candidate {
  /** Absolute. */
  readonly path: string;
  readonly fileName: string;
  /** Path of its directory relative to the folder, with `/` between names; `''` for the folder itself. */
  readonly subfolder: string;
  /** Bytes, at least 1. */
  readonly size: number;
  /** Milliseconds since the epoch with fraction. */
  readonly mtimeMs: number;
  /** What brought it up: a change notice of the system, or a listing of the folder. */
  readonly seen: 'event' | 'sweep';
}

/**
 * What became of an offer. `enqueued`: a job was made. `active`: a job that has not ended yet has this path.
 * `declined`: the newest job of the path is Canceled or Failed and the file is unchanged since, or the file can
 * never be taken as it is.
 */
export type OfferAnswer = 'enqueued' | 'active' | 'declined';

export interface WatchedFolderSettings {
  readonly stability: StabilityRules;
  /** Looks in flight and offers in flight, at least 1 each (`WatchedFolder:StabilityConcurrency`). */
  readonly concurrency: number;
  /** With their dot, compared without case at the end of the name (`WatchedFolder:IgnoredExtensions`). */
  readonly ignoredExtensions: readonly string[];
  /** Compared with case at the start of the name (`WatchedFolder:IgnoredPrefixes`). */
  readonly ignoredPrefixes: readonly string[];
  /** True: files in directories below the folder are offered too (`Storage:Inputs[].Recursive`). @default false */
  readonly recursive?: boolean;
  /** Milliseconds between two listings when nothing else asks for one (`WatchedFolder:PollIntervalSeconds`). */
  readonly sweepIntervalMs: number;
  /** Milliseconds between two looks for a folder that is missing or cannot be read. @default 30000 */
  readonly missingRetryMs?: number;
}

/** Where a folder stands. Told anew whenever a part of it changes. */
export interface WatchedFolderState {
  /** `Initializing` until the files found at start have been taken. */
  readonly phase: 'Initializing' | 'Running' | 'Stopped';
  readonly exists: boolean;
  /** `polling`: the system gives no change notices, listings alone find files. `none`: nothing to watch. */
  readonly notices: 'events' | 'polling' | 'none';
  /** A sentence about what cannot be read now, the folder or files in it; null when all can. */
  readonly error: string | null;
}

export interface WatchedFolderOptions {
  readonly name: string;
  readonly path: string;
  readonly settings: WatchedFolderSettings;
  readonly clock: Clock;
  readonly log: Log;
  /**
   * Takes one file. A rejection means it was not taken; the same file is offered again after a pause (that of
   * the error's `retryAfter` when it has one), and the folder's other files wait behind it.
   */
  readonly offer: (candidate: Candidate) => Promise<OfferAnswer>;
  readonly onState: (state: WatchedFolderState) => void;
}

export interface WatchedFolder {
  readonly name: string;
  /** Absolute. */
  readonly path: string;
  /** Begins to watch; a second call, and a call after `stop`, do nothing. */
  start(): void;
  /**
   * Resolves once every file found at start has been offered, dropped or seen to be still changing; at once
   * when the folder is missing or stopped. Never rejects.
   */
  readonly ready: Promise<void>;
  /** Offers a file again if it is still there: its job has ended, or left a different file behind. */
  recheck(path: string): void;
  /**
   * Ends watching. Resolves when no timer, no watch and no look is left. No offer is made after the call; offers
   * already made are left to finish and their answers are not used.
   */
  stop(): Promise<void>;
  state(): WatchedFolderState;
  /** Asks the disk, now. */
  exists(): Promise<boolean>;
}
