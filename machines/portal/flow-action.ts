/**
 * One participant's access to one action of a document's flow: the codes of one channel, and the attempts to enter them.
 * The code itself is not stored: it is derived from its generation.
 *
 * | from | message | to   | effects | when                                             |
 * |------|---------|------|---------|--------------------------------------------------|
 * | Open | SEND    | Open | notify  | no code is valid, or another is requested, and fewer than 50 wrong; to nobody without a notice |
 * | Open | GUESS   | Open |         | the code is the newest and valid                 |
 * | Open | FORGET  | Over |         | a day after the last message, 90 after wrong ones but for links for anybody |
 *
 * Over is not stored: the actor ends.
 *
 * Source: docs/portal-values.md §10: a code is valid for 10 minutes and 5 attempts; the limits of codes and of attempts in all are ours.
 */
import { assign, setup } from 'xstate';
import type { PhoneChannel } from '../../contracts/portal/words.ts';
import { HOUR_MS } from '../../contracts/times.ts';
import type { DocumentId, FlowActionId, Millis, UserId } from '../ids.ts';
import { type MailboxCode, notify } from './mail.ts';
import type { MailRequest } from './portal-types.ts';

/** Validity of a code, milliseconds. */
export const CODE_LIFETIME_MS = 10 * 60_000;
/** Wrong guesses after which a code is invalid. Five at six digits: a chance of one in 200,000. */
export const CODE_TRIES = 5;
/**
 * Wrong guesses of all codes of a person for one action, a chance of one in 20,000; then no code is sent or accepted. They
 * are counted for as long as a mailed link is valid after the last message, at links for anybody for a day: there
 * anybody can enter them for any address.
 */
export const MAX_WRONG_CODES = 50;
/** Lifetime of a link in a mail, milliseconds: the maximum time to answer. */
export const MAIL_LINK_LIFETIME_MS = 90 * 24 * 3_600_000;
/** Codes in one hour. */
export const MAX_CODES_PER_HOUR = 10;
/** Messages to a telephone in one day: each costs money, and reaches a person at any hour. */
export const MAX_MESSAGES_PER_DAY = 10;
const REMOVE_AFTER_MS = 24 * HOUR_MS;

interface FlowActionInput {
  readonly documentId: DocumentId;
  readonly flowActionId: FlowActionId;
  readonly userId: UserId;
  /** Absent: e-mail. */
  readonly channel?: PhoneChannel;
  /** Absent: of a participant. */
  readonly isOfLink?: true;
  /** For the page of all documents that wait for a mailbox; absent = for one document. */
  readonly isOfMailbox?: true;
}

/** Mail with a code, before it has the number of the code. */
export type CodeNotice = Omit<MailRequest, 'codeGeneration'> | Omit<MailboxCode, 'codeGeneration'>;

export interface FlowActionContext extends FlowActionInput {
  /** Number of the newest code; increases with time, so that none repeats even after this actor has ended. */
  readonly generation: number;
  /** End of the newest code's validity; null before the first. */
  readonly expiresAt: Millis | null;
  /** Wrong guesses of the newest code. */
  readonly wrong: number;
  /** Wrong guesses of all codes; absent in contexts of earlier versions, which counted those of the newest. */
  readonly wrongInAll?: number;
  /** Times at which codes were sent in the last hour, to a telephone in the last day. */
  readonly sent: readonly Millis[];
}

type FlowActionMessage = { readonly at: Millis } & (
  | {
      readonly type: 'SEND';
      /** True: another code, although the last may still be valid. */
      readonly resend: boolean;
      /** Least time since the last code, milliseconds; absent = none. */
      readonly pause?: Millis;
      /** Mail to the participant; the generation is added here. Absent: to nobody, for nothing waits for the mailbox. */
      readonly notice?: CodeNotice;
    }
  | {
      readonly type: 'GUESS';
      readonly generation: number;
      readonly isRight: boolean;
      /** True: the right code is used up. Absent: it stays good. */
      readonly isOnce?: boolean;
    }
  | { readonly type: 'FORGET' }
);

/** True while the newest code can be entered. */
export function isCodeGood(context: FlowActionContext, at: Millis): boolean {
  const { expiresAt, wrong } = context;
  return expiresAt !== null && at < expiresAt && wrong < CODE_TRIES && wrongCodes(context) < MAX_WRONG_CODES;
}

/** Wrong guesses of all codes. */
export function wrongCodes({ wrong, wrongInAll = wrong }: FlowActionContext): number {
  return wrongInAll;
}

/** Time at which another code may be sent; not after `at` = now. */
export function nextCodeAt(context: FlowActionContext, at: Millis, pause: Millis = 0): Millis {
  const { most, period } = limitOf(context);
  const sent = codesOfPeriod(context, at);
  const next = sent.length < most ? at : (sent[0] ?? at) + period;
  return Math.max(next, (sent.at(-1) ?? -Infinity) + pause);
}

function codesOfPeriod(context: FlowActionContext, at: Millis): readonly Millis[] {
  return context.sent.filter((time) => time > at - limitOf(context).period);
}

function limitOf({ channel }: FlowActionContext): { readonly most: number; readonly period: Millis } {
  return channel === undefined
    ? { most: MAX_CODES_PER_HOUR, period: HOUR_MS }
    : { most: MAX_MESSAGES_PER_DAY, period: 24 * HOUR_MS };
}

const machine = setup({
  types: {
    context: {} as FlowActionContext,
    input: {} as FlowActionInput,
    events: {} as FlowActionMessage,
  },
  actions: {
    notify: notify.action,
  },
});

const removeAction = machine.raise(
  { type: 'FORGET', at: 0 },
  {
    id: 'forget',
    delay: ({ context }) =>
      wrongCodes(context) > 0 && context.isOfLink !== true ? MAIL_LINK_LIFETIME_MS : REMOVE_AFTER_MS,
  },
);

const mailCode = machine.enqueueActions(({ context: { generation }, event, enqueue }) => {
  if (event.type !== 'SEND' || event.notice === undefined) return;
  enqueue({ type: 'notify', params: { notices: [{ ...event.notice, codeGeneration: generation }] } });
});

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
            wrongCodes(context) < MAX_WRONG_CODES &&
            nextCodeAt(context, event.at, event.pause) <= event.at,
          actions: [
            assign(({ context, event }) => ({
              generation: Math.max(context.generation + 1, event.at),
              expiresAt: event.at + CODE_LIFETIME_MS,
              wrong: 0,
              wrongInAll: wrongCodes(context),
              sent: [...codesOfPeriod(context, event.at), event.at],
            })),
            mailCode,
            removeAction,
          ],
        },
        GUESS: {
          guard: ({ context, event }) =>
            isCodeGood(context, event.at) && event.generation === context.generation,
          actions: [
            assign(({ context, event }) => ({
              ...(event.isRight && event.isOnce === true && { expiresAt: null }),
              wrong: context.wrong + (event.isRight ? 0 : 1),
              wrongInAll: wrongCodes(context) + (event.isRight ? 0 : 1),
            })),
            removeAction,
          ],
        },
        FORGET: 'Over',
      },
    },
    Over: {},
  },
});
