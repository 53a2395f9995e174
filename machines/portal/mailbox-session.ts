/**
 * Session of a person who has proven a mailbox by a code. Its id is the hash of its ticket, which nobody stores.
 *
 * | from | message     | to   | effects |  |
 * |------|-------------|------|---------|--|
 * | Open | LEAVE       | Over |         |  |
 * | Open | after 30 min | Over |        |  |
 *
 * Over is not stored: the actor ends.
 *
 * Source: docs/decisions/0570-what-waits-for-a-mailbox.md.
 */
import { SESSION_MINUTES } from '../../contracts/portal/signing/waiting.ts';
import type { Millis } from '../ids.ts';
import { type RecordMessage, recordMachine } from '../record.ts';

export const MAILBOX_SESSION_ENDED = 'Over';
/** Milliseconds. */
export const MAILBOX_SESSION_LIFETIME_MS: Millis = SESSION_MINUTES * 60_000;

/** A mailbox, and when its code was confirmed. */
export interface ProvenMailbox {
  readonly email: string;
  readonly provenAt: Millis;
}

interface MailboxSessionContext extends ProvenMailbox {
  /** True if something waited for the mailbox at the start; absent = not. */
  readonly isAsked?: boolean;
}

interface MailboxSessionMessage extends RecordMessage {
  readonly type: 'LEAVE';
}

export const mailboxSessionMachine = recordMachine<MailboxSessionContext, MailboxSessionMessage>({
  id: 'mailbox-session',
  state: 'Open',
  context: (input) => input,
  changes: {},
  end: { state: MAILBOX_SESSION_ENDED, endedBy: ['LEAVE'], lifetimeMs: MAILBOX_SESSION_LIFETIME_MS },
});
