/**
 * One e-mail to one person.
 *
 * | from    | message   | to      | effects  |                              |
 * |---------|-----------|---------|----------|------------------------------|
 * | Queued  | SENT      | Sent    | reportMail |                            |
 * | Queued  | REFUSED   | Failed  | reportMail |                            |
 * | Queued  | DELAYED   | Waiting |          | before its expiry            |
 * | Queued  | DELAYED   | Failed  | reportMail | after its expiry           |
 * | Waiting | SEND_NOW  | Queued  | sendMail |                              |
 * | Waiting | pause     | Queued  | sendMail |                              |
 * | Failed  | SEND_NOW  | Queued  | sendMail |                              |
 * | Sent    | retention | Ended   |          |                              |
 * | Failed  | retention | Ended   |          |                              |
 *
 * A new mail asks for `sendMail` at once. `reportMail` writes the result into the history of its documents. Ended is not stored: the actor ends.
 *
 * Source: docs/decisions/0019-mails-and-webhooks.md; docs/portal-values.md §11; RFC 5321 §4.5.4.1 (pauses and when to give up).
 */
import { declareEffect, note, type WithoutTime } from '@sealwright/runtime/actions';
import { assign, setup } from 'xstate';
import { type Backoff, pauseAfter } from '../backoff.ts';
import type { FlowActionId, Millis, OrganizationId, UserId } from '../ids.ts';
import type { DocumentSummary, MailRequest } from './portal-types.ts';

export const MAIL_ENDED = 'Ended';

/** One line of the list that `notify-pending` sends. */
interface PendingItem {
  readonly document: DocumentSummary;
  readonly flowActionId: FlowActionId;
  readonly userId: UserId;
  readonly role: 'sign' | 'approve';
}

/** Pending actions of one person in one organization. Source: docs/portal-values.md §11, `notify-pending`. */
export interface PendingList {
  readonly about: 'pending-list';
  readonly to: MailRequest['to'];
  readonly documents: readonly PendingItem[];
}

/** Link that signs a user in to the pages. Source: docs/decisions/0135-users-sign-in-by-mail.md. */
export interface SignInMail {
  readonly about: 'sign-in';
  readonly to: MailRequest['to'];
  readonly userId: UserId;
  readonly linkId: string;
  readonly expiresAt: Millis;
}

/** In place of an organization, for mails of none. */
export const NO_ORGANIZATION = '00000000-0000-0000-0000-000000000000' as OrganizationId;

/** Code for the page of all documents that wait for a mailbox. Source: docs/decisions/0570-what-waits-for-a-mailbox.md. */
export interface MailboxCode {
  readonly about: 'mailbox-code';
  readonly organizationId: OrganizationId;
  readonly to: MailRequest['to'];
  readonly flowActionId: FlowActionId;
  readonly userId: UserId;
  readonly codeGeneration?: number;
}

/** Mail to deputies, people who have them, and senders. Source: docs/decisions/0580-deputies.md. */
export interface DeputyMail {
  readonly about: 'deputy';
  /** `named`: to the deputy; `naming`: to the person; `acted`: to the person, and to the sender. */
  readonly what: 'named' | 'naming' | 'acted';
  readonly organizationId: OrganizationId;
  readonly to: MailRequest['to'];
  /** Mailbox of the person. */
  readonly person: string;
  /** Name and mailbox, as the person has entered them. Absent in mails to the deputy. */
  readonly deputy?: string;
  readonly from: Millis;
  readonly until: Millis;
  /** For `acted`. */
  readonly documentName?: string;
}

/** Documents that a rule of retention will delete, for an administrator. Source: docs/decisions/0610-retention-and-holds.md. */
export interface DeletionsMail {
  readonly about: 'deletions';
  readonly organizationId: OrganizationId;
  readonly to: MailRequest['to'];
  /** Of the first documents. */
  readonly names: readonly string[];
  readonly count: number;
  /** Earliest time of a deletion. */
  readonly from: Millis;
}

export type MailContent = MailRequest | PendingList | SignInMail | MailboxCode | DeputyMail | DeletionsMail;

/** Kinds of mails that are about no document whose history they belong to. */
const WITHOUT_HISTORY = ['sign-in', 'mailbox-code', 'deputy', 'deletions'] as const;
type WithoutHistory = Extract<MailContent, { readonly about: (typeof WITHOUT_HISTORY)[number] }>;

/** True for a mail that no history records. */
export function isUnrecorded(content: MailContent): content is WithoutHistory {
  return WITHOUT_HISTORY.some((about) => about === content.about);
}

/** An attempt that failed. */
interface MailAttempt {
  readonly at: Millis;
  readonly code: string;
  /** The relay's answer, or the error that prevented one. */
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
  /** Attempts since the last request to send. */
  readonly tries: number;
  /** Start of the attempts. */
  readonly triedSince: Millis;
  /** Oldest first, the last ten. */
  readonly failures: readonly MailAttempt[];
  readonly endedAt: Millis | null;
  /** The relay's answer when it accepted the mail. */
  readonly reply: string | null;
}

export type MailMessage = { readonly at: Millis } & (
  | { readonly type: 'SENT'; readonly reply: string }
  /** Permanent failure. */
  | { readonly type: 'REFUSED'; readonly code: string; readonly message: string }
  /** Transient failure. */
  | { readonly type: 'DELAYED'; readonly code: string; readonly message: string }
  /** `by`: the operator, where one asked. */
  | { readonly type: 'SEND_NOW'; readonly by?: string }
);

