/**
 * Updates the page after a participant has acted: progress and pending participants. The data comes from the page
 * that the server renders now.
 */

import type { SigningData } from '../../pages/portal/page-data.ts';
import { below, delay, findElement, parseHtml, requireElement } from '../dom.ts';

/** Usual maximum time for adding a signature to a long document. */
const MAX_POLLS = 20;
/** Interval between attempts, milliseconds. */
const POLL_INTERVAL_MS = 1_500;

/** Shows the current state; on errors the page stays unchanged. Resolves with true when nothing is left to do. */
export async function showReturnLink({ self }: Pick<SigningData, 'self'>): Promise<boolean> {
  for (let look = 1; look <= MAX_POLLS; look += 1) {
    const now = await currentPage(self).catch(() => undefined);
    if (now === undefined) return false;
    const state = findElement('#state', HTMLElement, now);
    if (state === undefined) return false;
    saveFile(now, state);
    if (state.dataset['state'] !== 'processing') return true;
    await new Promise<void>((resolve) => delay(POLL_INTERVAL_MS, resolve));
  }
  return false;
}

async function currentPage(address: string) {
  const answer = await fetch(below(address), { credentials: 'omit' });
  return answer.ok ? parseHtml(await answer.text()) : undefined;
}

function saveFile(now: ParentNode, state: HTMLElement): void {
  requireElement('#actions-title').textContent = now.querySelector('h1')?.textContent ?? '';
  document.title = now.querySelector('title')?.textContent ?? document.title;
  requireElement('#afterwards').replaceChildren(...state.childNodes);
  const people = now.querySelector('.participants');
  const shown = findElement('.participants');
  if (people !== null) shown?.replaceChildren(...people.childNodes);
}
