/** Interface of a mail template: texts in each language from plain data. The HTML rendering escapes them. */
import type { Language } from '../../../../machines/portal/organization.ts';

/** The part of a letter that its kind decides. */
export interface MailTexts {
  readonly subject: string;
  readonly paragraphs: readonly string[];
  /** Label of the link, for kinds that may have one. */
  readonly button?: string;
}

export type MailTextOf<Facts> = { readonly [Each in Language]: (facts: Facts) => MailTexts };

/** Data about one document. */
export interface MailDocument {
  readonly document: string;
  readonly organization: string;
  /** Texts of the sender about it. */
  readonly description: string | null;
  /** The action requested from the recipient. */
  readonly role: 'sign' | 'approve';
  readonly reason: string | null;
  /** Day on which the document expires, `yyyy-mm-dd`; null = not said. */
  readonly expires: string | null;
  /** Person who refused or canceled. */
  readonly by: string | null;
}

/** A paragraph that is only there when there is something to say. */
export function unlessNull(text: string | null, say: (text: string) => string): readonly string[] {
  return text === null || text === '' ? [] : [say(text)];
}
