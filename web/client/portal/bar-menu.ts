/** The menu of the signing page's bar: what is needed seldom. */
import { findElement } from '../dom.ts';

export function startMenu(): void {
  const menu = findElement('#more', HTMLDetailsElement);
  const pages = findElement('#thumbnails');
  if (menu === undefined) return;
  const close = () => {
    menu.open = false;
    pages?.removeAttribute('data-open');
  };
  document.addEventListener('click', ({ target }) => {
    if (target instanceof Node && !menu.contains(target) && pages?.contains(target) !== true) close();
  });
  document.addEventListener('keydown', ({ key }) => {
    if (key !== 'Escape' || (!menu.open && pages?.hasAttribute('data-open') !== true)) return;
    close();
    menu.querySelector('summary')?.focus();
  });
  findElement('#thumbnails-open')?.addEventListener('click', () => {
    pages?.toggleAttribute('data-open');
    menu.open = false;
  });
  findElement('#refuse-link')?.addEventListener('click', () => {
    close();
    const refusing = findElement('#refusing', HTMLDetailsElement);
    if (refusing !== undefined) refusing.open = true;
  });
}
