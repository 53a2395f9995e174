/**
 * One e-mail to one person.
 *
 * | from    | event     | to      | effects  |                              |
 * |---------|-----------|---------|----------|------------------------------|
 * | Queued  | SENT      | Sent    |          |                              |
 * | Queued  | REFUSED   | Failed  |          |                              |
 * | Queued  | DELAYED   | Waiting |          | while it may still be of use |
 * | Queued  | DELAYED   | Failed  |          | when it came too late        |
 * | Waiting | SEND_NOW  | Queued  | sendMail |                              |
 * | Waiting | pause     | Queued  | sendMail |                              |
 * | Failed  | SEND_NOW  | Queued  | sendMail |                              |
 * | Sent    | retention | Ended   |          |                              |
 * | Failed  | retention | Ended   |          |                              |
 *
 * A new mail asks for `sendMail` at once. Ended is no state that is kept: the actor ends.
 *
 * Source: issue 5, "E-mails"; portal-gaps §11; RFC 5321 §4.5.4.1 (pauses and when to give up).
 */
import { assign, setup } from 'xstate';
import type { FlowActionId, Millis, OrganizationId, UserId } from './ids.ts';
import type { DocumentSummary, Notice } from './portal-words.ts';

export type MailState = 'Queued' | 'Waiting' | 'Sent' | 'Failed';
export const MAIL_STATES: readonly MailState[] = ['Queued', 'Waiting', 'Sent', 'Failed'];
export const MAIL_ENDED = 'Ended';

/** One line of the list that `notify-pending` sends. */
export interface PendingItem {
  readonly document: DocumentSummary;
  readonly flowActionId: FlowActionId;
  readonly userId: UserId;
  readonly role: 'sign' | 'approve';
}

/** All that waits for one person in one organization. Source: portal-gaps §11, `notify-pending`. */
export interface PendingList {
  readonly about: 'pending-list';
  readonly to: Notice['to'];
  readonly documents: readonly PendingItem[];
}

export type MailContent = Notice | PendingList;

/** A try that did not succeed. */
export interface MailTry {
  readonly at: Millis;
  readonly code: string;
  /** The relay's answer, or what kept us from getting one. */
  readonly message: string;
}

export interface MailInput {
  readonly organizationId: OrganizationId;
  readonly content: MailContent;
  readonly at: Millis;
}

export interface MailContext {
  readonly organizationId: OrganizationId;
  readonly content: MailContent;
  readonly createdAt: Millis;
  /** Tries since it was last asked to be sent. */
  readonly tries: number;
  /** Since when it is tried. */
  readonly triedSince: Millis;
  /** Oldest first, the last ten. */
  readonly failures: readonly MailTry[];
  readonly endedAt: Millis | null;
  /** What the relay said when it took the mail. */
  readonly reply: string | null;
}

export type MailEvent = { readonly at: Millis } & (
  | { readonly type: 'SENT'; readonly reply: string }
  /** For good. */
  | { readonly type: 'REFUSED'; readonly code: string; readonly message: string }
  /** Another try may help. */
  | { readonly type: 'DELAYED'; readonly code: string; readonly message: string }
  | { readonly type: 'SEND_NOW' }
);

/** Lane: mails of different organizations take turns, and codes, which somebody waits for, go past all others. */
export interface SendMailEffect {
  readonly do: 'sendMail';
  readonly lane: string;
}

/** Pause after the first try, milliseconds; doubled each time. */
export const FIRST_PAUSE = 30_000;
/** No pause is longer, milliseconds. */
export const LONGEST_PAUSE = 3_600_000;
/** A mail that could not be sent for so long is given up, milliseconds. */
export const PATIENCE = 5 * 24 * 3_600_000;
/** A code is of no use any more after this, milliseconds. Source: portal-gaps §10, "code valid 10 minutes". */
export const PATIENCE_FOR_CODES = 10 * 60_000;
/** How long it is known what became of a mail, milliseconds. */
const MAIL_RETENTION = 30 * 24 * 3_600_000;
const FAILURES_KEPT = 10;

function patience({ about }: MailContent): Millis {
  return about === 'code' ? PATIENCE_FOR_CODES : PATIENCE;
}

const machine = setup({
  types: { context: {} as MailContext, input: {} as MailInput, events: {} as MailEvent },
  actions: {
    effect: (_, _effect: SendMailEffect) => {},
    note: (_, _line: { readonly message: string }) => {},
    fail: assign(({ context, event }) =>
      event.type === 'REFUSED' || event.type === 'DELAYED'
        ? {
            tries: context.tries + 1,
            failures: [
              ...context.failures.slice(1 - FAILURES_KEPT),
              { at: event.at, code: event.code, message: event.message },
            ],
          }
        : {},
    ),
    end: assign({ endedAt: ({ event }) => event.at }),
    tryAnew: assign({ tries: 0, triedSince: ({ event }) => event.at, endedAt: null }),
  },
  guards: {
    inTime: ({ context, event }) => event.at - context.triedSince < patience(context.content),
  },
  delays: {
    pause: ({ context }) => Math.min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** Math.min(context.tries - 1, 20)),
    retention: MAIL_RETENTION,
  },
});

const noteFailure = {
  type: 'note',
  params: ({ event }: { event: MailEvent }) => ({ message: 'message' in event ? event.message : '' }),
} as const;

const sendNow = { target: 'Queued', actions: 'tryAnew' } as const;

export const mailMachine = machine.createMachine({
  id: 'mail',
  context: ({ input }) => ({
    organizationId: input.organizationId,
    content: input.content,
    createdAt: input.at,
    tries: 0,
    triedSince: input.at,
    failures: [],
    endedAt: null,
    reply: null,
  }),
  initial: 'Queued',
  states: {
    Queued: {
      entry: {
        type: 'effect',
        params: ({ context }): SendMailEffect => ({
          do: 'sendMail',
          lane: context.content.about === 'code' ? 'codes' : context.organizationId,
        }),
      },
      on: {
        SENT: {
          target: 'Sent',
          actions: [
            assign({ tries: ({ context }) => context.tries + 1, reply: ({ event }) => event.reply }),
            'end',
            { type: 'note', params: ({ event }) => ({ message: event.reply }) },
          ],
        },
        REFUSED: { target: 'Failed', actions: ['fail', 'end', noteFailure] },
        DELAYED: [
          { guard: 'inTime', target: 'Waiting', actions: ['fail', noteFailure] },
          { target: 'Failed', actions: ['fail', 'end', noteFailure] },
        ],
      },
    },
    Waiting: { on: { SEND_NOW: sendNow }, after: { pause: 'Queued' } },
    Sent: { after: { retention: MAIL_ENDED } },
    Failed: { on: { SEND_NOW: sendNow }, after: { retention: MAIL_ENDED } },
    [MAIL_ENDED]: {},
  },
});
