/**
 * What the person of a mailbox has decided: deputies, each with a start and an end.
 *
 * | from | message | to   | effects |                                                    |
 * |------|---------|------|---------|----------------------------------------------------|
 * | Kept | NAME    | Kept | notify  | fewer than five deputies that are not over         |
 * | Kept | END     | Kept |         | one that is not over, by the person or the deputy  |
 * | Kept | FORGET  | Over |         | a day after the end of the last deputy             |
 *
 * Over is not stored: the actor ends.
 *
 * Source: docs/decisions/0580-deputies.md.
 */
import type { RequestAction } from '@sealwright/runtime/actions';
import type { Millis } from '../ids.ts';
import { type RecordMessage, recordMachine } from '../record.ts';
import { type DeputyMail, notify } from './mail.ts';

export const MAILBOX_OVER = 'Over';
/** Deputies of one mailbox that are not over. */
export const MAX_DEPUTIES = 5;
const KEPT_MS: Millis = 24 * 3_600_000;

export interface Deputy {
  readonly id: string;
  readonly name: string;
  /** As `addressKey` writes it: codes go to it, and equal ones are the same. */
  readonly email: string;
  readonly reason: string;
  readonly from: Millis;
  /** First moment at which the deputy is none any more. */
  readonly until: Millis;
}

export interface MailboxContext {
  readonly email: string;
  readonly deputies: readonly Deputy[];
}

type MailboxMessage = RecordMessage &
  (
    | { readonly type: 'NAME'; readonly deputy: Deputy; readonly mails: readonly DeputyMail[] }
    | {
        readonly type: 'END';
        readonly id: string;
        /** Address of the deputy who gives it up; absent = the person ends it. */
        readonly deputyEmail?: string;
      }
    | { readonly type: 'FORGET' }
  );

/** True from the start to the end. */
export function isDeputyAt({ from, until }: Pick<Deputy, 'from' | 'until'>, at: Millis): boolean {
  return from <= at && at < until;
}

function notOver(deputies: readonly Deputy[], at: Millis): readonly Deputy[] {
  return deputies.filter(({ until }) => at < until);
}

export const mailboxMachine = recordMachine<MailboxContext, MailboxMessage>({
  id: 'mailbox',
  state: 'Kept',
  context: (input) => input,
  changes: {
    NAME: ({ deputies }, { deputy, at }) => {
      const kept = notOver(deputies, at);
      if (kept.length >= MAX_DEPUTIES || deputy.until <= at || deputy.until <= deputy.from) return undefined;
      return { context: { deputies: [...kept, deputy] }, note: 'A deputy is named.' };
    },
    END: ({ deputies }, { id, deputyEmail, at }) => {
      const found = notOver(deputies, at).find((one) => one.id === id);
      if (found === undefined || (deputyEmail !== undefined && deputyEmail !== found.email)) return undefined;
      const ended = { ...found, from: Math.min(found.from, at), until: at };
      return {
        context: { deputies: deputies.map((one) => (one === found ? ended : one)) },
        note: 'A deputy is ended.',
      };
    },
  },
  effects: {
    action: notify.action as RequestAction<object>,
    inputs: (_before, _after, message) =>
      message.type === 'NAME' && message.mails.length > 0 ? [{ notices: message.mails }] : [],
  },
  deadline: {
    type: 'FORGET',
    dueAt: ({ deputies }) =>
      deputies.length === 0 ? null : Math.max(...deputies.map(({ until }) => until)) + KEPT_MS,
  },
  end: { state: MAILBOX_OVER, endedBy: ['FORGET'] },
});
