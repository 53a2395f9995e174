/** Leads the participant through the document: to each mark and field, to pages not seen yet, and to the actions. */

import type { SigningData } from '../../pages/portal/page-data.ts';
import { counted, filled } from '../../pages/portal/texts.ts';
import { createElement, findElement, requireElement } from '../dom.ts';
import type { ShownPdf } from './pdf-view.ts';

/** Width of a thumbnail, CSS pixels. */
const THUMBNAIL_WIDTH = 90;
/** A page is seen when this part of it, or of the window, was visible. */
const SEEN_SHARE = 0.5;

type Control = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement;

/** Text of a ticked field. */
const TICKED = '\u2611';

/** Called when the marks are shown. */
export function startGuide(shown: ShownPdf, { words }: Pick<SigningData, 'words'>): void {
  const next = requireElement('#guide-next');
  const progress = requireElement('#guide-progress');
  const unseen = requireElement('#guide-unseen');
  const places = [...document.querySelectorAll<HTMLElement>('.page [data-mark]')].sort(
    (left, right) => pageOf(left) - pageOf(right) || left.offsetTop - right.offsetTop,
  );
  const offerField = startGuideFields(places, next);
  const seen = new Set<number>();
  const thumbnails = startThumbnails(shown, words, seen);
  let visited = 0;

  const tell = () => {
    next.textContent =
      visited === 0 && places.length > 0
        ? words.guideStart
        : visited < places.length
          ? words.guideNext
          : words.guideActions;
    progress.textContent =
      places.length === 0 ? '' : filled(words.guideProgress, { done: visited, count: places.length });
    const left = shown.count - seen.size;
    if (left === 0 && !unseen.hidden) document.dispatchEvent(new Event('pages-seen'));
    unseen.hidden = left === 0;
    unseen.textContent = counted(document.documentElement.lang, words.unseen, left);
  };
  next.addEventListener('click', () => {
    const place = places[visited];
    if (place === undefined) {
      requireElement('#actions').scrollIntoView();
      requireElement('#actions').focus({ preventScroll: true });
      return;
    }
    visited += 1;
    for (const other of places) other.toggleAttribute('data-current', other === place);
    place.scrollIntoView({ block: 'center' });
    if (!offerField(place)) place.focus({ preventScroll: true });
    tell();
  });
  unseen.addEventListener('click', () => {
    for (let number = 1; number <= shown.count; number += 1) {
      if (!seen.has(number)) return shown.goTo(number);
    }
  });
  const observer = new IntersectionObserver(
    (entries) => {
      for (const { target, isIntersecting, intersectionRatio, intersectionRect } of entries) {
        const covers = intersectionRect.height >= window.innerHeight * SEEN_SHARE;
        if (!isIntersecting || (intersectionRatio < SEEN_SHARE && !covers)) continue;
        const number = Number(target.getAttribute('data-page'));
        seen.add(number);
        thumbnails(number);
        observer.unobserve(target);
      }
      tell();
    },
    { threshold: [0.1, 0.25, SEEN_SHARE] },
  );
  for (let number = 1; number <= shown.count; number += 1) {
    const frame = shown.frame(number);
    if (frame !== undefined) observer.observe(frame);
  }
  requireElement('#guide').hidden = false;
  tell();
}

/** Number of the page of a place. */
function pageOf(place: HTMLElement): number {
  return Number(place.closest('.page')?.getAttribute('data-page'));
}

