/**
 * Leads the participant through the document. The fields are filled in at their places on the pages; one button at the
 * bottom says what comes next: each place that is not done, then the actions.
 */

import type { SigningData } from '../../pages/portal/page-data.ts';
import { counted, filled } from '../../pages/portal/texts.ts';
import { createElement, findElement, requireElement } from '../dom.ts';
import { type Control, controlOf, filledFields, isFile, isTick } from './outcome.ts';
import type { ShownPdf } from './pdf-view.ts';
import { pageSeen } from './reading.ts';

/** Width of a thumbnail, CSS pixels. */
const THUMBNAIL_WIDTH = 72;
/** A page is seen when this part of it, or of the window, was visible. */
const SEEN_SHARE = 0.5;
/** A finger hits a place from this distance, CSS pixels. */
const TAP_MARGIN = 16;

type Words = SigningData['words'];

interface Step {
  readonly place: HTMLElement;
  /** As the button names it. */
  readonly name: string;
  /** Undefined for a mark, which the participant only looks at. */
  readonly control: Control | undefined;
  readonly entry: HTMLElement;
  visited: boolean;
}

/** Called when the marks are shown. @param finish when nothing is left to do on the pages */
export function startGuide(
  shown: ShownPdf,
  data: Pick<SigningData, 'words' | 'fields'>,
  finish: () => void,
): void {
  const { words } = data;
  const next = requireElement('#guide-next');
  const unseen = requireElement('#guide-unseen');
  const list = requireElement('#left');
  const showSteps = startProgress(words);
  const last = next.textContent ?? '';
  const places = [...document.querySelectorAll<HTMLElement>('.page [data-mark]')].sort(
    (left, right) =>
      pageOf(left) - pageOf(right) || left.offsetTop - right.offsetTop || left.offsetLeft - right.offsetLeft,
  );
  const all = places.map((place) => stepOf(place, data));
  const shownSteps = () => stepsShown(all);
  const seen = new Set<number>();
  const mark = startThumbnails(shown, words, seen);
  let current: Step | undefined;
  let hasSeenAll = false;

  const tell = () => {
    const steps = shownSteps();
    const target = following(steps, current);
    next.textContent =
      steps.length === 0
        ? last
        : target === undefined
          ? words.guideActions
          : current === undefined
            ? words.guideStart
            : filled(words.guideNextTo, { name: target.name });
    showSteps(steps, current);
    const left = shown.count - seen.size;
    if (left === 0 && !hasSeenAll) {
      hasSeenAll = true;
      document.dispatchEvent(new Event('pages-seen'));
    }
    unseen.hidden = left === 0;
    unseen.textContent = counted(document.documentElement.lang, words.unseen, left);
    list.hidden = steps.length === 0 && left === 0;
  };
  const arrive = (step: Step) => {
    current = step;
    step.visited = true;
    (step.control ?? step.place).focus({ preventScroll: true });
    tell();
  };
  const visit = (step: Step) => {
    step.place.scrollIntoView({ block: 'center' });
    arrive(step);
  };
  const goOn = () => {
    const steps = shownSteps();
    const target = following(steps, current);
    if (target === undefined) return finish();
    // After the last place, all that is missing is marked at once.
    if (current && steps.indexOf(target) <= steps.indexOf(current) && filledFields(data) === null) return;
    visit(target);
  };
  requireElement('#guide').toggleAttribute('data-guided', true);
  next.addEventListener('click', goOn);
  for (const step of all) {
    requireElement('button', HTMLButtonElement, step.entry).addEventListener('click', () => visit(step));
    step.control?.addEventListener('input', tell);
    onEnter(step.control, () => {
      arrive(step);
      goOn();
    });
  }
  startTaps(shownSteps, (step) => {
    arrive(step);
    // A mark of the signature is where people expect to sign.
    if (step.place.dataset['mark'] === 'SignatureVisualRepresentation') finish();
    else if (step.control !== undefined && (isTick(step.control) || isFile(step.control)))
      step.control.click();
  });
  unseen.addEventListener('click', () => {
    for (let number = 1; number <= shown.count; number += 1) {
      if (!seen.has(number)) return shown.goTo(number);
    }
  });
  watchPages(shown, seen, (number) => {
    if (number !== undefined) mark(number);
    tell();
  });
  document.addEventListener('fields-shown', tell);
  tell();
}

