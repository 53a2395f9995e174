/** State of the pipeline, requested rarely: `GET /api/pipeline/state` shares its rate limit with the actions. */

import { delay } from '../../client/dom.ts';
import { getShared } from './api.ts';

export interface PipelineState {
  readonly paused: boolean;
  readonly pausedAtUtc: string | null;
  readonly resumedAtUtc: string | null;
  readonly pausedBy: string;
  readonly reason: string | null;
  readonly held: { readonly reason: string; readonly since: string } | null;
  readonly maxConcurrency: number;
  readonly jobsInFlight: number;
}

/** Lifetime of a cached state, milliseconds. A little less than the usual refresh interval. */
const CACHE_MS = 4_500;

let cached: Promise<PipelineState> | undefined;

export function pipelineState(): Promise<PipelineState> {
  if (cached === undefined) {
    cached = getShared<PipelineState>('/api/pipeline/state');
    delay(CACHE_MS, clearPipelineState);
    cached.catch(clearPipelineState);
  }
  return cached;
}

/** Call after a change of the state. */
export function clearPipelineState(): void {
  cached = undefined;
}
