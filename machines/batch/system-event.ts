/**
 * An event of the batch service as a whole, stored for its operators. It never changes.
 *
 * | from | event | to | effects |
 * |------|-------|----|---------|
 *
 * Source: docs/batch-values.md §0, §15.
 */
import { setup } from 'xstate';
import type { JobId, Millis } from '../ids.ts';

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
] as const;

export type SystemEventKind = (typeof SYSTEM_EVENT_KINDS)[number];

export interface SystemEventContext {
  readonly at: Millis;
  readonly kind: SystemEventKind;
  /** `system`, or the operator who requested it. */
  readonly actor: string;
  readonly jobId: JobId | null;
  readonly code: string | null;
  /** A sentence for people. */
  readonly message: string;
}

/**
 * Effect of any machine of the batch service, in the step that causes the event, so that both are stored or neither.
 */
export type RecordEffect = { readonly do: 'recordEvent' } & SystemEventContext;

export const systemEventMachine = setup({
  types: {
    context: {} as SystemEventContext,
    input: {} as SystemEventContext,
    events: {} as { readonly type: 'NOTHING'; readonly at: Millis },
  },
  actions: { note: (_, _params: object) => {} },
}).createMachine({
  id: 'system-event',
  context: ({ input }) => input,
  initial: 'Recorded',
  states: {
    Recorded: {
      // Includes the event in the tamper-evident history.
      entry: {
        type: 'note',
        params: ({ context: { kind, actor, message } }) => ({ message, data: { kind, by: actor } }),
      },
    },
  },
});
