/** Starts what a page shows after a visit: times in the reader's zone, and the document. */
import type { StateData } from '../../pages/portal/page-data.ts';
import { showDocument } from './document-view.ts';

export function startState({ shown }: Pick<StateData, 'shown'>): void {
  showTimes();
  // The page reports a failure itself.
  if (shown !== undefined) void showDocument(shown).catch(() => undefined);
}

/** Shows the times of the page in the reader's zone, with its name, which is in the tooltip of a short one. */
export function showTimes(): void {
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const place = zone.slice(zone.lastIndexOf('/') + 1).replaceAll('_', ' ');
  const shown = (time: HTMLTimeElement, dateStyle: 'long' | 'medium') =>
    new Intl.DateTimeFormat(document.documentElement.lang, { dateStyle, timeStyle: 'short' }).format(
      new Date(time.dateTime),
    );
  for (const time of document.querySelectorAll('time')) {
    time.title = `${shown(time, 'long')} (${place})`;
    time.textContent = time.dataset['short'] === undefined ? time.title : shown(time, 'medium');
  }
}
