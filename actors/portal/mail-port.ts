/** What leaves as an e-mail, and the port it leaves by. */

import type { Millis } from '../../machines/ids.ts';
import type { Language } from '../../machines/organization.ts';
import { plainLine } from '../../machines/plain-text.ts';

/** Name and address of somebody; both without control characters. */
export interface MailPerson {
  readonly name: string;
  readonly address: string;
}

export interface OutgoingMail {
  /** Without angle brackets; the same for every try, so that receivers can tell a second copy. */
  readonly messageId: string;
  readonly from: MailPerson;
  readonly replyTo: string | null;
  readonly to: MailPerson;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  readonly language: Language;
  readonly date: Millis;
}

export interface Mailer {
  /**
   * Resolves with the relay's answer once it has taken the mail.
   * @param signal aborted when nobody waits any longer
   * @throws {MailFailure}
   */
  send(mail: OutgoingMail, signal: AbortSignal): Promise<string>;
  /**
   * Headers and text of a mail that was taken; undefined when it is not there or not any more. Missing where mails leave
   * for good.
   * @param id what stands before the at sign of its message id
   */
  textOf?(id: string, date: Millis): Promise<string | undefined>;
  /** Whether `textOf` would find it. Missing where mails leave for good. */
  hasText?(id: string, date: Millis): Promise<boolean>;
  /** Ends connections; mails under way fail. */
  close(): void;
}

/** Why a mail was not taken, and whether that is the last word. */
export class MailFailure extends Error {
  readonly code: string;
  readonly permanent: boolean;
  constructor(code: string, message: string, permanent: boolean) {
    super(message);
    this.name = 'MailFailure';
    this.code = code;
    this.permanent = permanent;
  }
}

/** Longest address a relay must take, characters. Source: RFC 5321 §4.5.3.1.3. */
const LONGEST_ADDRESS = 254;

/** True for what can stand between angle brackets: no spaces, control characters or anything that ends or lists addresses. */
export function isMailAddress(text: string): boolean {
  return (
    text.length <= LONGEST_ADDRESS && /^[^\s\p{C}<>()[\],;:\\"@]{1,64}@[^\s\p{C}<>()[\],;:\\"@]+$/u.test(text)
  );
}

/** The address in `Name <address>`, or the text itself when it is one alone. */
export function addressIn(mailbox: string): string {
  return /<([^<>]*)>\s*$/.exec(mailbox)?.[1] ?? mailbox.trim();
}

/** A text for one header line: control characters and line ends become spaces, what is too long is cut. */
export function oneLine(text: string, longest = 200): string {
  const line = plainLine(text).replace(/\s+/g, ' ');
  return line.length <= longest ? line : `${line.slice(0, longest - 1).trimEnd()}…`;
}
