/** Keeps the focus on pages whose refreshes replace elements. */
import { findElement, focusElement } from '../dom.ts';

/** Finds the element that has replaced another one: by id, address, or text. */
export function findReplacement(old: Element, inside: ParentNode = document): HTMLElement | undefined {
  return [...inside.querySelectorAll<HTMLElement>(old.localName)].find((one) => isSame(one, old));
}

/** Moves the focus back to an element or its replacement; to the content of the page when neither can have it. */
export function returnFocus(before: Element | null): void {
  if (before === null || before === document.body) return;
  const target = before.isConnected ? before : findReplacement(before);
  focusElement(target);
  if (target === undefined || document.activeElement !== target) focusElement(findElement('main'));
}

/** True when two elements are the same to a reader. */
function isSame(one: Element, other: Element): boolean {
  if (other.id !== '') return one.id === other.id;
  if (other.localName === 'summary') return one.parentElement?.id === other.parentElement?.id;
  const address = other.getAttribute('href');
  return one.getAttribute('href') === address && (address !== null || one.textContent === other.textContent);
}
