/** Removes files that no document, upload or other actor needs any more, from time to time. */
import { type ActorStore, type Clock, describeFailure, type Log } from '../../runtime/index.ts';
import type { Blobs } from './blobs.ts';
import type { SegmentedUploads } from './segmented-uploads.ts';

/** Milliseconds between the end of one look and the next. */
const EVERY = 60 * 60_000;

export interface BlobSweepingParts {
  readonly blobs: Pick<Blobs, 'sweep'>;
  /** Their pieces are files of their own. */
  readonly segmented: Pick<SegmentedUploads, 'sweep'>;
  readonly store: ActorStore;
  readonly clock: Pick<Clock, 'after'>;
  readonly log: Log;
}

export class BlobSweeping {
  readonly #parts: BlobSweepingParts;
  #stopping: AbortController | undefined;
  #cancel = () => {};
  #running: Promise<void> = Promise.resolve();

  constructor(parts: BlobSweepingParts) {
    this.#parts = parts;
  }

  start(): void {
    this.#stopping = new AbortController();
    this.#arm(this.#stopping.signal);
  }

  async stop(): Promise<void> {
    this.#stopping?.abort();
    this.#cancel();
    await this.#running;
  }

  #arm(signal: AbortSignal): void {
    if (signal.aborted) return;
    this.#cancel = this.#parts.clock.after(EVERY, () => {
      this.#running = this.#sweep(signal).then(() => this.#arm(signal));
    });
  }

  async #sweep(signal: AbortSignal): Promise<void> {
    const { blobs, segmented, store, log } = this.#parts;
    try {
      await segmented.sweep(signal);
      const { removed, bytes } = await blobs.sweep(store, signal);
      if (removed > 0) log.info('Files that nobody needs were removed.', { Files: removed, Bytes: bytes });
    } catch (error) {
      log.error('The files of the portal could not be looked through.', describeFailure(error));
    }
  }
}
