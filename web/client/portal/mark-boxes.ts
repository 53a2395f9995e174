/** Mark boxes on the pages of a PDF, which people drag, resize, and move with the keyboard. Units are PDF points. */
import { createElement } from '../dom.ts';
import type { PageSize } from './initials.ts';
import type { ShownPdf } from './pdf-view.ts';

export interface MarkPlace {
  topLeftX: number;
  topLeftY: number;
  width: number;
  height: number;
  /** From 1. */
  pageNumber: number;
}

export interface MarkBox {
  readonly place: MarkPlace;
  focus(): void;
}

export interface BoxWatcher {
  moved(place: MarkPlace): void;
  removed(): void;
}

const LEAST = 12;
/** Distance of one arrow key press, points. */
const STEP = 4;
const FINE_STEP = 1;

/** @param sizes of the pages, in order */
export function showMarkBox(
  shown: ShownPdf,
  sizes: readonly PageSize[],
  {
    place,
    label,
    watcher,
  }: { readonly place: MarkPlace; readonly label: string; readonly watcher: BoxWatcher },
): MarkBox {
  const corner = createElement('span', { class: 'corner', 'aria-hidden': 'true' });
  const box = createElement(
    'button',
    { type: 'button', class: 'placed', 'aria-describedby': 'keys' },
    label,
    corner,
  );

  const show = () => {
    const size = sizes[place.pageNumber - 1];
    const frame = shown.frame(place.pageNumber);
    if (size === undefined || frame === undefined) return;
    Object.assign(place, withinPage(place, size));
    box.style.left = `${(100 * place.topLeftX) / size.width}%`;
    box.style.top = `${(100 * place.topLeftY) / size.height}%`;
    box.style.width = `${(100 * place.width) / size.width}%`;
    box.style.height = `${(100 * place.height) / size.height}%`;
    const focused = box.isConnected && box.closest(`[data-page="${place.pageNumber}"]`) === null;
    if (focused || !box.isConnected) {
      frame.append(box);
      if (focused) box.focus();
    }
  };
  const moved = () => {
    show();
    watcher.moved(place);
  };

  const scale = () => shown.scale(place.pageNumber);
  drag(
    box,
    scale,
    (x, y) => {
      place.topLeftX += x;
      place.topLeftY += y;
      show();
    },
    moved,
  );
  drag(
    corner,
    scale,
    (x, y) => {
      place.width += x;
      place.height += y;
      show();
    },
    moved,
  );

  box.addEventListener('keydown', (event) => {
    if (event.key === 'Delete' || event.key === 'Backspace') {
      event.preventDefault();
      box.remove();
      watcher.removed();
      return;
    }
    const change = changeByKey(event, place.pageNumber, shown.count);
    if (change === undefined) return;
    event.preventDefault();
    place.pageNumber = change.pageNumber;
    for (const part of ['topLeftX', 'topLeftY', 'width', 'height'] as const) place[part] += change[part];
    moved();
  });

  show();
  return { place, focus: () => box.focus() };
}

/**
 * What a key does to the box that has the focus: arrows move it, with Shift they change its size, Page Up and Page Down
 * take it to another page. Undefined: nothing.
 * @returns page number, and what is added to each part of the place
 */
export function changeByKey(
  event: Pick<KeyboardEvent, 'key' | 'ctrlKey' | 'altKey' | 'shiftKey'>,
  pageNumber: number,
  count: number,
): MarkPlace | undefined {
  const none = { topLeftX: 0, topLeftY: 0, width: 0, height: 0, pageNumber };
  if (event.key === 'PageDown' || event.key === 'PageUp') {
    const number = pageNumber + (event.key === 'PageDown' ? 1 : -1);
    return { ...none, pageNumber: Math.min(Math.max(1, number), count) };
  }
  const way = ARROWS[event.key];
  if (way === undefined) return undefined;
  const step = event.ctrlKey || event.altKey ? FINE_STEP : STEP;
  const x = way[0] * step;
  const y = way[1] * step;
  return event.shiftKey ? { ...none, width: x, height: y } : { ...none, topLeftX: x, topLeftY: y };
}

const ARROWS: { readonly [key: string]: readonly [x: number, y: number] } = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};

/** Reports the distance of each drag step of a handle, points. @param scale CSS pixels per point */
function drag(
  handle: HTMLElement,
  scale: () => number,
  by: (x: number, y: number) => void,
  done: () => void,
): void {
  let at: readonly [x: number, y: number] | undefined;
  handle.addEventListener('pointerdown', (event) => {
    // The corner is inside the box; a drag that starts on it belongs to the corner.
    if (event.button !== 0 || event.target !== handle) return;
    handle.setPointerCapture(event.pointerId);
    at = [event.clientX, event.clientY];
  });
  handle.addEventListener('pointermove', (event) => {
    if (at === undefined) return;
    by((event.clientX - at[0]) / scale(), (event.clientY - at[1]) / scale());
    at = [event.clientX, event.clientY];
  });
  for (const end of ['pointerup', 'pointercancel']) {
    handle.addEventListener(end, () => {
      if (at === undefined) return;
      at = undefined;
      done();
    });
  }
}

/** The place with the least size, moved into the page. */
export function withinPage(place: MarkPlace, page: PageSize): MarkPlace {
  const width = between(LEAST, place.width, page.width);
  const height = between(LEAST, place.height, page.height);
  return {
    width,
    height,
    pageNumber: place.pageNumber,
    topLeftX: between(0, place.topLeftX, page.width - width),
    topLeftY: between(0, place.topLeftY, page.height - height),
  };
}

function between(least: number, value: number, most: number): number {
  return Math.round(100 * Math.max(least, Math.min(value, most))) / 100;
}
