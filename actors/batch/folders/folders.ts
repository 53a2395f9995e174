/**
 * Input folders: each has a watcher of the file system and an actor that holds its failure budget. Source:
 * docs/batch-values.md §0 (9 and 12) and §7.
 */

import { describeFailure, type EventOf } from '@sealwright/runtime';
import type { InputFolderState } from '../../../contracts/batch/component-states.ts';
import type { FolderName, Millis, ProfileName } from '../../../machines/ids.ts';
import type { BatchRuntime } from '../job-records/job-counts.ts';
import { INPUT_FOLDER } from '../job-records/kinds.ts';
import {
  type BucketSource,
  type Candidate,
  createWatchedBucket,
  createWatchedFolder,
  type Look,
  type OfferResult,
  type WatchedFolder,
  type WatchedFolderOptions,
  type WatchedFolderSettings,
} from '../watched-folder/index.ts';
import type { FolderIntake } from './folder-intake.ts';

export interface FolderOptions {
  readonly name: FolderName;
  /** Absolute; of a bucket, that of its objects without their last slash. */
  readonly path: string;
  /** Objects that are the files; absent: they are in the folder. */
  readonly source?: BucketSource | undefined;
  readonly profile: ProfileName;
  readonly settings: WatchedFolderSettings;
  /** `WatchedFolder:MaxConsecutiveEnqueueFailures`. */
  readonly budget: number;
}

type FolderRuntime = Pick<BatchRuntime, 'actors' | 'store' | 'clock' | 'log'>;

/** State of a folder, for readiness and lists. */
export interface FolderReport {
  readonly name: FolderName;
  readonly path: string;
  readonly status: InputFolderState;
  readonly exists: boolean;
  /** Of a bucket. */
  readonly look?: Look;
  readonly lastError: string | null;
  readonly lastEnqueueAt: Millis | null;
  /** Files handled since the process started, with any result. */
  readonly processed: number;
  readonly options: FolderOptions;
}

/** Minimum interval between two reports of success to the folder's actor. */
const REPORT_EVERY_MS: Millis = 1_000;

/** One input folder with its watcher. */
export class Folder {
  readonly #watcher: WatchedFolder;
  #status: InputFolderState = 'Initializing';
  #lastError: string | null = null;
  #lastEnqueueAt: Millis | null = null;
  #isWatching = false;
  /** True while reported failures wait for a success that resets the budget. */
  #pendingReports = false;
  /** Offers so far, and their number at the last counted failure. */
  #offers = 0;
  #countedAt = 0;
  #cancelReport: (() => void) | undefined;

