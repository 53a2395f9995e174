/** What a mail kind gives: its words in each language, made from plain facts. Escaping is done where they become HTML. */
import type { Language } from '../../../machines/organization.ts';

/** The part of a letter that its kind decides. */
export interface Words {
  readonly subject: string;
  readonly paragraphs: readonly string[];
  /** Label of the link, for kinds that may have one. */
  readonly button?: string;
}

export type MailText<Facts> = { readonly [Each in Language]: (facts: Facts) => Words };

/** What may be said of one document. */
export interface DocumentFacts {
  readonly document: string;
  readonly organization: string;
  /** What the sender wrote about it. */
  readonly description: string | null;
  /** What the person is to do. */
  readonly role: 'sign' | 'approve';
  readonly reason: string | null;
  /** Who refused or canceled. */
  readonly by: string | null;
}

/** A paragraph that is only there when there is something to say. */
export function unlessNull(text: string | null, say: (text: string) => string): readonly string[] {
  return text === null || text === '' ? [] : [say(text)];
}