/** Returns the places that no condition hides, and lists these alone. */
function stepsShown(steps: readonly Step[]): readonly Step[] {
  for (const { entry, place } of steps) entry.hidden = place.hidden;
  return steps.filter(({ place }) => !place.hidden);
}

/** Returns a function that says which places are done, and how many. */
function startProgress(words: Words): (steps: readonly Step[], current: Step | undefined) => void {
  const progress = requireElement('#guide-progress');
  const bar = requireElement('#guide progress', HTMLProgressElement);
  return (steps, current) => {
    const done = steps.filter(isDone).length;
    for (const step of steps) {
      const is = isDone(step);
      step.entry.toggleAttribute('data-done', is);
      requireElement('.unseen', HTMLElement, step.entry).textContent =
        ` (${is ? words.isDone : words.notDone})`;
      step.place.toggleAttribute('data-current', step === current);
    }
    const count = steps.length;
    progress.textContent = count === 0 ? '' : filled(words.guideProgress, { done, count });
    bar.hidden = count === 0;
    bar.max = Math.max(count, 1);
    bar.value = done;
  };
}

function onEnter(control: Control | undefined, goOn: () => void): void {
  control?.addEventListener('keydown', (event) => {
    const { key, isComposing, keyCode } = event as KeyboardEvent;
    // 229: Safari ends the composition before the key that confirms it.
    if (key !== 'Enter' || isComposing || keyCode === 229) return;
    if (control instanceof HTMLTextAreaElement || isFile(control)) return;
    event.preventDefault();
    goOn();
  });
}

/** @param found called with each page that is seen, and after each look at the pages */
function watchPages(shown: ShownPdf, seen: Set<number>, found: (number?: number) => void): void {
  const observer = new IntersectionObserver(
    (entries) => {
      for (const { target, isIntersecting, intersectionRatio, intersectionRect } of entries) {
        const covers = intersectionRect.height >= window.innerHeight * SEEN_SHARE;
        if (!isIntersecting || (intersectionRatio < SEEN_SHARE && !covers)) continue;
        // An empty frame shows nothing: it is looked at again once its page is drawn.
        if (!target.hasAttribute('data-drawn')) continue;
        const number = Number(target.getAttribute('data-page'));
        seen.add(number);
        pageSeen(number, shown.count);
        found(number);
        observer.unobserve(target);
      }
      found();
    },
    { threshold: [0.1, 0.25, SEEN_SHARE] },
  );
  for (let number = 1; number <= shown.count; number += 1) {
    const frame = shown.frame(number);
    if (frame === undefined) continue;
    observer.observe(frame);
    frame.addEventListener('drawn', () => {
      if (seen.has(number)) return;
      observer.unobserve(frame);
      observer.observe(frame);
    });
  }
}

/** Opens the place that is hit or nearly hit on a page, whatever lies over it. */
function startTaps(steps: () => readonly Step[], open: (step: Step) => void): void {
  requireElement('#pages').addEventListener('click', ({ target, clientX, clientY }) => {
    if (!(target instanceof Element) || target.closest('input, select, textarea, label') !== null) return;
    // The end of a selection of text.
    if (document.getSelection()?.isCollapsed === false) return;
    const away = ({ place }: Step) => {
      const { left, right, top, bottom } = place.getBoundingClientRect();
      return Math.hypot(
        Math.max(left - clientX, 0, clientX - right),
        Math.max(top - clientY, 0, clientY - bottom),
      );
    };
    const nearest = [...steps()].sort((left, right) => away(left) - away(right))[0];
    if (nearest !== undefined && away(nearest) <= TAP_MARGIN) open(nearest);
  });
}