  constructor(
    readonly options: FolderOptions,
    private readonly runtime: FolderRuntime,
    /** Rejections consume the failure budget of the folder. */
    private readonly intake: Pick<FolderIntake, 'enqueueStable' | 'isTaken'>,
  ) {
    const { source } = options;
    const watched: WatchedFolderOptions = {
      name: options.name,
      path: options.path,
      settings: options.settings,
      clock: runtime.clock,
      log: runtime.log,
      offer: (candidate) => this.#offer(candidate),
      isTaken: (path) => this.intake.isTaken(path),
      onState: (state) => {
        if (state.phase === 'Running' && this.#status === 'Initializing')
          void this.#send({ type: 'WATCHING' });
      },
    };
    this.#watcher = source ? createWatchedBucket({ ...watched, source }) : createWatchedFolder(watched);
  }

  /** Resets the failure budget and starts watching. A folder stopped before a restart gets its budget back. */
  async start(): Promise<void> {
    const { name, budget } = this.options;
    const created = await this.runtime.actors.create(INPUT_FOLDER, name, { name, budget });
    if (!created.accepted) await this.#send({ type: 'OPENED', budget });
    this.#isWatching = true;
    this.#watcher.start();
  }

  async stop(): Promise<void> {
    this.#cancelReport?.();
    await this.#watcher.stop();
  }

  /** Offers the file at this path again: its job no longer owns the path. */
  recheck(path: string): void {
    this.#watcher.recheck(path);
  }

  async report(): Promise<FolderReport> {
    const look = await this.#watcher.look?.();
    const exists = look === undefined ? await this.#watcher.exists() : look.obstacle === undefined;
    const seen = this.#watcher.state();
    // Another node may watch the folder.
    if (!this.#isWatching && this.runtime.store.nodes !== undefined) await this.#readStatus();
    return {
      name: this.options.name,
      path: this.options.path,
      status: this.#status,
      exists,
      ...(look && { look }),
      lastError: look?.obstacle ?? this.#lastError ?? seen.error,
      lastEnqueueAt: this.#lastEnqueueAt,
      processed: this.#offers,
      options: this.options,
    };
  }

  /** Another node watches this folder. */
  async #readStatus(): Promise<void> {
    // Without an answer the last known status stays; the health of the store is a check of its own.
    const actor = await this.runtime.actors.read(INPUT_FOLDER, this.options.name).catch(() => undefined);
    if (actor === undefined) return;
    this.#status = actor.state;
    this.#lastError = actor.context.lastError;
  }

  async #offer(candidate: Candidate): Promise<OfferResult> {
    this.#offers += 1;
    const number = this.#offers;
    try {
      const answer = await this.intake.enqueueStable(this.options, candidate);
      if (answer === 'enqueued') this.#succeeded();
      return answer;
    } catch (error) {
      const { code } = describeFailure(error);
      // A bucket that cannot be read is watched until it can; its check says so.
      if (code === 'storage.unavailable' || code === 'input.unreadable') throw error;
      // Offers run concurrently: failures of one burst have one cause and count once.
      if (number > this.#countedAt) {
        this.#countedAt = this.#offers;
        this.#pendingReports = true;
        await this.#send({
          type: 'ENQUEUE_FAILED',
          error: error instanceof Error ? error.message : String(error),
        });
      }
      // Only a change of the file can help: declines it until then.
      if (code === 'job.path-too-long') return 'declined';
      throw error;
    }
  }

  #succeeded(): void {
    this.#lastEnqueueAt = this.runtime.clock.now();
    if (this.#pendingReports) {
      this.#pendingReports = false;
      void this.#send({ type: 'ENQUEUED' });
      return;
    }
    this.#cancelReport ??= this.runtime.clock.after(REPORT_EVERY_MS, () => {
      this.#cancelReport = undefined;
      void this.#send({ type: 'ENQUEUED' });
    });
  }

  /** Sends a message to the folder's actor. A store failure consumes budget but does not stop the watcher. */
  async #send(event: EventOf<typeof INPUT_FOLDER>): Promise<void> {
    const { actors, log } = this.runtime;
    try {
      const outcome = await actors.send(INPUT_FOLDER, this.options.name, event);
      if (!outcome.accepted) return;
      const context = outcome.context;
      this.#lastError = context.lastError;
      this.#status = outcome.state;
      if (this.#status !== 'Stopped') return;
      log.error(
        'A watcher used up its budget of failures and stopped. Mend the cause, then restart the service.',
        {
          Folder: this.options.name,
          Error: context.lastError,
        },
      );
      // Not awaited: a watcher that stops waits for its offers, and this message may be of one of them.
      void this.#watcher.stop();
    } catch (error) {
      log.warn('The state of an input folder could not be stored.', {
        Folder: this.options.name,
        Error: error instanceof Error ? error.message : String(error),
      });
    }
  }
}

export class Folders {
  readonly #folders: readonly Folder[];

  /** @param options in the order of the configuration */
  constructor(
    readonly options: readonly FolderOptions[],
    runtime: FolderRuntime,
    intake: FolderIntake,
  ) {
    this.#folders = options.map((one) => new Folder(one, runtime, intake));
  }

  async start(): Promise<void> {
    await Promise.all(this.#folders.map((folder) => folder.start()));
  }

  async stop(): Promise<void> {
    await Promise.all(this.#folders.map((folder) => folder.stop()));
  }

  /** Notifies the watched folder that contains the path. */
  recheck(path: string): void {
    for (const folder of this.#folders) {
      if (path.startsWith(`${folder.options.path}/`)) folder.recheck(path);
    }
  }

  reports(): Promise<readonly FolderReport[]> {
    return Promise.all(this.#folders.map((folder) => folder.report()));
  }
}
