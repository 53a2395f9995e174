/** Texts of the sender pages by language. */
import type { Language } from '../texts/page-texts.ts';
import { SENDER_ENGLISH } from '../texts/sender-english.ts';
import { SENDER_PORTUGUESE } from '../texts/sender-portuguese.ts';
import { SENDER_SPANISH } from '../texts/sender-spanish.ts';
import type { SenderTexts } from '../texts/sender-texts.ts';

const TEXTS: { readonly [Name in Language]: SenderTexts } = {
  en: SENDER_ENGLISH,
  pt: SENDER_PORTUGUESE,
  es: SENDER_SPANISH,
};

export function senderTexts(language: Language): SenderTexts {
  return TEXTS[language];
}

/** A time for people, in the language of the page. */
export function timeText(language: Language, at: number): string {
  const format = new Intl.DateTimeFormat(language, {
    dateStyle: 'medium',
    timeStyle: 'short',
    timeZone: 'UTC',
  });
  return `${format.format(at)} UTC`;
}