/** Small pages, drawn when the list is opened and scrolled. Returns a function that marks a page as seen. */
function startThumbnails(
  shown: ShownPdf,
  words: SigningData['words'],
  seen: ReadonlySet<number>,
): (number: number) => void {
  const details = requireElement('#thumbnails', HTMLDetailsElement);
  const list = requireElement('#thumbnails ol');
  const buttons: HTMLButtonElement[] = [];
  const name = (number: number) => {
    const label = filled(words.pageOf, { page: number, count: shown.count });
    const button = buttons[number - 1];
    button?.setAttribute('aria-label', seen.has(number) ? label : `${label}, ${words.notSeen}`);
    button?.toggleAttribute('data-seen', seen.has(number));
  };
  const drawer = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) {
      if (!isIntersecting) continue;
      drawer.unobserve(target);
      const number = Number(target.getAttribute('data-number'));
      void shown.thumbnail(number, THUMBNAIL_WIDTH).then((canvas) => target.prepend(canvas));
    }
  });
  details.addEventListener('toggle', () => {
    if (buttons.length > 0) return;
    for (let number = 1; number <= shown.count; number += 1) {
      const button = createElement(
        'button',
        { type: 'button', 'data-number': String(number) },
        String(number),
      );
      button.addEventListener('click', () => shown.goTo(number));
      buttons.push(button);
      list.append(createElement('li', {}, button));
      name(number);
      drawer.observe(button);
    }
  });
  return name;
}

/**
 * Shows the values at their places.
 * @param next button that leads to the next place; the Enter key in a field presses it
 * @returns a function that offers the field of a place; nothing for a place without a field
 */
function startGuideFields(
  places: readonly HTMLElement[],
  next: HTMLElement,
): (place: HTMLElement) => boolean {
  const part = createElement('div', { id: 'guide-field' });
  requireElement('#guide-progress').after(part);
  for (const place of places) {
    const control = controlOf(place);
    if (control === undefined) continue;
    const show = () => {
      const text = textOf(control);
      place.toggleAttribute('data-value', text !== '');
      requireElement('span', HTMLElement, place).textContent = text || place.getAttribute('aria-label');
    };
    control.addEventListener('input', show);
    show();
  }
  return (place) => {
    const control = controlOf(place);
    part.replaceChildren();
    if (control === undefined) return false;
    // A file is chosen in one control only.
    if (isFile(control)) {
      control.scrollIntoView({ block: 'center' });
      control.focus({ preventScroll: true });
      return true;
    }
    const copy = copyOf(control);
    copy.addEventListener('keydown', (event) => {
      const isEnter = event instanceof KeyboardEvent && event.key === 'Enter';
      if (!isEnter || copy instanceof HTMLTextAreaElement) return;
      event.preventDefault();
      next.click();
    });
    part.append(createElement('label', { for: copy.id }, place.getAttribute('aria-label') ?? ''), copy);
    copy.focus({ preventScroll: true });
    return true;
  };
}

/** The control of the form for the field at a place. */
function controlOf(place: HTMLElement): Control | undefined {
  const index = place.dataset['field'];
  const element = index === undefined ? undefined : findElement(`#field-${index}`);
  return isControl(element) ? element : undefined;
}

function isControl(element: Node | undefined): element is Control {
  return (
    element instanceof HTMLInputElement ||
    element instanceof HTMLSelectElement ||
    element instanceof HTMLTextAreaElement
  );
}

function textOf(control: Control): string {
  if (isTick(control)) return control.checked ? TICKED : '';
  return isFile(control) ? (control.files?.[0]?.name ?? '') : control.value;
}

function isFile(control: Control): control is HTMLInputElement {
  return control instanceof HTMLInputElement && control.type === 'file';
}

function isTick(control: Control): control is HTMLInputElement {
  return control instanceof HTMLInputElement && control.type === 'checkbox';
}

/** A second control for the same field; each change of it is a change of the first. */
function copyOf(control: Control): Control {
  const copy = control.cloneNode(true);
  if (!isControl(copy)) return control;
  copy.id = 'guide-control';
  take(copy, control);
  copy.addEventListener('input', () => {
    take(control, copy);
    control.dispatchEvent(new Event('input', { bubbles: true }));
  });
  return copy;
}

function take(to: Control, from: Control): void {
  if (isTick(to) && isTick(from)) to.checked = from.checked;
  else to.value = from.value;
}
