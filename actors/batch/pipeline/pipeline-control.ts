/** Pause, resume and state of the pipeline for operators. */

import { accepted, Fatal } from '@sealwright/runtime';
import type { PipelineView } from '../../../contracts/batch/pipeline.ts';
import { IN_FLIGHT_STATES, type JobFormat } from '../../../machines/batch/job-context.ts';
import type { BatchRuntime } from '../job-records/job-counts.ts';
import { jobRowOf } from '../job-records/job-index.ts';
import { JOB, PIPELINE, PIPELINE_ID } from '../job-records/kinds.ts';
import type { StorageMonitor } from './storage-monitor.ts';

export class PipelineService {
  constructor(
    private readonly runtime: BatchRuntime,
    private readonly maxConcurrency: number,
    private readonly storage: Pick<StorageMonitor, 'held'>,
  ) {}

  async state(): Promise<PipelineView> {
    const { actors, counts } = this.runtime;
    const { maxConcurrency, storage } = this;
    const actor = await actors.read(PIPELINE, PIPELINE_ID);
    const context = actor?.context;
    const inFlight = (format: JobFormat) => counts.count(IN_FLIGHT_STATES, undefined, format);
    const byFormat = { pades: inFlight('Pades'), cades: inFlight('Cades'), xades: inFlight('Xades') };
    const total = byFormat.pades + byFormat.cades + byFormat.xades;
    return {
      paused: actor?.state === 'Paused',
      pausedAtUtc: context?.pausedAt ?? null,
      resumedAtUtc: context?.resumedAt ?? null,
      pausedBy: context?.pausedBy ?? 'system',
      reason: context?.reason ?? null,
      held: storage.held,
      maxConcurrency,
      jobsInFlight: total,
      jobsInFlightByFormat: { ...byFormat, total },
    };
  }

  /** Enqueue time of the oldest queued job; null for an empty queue. */
  async oldestQueuedAt(): Promise<number | null> {
    const { actors, store, counts } = this.runtime;
    const firsts = counts
      .profiles()
      .filter((profile) => counts.count(['Queued'], [profile]) > 0)
      .map(async (profile) => {
        const [first] = await store.rows({ view: 'jobs-by', prefix: [profile, 'Queued'], limit: 1 });
        const job = first && (await actors.read(JOB, jobRowOf(first.value).id));
        return job?.context.queuedAt;
      });
    const times = (await Promise.all(firsts)).filter((at) => at !== undefined);
    return times.length === 0 ? null : Math.min(...times);
  }

  /** Idempotent. Resolves when durable. @param by the operator. @default the holder of the configured key */
  pause(reason: string | null, by?: string): Promise<PipelineView> {
    return this.#send({ type: 'PAUSE', reason, ...(by && { by }) });
  }

  resume(reason: string | null, by?: string): Promise<PipelineView> {
    return this.#send({ type: 'RESUME', reason, ...(by && { by }) });
  }

  /** Ignores a rejected message: the pipeline is in the requested state already. */
  async #send(event: {
    readonly type: 'PAUSE' | 'RESUME';
    readonly reason: string | null;
    readonly by?: string;
  }): Promise<PipelineView> {
    await accepted(this.runtime.actors.send(PIPELINE, PIPELINE_ID, event), ({ reason }) =>
      reason === 'not-accepted'
        ? undefined
        : new Fatal('internal', `The pipeline did not take the message: ${reason}.`),
    );
    return this.state();
  }
}
