/** Removes files that no document, upload or other actor needs any more, from time to time. */

import type { BlobRef } from '../../machines/portal-words.ts';
import { type ActorStore, type Clock, describeFailure, type Log } from '../../runtime/index.ts';
import { type Blobs, UNCOUNTED_GRACE } from './blobs.ts';
import type { SegmentedUploads } from './segmented-uploads.ts';

/** Milliseconds from the start to the first look, so that a service which is often restarted looks too. */
const FIRST = 10 * 60_000;
/** Milliseconds between the end of one look and the next: a million files take minutes of small pieces. */
const EVERY = 6 * 60 * 60_000;
/** Files of deleted documents that wait for their grace; others wait for the next look through all. */
const MOST_WAITING = 10_000;

export interface BlobSweepingParts {
  readonly blobs: Pick<Blobs, 'sweep' | 'sweepSome'>;
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
  readonly #waiting = new Set<string>();
  #cancelWaiting = () => {};

  constructor(parts: BlobSweepingParts) {
    this.#parts = parts;
  }

  start(): void {
    this.#stopping = new AbortController();
    this.#arm(this.#stopping.signal, FIRST);
  }

  async stop(): Promise<void> {
    this.#stopping?.abort();
    this.#cancel();
    this.#cancelWaiting();
    await this.#running;
  }

  /** Removes files that were needed until now as soon as it can be known that nobody needs them. */
  async sweepSoon(blobs: readonly Pick<BlobRef, 'sha256'>[]): Promise<void> {
    const left = await this.#parts.blobs.sweepSome(this.#parts.store, blobs);
    if (left.length === 0) return;
    const isFirst = this.#waiting.size === 0;
    for (const sha256 of left) if (this.#waiting.size < MOST_WAITING) this.#waiting.add(sha256);
    if (isFirst) this.#cancelWaiting = this.#parts.clock.after(UNCOUNTED_GRACE, () => this.#sweepWaiting());
  }

  #sweepWaiting(): void {
    const blobs = [...this.#waiting].map((sha256) => ({ sha256 }));
    this.#waiting.clear();
    if (this.#stopping?.signal.aborted !== false) return;
    this.#running = this.#running
      .then(() => this.sweepSoon(blobs))
      .catch((error: unknown) => {
        this.#parts.log.error('The files of deleted documents could not be removed.', describeFailure(error));
      });
  }

  #arm(signal: AbortSignal, pause: number): void {
    if (signal.aborted) return;
    this.#cancel = this.#parts.clock.after(pause, () => {
      this.#running = this.#sweep(signal).then(() => this.#arm(signal, EVERY));
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
