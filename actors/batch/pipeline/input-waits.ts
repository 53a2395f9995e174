/**
 * Jobs put back into the queue because of their input: its bucket is away, or its file is still being written.
 *
 * While an outage of a bucket lasts no job of the bucket is claimed, and the object of a job that met it is tried until it
 * can be read. A job whose file changed rests for longer than a share remembers attributes.
 *
 * State is in memory: a node learns of it from a job that this node or another one puts back into the queue.
 *
 * Source: docs/decisions/0290-inputs-in-buckets.md, docs/decisions/0316-files-on-shares.md.
 */
import { type Clock, contextOf, type Log, type Millis, type Step } from '@sealwright/runtime';
import { type Backoff, pauseAfter } from '../../../machines/backoff.ts';
import type { FolderName } from '../../../machines/ids.ts';
import { JOB } from '../job-records/kinds.ts';
import { type BucketOriginals, isInBucket, placeOf } from '../objects/bucket-originals.ts';
import { CircuitBreaker } from '../remote/circuit-breaker.ts';

interface Outage {
  readonly breaker: CircuitBreaker;
  /** Of the jobs that met it. */
  readonly folders: Set<FolderName>;
  /** Of the last one. */
  originalPath: string;
}

/** Pauses of a job that is put back time after time although the bucket answers in between. */
const BACKOFF: Backoff = { firstMs: 1_000, maxMs: 300_000 };
/** First pause of a job whose file changed, milliseconds, unless its folder has a time of its own. */
const CHANGED_MS = 10_000;

export class InputWaits {
  readonly #outages = new Map<string, Outage>();
  /** Queued jobs that were put back: how often in a row, and the end of their pause by `Clock.elapsed`. */
  readonly #returned = new Map<string, { readonly times: number; readonly until: Millis }>();
  #changes = 0;
  #isStopped = false;

  constructor(
    private readonly runtime: { readonly clock: Pick<Clock, 'now' | 'elapsed' | 'after'>; readonly log: Log },
    /** Undefined: no input is a bucket. */
    private readonly originals: Pick<BucketOriginals, 'isAway'> | undefined,
    /** Called when a bucket is back. */
    private readonly onBack: () => void,
    /** `Storage:Inputs[].StabilitySeconds` of the folders that have one, in milliseconds. */
    private readonly quietMs: ReadonlyMap<FolderName, Millis> = new Map(),
  ) {}

  /** Differs when other folders are held. */
  get changes(): number {
    return this.#changes;
  }

  /** True: the bucket of the jobs of this folder is away. */
  holds(folder: FolderName | null): boolean {
    if (folder === null) return false;
    for (const { folders } of this.#outages.values()) if (folders.has(folder)) return true;
    return false;
  }

  /** True during the pause of a job that was put back. */
  mustRest(jobId: string): boolean {
    return (this.#returned.get(jobId)?.until ?? 0) > this.runtime.clock.elapsed();
  }

  /** Takes notice of a committed step. */
  observe({ actor, basedOn, counters, journal }: Step): void {
    const job = contextOf(JOB, actor);
    if (job === undefined) return;
    const { id } = actor.address;
    if (actor.state === 'Queued') {
      const isReturned = basedOn > 0 && Object.keys(counters).length > 0;
      if (isReturned && !this.#isStopped) this.#met(id, job, journal.at(-1)?.message);
    } else if (actor.state !== 'Processing') this.#returned.delete(id);
  }

  /** Ends the probes. */
  stop(): void {
    this.#isStopped = true;
    for (const { breaker } of this.#outages.values()) breaker.stop();
  }

  #met(
    id: string,
    { originalPath, folder }: { readonly originalPath: string; readonly folder: FolderName | null },
    reason = '',
  ): void {
    const times = (this.#returned.get(id)?.times ?? 0) + 1;
    const inBucket = isInBucket(originalPath);
    const quietMs = (folder !== null ? this.quietMs.get(folder) : undefined) ?? CHANGED_MS;
    const least = inBucket ? 0 : quietMs;
    const pause = Math.max(least, pauseAfter(times, inBucket ? BACKOFF : { ...BACKOFF, firstMs: quietMs }));
    this.#returned.set(id, { times, until: this.runtime.clock.elapsed() + pause });
    if (!inBucket) return;
    const { bucket } = placeOf(originalPath);
    const outage = this.#outages.get(bucket) ?? this.#begun(bucket, originalPath);
    outage.originalPath = originalPath;
    if (folder !== null) outage.folders.add(folder);
    this.#changes += 1;
    outage.breaker.failed(reason);
  }

  #begun(bucket: string, originalPath: string): Outage {
    const { clock, log } = this.runtime;
    const outage: Outage = {
      originalPath,
      folders: new Set(),
      breaker: new CircuitBreaker(
        clock,
        async () => {
          if (!(await this.originals?.isAway(outage.originalPath))) outage.breaker.succeeded();
        },
        (isOpen) => {
          if (isOpen)
            return log.warn('The bucket of an input is away. Its jobs wait, and it is probed.', {
              Bucket: bucket,
              Error: outage.breaker.open?.reason,
            });
          log.info('The bucket of an input is back.', { Bucket: bucket });
          this.#outages.delete(bucket);
          this.#changes += 1;
          this.onBack();
        },
        1,
      ),
    };
    this.#outages.set(bucket, outage);
    return outage;
  }
}
