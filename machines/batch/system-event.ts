/**
 * An event of the batch service as a whole, stored for its operators. It never changes.
 *
 * | from | message | to | effects |
 * |------|---------|----|---------|
 *
 * Source: docs/batch-values.md §0, §15.
 */
import { declareEffect, note } from '@sealwright/runtime/actions';
import { setup } from 'xstate';
import type { SYSTEM_EVENT_KINDS } from '../../contracts/batch/words.ts';
import type { JobId, Millis } from '../ids.ts';

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

/** Records an event: asked for by any machine of the batch service in the step that causes it, so that both are stored or neither. */
export const recordEvent = declareEffect('recordEvent', { types: {} as { input: SystemEventContext } });

export const systemEventMachine = setup({
  types: {
    context: {} as SystemEventContext,
    input: {} as SystemEventContext,
    events: {} as { readonly type: 'NOTHING'; readonly at: Millis },
  },
  actions: { note },
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
