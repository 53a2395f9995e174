/** From committed steps to what observers are told. */

import { DIVERGED_MESSAGE, type JobContext, type JobState } from '../machines/job-context.ts';
import type { PipelineState } from '../machines/pipeline.ts';
import type { Step } from '../runtime/index.ts';
import type { BatchObserver } from './batch-observer.ts';
import { JOB, PIPELINE } from './registry.ts';

/** Tells the observer what a committed step means, if it means anything. */
export function tellObserver(observer: BatchObserver, step: Step): void {
  const { kind } = step.actor.address;
  if (kind === JOB) tellOfJob(observer, step);
  else if (kind === PIPELINE && step.basedOn > 0 && step.journal.length > 0) {
    if ((step.actor.state as PipelineState) === 'Paused') observer.paused();
    else observer.resumed();
  }
}

function tellOfJob(observer: BatchObserver, step: Step): void {
  if (step.ends) return;
  const context = step.actor.context as unknown as JobContext;
  if (step.basedOn === 0) observer.enqueued(context.folder);
  if (step.journal.some(({ message }) => message === DIVERGED_MESSAGE))
    observer.diverged(context.profileName);
  // Jobs are counted by state: a step that leads into another one adds to that one's counter.
  if (!entersState(step)) return;
  const state = step.actor.state as JobState;
  const claimedAt = context.claimedAt ?? context.queuedAt;
  const endedAt = context.endedAt ?? context.updatedAt;
  switch (state) {
    case 'Processing':
      observer.stage('queue', claimedAt - context.queuedAt);
      break;
    case 'Completed': {
      const { stage = 0, sign, verify, encrypt, output } = context.times ?? {};
      if (sign !== undefined) {
        observer.stage('stage', stage);
        observer.stage('sign', Math.max(0, sign - stage));
      }
      if (verify !== undefined) observer.stage('verify', verify);
      if (encrypt !== undefined) observer.stage('encrypt', encrypt);
      if (output !== undefined) observer.stage('publish', Math.max(0, output - (encrypt ?? 0)));
      observer.completed({
        format: context.format,
        profile: context.profileName,
        encrypted: context.outputEncrypted,
        verified: !step.journal.some(({ message }) => message.startsWith('Published without')),
        took: endedAt - claimedAt,
      });
      break;
    }
    case 'Failed':
      observer.failed({ profile: context.profileName, code: context.errorCode });
      break;
    case 'Canceled':
      observer.canceled();
      break;
    default:
  }
}

function entersState({ actor, counters }: Step): boolean {
  const prefix = `jobs/${actor.state}/`;
  return Object.entries(counters).some(([name, by]) => by > 0 && name.startsWith(prefix));
}
