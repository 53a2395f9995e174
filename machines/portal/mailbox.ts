/**
 * What the person of a mailbox has decided: deputies, each with a start and an end.
 *
 * | from | message | to   | effects |                                                    |
 * |------|---------|------|---------|----------------------------------------------------|
 * | Kept | NAME    | Kept | notify  | fewer than five others that are not over; one of its mailbox is replaced |
 * | Kept | NAME    | Kept |         | of what is kept already, as of a repeated call     |
 * | Kept | END     | Kept |         | one that is not over, by the person or the deputy  |
 * | Kept | FORGET  | Over |         | a day after the end of the last deputy, or the creation |
 *
 * Over is not stored: the actor ends.
 *
 * Source: docs/decisions/0580-deputies.md.
 */
import type { RequestAction } from '@sealwright/runtime/actions';
import { DAY_MS } from '../../contracts/times.ts';
import type { Millis } from '../ids.ts';
import { type RecordMessage, recordMachine } from '../record.ts';
import { type DeputyMail, notify } from './mail.ts';

export const MAILBOX_OVER = 'Over';
/** Deputies of one mailbox that are not over. */
export const MAX_DEPUTIES = 5;
const KEPT_MS: Millis = DAY_MS;

export interface Deputy {
  readonly id: string;
  readonly name: string;
  /** As `addressKey` writes it: codes go to it, and equal ones are the same. */
  readonly email: string;
  /** With an internationalized domain as the DNS has it; absent = it has none. */
  readonly asciiEmail?: string;
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

/** The mailbox of an address, in lower case: most operators put `name+anything` into that of `name`. */
export function mailboxOf(address: string): string {
  const at = address.lastIndexOf('@');
  const plus = address.indexOf('+', 1);
  return (plus < 0 || plus > at ? address : `${address.slice(0, plus)}${address.slice(at)}`).toLowerCase();
}

/** The deputy of the same mailbox that is not over. */
export function deputyOfMailbox(deputies: readonly Deputy[], email: string, at: Millis): Deputy | undefined {
  return notOver(deputies, at).find((one) => mailboxOf(one.email) === mailboxOf(email));
}

/** True if naming changes nothing: a start that is past is now. */
export function isSameNaming(one: Deputy, other: Deputy, at: Millis): boolean {
  return (
    one.name === other.name &&
    one.email === other.email &&
    one.reason === other.reason &&
    one.until === other.until &&
    (one.from === other.from || Math.max(one.from, other.from) <= at)
  );
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
      const same = deputyOfMailbox(deputies, deputy.email, at);
      if (same !== undefined && isSameNaming(same, deputy, at)) return { context: {} };
      const kept = notOver(deputies, at).filter((one) => one !== same);
      if (kept.length >= MAX_DEPUTIES || deputy.until <= at || deputy.until <= deputy.from) return undefined;
      const named = { ...deputy, id: same?.id ?? deputy.id };
      return { context: { deputies: [...kept, named] }, note: 'A deputy is named.' };
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
    inputs: (before, after, message) =>
      message.type === 'NAME' && message.mails.length > 0 && before.deputies !== after.deputies
        ? [{ notices: message.mails }]
        : [],
  },
  deadline: {
    type: 'FORGET',
    // Killed before the first deputy is named.
    firstMs: KEPT_MS,
    dueAt: ({ deputies }) =>
      deputies.length === 0 ? null : Math.max(...deputies.map(({ until }) => until)) + KEPT_MS,
  },
  end: { state: MAILBOX_OVER, endedBy: ['FORGET'] },
});
