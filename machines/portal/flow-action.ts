/**
 * One participant's access to one action of a document's flow: the mailed codes, and the attempts to enter them.
 * The code itself is not stored: it is derived from its generation.
 *
 * | from | event  | to   | effects | when                                             |
 * |------|--------|------|---------|--------------------------------------------------|
 * | Open | SEND   | Open | notify  | no code is valid, or another is requested         |
 * | Open | GUESS  | Open |         | the code is the newest and valid                 |
 * | Open | FORGET | Over |         | without messages for a day                       |
 *
 * Over is not stored: the actor ends.
 *
 * Source: docs/portal-values.md §10: a code is valid for 10 minutes and 5 attempts; the limit of codes is ours.
 */
import { assign, setup } from 'xstate';
import type { DocumentId, FlowActionId, Millis, UserId } from '../ids.ts';
import type { MailRequest } from './portal-types.ts';

/** Validity of a code, milliseconds. */
export const CODE_LIFETIME = 10 * 60_000;
/** Wrong guesses after which a code is invalid. Five at six digits: a chance of one in 200,000. */
export const CODE_TRIES = 5;
/** Codes in one hour. Together with the wrong guesses per code this bounds the chance of guessing. */
export const MAX_CODES_PER_HOUR = 10;
const HOUR = 60 * 60_000;
const REMOVE_AFTER_MS = 24 * HOUR;

export interface FlowActionInput {
  readonly documentId: DocumentId;
  readonly flowActionId: FlowActionId;
  readonly userId: UserId;
}

export interface FlowActionContext extends FlowActionInput {
  /** Number of the newest code; increases with time, so that none repeats even after this actor has ended. */
  readonly generation: number;
  /** End of the newest code's validity; null before the first. */
  readonly expiresAt: Millis | null;
  /** Wrong guesses of the newest code. */
  readonly wrong: number;
  /** Times at which codes of the last hour were sent. */
  readonly sent: readonly Millis[];
}

export type FlowActionMessage = { readonly at: Millis } & (
  | {
      readonly type: 'SEND';
      /** True: another code, although the last may still be valid. */
      readonly resend: boolean;
      /** Mail to the participant; the generation is added here. */
      readonly notice: Omit<MailRequest, 'codeGeneration'>;
    }
  | { readonly type: 'GUESS'; readonly generation: number; readonly isRight: boolean }
  | { readonly type: 'FORGET' }
);

export interface FlowActionEffect {
  readonly do: 'notify';
  readonly notices: readonly MailRequest[];
}

/** True while the newest code can be entered. */
export function isCodeGood({ expiresAt, wrong }: FlowActionContext, at: Millis): boolean {
  return expiresAt !== null && at < expiresAt && wrong < CODE_TRIES;
}

export function codesInLastHour({ sent }: FlowActionContext, at: Millis): readonly Millis[] {
  return sent.filter((time) => time > at - HOUR);
}

const machine = setup({
  types: {
    context: {} as FlowActionContext,
    input: {} as FlowActionInput,
    events: {} as FlowActionMessage,
  },
  actions: {
    // The runtime reads the parameters; the function never runs.
    effect: (_, _effect: FlowActionEffect) => {},
  },
});

const removeAction = machine.raise({ type: 'FORGET', at: 0 }, { id: 'forget', delay: REMOVE_AFTER_MS });

export const flowActionMachine = machine.createMachine({
  id: 'flow-action',
  context: ({ input }) => ({ ...input, generation: 0, expiresAt: null, wrong: 0, sent: [] }),
  initial: 'Open',
  states: {
    Open: {
      on: {
        SEND: {
          guard: ({ context, event }) =>
            (event.resend || !isCodeGood(context, event.at)) &&
            codesInLastHour(context, event.at).length < MAX_CODES_PER_HOUR,
          actions: [
            assign(({ context, event }) => ({
              generation: Math.max(context.generation + 1, event.at),
              expiresAt: event.at + CODE_LIFETIME,
              wrong: 0,
              sent: [...codesInLastHour(context, event.at), event.at],
            })),
            {
              type: 'effect',
              params: ({ context, event }) => ({
                do: 'notify',
                notices: [{ ...event.notice, codeGeneration: context.generation }],
              }),
            },
            removeAction,
          ],
        },
        GUESS: {
          guard: ({ context, event }) =>
            isCodeGood(context, event.at) && event.generation === context.generation,
          actions: [
            assign({ wrong: ({ context, event }) => context.wrong + (event.isRight ? 0 : 1) }),
            removeAction,
          ],
        },
        FORGET: 'Over',
      },
    },
    Over: {},
  },
});
