/** What operators may do with the pipeline. Implements the port `PipelineControl`. */
import { IN_FLIGHT_STATES, JOB_FORMATS } from '../machines/job-context.ts';
import type { PipelineContext } from '../machines/pipeline.ts';
import { type ActorSystem, Fatal } from '../runtime/index.ts';
import type { PipelineControl, PipelineView } from './api.ts';
import type { JobCounts } from './job-counts.ts';
import { PIPELINE_ADDRESS } from './registry.ts';

export interface PipelineControlParts {
  readonly system: ActorSystem;
  readonly counts: JobCounts;
  readonly maxConcurrency: number;
}

export class PipelineService implements PipelineControl {
  readonly #parts: PipelineControlParts;

  constructor(parts: PipelineControlParts) {
    this.#parts = parts;
  }

  async state(): Promise<PipelineView> {
    const { system, counts, maxConcurrency } = this.#parts;
    const actor = await system.read(PIPELINE_ADDRESS);
    const context = actor?.context as PipelineContext | undefined;
    const inFlight = Object.fromEntries(
      JOB_FORMATS.map((format) => [format, counts.count(IN_FLIGHT_STATES, undefined, format)]),
    ) as PipelineView['inFlight'];
    return {
      paused: actor?.state === 'Paused',
      pausedAt: context?.pausedAt ?? null,
      resumedAt: context?.resumedAt ?? null,
      pausedBy: context?.pausedBy ?? 'system',
      reason: context?.reason ?? null,
      maxConcurrency,
      inFlight,
    };
  }

  pause(reason: string | null): Promise<PipelineView> {
    return this.#tell({ type: 'PAUSE', reason });
  }

  resume(reason: string | null): Promise<PipelineView> {
    return this.#tell({ type: 'RESUME', reason });
  }

  /** Not accepted means that it is so already, which is as good. */
  async #tell(event: {
    readonly type: 'PAUSE' | 'RESUME';
    readonly reason: string | null;
  }): Promise<PipelineView> {
    const outcome = await this.#parts.system.tell(PIPELINE_ADDRESS, event);
    if (outcome.accepted) await outcome.durable;
    else if (outcome.because !== 'not-accepted') {
      throw new Fatal('internal', `The pipeline did not take the message: ${outcome.because}.`);
    }
    return this.state();
  }
}
