/**
 * What of the document the page has shown, and whether the participant may act: once a page is drawn, or after the declaration to
 * have read it. Source: docs/decisions/0320-signed-as-read.md.
 */
import { findElement, requireElement } from '../dom.ts';
import { showStatus } from './outcome.ts';

/** Pages of a document that is never shown here, as pictures and texts have one. */
let pageCount = 0;
const pages = new Set<number>();
let isDrawn = false;
let isDownloaded = false;

/** Pages that were drawn in the window. */
export function pageSeen(number: number, count: number): void {
  pages.add(number);
  pageCount = count;
  document.dispatchEvent(new Event('reading'));
}

/** A page is drawn, not necessarily in the window. */
export function pageDrawn(): void {
  isDrawn = true;
  document.dispatchEvent(new Event('reading'));
}

/**
 * Holds the forms that act until the document is read, and says so of an attempt: to keep it would sign what appears after
 * it. Without a place for it, another page shows the document.
 */
export function startReading(): void {
  const part = findElement('#unread');
  if (part === undefined) return;
  const tick = findElement('input', HTMLInputElement, part);
  const buttons = document.querySelectorAll<HTMLButtonElement>('#signing form button[type="submit"]');
  const isWhole = part.dataset['whole'] !== undefined;
  const told = requireElement('#unread-hint', HTMLElement, part).firstChild?.textContent?.trim() ?? '';
  let mayAct = false;
  const update = () => {
    const isShown = isWhole ? pageCount > 0 && pages.size === pageCount : isDrawn;
    mayAct = isShown || (tick?.checked === true && (isDownloaded || !isWhole));
    part.hidden = isShown;
    // A disabled button would swallow Enter without a word.
    for (const button of buttons) button.setAttribute('aria-disabled', String(!mayAct));
    if (mayAct && findElement('#outcome')?.textContent === told) showStatus('');
  };
  requireElement('#signing').addEventListener(
    'submit',
    (event) => {
      if (mayAct) return;
      event.preventDefault();
      event.stopPropagation();
      const form = event.target instanceof Element ? event.target : undefined;
      showStatus(told, 'bad', form?.querySelector('button[type="submit"]'));
    },
    { capture: true },
  );
  document.addEventListener('reading', update);
  tick?.addEventListener('change', update);
  document.addEventListener('click', ({ target }) => {
    if (!(target instanceof Element) || target.closest('#download, #unread a') === null) return;
    isDownloaded = true;
    update();
  });
  update();
}

/** Member `reading` of the requests that act; none where another page shows the document. */
export function readingMember(): object {
  const part = findElement('#unread');
  if (part === undefined) return {};
  const declared = !part.hidden && findElement('input', HTMLInputElement, part)?.checked === true;
  return { reading: { pages: ranges(), pageCount, downloaded: isDownloaded, declared } };
}

/** `1-3,5`, of at most 2,000 characters. */
function ranges(): string {
  const parts: string[] = [];
  const sorted = [...pages].sort((left, right) => left - right);
  for (let index = 0; index < sorted.length; ) {
    const from = sorted[index] ?? 0;
    let to = from;
    for (index += 1; sorted[index] === to + 1; index += 1) to += 1;
    parts.push(from === to ? `${from}` : `${from}-${to}`);
  }
  while (parts.join(',').length > 2_000) parts.pop();
  return parts.join(',');
}
