/**
 * What docs/batch-values.md §0 says of a job's states, row by row, as facts to test against. A trigger is named
 * by the event that stands for it here.
 */
import type { JobMessage, JobState } from '../../../machines/batch/job-context.ts';

export interface DocumentedTransition {
  readonly from: JobState;
  readonly trigger: string;
  readonly events: readonly JobMessage['type'][];
  readonly to: JobState;
  /** Work the row asks for besides the change of state. */
  readonly work: readonly string[];
}

// biome-ignore lint/complexity/useMaxParams: the columns of a table
const row = (
  from: JobState,
  trigger: string,
  events: readonly JobMessage['type'][],
  to: JobState,
  ...work: string[]
): DocumentedTransition => ({ from, trigger, events, to, work });

export const DOCUMENTED_TRANSITIONS: readonly DocumentedTransition[] = [
  row('Queued', 'cancel request', ['CANCEL'], 'Canceled'),
  row('Queued', 'claim by the worker', ['CLAIM', 'CLAIM_REMOTE'], 'Processing'),
  row('Processing', 'signed here', ['SIGNED'], 'Verifying'),
  row('Processing', 'handed to the remote portal', ['DISPATCHED'], 'AwaitingSigner'),
  row('Processing', 'bucket of the input away', ['INPUT_AWAY'], 'Queued'),
  row('Processing', 'any failure', ['FAIL'], 'Failed', 'quarantine'),
  row('Verifying', 'verified', ['RELEASED'], 'Completed', 'tidy'),
  row('Verifying', 'verification failed', ['FAIL'], 'Failed', 'quarantine'),
  row('AwaitingSigner', 'remote document concluded', ['CONCLUDED'], 'Verifying'),
  row('AwaitingSigner', 'remote document refused, expired or canceled', ['FAIL'], 'Failed'),
  row('AwaitingSigner', 'waited too long', ['FAIL'], 'Failed'),
  row('AwaitingSigner', 'permanent error of the remote portal', ['FAIL'], 'Failed'),
  row('AwaitingSigner', 'cancel request', ['CANCEL'], 'Canceled', 'cancelRemote'),
  row('Processing', 'recovery at the start', ['RESTARTED'], 'Failed', 'quarantine'),
  row('Verifying', 'recovery at the start', ['RESTARTED'], 'Failed', 'quarantine'),
  row('Failed', 'retry request', ['RETRIED'], 'Failed'),
];

export const DOCUMENTED_STATES: readonly JobState[] = [
  'Queued',
  'Processing',
  'Verifying',
  'AwaitingSigner',
  'Completed',
  'Failed',
  'Canceled',
];

/** Nothing leads out of these. */
export const DOCUMENTED_ENDS: readonly JobState[] = ['Completed', 'Failed', 'Canceled'];
