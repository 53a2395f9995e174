/** Closes open `Drop`s: Escape the one that has the focus, a click elsewhere all. */
import { focusElement } from './dom.ts';

export function startDrops(): void {
  document.addEventListener('keydown', (event) => {
    const drop =
      event.target instanceof Element ? event.target.closest<HTMLDetailsElement>('.pulldown[open]') : null;
    if (event.key !== 'Escape' || drop === null) return;
    drop.open = false;
    focusElement(drop.querySelector('summary'));
    event.preventDefault();
  });
  // Tab leaves a menu, which would cover what comes next.
  document.addEventListener('focusout', ({ target, relatedTarget }) => {
    const drop = target instanceof Element ? target.closest<HTMLDetailsElement>('.pulldown[open]') : null;
    if (drop !== null && relatedTarget instanceof Element && !drop.contains(relatedTarget)) drop.open = false;
  });
  document.addEventListener('click', ({ target }) => {
    if (!(target instanceof Element) || target.closest('dialog') !== null) return;
    for (const drop of document.querySelectorAll<HTMLDetailsElement>('.pulldown[open]')) {
      if (!drop.contains(target) && target.isConnected) drop.open = false;
    }
  });
}
