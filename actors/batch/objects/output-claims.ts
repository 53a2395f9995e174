/** Claims of output names in the database. Source: docs/decisions/0285-jobs-in-an-object-store.md. */
import { createHash } from 'node:crypto';
import { type ActorSystem, actorKind, defineActor } from '@sealwright/runtime';
import {
  type outputClaimMachine as Machine,
  outputClaimMachine,
  RELEASED_STATE,
} from '../../../machines/batch/output-claim.ts';

const OUTPUT_CLAIM = actorKind<typeof Machine>('output-claim');

export const outputClaimDefinition = defineActor(OUTPUT_CLAIM, {
  machine: outputClaimMachine,
  version: 1,
  ends: ({ state }) => state === RELEASED_STATE,
});

export class OutputClaims {
  constructor(private readonly system: ActorSystem) {}

  /** True when the job has the key, durably; false while another job has it. */
  async claim(key: string, jobId: string): Promise<boolean> {
    const address = addressOf(key);
    const made = await this.system.create(address, { jobId });
    if (made.accepted) {
      await made.durable;
      return true;
    }
    const held = await this.system.read(address);
    return held?.context.jobId === jobId;
  }

  /** Ends the claim of this job, if there is one. */
  async release(key: string, jobId: string): Promise<void> {
    await this.system.send(addressOf(key), { type: 'RELEASE', jobId });
  }
}

function addressOf(key: string) {
  return { kind: OUTPUT_CLAIM, id: createHash('sha256').update(key).digest('base64url') };
}