/** The next step that is not done, after the current one first. */
function following(steps: readonly Step[], current: Step | undefined): Step | undefined {
  const next = current === undefined ? 0 : steps.indexOf(current) + 1;
  const inTurn = [...steps.slice(next), ...steps.slice(0, next)];
  return inTurn.find((step) => !isDone(step));
}

/** A field is done with a good value; one that may stay empty, and a mark, when the participant was there. */
function isDone({ control, visited }: Step): boolean {
  if (control === undefined) return visited;
  return control.checkValidity() && (textOf(control) !== '' || visited);
}

/** Moves the field of a place there, and adds the place to the list of what is left. */
function stepOf(place: HTMLElement, { words, fields }: Pick<SigningData, 'words' | 'fields'>): Step {
  const index = place.dataset['field'];
  const control = index === undefined ? undefined : controlOf(index);
  const names: { readonly [type: string]: string } = {
    SignatureVisualRepresentation: words.stepSignature,
    SignatureInitials: words.stepInitials,
    AuthenticationStamp: words.stepStamp,
  };
  const label = index === undefined ? undefined : fields[Number(index)]?.label;
  const name = label ?? names[place.dataset['mark'] ?? ''] ?? '';
  if (control !== undefined) fillInPlace(place, control, name);
  const entry = createElement(
    'li',
    {},
    createElement(
      'button',
      { type: 'button', class: 'quiet' },
      name,
      createElement('span', { class: 'unseen' }),
    ),
  );
  requireElement('#left ol').append(entry);
  return { place, name, control, entry, visited: false };
}

function fillInPlace(place: HTMLElement, control: Control, name: string): void {
  const show = () => {
    const text = textOf(control);
    place.toggleAttribute('data-value', text !== '');
    // A file is chosen in the form; its place has the name.
    if (isFile(control)) requireElement('span', HTMLElement, place).textContent = text || name;
  };
  control.addEventListener('input', show);
  if (!isFile(control)) {
    for (const labelling of control.labels ?? []) labelling.remove();
    control.setAttribute('aria-label', name);
    control.setAttribute('placeholder', name);
    control.removeAttribute('rows');
    // A choice has no other place for its name.
    const empty = control instanceof HTMLSelectElement ? control.options[0] : undefined;
    if (empty?.value === '') empty.label = name;
    for (const attribute of ['role', 'aria-label', 'tabindex']) place.removeAttribute(attribute);
    place.replaceChildren(control);
    // All others have their name in them. Where there is no room on the right, it stands on the left.
    if (isTick(control)) {
      place.append(createElement('label', { for: control.id, 'aria-hidden': 'true' }, name));
      place.toggleAttribute('data-end', Number.parseFloat(place.style.left) > 60);
    }
    const form = findElement('#document-fields');
    if (form !== undefined) form.hidden = form.querySelector('input, select, textarea') === null;
  }
  show();
}

/** Number of the page of a place. */
function pageOf(place: HTMLElement): number {
  return Number(place.closest('.page')?.getAttribute('data-page'));
}

/** Small pages, drawn when they are in view. Returns a function that marks a page as seen. */
function startThumbnails(shown: ShownPdf, words: Words, seen: ReadonlySet<number>): (number: number) => void {
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
      const drawn = shown.thumbnail(number, THUMBNAIL_WIDTH);
      // The number stands there without its picture.
      drawn.then((canvas) => target.prepend(canvas)).catch(() => undefined);
    }
  });
  for (let number = 1; number <= shown.count; number += 1) {
    const button = createElement('button', { type: 'button', 'data-number': String(number) }, String(number));
    button.addEventListener('click', () => shown.goTo(number));
    buttons.push(button);
    list.append(createElement('li', {}, button));
    name(number);
    drawer.observe(button);
  }
  return name;
}

function textOf(control: Control): string {
  if (isTick(control)) return control.checked ? 'true' : '';
  return isFile(control) ? (control.files?.[0]?.name ?? '') : control.value;
}
