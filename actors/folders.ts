/**
 * The input folders: each a watcher on the disk and an actor that keeps its budget of failures.
 * Source: Batch Signing Service API, "What the service does" 9 and 12; batch-gaps §7.
 */
import type { FolderName, Millis, ProfileName } from '../machines/ids.ts';
import type { InputFolderContext, InputFolderState } from '../machines/input-folder.ts';
import { type ActorSystem, type Clock, describeFailure, type Log } from '../runtime/index.ts';
import {
  type Candidate,
  createWatchedFolder,
  type OfferAnswer,
  type WatchedFolder,
  type WatchedFolderSettings,
} from './adapters/watched-folder/index.ts';
import { INPUT_FOLDER } from './registry.ts';

export interface FolderOptions {
  readonly name: FolderName;
  /** Absolute. */
  readonly path: string;
  readonly profile: ProfileName;
  readonly settings: WatchedFolderSettings;
  /** `WatchedFolder:MaxConsecutiveEnqueueFailures`. */
  readonly budget: number;
}

export interface FolderParts {
  readonly system: ActorSystem;
  readonly clock: Clock;
  readonly log: Log;
  /** Makes a job of a stable file. Rejections use up the folder's budget. */
  readonly take: (folder: FolderOptions, file: Candidate) => Promise<OfferAnswer>;
}

/** What is known of a folder, for readiness and lists. */
export interface FolderReport {
  readonly name: FolderName;
  readonly path: string;
  readonly status: InputFolderState;
  readonly exists: boolean;
  readonly lastError: string | null;
  readonly lastEnqueueAt: Millis | null;
  /** Candidates handled since the process started, whatever became of them. */
  readonly processed: number;
  readonly options: FolderOptions;
}

/** Successes are told to the folder's actor this often at most, so that a burst of files is one message. */
const REPORT_EVERY: Millis = 1_000;

/** One folder at work. */
export class Folder {
  readonly options: FolderOptions;
  readonly #parts: FolderParts;
  readonly #watcher: WatchedFolder;
  #status: InputFolderState = 'Initializing';
  #lastError: string | null = null;
  #lastEnqueueAt: Millis | null = null;
  /** True while failures are on the account that the next success must clear. */
  #owing = false;
  /** Offers made so far, and how many of them had been made when a failure was last counted. */
  #offers = 0;
  #countedAt = 0;
  #cancelReport: (() => void) | undefined;

  constructor(options: FolderOptions, parts: FolderParts) {
    this.options = options;
    this.#parts = parts;
    this.#watcher = createWatchedFolder({
      name: options.name,
      path: options.path,
      settings: options.settings,
      clock: parts.clock,
      log: parts.log,
      offer: (candidate) => this.#offer(candidate),
      onState: (state) => {
        if (state.phase === 'Running' && this.#status === 'Initializing')
          void this.#tell({ type: 'WATCHING' });
      },
    });
  }

  get #address() {
    return { kind: INPUT_FOLDER, id: this.options.name };
  }

  /** Opens the account afresh and begins to watch. A folder stopped before the restart gets its budget back. */
  async start(): Promise<void> {
    const { name, budget } = this.options;
    const created = await this.#parts.system.create(this.#address, { name, budget });
    if (!created.accepted) await this.#tell({ type: 'OPENED', budget });
    this.#watcher.start();
  }

  async stop(): Promise<void> {
    this.#cancelReport?.();
    await this.#watcher.stop();
  }

  /** A job no longer owns this path; if a file is there, it is looked at again. */
  recheck(path: string): void {
    this.#watcher.recheck(path);
  }

  async report(): Promise<FolderReport> {
    const exists = await this.#watcher.exists();
    const seen = this.#watcher.state();
    return {
      name: this.options.name,
      path: this.options.path,
      status: this.#status,
      exists,
      lastError: this.#lastError ?? seen.error,
      lastEnqueueAt: this.#lastEnqueueAt,
      processed: this.#offers,
      options: this.options,
    };
  }

  async #offer(candidate: Candidate): Promise<OfferAnswer> {
    this.#offers += 1;
    const number = this.#offers;
    try {
      const answer = await this.#parts.take(this.options, candidate);
      if (answer === 'enqueued') this.#succeeded();
      return answer;
    } catch (error) {
      // Many offers are under way at once: those that fail together fail of one cause, and count once.
      if (number > this.#countedAt) {
        this.#countedAt = this.#offers;
        this.#owing = true;
        await this.#tell({
          type: 'ENQUEUE_FAILED',
          error: error instanceof Error ? error.message : String(error),
        });
      }
      // Nothing but a change of the file can help: it is not offered again until then.
      if (describeFailure(error).code === 'job.path-too-long') return 'declined';
      throw error;
    }
  }

  #succeeded(): void {
    this.#lastEnqueueAt = this.#parts.clock.now();
    if (this.#owing) {
      this.#owing = false;
      void this.#tell({ type: 'ENQUEUED' });
      return;
    }
    this.#cancelReport ??= this.#parts.clock.after(REPORT_EVERY, () => {
      this.#cancelReport = undefined;
      void this.#tell({ type: 'ENQUEUED' });
    });
  }

  /** A store that cannot take the message is what the budget is for; it must not stop the watcher by itself. */
  async #tell(event: { readonly type: string; readonly [field: string]: unknown }): Promise<void> {
    const { system, log } = this.#parts;
    try {
      const outcome = await system.tell(this.#address, event);
      if (!outcome.accepted) return;
      const context = outcome.actor.context as InputFolderContext;
      this.#lastError = context.lastError;
      this.#status = outcome.actor.state as InputFolderState;
      if (this.#status !== 'Stopped') return;
      log.error(
        'A watcher used up its budget of failures and stopped. Mend the cause, then restart the service.',
        {
          Folder: this.options.name,
          Error: context.lastError,
        },
      );
      await this.#watcher.stop();
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

  /** In the order of the configuration. */
  readonly options: readonly FolderOptions[];

  constructor(folders: readonly FolderOptions[], parts: FolderParts) {
    this.options = folders;
    this.#folders = folders.map((options) => new Folder(options, parts));
  }

  async start(): Promise<void> {
    await Promise.all(this.#folders.map((folder) => folder.start()));
  }

  async stop(): Promise<void> {
    await Promise.all(this.#folders.map((folder) => folder.stop()));
  }

  /** Tells the folder that the path lies in, if it is watched. */
  recheck(path: string): void {
    for (const folder of this.#folders) {
      if (path.startsWith(`${folder.options.path}/`)) folder.recheck(path);
    }
  }

  reports(): Promise<readonly FolderReport[]> {
    return Promise.all(this.#folders.map((folder) => folder.report()));
  }
}
