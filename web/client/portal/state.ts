/** Starts what a page shows after a visit: times in the reader's zone, and the document. */
import type { StateData } from '../../pages/portal/page-data.ts';
import { showDocument } from './document-view.ts';

export function startState({ shown }: Pick<StateData, 'shown'>): void {
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const format = new Intl.DateTimeFormat(document.documentElement.lang, {
    dateStyle: 'long',
    timeStyle: 'short',
  });
  for (const time of document.querySelectorAll('time'))
    time.textContent = `${format.format(new Date(time.dateTime))} (${zone.slice(zone.lastIndexOf('/') + 1).replaceAll('_', ' ')})`;
  // The page reports a failure itself.
  if (shown !== undefined) void showDocument(shown).catch(() => undefined);
}
