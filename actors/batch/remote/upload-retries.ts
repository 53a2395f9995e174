/**
 * Retries uploads to the remote portal. A job whose upload waits for a retry stays in Processing and holds no slot of
 * the pipeline, so that local jobs continue.
 *
 * Source: docs/batch-values.md §8, failure table, "transient while uploading".
 */

import { type Clock, Fatal, isRetryable, type Millis, Retryable } from '@sealwright/runtime';
import { type Backoff, pauseAfter } from '../../../machines/backoff.ts';
import type { CircuitBreaker } from './circuit-breaker.ts';
import { CircuitOpen, RemoteFailure } from './ports.ts';

/** Maximum failed attempts of one upload while the portal answers other calls; about ten minutes with pauses. */
const MAX_TRIES = 16;
/** Pauses after failures. */
const BACKOFF: Backoff = { firstMs: 1_000, maxMs: 60_000 };

export class UploadRetries {
  readonly #waiting = new Set<string>();
  readonly #stopping = new AbortController();

  constructor(
    private readonly clock: Pick<Clock, 'after' | 'sleep'>,
    private readonly breaker: CircuitBreaker,
    /** `RemoteSigner:TimeoutHours`, in milliseconds: the maximum duration of an upload with its retries. */
    private readonly timeout: Millis,
    /** Called when an upload starts or stops waiting. */
    private readonly onChange: () => void,
  ) {}

  /** Number of jobs whose upload waits for a retry. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /**
   * Ends all waits. A job whose upload waited counts as waiting until the process ends, so that a stop does not wait for
   * it; the recovery of the next start fails it. An upload that the portal takes is still made.
   */
  stop(): void {
    this.#stopping.abort(new Error('The service stops.'));
  }

  /**
   * @param work may run several times; only a transient `RemoteFailure` causes a retry
   * @throws {Fatal} `remote.unreachable`; {Retryable} `service.stopping`
   */
  async run<T>(jobId: string, work: () => Promise<T>, tried: AbortSignal): Promise<T> {
    const { clock, breaker, timeout } = this;
    const late = new AbortController();
    const cancel = clock.after(timeout, () => late.abort());
    const stopped = AbortSignal.any([tried, this.#stopping.signal]);
    const signal = AbortSignal.any([stopped, late.signal]);
    let abandoned = false;
    const unlessStopped = async (waiting: Promise<void>, reason: unknown) => {
      await waiting.catch((error: unknown) => {
        if (!signal.aborted) throw error;
        if (!stopped.aborted) throw unreachable(reason);
        abandoned = this.#stopping.signal.aborted;
        throw new Retryable('service.stopping', 'The service stopped before the upload was taken.');
      });
    };
    try {
      for (let failures = 0; ; ) {
        if (breaker.open !== undefined) {
          this.#delay(jobId);
          await unlessStopped(breaker.untilClosed(signal), breaker.open.reason);
        }
        try {
          return await unlessAborted(work(), tried);
        } catch (error) {
          if (!(error instanceof RemoteFailure) || !error.transient) throw unreachable(error);
          if (error instanceof CircuitOpen) continue;
          failures += 1;
          if (breaker.open === undefined && failures >= MAX_TRIES) throw unreachable(error);
          this.#delay(jobId);
          const pause = pauseAfter(failures, BACKOFF);
          await unlessStopped(clock.sleep(Math.max(pause, error.retryAfter ?? 0), signal), error);
        }
      }
    } finally {
      cancel();
      if (!abandoned && this.#waiting.delete(jobId)) this.onChange();
    }
  }

  #delay(jobId: string): void {
    if (this.#waiting.has(jobId)) return;
    this.#waiting.add(jobId);
    this.onChange();
  }
}

/** The result of the work, or the signal's reason when aborted first; the work continues and its result is ignored. */
async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  let abort = () => {};
  const aborted = new Promise<never>((_, reject) => {
    abort = () =>
      reject(new Retryable('service.stopping', 'The service stopped before the upload was taken.'));
    signal.addEventListener('abort', abort, { once: true });
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

/** The message of an audited failure starts with its code. Source: docs/batch-values.md §4, `errorMessage`. */
export function unreachable(error: unknown): Error {
  if (error instanceof Fatal || isRetryable(error)) return error as Error;
  const reason = error instanceof Error ? error.message : String(error);
  return new Fatal('remote.unreachable', `remote.unreachable: ${reason}`);
}
