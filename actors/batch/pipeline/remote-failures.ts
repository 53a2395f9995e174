/**
 * Counts failed calls per waiting job and kind of call, and fails jobs at the limit.
 *
 * Source: docs/batch-values.md §8, failure table, "transient … while polling or downloading" and "permanent".
 */

import { describeFailure } from '@sealwright/runtime';
import type { BatchRuntime } from '../job-records/job-counts.ts';
import { JOB } from '../job-records/kinds.ts';
import { CircuitOpen, RemoteFailure } from '../remote/ports.ts';

export type WaitingCall = 'poll' | 'download';

interface Count {
  readonly failures: { [call in WaitingCall]: number };
  /** End of the pause requested by the portal, milliseconds of `Clock.elapsed`. */
  until: number;
}

export class RemoteFailures {
  readonly #counts = new Map<string, Count>();

  /** @param maxFailures more consecutive failures of one kind than this fail the job; 0 = no limit */
  constructor(
    private readonly runtime: BatchRuntime,
    private readonly maxFailures: number,
  ) {}

  /** True during a pause that the portal requested for this document. */
  mustRest(id: string): boolean {
    return (this.#counts.get(id)?.until ?? 0) > this.runtime.clock.elapsed();
  }

  /** Resets the failure count of one kind of call after a success. */
  forgive(id: string, call: WaitingCall): void {
    const count = this.#counts.get(id);
    if (count !== undefined) count.failures[call] = 0;
  }

  /** Removes the records of all other jobs. */
  retain(ids: ReadonlySet<string>): void {
    for (const id of this.#counts.keys()) if (!ids.has(id)) this.#counts.delete(id);
  }

  async failed(id: string, call: WaitingCall, error: unknown): Promise<void> {
    const { log, clock } = this.runtime;
    if (!(error instanceof RemoteFailure)) {
      log.error('What the remote portal signed could not be stored; it is tried again at the next poll.', {
        JobId: id,
        Error: describeFailure(error).message,
      });
      return;
    }
    if (!error.transient) return this.fail(id, 'remote.unreachable', error.message);
    if (error instanceof CircuitOpen) return;
    const count = this.#counts.get(id) ?? { failures: { poll: 0, download: 0 }, until: 0 };
    this.#counts.set(id, count);
    count.failures[call] += 1;
    count.until = clock.elapsed() + (error.retryAfter ?? 0);
    const failures = count.failures[call];
    if (this.maxFailures > 0 && failures > this.maxFailures)
      return this.fail(id, 'remote.unreachable', `${error.message} (${failures} failures in a row)`);
    log.warn('The remote portal could not be asked; it is asked again at the next poll.', {
      JobId: id,
      Failures: failures,
      Error: error.message,
    });
  }

  /** Fails a job. The message starts with the code. Source: docs/batch-values.md §4, `errorMessage`. */
  async fail(id: string, code: string, sentence: string): Promise<void> {
    this.#counts.delete(id);
    const message = `${code}: ${sentence}`;
    await this.runtime.actors.send(JOB, id, { type: 'FAIL', code, message });
  }
}
