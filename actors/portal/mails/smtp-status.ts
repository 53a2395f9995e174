/**
 * Decides what a refusal of a relay means for a mail. Source: RFC 3463 and RFC 5248 (enhanced status codes), RFC 5321
 * §4.2; docs/decisions/0314-refusals-of-relays.md.
 */

/** Enhanced status codes that speak of the recipient's address or mailbox; no later attempt would be taken. */
export const RECIPIENT_STATUSES: ReadonlyMap<string, string> = new Map([
  ['5.1.1', 'no such mailbox'],
  ['5.1.2', 'no such domain'],
  ['5.1.3', 'address that is not one'],
  ['5.1.4', 'address of several mailboxes'],
  ['5.1.6', 'mailbox that has moved'],
  ['5.1.10', 'domain that takes no mail (RFC 7505)'],
  ['5.2.1', 'mailbox that is disabled'],
  ['5.2.2', 'mailbox that is full'],
  ['5.2.3', 'mail that is too long for the mailbox'],
  ['5.2.4', 'list that cannot be expanded'],
]);

/** Replies to RCPT TO that speak of the recipient where no enhanced status code says otherwise. */
const RECIPIENT_REPLIES: ReadonlySet<number> = new Set([550, 551, 553, 556]);
/** Reply to RCPT TO of a large service that does not have the mailbox, whatever its status code says. */
const NO_SUCH_MAILBOX = /^550[ -]5\.4\.1 recipient address rejected\b/im;
/** Words of replies without an enhanced status code that speak of the relay, the sender or a policy. */
const OTHER_REASON =
  /relay|authenticat|quota|limit|exceed|rate\b|too many|policy|polic[ií]|block|blacklist|\bspam|reputation|sender|\bspf\b|\bdkim\b|\bdmarc\b|denied|not (?:permitted|allowed|authorized)|try again/i;

export interface SmtpReply {
  /** Command that was answered: `RCPT TO`, `DATA` and so on. */
  readonly command: string;
  readonly code: number;
  /** All lines. */
  readonly text: string;
}

/** `recipient`: the mail fails. `relay`, `later`: it waits; `later` is the relay's own word (4yz). */
export type SmtpVerdict = 'recipient' | 'relay' | 'later';

/** Whatever is not named waits: a mail that waits is seen and sent, one that failed is lost until somebody looks. */
export function verdictOn({ command, code, text }: SmtpReply): SmtpVerdict {
  if (code < 500) return 'later';
  if (command !== 'RCPT TO' && command !== 'DATA') return 'relay';
  const status = /^\d{3}[ -](\d\.\d{1,3}\.\d{1,3})(?!\S)/m.exec(text)?.[1];
  const isUnknown = command === 'RCPT TO' && NO_SUCH_MAILBOX.test(text);
  if (status !== undefined) return RECIPIENT_STATUSES.has(status) || isUnknown ? 'recipient' : 'relay';
  const isOfRecipient = command === 'RCPT TO' && RECIPIENT_REPLIES.has(code) && !OTHER_REASON.test(text);
  return isOfRecipient ? 'recipient' : 'relay';
}
