/** Outgoing e-mails and the port that sends them. */

import { plainLine } from '../../../contracts/plain-text.ts';
import type { Language } from '../../../contracts/portal/words.ts';
import type { Millis } from '../../../machines/ids.ts';
import { isMailAddress } from '../shared/mail-address.ts';
import type { ReadableMail } from './mail-text.ts';

/** Name and address; both without control characters. */
interface MailAddress {
  readonly name: string;
  readonly address: string;
}

export interface OutgoingMail {
  /** Without angle brackets; the same for every try, so that receivers can tell a second copy. */
  readonly messageId: string;
  readonly from: MailAddress;
  readonly replyTo: string | null;
  readonly to: MailAddress;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  readonly language: Language;
  /** Shown by the HTML; absent = none. */
  readonly logo?: { readonly contentType: string; readonly bytes: Buffer };
  readonly date: Millis;
}

export interface Mailer {
  /**
   * Resolves with the relay's response when it has accepted the mail.
   * @param signal aborted at the end of the time limit
   * @throws {MailFailure}
   */
  send(mail: OutgoingMail, signal: AbortSignal): Promise<string>;
  /**
   * Content of an accepted mail; undefined when it does not exist any more. Missing where mails are not kept.
   * @param id local part of its message id
   */
  contentOf?(id: string, date: Millis): Promise<ReadableMail | undefined>;
  /** True if `contentOf` would find it. Missing where mails leave for good. */
  hasContent?(id: string, date: Millis): Promise<boolean>;
  /** Removes what `contentOf` finds. Missing where mails leave for good. */
  remove?(id: string, date: Millis): Promise<void>;
  /** Closes connections; mails in progress fail. */
  close(): void;
}

/** Reason why a mail was not taken, and whether that is the last word. */
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

/** The address in `Name <address>`, or the text itself when it is one alone. */
export function addressIn(mailbox: string): string {
  return /<([^<>]*)>\s*$/.exec(mailbox)?.[1] ?? mailbox.trim();
}

/** True for what `Portal:Organizations[]:ReplyTo` permits: an address that a relay can take, or a name with one in angle brackets. */
export function isMailbox(text: string): boolean {
  return /^(?:[^<>\p{Cc}]*<[^<>]+>|[^<>]+)$/u.test(text) && isMailAddress(addressIn(text));
}

/** A text for one header line: control characters and line ends become spaces, what is too long is cut. */
export function oneLine(text: string, longest = 200): string {
  const line = plainLine(text).replace(/\s+/g, ' ');
  if (line.length <= longest) return line;
  // At the end of a character as people see it: half of an emoji is another sign, or none.
  let end = 0;
  for (const { index, segment } of CHARACTERS.segment(line)) {
    if (index + segment.length >= longest) break;
    end = index + segment.length;
  }
  return `${line.slice(0, end).trimEnd()}…`;
}

const CHARACTERS = new Intl.Segmenter('en', { granularity: 'grapheme' });
