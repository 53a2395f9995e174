/** State of the pipeline, requested rarely: `GET /api/pipeline/state` shares its rate limit with the actions. */

import type { PipelineState } from '../../../clients/typescript/batch.d.ts';
import { delay } from '../dom.ts';
import { getShared } from './api.ts';

/**
 * Lifetime of a cached state, milliseconds: a little less than the least time between two refreshes. Pages with a short
 * refresh interval keep it longer, since a minute has 60 requests for everybody behind one address.
 */
const CACHE_MS = Number(document.body.dataset['poll'] ?? 5) < 5 ? 4_500 : 900;

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