/** Sends the mail. Mails of different organizations take turns, and codes, which a person waits for, go first. */
export const sendMail = declareEffect('sendMail', {
  types: {} as {
    /** `lane`: a stored name. */
    input: { readonly lane: string };
    outcome: WithoutTime<MailMessage>;
  },
  partitioning: { atOnce: 8, perPartition: 6, partitionOf: ({ lane }) => lane },
});

interface MailReport {
  readonly content: MailContent;
  readonly isDelivered: boolean;
  /** The relay's answer, or the error that prevented one. */
  readonly answer: string;
}

/** Tells the documents of a mail what the relay answered. */
export const reportMail = declareEffect('reportMail', { types: {} as { input: MailReport } });

/** Makes a mail of each notice of a document, and of a code. */
export const notify = declareEffect('notify', {
  types: {} as { input: { readonly notices: readonly (MailRequest | MailboxCode | DeputyMail)[] } },
});

/** Pauses between attempts. */
export const MAIL_BACKOFF: Backoff = { firstMs: 30_000, maxMs: 3_600_000 };
/** Time after which an undelivered mail fails, milliseconds. */
export const DELIVERY_TIMEOUT_MS = 5 * 24 * 3_600_000;
/** Time after which a code is useless, milliseconds. Source: docs/portal-values.md §10. */
export const CODE_DELIVERY_TIMEOUT_MS = 10 * 60_000;
/** Retention of the result of a mail, milliseconds. */
const MAIL_RETENTION_MS = 30 * 24 * 3_600_000;
const MAX_FAILURES_RECORDED = 10;

/** Time of the next attempt after one that fails at `at`; undefined when the mail fails then. */
export function nextAttemptAt({ content, triedSince, tries }: MailContext, at: Millis): Millis | undefined {
  return at - triedSince < deliveryTimeoutOf(content) ? at + pauseAfter(tries + 1, MAIL_BACKOFF) : undefined;
}

function deliveryTimeoutOf({ about }: MailContent): Millis {
  return isUrgent(about) ? CODE_DELIVERY_TIMEOUT_MS : DELIVERY_TIMEOUT_MS;
}

/** True for mails that a person waits for, and that soon are of no use. */
export function isUrgent(about: MailContent['about']): boolean {
  return about === 'code' || about === 'sign-in' || about === 'mailbox-code';
}

/** A gateway that does not answer holds up messages alone. */
function laneOf({ content, organizationId }: MailContext): string {
  if ('message' in content && content.message !== undefined) return 'messages';
  return isUrgent(content.about) ? 'codes' : organizationId;
}

const machine = setup({
  types: { context: {} as MailContext, input: {} as MailInput, events: {} as MailMessage },
  actions: {
    sendMail: sendMail.action,
    reportMail: reportMail.action,
    note,
    fail: assign(({ context, event }) =>
      event.type === 'REFUSED' || event.type === 'DELAYED'
        ? {
            tries: context.tries + 1,
            failures: [
              ...context.failures.slice(1 - MAX_FAILURES_RECORDED),
              { at: event.at, code: event.code, message: event.message },
            ],
          }
        : {},
    ),
    end: assign({ endedAt: ({ event }) => event.at }),
    tryAnew: assign({ tries: 0, triedSince: ({ event }) => event.at, endedAt: null }),
  },
  guards: {
    inTime: ({ context, event }) => nextAttemptAt(context, event.at) !== undefined,
  },
  delays: {
    pause: ({ context }) => pauseAfter(context.tries, MAIL_BACKOFF),
    retention: MAIL_RETENTION_MS,
  },
});

const noteFailure = {
  type: 'note',
  params: ({ event }: { event: MailMessage }) => ({ message: 'message' in event ? event.message : '' }),
} as const;

const report = {
  type: 'reportMail',
  params: ({ context, event }: { context: MailContext; event: MailMessage }): MailReport => ({
    content: context.content,
    isDelivered: event.type === 'SENT',
    answer: event.type === 'SENT' ? event.reply : 'message' in event ? event.message : '',
  }),
} as const;

const sendNow = {
  target: 'Queued',
  actions: [
    'tryAnew',
    {
      type: 'note',
      params: ({ event }: { event: MailMessage }) => ({
        message:
          'by' in event && event.by !== undefined ? `Sent again by ${event.by}.` : 'Sent again on request.',
      }),
    },
  ],
} as const;

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
        type: 'sendMail',
        params: ({ context }) => ({ lane: laneOf(context) }),
      },
      on: {
        SENT: {
          target: 'Sent',
          actions: [
            assign({ tries: ({ context }) => context.tries + 1, reply: ({ event }) => event.reply }),
            'end',
            { type: 'note', params: ({ event }) => ({ message: event.reply }) },
            report,
          ],
        },
        REFUSED: { target: 'Failed', actions: ['fail', 'end', noteFailure, report] },
        DELAYED: [
          { guard: 'inTime', target: 'Waiting', actions: ['fail', noteFailure] },
          { target: 'Failed', actions: ['fail', 'end', noteFailure, report] },
        ],
      },
    },
    Waiting: { on: { SEND_NOW: sendNow }, after: { pause: 'Queued' } },
    Sent: { after: { retention: MAIL_ENDED } },
    Failed: { on: { SEND_NOW: sendNow }, after: { retention: MAIL_ENDED } },
    [MAIL_ENDED]: {},
  },
});
