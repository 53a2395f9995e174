/**
 * One watched input folder and its budget of consecutive enqueue failures.
 *
 * | from         | message        | to           | effects     |
 * |--------------|----------------|--------------|-------------|
 * | Initializing | WATCHING       | Running      |             |
 * | Initializing | OPENED         | Initializing |             |
 * | Running      | OPENED         | Initializing |             |
 * | Stopped      | OPENED         | Initializing |             |
 * | Initializing | ENQUEUED       | Initializing |             |
 * | Running      | ENQUEUED       | Running      |             |
 * | Initializing | ENQUEUE_FAILED | Initializing |             | within the budget
 * | Running      | ENQUEUE_FAILED | Running      |             | within the budget
 * | Initializing | ENQUEUE_FAILED | Stopped      | recordEvent | beyond the budget
 * | Running      | ENQUEUE_FAILED | Stopped      | recordEvent | beyond the budget
 *
 * OPENED is sent once at each start of the service; only OPENED leaves Stopped.
 *
 * Source: docs/batch-values.md §0 (9), §7 (budget).
 */
import { note } from '@sealwright/runtime/actions';
import { assign, setup } from 'xstate';
import type { FolderName, Millis } from '../ids.ts';
import { recordEvent, type SystemEventContext } from './system-event.ts';

interface InputFolderContext {
  readonly name: FolderName;
  /** Consecutive enqueue failures that stop the watcher. */
  readonly budget: number;
  readonly failuresInARow: number;
  readonly lastError: string | null;
  readonly lastEnqueueAt: Millis | null;
}

interface InputFolderInput {
  readonly name: FolderName;
  readonly budget: number;
}

type InputFolderMessage = { readonly at: Millis } & (
  | { readonly type: 'OPENED'; readonly budget: number }
  | { readonly type: 'WATCHING' }
  | { readonly type: 'ENQUEUED' }
  | { readonly type: 'ENQUEUE_FAILED'; readonly error: string }
);

const machine = setup({
  types: {
    context: {} as InputFolderContext,
    input: {} as InputFolderInput,
    events: {} as InputFolderMessage,
  },
  actions: {
    note,
    recordEvent: recordEvent.action,
    countFailure: assign(({ context, event }) =>
      event.type === 'ENQUEUE_FAILED'
        ? { failuresInARow: context.failuresInARow + 1, lastError: event.error }
        : {},
    ),
    recordEnqueue: assign(({ event }) => ({ failuresInARow: 0, lastError: null, lastEnqueueAt: event.at })),
    startAfresh: assign(({ event }) =>
      event.type === 'OPENED' ? { failuresInARow: 0, lastError: null, budget: event.budget } : {},
    ),
  },
  guards: {
    lastOfTheBudget: ({ context }) => context.failuresInARow + 1 >= context.budget,
  },
});

function stoppedMessage({ failuresInARow, lastError }: InputFolderContext): string {
  return `Watcher stopped after ${failuresInARow} enqueue failures in a row: ${lastError}`;
}

const opened = { target: 'Initializing', actions: 'startAfresh' } as const;

const enqueueFailed = [
  {
    guard: 'lastOfTheBudget',
    target: 'Stopped',
    actions: [
      'countFailure',
      {
        type: 'note',
        params: ({ context }: { context: InputFolderContext }) => ({
          message: stoppedMessage(context),
        }),
      },
      {
        type: 'recordEvent',
        params: ({
          context,
          event,
        }: {
          context: InputFolderContext;
          event: InputFolderMessage;
        }): SystemEventContext => ({
          kind: 'WatcherStopped',
          at: event.at,
          actor: 'system',
          jobId: null,
          code: null,
          message: `Folder ${context.name}: ${stoppedMessage(context)}`,
        }),
      },
    ],
  },
  { actions: 'countFailure' },
] as const;

export const inputFolderMachine = machine.createMachine({
  id: 'input-folder',
  context: ({ input }) => ({
    name: input.name,
    budget: input.budget,
    failuresInARow: 0,
    lastError: null,
    lastEnqueueAt: null,
  }),
  initial: 'Initializing',
  states: {
    Initializing: {
      on: {
        OPENED: opened,
        WATCHING: 'Running',
        ENQUEUED: { actions: 'recordEnqueue' },
        ENQUEUE_FAILED: enqueueFailed,
      },
    },
    Running: {
      on: {
        OPENED: opened,
        ENQUEUED: { actions: 'recordEnqueue' },
        ENQUEUE_FAILED: enqueueFailed,
      },
    },
    Stopped: { on: { OPENED: opened } },
  },
});
