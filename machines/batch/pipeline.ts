/**
 * The pipeline: permits or pauses the claiming of queued jobs.
 *
 * | from    | message | to      | effects     |
 * |---------|---------|---------|-------------|
 * | Running | PAUSE   | Paused  | recordEvent |
 * | Paused  | RESUME  | Running | recordEvent |
 *
 * Pausing a paused pipeline, and resuming a running one, changes nothing; the answer is 200.
 * `freeSlots` computes the number of jobs to claim from the counters of the store.
 *
 * Source: docs/batch-values.md §0; texts and values after a change from docs/batch-values.md §§3-4.
 */
import { type NoteParams, note } from '@sealwright/runtime/actions';
import { assign, emit, setup } from 'xstate';
import type { Millis } from '../ids.ts';
import { recordEvent, type SystemEventContext, type SystemEventKind } from './system-event.ts';

export type PipelineState = 'Running' | 'Paused';

export interface PipelineContext {
  readonly pausedAt: Millis | null;
  readonly resumedAt: Millis | null;
  readonly pausedBy: 'system' | 'operator';
  readonly reason: string | null;
}

export type PipelineMessage =
  /** `by`: the operator. Absent: the holder of the configured key. */
  | { readonly type: 'PAUSE'; readonly at: Millis; readonly reason: string | null; readonly by?: string }
  | { readonly type: 'RESUME'; readonly at: Millis; readonly reason: string | null; readonly by?: string };

/** Number of jobs that can be claimed now. */
export function freeSlots(state: PipelineState, inFlight: number, maxConcurrency: number): number {
  return state === 'Paused' ? 0 : Math.max(0, maxConcurrency - inFlight);
}

function sentence(verb: 'paused' | 'resumed', reason: string | null): string {
  return reason
    ? `Pipeline ${verb} by operator. Reason: ${reason.replace(/\.$/, '')}.`
    : `Pipeline ${verb} by operator.`;
}

function lineOf(verb: 'paused' | 'resumed', { reason, by }: PipelineMessage): NoteParams {
  return { message: sentence(verb, reason), ...(by && { data: { by } }) };
}

function record(kind: SystemEventKind, { at, reason, by = 'operator' }: PipelineMessage): SystemEventContext {
  const message = sentence(kind === 'PipelinePaused' ? 'paused' : 'resumed', reason);
  return { kind, at, actor: by, jobId: null, code: null, message };
}

/** Events that the pipeline emits for metrics. */
export type PipelineEvent = { readonly type: 'paused' } | { readonly type: 'resumed' };

export const pipelineMachine = setup({
  types: { context: {} as PipelineContext, events: {} as PipelineMessage, emitted: {} as PipelineEvent },
  actions: {
    note,
    recordEvent: recordEvent.action,
  },
}).createMachine({
  id: 'pipeline',
  context: { pausedAt: null, resumedAt: null, pausedBy: 'system', reason: null },
  initial: 'Running',
  states: {
    Running: {
      on: {
        PAUSE: {
          target: 'Paused',
          actions: [
            assign(({ event }) => ({
              pausedAt: event.at,
              resumedAt: null,
              pausedBy: 'operator' as const,
              reason: event.reason,
            })),
            { type: 'note', params: ({ event }) => lineOf('paused', event) },
            { type: 'recordEvent', params: ({ event }) => record('PipelinePaused', event) },
            emit({ type: 'paused' }),
          ],
        },
      },
    },
    Paused: {
      on: {
        RESUME: {
          target: 'Running',
          actions: [
            assign(({ event }) => ({ resumedAt: event.at, reason: event.reason })),
            { type: 'note', params: ({ event }) => lineOf('resumed', event) },
            { type: 'recordEvent', params: ({ event }) => record('PipelineResumed', event) },
            emit({ type: 'resumed' }),
          ],
        },
      },
    },
  },
});
