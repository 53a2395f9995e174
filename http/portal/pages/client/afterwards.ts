/**
 * What is true once a participant has acted: how far the document is, and who is asked now. The server says it on the
 * page it would show now, so this page takes it from there.
 */
import { document, later, maybe, type Part, parsedPage, part } from './dom.ts';
import type { SigningData } from './page-data.ts';

/** A signature that is being put into a long document takes this long at most, as a rule. */
const LOOKS = 20;
/** Milliseconds between them. */
const PAUSE = 1_500;

/** Shows what there is to know; where it cannot be asked for, the page stays as it is. */
export async function showAfterwards({ self }: Pick<SigningData, 'self'>): Promise<void> {
  for (let look = 1; look <= LOOKS; look += 1) {
    const now = await currentPage(self).catch(() => undefined);
    const state = now?.querySelector('#state');
    if (now === undefined || state === null || state === undefined) return;
    take(now, state);
    if (state.dataset['state'] !== 'processing') return;
    await new Promise<void>((resolve) => later(PAUSE, resolve));
  }
}

async function currentPage(address: string) {
  const answer = await fetch(address, { credentials: 'omit' });
  return answer.ok ? parsedPage(await answer.text()) : undefined;
}

function take(now: Pick<Part, 'querySelector'>, state: Part): void {
  part('#actions-title').textContent = now.querySelector('h1')?.textContent ?? '';
  document.title = now.querySelector('title')?.textContent ?? document.title;
  part('#afterwards').replaceChildren(...state.childNodes);
  const people = now.querySelector('.participants');
  const shown = maybe('.participants');
  if (people !== null) shown?.replaceChildren(...people.childNodes);
}
