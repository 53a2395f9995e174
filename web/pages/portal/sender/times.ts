/** Times in the language of a page. */

import type { Language } from '../../../../contracts/portal/words.ts';
import { type Html, html } from '../../../../contracts/texts/html.ts';

/** A time for people in UTC; a script shows it as the distance from now. */
export function timeOf(language: Language, at: number): Html {
  return html`<time datetime="${new Date(at).toISOString()}">${timeText(language, at)}</time>`;
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
