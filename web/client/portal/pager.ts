/** Page number, previous, next, zoom and print controls of a PDF. */
import { requireElement } from '../dom.ts';
import type { ShownPdf } from './pdf-view.ts';

/** Longest document that is printed from the page; each page is a picture in memory. */
const MAX_PRINTED_PAGES = 30;

/** @param page initial page, from 1; -1 = the last; null = the first */
export function startPager(shown: ShownPdf, page: number | null): void {
  const previous = requireElement('#previous', HTMLButtonElement);
  const next = requireElement('#next', HTMLButtonElement);
  const number = requireElement('#page-number', HTMLInputElement);
  const zoom = requireElement('#zoom', HTMLSelectElement);
  requireElement('#page-count').textContent = `/ ${shown.count}`;

  const tell = () => {
    const current = shown.current();
    number.value = String(current);
    // `aria-disabled` keeps the focus on the button at the end of the document.
    previous.setAttribute('aria-disabled', String(current === 1));
    next.setAttribute('aria-disabled', String(current === shown.count));
  };
  let asked = false;
  window.addEventListener(
    'scroll',
    () => {
      if (asked) return;
      asked = true;
      window.requestAnimationFrame(() => {
        asked = false;
        tell();
      });
    },
    { passive: true },
  );
  previous.addEventListener('click', () => shown.goTo(Math.max(1, shown.current() - 1)));
  next.addEventListener('click', () => shown.goTo(Math.min(shown.count, shown.current() + 1)));
  number.addEventListener('change', () => {
    const wanted = Number(number.value);
    if (Number.isInteger(wanted) && wanted >= 1) shown.goTo(wanted);
    else tell();
  });
  zoom.addEventListener('change', () => {
    const current = shown.current();
    shown.setZoom(zoom.value);
    shown.goTo(current);
    tell();
  });
  previous.disabled = false;
  next.disabled = false;
  if (zoom.value !== 'PageWidth') shown.setZoom(zoom.value);
  if (page !== null) shown.goTo(page);
  tell();
}

/** Prints the pages as they are shown now. @param tooLong called in place of that for a long document */
export function startPrint(shown: ShownPdf, tooLong: () => void): void {
  const print = requireElement('#print', HTMLButtonElement);
  print.hidden = false;
  print.addEventListener('click', () => {
    if (shown.count > MAX_PRINTED_PAGES) tooLong();
    else void shown.drawAll().then(() => window.print());
  });
}
