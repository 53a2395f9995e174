/**
 * A large operation: one action on every job that matches a filter, batch by batch.
 *
 * | from      | message  | to        | effects     |                                 |
 * |-----------|----------|-----------|-------------|---------------------------------|
 * | Running   | PROGRESS | Running   | operate     | with a next batch               |
 * | Running   | PROGRESS | Completed | recordEvent | without one                     |
 * | Running   | CANCEL   | Canceling |             |                                 |
 * | Canceling | PROGRESS | Canceled  | recordEvent | the current batch is counted  |
 *
 * A new operation asks for `operate` at once. Each `operate` names the jobs of its batch, so that one repeated after a
 * crash acts on the same jobs. Completed and Canceled operations end, and are removed, after 30 days.
 *
 * Source: docs/decisions/0050-large-operations.md.
 */
import { declareEffect, note, type WithoutTime } from '@sealwright/runtime/actions';
import { assign, setup } from 'xstate';
import type { OPERATION_ACTIONS, OPERATION_STATES } from '../../contracts/batch/words.ts';
import type { JobId, Millis } from '../ids.ts';
import type { JobFormat, JobSource, JobState } from './job-context.ts';
import { recordEvent, type SystemEventContext } from './system-event.ts';

export type OperationAction = (typeof OPERATION_ACTIONS)[number];

export type OperationState = (typeof OPERATION_STATES)[number];
/** State of an operation that is being removed; never stored. */
export const OPERATION_FORGOTTEN = 'Forgotten';

/** Retention of an ended operation, milliseconds. */
const OPERATION_RETENTION_MS = 30 * 86_400_000;

/** Filter of jobs; absent members match every job. */
export interface OperationFilter {
  readonly statuses: readonly JobState[];
  readonly profile?: string;
  readonly formats?: readonly JobFormat[];
  readonly sources?: readonly JobSource[];
  readonly folder?: string;
  readonly fileName?: string;
  readonly errorCode?: string;
  readonly parentJobId?: JobId;
  /** Inclusive. */
  readonly createdFrom?: Millis;
  /** Exclusive; at most the creation time of the operation. */
  readonly createdTo: Millis;
  /**
   * Order number that no job had at the creation of the operation, exclusive, so that it does not affect the jobs it
   * creates, regardless of the clock. Absent in operations of earlier versions.
   */
  readonly beforeOrder?: number;
}

/** Outcomes of one batch. */
export interface OperationCounts {
  readonly done: number;
  readonly skipped: number;
  /** Skipped jobs by refusal code. */
  readonly skippedByCode: { readonly [code: string]: number };
}

/** The jobs of the next batch, oldest first, and the position after which the search continues. */
export interface OperationBatch {
  readonly ids: readonly JobId[];
  /** Order number of the last job examined. */
  readonly after: number;
}

export interface OperationInput {
  readonly action: OperationAction;
  readonly filter: OperationFilter;
  /** Recorded with each canceled job. */
  readonly reason: string | null;
  readonly operator: string;
  /** Number of jobs that matched at the creation. */
  readonly matched: number;
  readonly at: Millis;
}

export interface OperationContext extends Omit<OperationInput, 'at'>, OperationCounts {
  readonly createdAt: Millis;
  readonly updatedAt: Millis;
  readonly endedAt: Millis | null;
  /** Absent: nobody has canceled it. */
  readonly canceledBy?: string;
  readonly batch: OperationBatch;
}

export type OperationEvent = { readonly at: Millis } & (
  | ({ readonly type: 'PROGRESS'; readonly next: OperationBatch | null } & OperationCounts)
  /** `by`: absent in messages of earlier versions. */
  | { readonly type: 'CANCEL'; readonly by?: string }
);

function counted(context: OperationContext, event: OperationCounts): OperationCounts {
  const skippedByCode: Record<string, number> = { ...context.skippedByCode };
  for (const [code, count] of Object.entries(event.skippedByCode))
    skippedByCode[code] = (skippedByCode[code] ?? 0) + count;
  return { done: context.done + event.done, skipped: context.skipped + event.skipped, skippedByCode };
}

/** Acts on the jobs of one batch. */
export const operate = declareEffect('operate', {
  types: {} as { input: OperationBatch; outcome: WithoutTime<OperationEvent> },
});

const operateNext = {
  type: 'operate',
  params: ({ context }: { context: OperationContext }) => context.batch,
} as const;

const record = (end: 'completed' | 'canceled') =>
  ({
    type: 'recordEvent',
    params: ({ context }: { context: OperationContext }): SystemEventContext => ({
      kind: 'OperationEnded',
      at: context.updatedAt,
      actor: context.canceledBy ?? context.operator,
      jobId: null,
      code: null,
      message: `Operation ${context.action} ${end}: ${context.matched} jobs matched, ${context.done} done, ${context.skipped} skipped.`,
    }),
  }) as const;

const noteStart = {
  type: 'note',
  params: ({ context: { action, matched, operator } }: { context: OperationContext }) => ({
    message: `Started: ${action} of ${matched} jobs.`,
    data: { by: operator },
  }),
} as const;

export const operationMachine = setup({
  types: {
    context: {} as OperationContext,
    input: {} as OperationInput,
    events: {} as OperationEvent,
  },
  actions: {
    operate: operate.action,
    recordEvent: recordEvent.action,
    note,
    count: assign(({ context, event }) =>
      event.type === 'PROGRESS'
        ? { updatedAt: event.at, ...counted(context, event), ...(event.next && { batch: event.next }) }
        : {},
    ),
    cancel: assign(({ event }) => ({
      updatedAt: event.at,
      ...(event.type === 'CANCEL' && event.by !== undefined && { canceledBy: event.by }),
    })),
    end: assign({ endedAt: ({ event }) => event.at }),
  },
  guards: { hasNext: ({ event }) => event.type === 'PROGRESS' && event.next !== null },
  delays: { retention: OPERATION_RETENTION_MS },
}).createMachine({
  id: 'operation',
  context: ({ input: { at, ...input } }) => ({
    ...input,
    done: 0,
    skipped: 0,
    skippedByCode: {},
    createdAt: at,
    updatedAt: at,
    endedAt: null,
    batch: { ids: [], after: 0 },
  }),
  initial: 'Starting',
  states: {
    Starting: { always: { target: 'Running', actions: [noteStart, operateNext] } },
    Running: {
      on: {
        PROGRESS: [
          { guard: 'hasNext', actions: ['count', operateNext] },
          { target: 'Completed', actions: ['count', 'end', record('completed')] },
        ],
        CANCEL: {
          target: 'Canceling',
          actions: [
            'cancel',
            {
              type: 'note',
              params: ({ event }) => ({
                message: 'Canceled by operator.',
                ...(event.by !== undefined && { data: { by: event.by } }),
              }),
            },
          ],
        },
      },
    },
    Canceling: {
      on: { PROGRESS: { target: 'Canceled', actions: ['count', 'end', record('canceled')] } },
    },
    Completed: { after: { retention: OPERATION_FORGOTTEN } },
    Canceled: { after: { retention: OPERATION_FORGOTTEN } },
    [OPERATION_FORGOTTEN]: {},
  },
});
