/** The state of the pipeline, asked for seldom: `GET /api/pipeline/state` shares its rate limit with the actions. */
import { ask } from './api.ts';
import { later } from './browser.ts';

export interface PipelineState {
  readonly paused: boolean;
  readonly pausedAtUtc: string | null;
  readonly resumedAtUtc: string | null;
  readonly pausedBy: string;
  readonly reason: string | null;
  readonly maxConcurrency: number;
  readonly jobsInFlight: number;
}

/** How long an answer is good enough, milliseconds. A little less than the usual refresh. */
const KEPT = 4_500;

let kept: Promise<PipelineState> | undefined;

export function pipelineState(): Promise<PipelineState> {
  if (kept === undefined) {
    kept = ask<PipelineState>('/api/pipeline/state');
    later(KEPT, forgetPipelineState);
    kept.catch(forgetPipelineState);
  }
  return kept;
}

/** To be called when the state has been changed. */
export function forgetPipelineState(): void {
  kept = undefined;
}
