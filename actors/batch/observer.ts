/** Passes committed steps on to observers, pipeline and folders. */

import { contextOf, type Step, type Unaccepted } from '@sealwright/runtime';
import type {
  IndependentOutcome,
  JobContext,
  JobEvent,
  JobFormat,
  JobState,
} from '../../machines/batch/job-context.ts';
import type { PipelineEvent, PipelineState } from '../../machines/batch/pipeline.ts';
import type { Millis } from '../../machines/ids.ts';
import type { Folders } from './folders/folders.ts';
import { JOB, PIPELINE } from './job-records/kinds.ts';
import type { Pipeline } from './pipeline/pipeline.ts';
import type { RemoteObserver } from './remote/remote-signing.ts';
import { deliveryCounter, JOB_DELIVERY } from './webhooks/job-deliveries.ts';
import type { WebhookObserver } from './webhooks/job-webhooks.ts';

/** Stage of a job. Source: docs/batch-values.md §11, `batch_stage_duration_seconds`. */
export type Stage = 'queue' | 'stage' | 'sign' | 'verify' | 'encrypt' | 'publish';

/** Port for metrics. Times in milliseconds. Called synchronously with each commit; must be fast and must not throw. */
export interface BatchObserver extends RemoteObserver, WebhookObserver {
  /** @param folder null for uploads */
  enqueued(folder: string | null): void;
  stageCompleted(stage: Stage, took: Millis): void;
  /** @param took time from the claim to the published output */
  completed(job: {
    readonly format: JobFormat;
    readonly profile: string;
    readonly encrypted: boolean;
    readonly verified: boolean;
    /** Verdict of the second implementation; undefined when it is not configured. */
    readonly independent?: IndependentOutcome['verdict'];
    readonly took: Millis;
  }): void;
  failed(job: { readonly profile: string; readonly code: string | null }): void;
  canceled(): void;
  diverged(profile: string): void;
  paused(): void;
  resumed(): void;
  /** No further attempt follows. */
  webhookEnded(status: 'Delivered' | 'Failed'): void;
  /** A thread that hosts actors was lost and is replaced. */
  threadLost(): void;
  /** An actor did not accept an outcome of an effect, a message of another actor, or a deadline. */
  unaccepted(what: Unaccepted): void;
}

const nothing = () => {};

/** An observer that ignores all calls. */
export const NO_OBSERVER: BatchObserver = {
  enqueued: nothing,
  stageCompleted: nothing,
  completed: nothing,
  failed: nothing,
  canceled: nothing,
  diverged: nothing,
  paused: nothing,
  resumed: nothing,
  webhookCalled: nothing,
  webhookEnded: nothing,
  threadLost: nothing,
  unaccepted: nothing,
  dispatched: nothing,
  callFailed: nothing,
  polled: nothing,
};

/** Calls the observer when a committed step is relevant to it. */
export function notifyObserver(observer: BatchObserver, step: Step): void {
  const { kind } = step.actor.address;
  const job = contextOf(JOB, step.actor);
  if (job !== undefined) notifyOfJob(observer, step, job);
  else if (kind === JOB_DELIVERY.kind) notifyOfDelivery(observer, step);
  else if (kind === PIPELINE.kind) for (const { type } of eventsOf<PipelineEvent>(step)) observer[type]();
}

/** Events of the step; the machine of the actor's kind says which there are. */
function eventsOf<Event>({ events = [] }: Step): readonly Event[] {
  return events as readonly Event[];
}

function notifyOfDelivery(observer: BatchObserver, { counters }: Step): void {
  for (const status of ['Delivered', 'Failed'] as const)
    if ((counters[deliveryCounter(status)] ?? 0) > 0) observer.webhookEnded(status);
}

function notifyOfJob(observer: BatchObserver, step: Step, context: JobContext): void {
  if (step.ends) return;
  if (step.basedOn === 0) observer.enqueued(context.folder);
  const events = eventsOf<JobEvent>(step);
  if (events.some(({ type }) => type === 'inputDiverged')) observer.diverged(context.profileName);
  // Jobs are counted by state: a step into another state increments that state's counter.
  if (!entersState(step)) return;
  const state = step.actor.state as JobState;
  const claimedAt = context.claimedAt ?? context.queuedAt;
  const endedAt = context.endedAt ?? context.updatedAt;
  switch (state) {
    case 'Processing':
      observer.stageCompleted('queue', claimedAt - context.queuedAt);
      break;
    case 'Completed': {
      const released = events.find((event) => event.type === 'released');
      const { stage = 0, sign, verify, encrypt, output } = context.times ?? {};
      if (sign !== undefined) {
        observer.stageCompleted('stage', stage);
        observer.stageCompleted('sign', Math.max(0, sign - stage));
      }
      if (verify !== undefined) observer.stageCompleted('verify', verify);
      if (encrypt !== undefined) observer.stageCompleted('encrypt', encrypt);
      if (output !== undefined) observer.stageCompleted('publish', Math.max(0, output - (encrypt ?? 0)));
      observer.completed({
        format: context.format,
        profile: context.profileName,
        encrypted: context.outputEncrypted,
        verified: released?.verified ?? true,
        ...(released?.independent && { independent: released.independent }),
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
  return Object.keys(counters).some((name) => name.startsWith(prefix) && (counters[name] ?? 0) > 0);
}

/** Reacts to a committed step: it may free a slot, fill the queue, pause the pipeline or release a path. */
export function observeStep(step: Step, pipeline: Pipeline, folders: Folders, isOwn: boolean): void {
  const { address, state } = step.actor;
  if (address.kind === PIPELINE.kind) pipeline.setState(state as PipelineState);
  const job = contextOf(JOB, step.actor);
  if (job === undefined) return;
  pipeline.observeJob(step.actor, isOwn);
  if (Object.keys(step.counters).length > 0) pipeline.wake();
  if (step.names.release.length > 0) folders.recheck(job.originalPath);
}
