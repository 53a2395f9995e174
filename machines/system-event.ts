/**
 * One thing that happened to the batch service as a whole, kept for its operators. Nothing happens to it any more.
 *
 * | from | event | to | effects |
 * |------|-------|----|---------|
 *
 * Source: Batch Signing Service API, "Events" 2; batch-gaps §15, "Events".
 */
import { setup } from 'xstate';
import type { JobId, Millis } from './ids.ts';

export const SYSTEM_EVENT_KINDS = [
  'PipelinePaused',
  'PipelineResumed',
  'RescanCompleted',
  'JobsCleared',
  'WatcherStopped',
  'InputDiverged',
  'JobFailed',
  'RecoverySwept',
  // Beyond the document: an operator let a stopped actor go on.
  'ActorRestarted',
] as const;

export type SystemEventKind = (typeof SYSTEM_EVENT_KINDS)[number];

export interface SystemEventContext {
  readonly at: Millis;
  readonly kind: SystemEventKind;
  /** `system`, or the operator who asked for it. */
  readonly actor: string;
  readonly jobId: JobId | null;
  readonly code: string | null;
  /** A sentence for people. */
  readonly message: string;
}

/** Asked for by any machine of the batch service in the step that makes it true, so that neither is without the other. */
export type RecordEffect = { readonly do: 'recordEvent' } & SystemEventContext;

export const systemEventMachine = setup({
  types: {
    context: {} as SystemEventContext,
    input: {} as SystemEventContext,
    events: {} as { readonly type: 'NOTHING'; readonly at: Millis },
  },
}).createMachine({
  id: 'system-event',
  context: ({ input }) => input,
  initial: 'Recorded',
  states: { Recorded: {} },
});
