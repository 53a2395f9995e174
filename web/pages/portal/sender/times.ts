/** Times in the language of a page. */

import type { Language } from '../../../../contracts/portal/words.ts';

/** A time for people, in the language of the page. */
export function timeText(language: Language, at: number): string {
  const format = new Intl.DateTimeFormat(language, {
    dateStyle: 'medium',
    timeStyle: 'short',
    timeZone: 'UTC',
  });
  return `${format.format(at)} UTC`;
}
