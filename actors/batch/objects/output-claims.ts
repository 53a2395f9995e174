/** Claims of output names in the database. Source: docs/decisions/0285-jobs-in-an-object-store.md. */
import { createHash } from 'node:crypto';
import { type Calls, defineActor } from '@sealwright/runtime';
import { outputClaimMachine, RELEASED_STATE } from '../../../machines/batch/output-claim.ts';

export const OUTPUT_CLAIM = defineActor('output-claim', {
  machine: outputClaimMachine,
  version: 1,
  ends: ({ state }) => state === RELEASED_STATE,
});

export class OutputClaims {
  constructor(private readonly actors: Calls) {}

  /** True when the job has the key, durably; false while another job has it. */
  async claim(key: string, jobId: string): Promise<boolean> {
    const id = idOf(key);
    if ((await this.actors.create(OUTPUT_CLAIM, id, { jobId })).accepted) return true;
    const held = await this.actors.read(OUTPUT_CLAIM, id);
    return held?.context.jobId === jobId;
  }

  /** Ends the claim of this job, if there is one. */
  async release(key: string, jobId: string): Promise<void> {
    await this.actors.send(OUTPUT_CLAIM, idOf(key), { type: 'RELEASE', jobId });
  }
}

function idOf(key: string): string {
  return createHash('sha256').update(key).digest('base64url');
}
