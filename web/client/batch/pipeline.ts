/** State of the pipeline, requested rarely: `GET /api/pipeline/state` shares its rate limit with the actions. */

import type { PipelineState } from '../../../clients/typescript/batch.d.ts';
import { delay } from '../dom.ts';
import { getShared, post, runAction } from './api.ts';
import { promptReason } from './dialogs.tsx';

/**
 * Lifetime of a cached state, milliseconds: a little less than the least time between two refreshes. Pages with a short
 * refresh interval keep it longer, since a minute has 60 requests for everybody behind one address.
 */
const CACHE_MS = Number(document.body.dataset['poll'] ?? 5) < 5 ? 4_500 : 900;

let cached: Promise<PipelineState> | undefined;

export function pipelineState(): Promise<PipelineState> {
  if (cached === undefined) {
    cached = getShared<PipelineState>('/api/pipeline/state');
    delay(CACHE_MS, clear);
    cached.catch(clear);
  }
  return cached;
}

function clear(): void {
  cached = undefined;
}

/** Pauses or resumes it, after a question for the reason. */
export async function togglePipeline(button: HTMLButtonElement): Promise<void> {
  const { paused } = await pipelineState();
  const title = paused ? 'Resume the pipeline?' : 'Pause the pipeline?';
  const reason = await promptReason(title, paused ? 'Resume' : 'Pause');
  if (reason === undefined) return;
  await runAction(
    button,
    () =>
      post<PipelineState>(`/api/pipeline/${paused ? 'resume' : 'pause'}`, reason === '' ? {} : { reason }),
    (state) => (state.paused ? 'The pipeline is paused.' : 'The pipeline is running.'),
  );
  clear();
}
