/** Removes files that no document, upload or other actor needs any more, from time to time. */

import { describeFailure } from '@sealwright/runtime';
import type { BlobRef } from '../../../machines/portal/portal-types.ts';
import type { ServiceRuntime } from '../../hosting/service-plan.ts';
import { type Blobs, UNCOUNTED_GRACE_MS } from './blobs.ts';
import type { SegmentedUploads } from './segmented-uploads.ts';

/** Delay from the start to the first sweep, milliseconds; short, for services that restart often. */
const FIRST_SWEEP_MS = 10 * 60_000;
/** Pause between two sweeps, milliseconds: a million files take minutes in small batches. */
const SWEEP_INTERVAL_MS = 6 * 60 * 60_000;
/** Pause between two looks at the cache of an object store, milliseconds. */
const TRIM_INTERVAL_MS = 10 * 60_000;
/** Maximum number of files of deleted documents that wait for their grace period; others wait for the next sweep. */
const MAX_WAITING = 10_000;

export class BlobSweeping {
  #stopping: AbortController | undefined;
  #cancel = () => {};
  #running: Promise<void> = Promise.resolve();
  readonly #waiting = new Set<string>();
  #cancelWaiting = () => {};
  readonly #trimming = new AbortController();
  #cancelTrimming = () => {};
  #trimmed: Promise<void> = Promise.resolve();
  #stopped = false;

  constructor(
    private readonly runtime: Pick<ServiceRuntime, 'store' | 'clock' | 'log'>,
    private readonly blobs: Pick<Blobs, 'sweep' | 'sweepSome' | 'trim'>,
    /** Segmented uploads, whose segments are separate files. */
    private readonly segmented: Pick<SegmentedUploads, 'sweep'>,
  ) {}

  start(): void {
    this.#stopped = false;
    this.#stopping = new AbortController();
    this.#arm(this.#stopping.signal, FIRST_SWEEP_MS);
  }

  /** Each node has a cache of its own. */
  startTrimming(): void {
    const { runtime, blobs } = this;
    const { signal } = this.#trimming;
    if (signal.aborted) return;
    this.#cancelTrimming = runtime.clock.after(TRIM_INTERVAL_MS, () => {
      this.#trimmed = blobs
        .trim(runtime.store, signal)
        .catch((error: unknown) => {
          runtime.log.error('Files could not be removed from the cache.', describeFailure(error));
        })
        .then(() => this.startTrimming());
    });
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#trimming.abort();
    this.#stopping?.abort();
    this.#cancelTrimming();
    this.#cancel();
    this.#cancelWaiting();
    await this.#trimmed;
    await this.#running;
  }

  /** Removes recently released files as soon as they have no reference. */
  async requestSweep(blobs: readonly Pick<BlobRef, 'sha256'>[]): Promise<void> {
    const left = await this.blobs.sweepSome(this.runtime.store, blobs);
    // A timer that begins after the stop would keep the process alive for its hour.
    if (left.length === 0 || this.#stopped) return;
    const isFirst = this.#waiting.size === 0;
    for (const sha256 of left) if (this.#waiting.size < MAX_WAITING) this.#waiting.add(sha256);
    if (isFirst)
      this.#cancelWaiting = this.runtime.clock.after(UNCOUNTED_GRACE_MS, () => this.#sweepWaiting());
  }

  #sweepWaiting(): void {
    const blobs = [...this.#waiting].map((sha256) => ({ sha256 }));
    this.#waiting.clear();
    if (this.#stopping?.signal.aborted !== false) return;
    this.#running = this.#running
      .then(() => this.requestSweep(blobs))
      .catch((error: unknown) => {
        this.runtime.log.error(
          'The files of deleted documents could not be removed.',
          describeFailure(error),
        );
      });
  }

  #arm(signal: AbortSignal, pause: number): void {
    if (signal.aborted) return;
    this.#cancel = this.runtime.clock.after(pause, () => {
      this.#running = this.#sweep(signal).then(() => this.#arm(signal, SWEEP_INTERVAL_MS));
    });
  }

  async #sweep(signal: AbortSignal): Promise<void> {
    const { store, log } = this.runtime;
    const { blobs, segmented } = this;
    try {
      await segmented.sweep(signal);
      const { removed, bytes, refusal } = await blobs.sweep(store, signal);
      if (refusal !== undefined)
        log.error('The object store does not let files be removed that no document needs; they stay.', {
          Error: refusal,
        });
      if (removed > 0) log.info('Files without references were removed.', { Files: removed, Bytes: bytes });
    } catch (error) {
      log.error('The files of the portal could not be looked through.', describeFailure(error));
    }
  }
}
