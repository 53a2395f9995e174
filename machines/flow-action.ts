/**
 * One participant's access to one action of a document's flow: the codes that were mailed, and the guesses at them.
 * The code itself is in no store: it is derived from its generation.
 *
 * | from | event  | to   | effects | when                                             |
 * |------|--------|------|---------|--------------------------------------------------|
 * | Open | SEND   | Open | notify  | no code is good any more, or another is asked for |
 * | Open | GUESS  | Open |         | the code is the newest and good                  |
 * | Open | FORGET | Over |         | nothing happened for a day                       |
 *
 * Over is no state that is kept: the actor ends.
 *
 * Source: portal-gaps §10: a code is good for 10 minutes and 5 tries; the bound on codes is ours.
 */
import { assign, setup } from 'xstate';
import type { DocumentId, FlowActionId, Millis, UserId } from './ids.ts';
import type { Notice } from './portal-words.ts';

/** How long a code is good, milliseconds. */
export const CODE_LIFETIME = 10 * 60_000;
/** Wrong guesses after which a code is good no more. Five at six digits: one in 200,000 gets through. */
export const CODE_TRIES = 5;
/** Codes in one hour. Together with the tries this bounds what guessing can reach. */
export const CODES_AN_HOUR = 10;
const HOUR = 60 * 60_000;
const FORGET_AFTER = 24 * HOUR;

export interface FlowActionInput {
  readonly documentId: DocumentId;
  readonly flowActionId: FlowActionId;
  readonly userId: UserId;
}

export interface FlowActionContext extends FlowActionInput {
  /** Number of the newest code; growing with time, so that none comes twice even when this actor was forgotten. */
  readonly generation: number;
  /** Until when the newest is good; null before the first. */
  readonly expiresAt: Millis | null;
  /** Wrong guesses at the newest. */
  readonly wrong: number;
  /** When codes of the last hour were sent. */
  readonly sent: readonly Millis[];
}

export type FlowActionMessage = { readonly at: Millis } & (
  | {
      readonly type: 'SEND';
      /** True: another one, although the last may still be good. */
      readonly resend: boolean;
      /** To the participant; the generation is added here. */
      readonly notice: Omit<Notice, 'codeGeneration'>;
    }
  | { readonly type: 'GUESS'; readonly generation: number; readonly isRight: boolean }
  | { readonly type: 'FORGET' }
);

export interface FlowActionEffect {
  readonly do: 'notify';
  readonly notices: readonly Notice[];
}

/** True while the newest code may be given. */
export function isCodeGood({ expiresAt, wrong }: FlowActionContext, at: Millis): boolean {
  return expiresAt !== null && at < expiresAt && wrong < CODE_TRIES;
}

export function codesLately({ sent }: FlowActionContext, at: Millis): readonly Millis[] {
  return sent.filter((time) => time > at - HOUR);
}

const machine = setup({
  types: {
    context: {} as FlowActionContext,
    input: {} as FlowActionInput,
    events: {} as FlowActionMessage,
  },
  actions: {
    // The runtime reads the parameters; it never runs.
    effect: (_, _effect: FlowActionEffect) => {},
  },
});

const forget = machine.raise({ type: 'FORGET', at: 0 }, { id: 'forget', delay: FORGET_AFTER });

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
            codesLately(context, event.at).length < CODES_AN_HOUR,
          actions: [
            assign(({ context, event }) => ({
              generation: Math.max(context.generation + 1, event.at),
              expiresAt: event.at + CODE_LIFETIME,
              wrong: 0,
              sent: [...codesLately(context, event.at), event.at],
            })),
            {
              type: 'effect',
              params: ({ context, event }) => ({
                do: 'notify',
                notices: [{ ...event.notice, codeGeneration: context.generation }],
              }),
            },
            forget,
          ],
        },
        GUESS: {
          guard: ({ context, event }) =>
            isCodeGood(context, event.at) && event.generation === context.generation,
          actions: [
            assign({ wrong: ({ context, event }) => context.wrong + (event.isRight ? 0 : 1) }),
            forget,
          ],
        },
        FORGET: 'Over',
      },
    },
    Over: {},
  },
});
