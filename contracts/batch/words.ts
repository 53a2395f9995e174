/** Words of the batch service: states, kinds and formats. Imports no code, because threads load it with the machines. */
import type { Tone } from '../tone.ts';

export const JOB_FORMATS = ['Pades', 'Cades', 'Xades'] as const;

export const JOB_SOURCES = ['Watcher', 'Upload', 'Retry'] as const;

/**
 * States of a job, once for machine, lists, metrics and pages.
 * - `phase`: `waiting` jobs can be canceled; those `in-flight` count against `Pipeline:MaxConcurrency`; `ended` is final.
 *   A job holds its input path until it has ended.
 * - `tone`: its look on pages. Absent: plain.
 * - `view`: the view of operators that shows it. Absent: the one of all jobs.
 * - `isUsual`: jobs pass through it, in this order, when nothing stops them.
 */
const STATES_OF_JOBS = {
  Queued: { phase: 'waiting', view: 'Waiting', isUsual: true },
  Processing: { phase: 'in-flight', tone: 'info', view: 'In progress', isUsual: true },
  Verifying: { phase: 'in-flight', tone: 'info', view: 'In progress', isUsual: true },
  AwaitingSigner: { phase: 'waiting', tone: 'warn', view: 'Awaiting a signer' },
  Completed: { phase: 'ended', tone: 'good', isUsual: true },
  Failed: { phase: 'ended', tone: 'bad', view: 'Failed' },
  Canceled: { phase: 'ended' },
} as const satisfies { readonly [state: string]: StateOfJob };

interface StateOfJob {
  readonly phase: 'waiting' | 'in-flight' | 'ended';
  readonly tone?: Tone;
  readonly view?: string;
  readonly isUsual?: true;
}

export type JobState = keyof typeof STATES_OF_JOBS;
export const JOB_STATE: { readonly [state in JobState]: StateOfJob } = STATES_OF_JOBS;
export const JOB_STATES = Object.keys(JOB_STATE) as JobState[];

/** States of these phases. */
export function jobStatesIn(...phases: readonly StateOfJob['phase'][]): readonly JobState[] {
  return JOB_STATES.filter((state) => phases.includes(JOB_STATE[state].phase));
}

export const SYSTEM_EVENT_KINDS = [
  'PipelinePaused',
  'PipelineResumed',
  'RescanCompleted',
  'JobsCleared',
  'WatcherStopped',
  'InputDiverged',
  'JobFailed',
  'RecoverySwept',
  // Extension: an operator restarted a stopped actor.
  'ActorRestarted',
  // Extension: an operator's session began or was ended.
  'LoggedIn',
  'LoggedOut',
  // Extension: an operator asked a node to end.
  'NodeDraining',
  // Extension: a large operation has ended.
  'OperationEnded',
  // Beyond the document: a webhook delivery for the end of a job was given up.
  'WebhookFailed',
  // Extension: the original of a completed job could not be removed.
  'InputNotRemoved',
  // Extension: the document of a canceled job stays open on the remote portal.
  'RemoteCancelFailed',
  // Extension: a named API key was made, rotated or revoked.
  'KeyChanged',
] as const;

export const OPERATION_ACTIONS = ['retry', 'cancel', 'clear'] as const;

export const OPERATION_STATES = ['Running', 'Canceling', 'Completed', 'Canceled'] as const;

/** Job states that each action applies to. Source: docs/batch-values.md §0. */
export const ACTION_STATES = {
  retry: ['Failed'],
  cancel: jobStatesIn('waiting'),
  clear: jobStatesIn('ended'),
} as const satisfies { readonly [action in (typeof OPERATION_ACTIONS)[number]]: readonly JobState[] };
