/**
 * Pages of a PDF in a column: a canvas for each and, over it, its transparent text for selection, find-in-page and
 * screen readers. Canvases are rendered near the viewport and released far from it.
 */

import type { PlacedMark } from '../../pages/portal/page-data.ts';
import { filled } from '../../pages/portal/texts.ts';
import { createElement, delay, findElement, withAttributes } from '../dom.ts';
import type { PageSize } from './initials.ts';
import { drawnPage, openPdf, type PdfDocument, type PdfLibrary, type PdfPage } from './pdf-library.ts';

/** CSS pixels per point at 100 per cent. */
const PIXELS_PER_POINT = 96 / 72;
/** Maximum size of one canvas, pixels; larger ones exhaust the memory of phones. */
const MAX_PIXELS = 12_000_000;
/** Number of pages above which the text is read only near the viewport. */
const TEXT_PAGES = 200;
/** Margin around the viewport in which pages are rendered. */
const PRELOAD_PAGES = '60% 0px';

/** Time after which the texts are read even if no page is on the screen, milliseconds. */
const MAX_TEXT_DELAY_MS = 5_000;
/** Pause after the last movement of the fingers, milliseconds. */
const PINCH_PAUSE_MS = 200;
/** Renderings of one page that may fail before it stays empty, and the pause after the first, milliseconds. */
const MAX_FAILURES = 4;
const FAILURE_PAUSE_MS = 500;
/** Smaller changes of the pinch zoom are not visible. */
const MIN_PINCH_CHANGE = 0.1;

/** `PageWidth`, or per cent as text. */
export type Zoom = string;

interface PageView {
  readonly frame: HTMLElement;
  readonly number: number;
  size: PageSize;
  page: Promise<PdfPage> | undefined;
  canvas: HTMLCanvasElement | undefined;
  stop: (() => void) | undefined;
  near: boolean;
  hasText: boolean;
  /** Scale of the rendered canvas times the pinch zoom; 0 = none. */
  drawnAt: number;
  /** The newest rendering; undefined when the page is released. */
  turn: object | undefined;
  /** Renderings that failed. */
  failures: number;
}

/** A mark, or a field to fill in. */
export type PointedPlace = Omit<PlacedMark, 'type'> & { readonly type: PlacedMark['type'] | 'Field' };

export interface ShownPdf {
  readonly count: number;
  pageSizes(): Promise<readonly PageSize[]>;
  /** The page in the middle of the viewport, from 1. */
  current(): number;
  /** @param number from 1; -1 = the last */
  goTo(number: number): void;
  setZoom(zoom: Zoom): void;
  /** CSS pixels per point of a page. @param number from 1 */
  scale(number: number): number;
  /** The element of a page, with the size of the page. @param number from 1 */
  frame(number: number): HTMLElement | undefined;
  /** A small picture of a page. @param width CSS pixels @param place shown on it; left, top, width and height, points */
  thumbnail(number: number, width: number, place?: readonly number[]): Promise<HTMLCanvasElement>;
  /** Resolves when the first page is rendered, or takes long. */
  readonly anyDrawn: Promise<void>;
  /** Renders all pages, for print. */
  drawAll(): Promise<void>;
  /** Paints a place white. */
  cover(place: Omit<PointedPlace, 'type'>): Promise<void>;
  /** Shows the position of a mark. @param field number of the field there */
  point(mark: PointedPlace, label: string, field?: number): Promise<void>;
}

/** @param words `pageOf` with `{page}` and `{count}` */
export async function showPdf(
  container: HTMLElement,
  url: string,
  words: { readonly pageOf: string },
): Promise<ShownPdf> {
  const { pdf, file } = await openPdf(url);
  const view = new PdfView(container, pdf, file, words.pageOf);
  await view.start();
  return view;
}

class PdfView implements ShownPdf {
  readonly #container: HTMLElement;
  readonly #pdf: PdfLibrary;
  readonly #file: PdfDocument;
  readonly #pageOf: string;
  #pages: PageView[] = [];
  #zoom: Zoom = 'PageWidth';
  #width = 0;
  #tellDrawn: () => void = () => {};
  readonly anyDrawn = new Promise<void>((resolve) => {
    this.#tellDrawn = resolve;
  });
  /** Factor by which fingers have enlarged the page; the layout stays. */
  #pinch = 1;

  readonly #observer = new IntersectionObserver(
    (entries) => {
      const entered: PageView[] = [];
      for (const { target, isIntersecting } of entries) {
        const view = this.#pages[Number(target.getAttribute('data-page')) - 1];
        if (view?.frame !== target) continue;
        view.near = isIntersecting;
        if (isIntersecting) entered.push(view);
        else this.#release(view);
      }
      // What is not on the screen must not delay what is.
      const later = this.#pages.some(isOnScreen) ? this.anyDrawn : undefined;
      for (const view of entered)
        if (later === undefined || isOnScreen(view)) void this.#draw(view);
        else void later.then(() => this.#draw(view));
    },
    { rootMargin: PRELOAD_PAGES },
  );

  constructor(container: HTMLElement, pdf: PdfLibrary, file: PdfDocument, pageOf: string) {
    this.#container = container;
    this.#pdf = pdf;
    this.#file = file;
    this.#pageOf = pageOf;
  }

  get count(): number {
    return this.#file.numPages;
  }

  async start(): Promise<void> {
    await this.#addPages();
    new ResizeObserver(() => {
      if (this.#container.clientWidth !== this.#width) this.#layOut();
    }).observe(this.#container);
    this.#sharpenAfterPinch();
    // The text of all pages must not delay the picture of the first.
    void this.anyDrawn.then(() => this.#readTexts());
    delay(MAX_TEXT_DELAY_MS, () => {
      // A page that is being rendered, however slowly, tells it itself.
      if (!this.#pages.some(({ near }) => near)) this.#tellDrawn();
    });
  }

  /** Adds a place for each page. */
  async #addPages(): Promise<void> {
    const { width, height } = (await this.#file.getPage(1)).getViewport({ scale: 1 });
    // The page may begin with the sheet of the first one.
    const sheet = findElement(':scope > .page:not([data-page])', HTMLElement, this.#container);
    sheet?.removeAttribute('aria-hidden');
    this.#pages = Array.from({ length: this.count }, (_, index) => ({
      frame: withAttributes(index === 0 && sheet !== undefined ? sheet : createElement('div'), {
        class: 'page',
        role: 'group',
        'aria-label': filled(this.#pageOf, { page: index + 1, count: this.count }),
        'data-page': String(index + 1),
      }),
      number: index + 1,
      size: { width, height },
      page: undefined,
      canvas: undefined,
      stop: undefined,
      near: false,
      hasText: false,
      drawnAt: 0,
      turn: undefined,
      failures: 0,
    }));
    // Sized before they replace other pages, so that the place on the screen stays.
    this.#layOut();
    const frames = this.#pages.map(({ frame }) => frame);
    // What is on the screen stays there.
    if (sheet === undefined) this.#container.replaceChildren(...frames);
    else sheet.after(...frames.slice(1));
    for (const { frame } of this.#pages) this.#observer.observe(frame);
  }

  /** Renders pages again when fingers have changed their size, or have moved the enlarged page. */
  #sharpenAfterPinch(): void {
    let cancel = () => {};
    const settle = () => {
      cancel();
      cancel = delay(PINCH_PAUSE_MS, () => {
        const pinch = Math.max(1, window.visualViewport?.scale ?? 1);
        if (Math.abs(pinch - this.#pinch) >= MIN_PINCH_CHANGE) this.#pinch = pinch;
        for (const view of this.#pages) if (view.near) void this.#draw(view);
      });
    };
    for (const type of ['resize', 'scroll']) window.visualViewport?.addEventListener(type, settle);
    window.addEventListener('scroll', () => {
      if (this.#pinch > 1) settle();
    });
  }

  async pageSizes(): Promise<readonly PageSize[]> {
    for (const view of this.#pages) await this.#open(view);
    return this.#pages.map(({ size }) => size);
  }

  current(): number {
    const middle = window.innerHeight / 2;
    const found = this.#pages.find(({ frame }) => frame.getBoundingClientRect().bottom > middle);
    return found?.number ?? this.count;
  }

  goTo(number: number): void {
    const wanted = number === -1 ? this.count : Math.min(Math.max(1, Math.trunc(number)), this.count);
    this.#pages[wanted - 1]?.frame.scrollIntoView({ block: 'start' });
  }

  setZoom(zoom: Zoom): void {
    this.#zoom = zoom;
    this.#layOut();
  }

  scale(number: number): number {
    // Each page for itself: a wide one, of which the size is known later, does not make those smaller that are on the screen.
    const width = Math.max(this.#pages[number - 1]?.size.width ?? 1, 1);
    if (this.#zoom === 'PageWidth') return Math.max(0.1, this.#container.clientWidth / width);
    return (Number(this.#zoom) / 100) * PIXELS_PER_POINT;
  }

  frame(number: number): HTMLElement | undefined {
    return this.#pages[number - 1]?.frame;
  }

  thumbnail(number: number, width: number, place?: readonly number[]): Promise<HTMLCanvasElement> {
    return drawnPage(this.#file, number, width, place);
  }

  async drawAll(): Promise<void> {
    for (const view of this.#pages) {
      view.near = true;
      await this.#draw(view);
    }
  }

  async cover(place: Omit<PointedPlace, 'type'>): Promise<void> {
    await this.#lay(createElement('div', { class: 'cover', 'aria-hidden': 'true' }), place);
  }

  async point(mark: PointedPlace, label: string, field?: number): Promise<void> {
    const box = createElement(
      'div',
      {
        class: 'mark',
        'data-mark': mark.type,
        role: 'group',
        'aria-label': label,
        tabindex: '-1',
        'data-field': field === undefined ? undefined : String(field),
      },
      createElement('span', {}, label),
    );
    await this.#lay(box, mark);
  }

  /** Lays an element over a place. */
  async #lay(box: HTMLElement, place: Omit<PointedPlace, 'type'>): Promise<void> {
    const view = this.#pages[(place.pageNumber ?? this.count) - 1];
    if (view === undefined) return;
    await this.#open(view);
    const { width, height } = view.size;
    box.style.left = percent(place.topLeftX, width);
    box.style.setProperty('--left', box.style.left);
    box.style.top = percent(place.topLeftY, height);
    box.style.setProperty('--top', box.style.top);
    box.style.width = percent(place.width, width);
    box.style.height = percent(place.height, height);
    box.style.setProperty('--height', box.style.height);
    view.frame.append(box);
  }

  /** Sets the size of every page; existing canvases stretch until they are rendered again. */
  #layOut(): void {
    this.#width = this.#container.clientWidth;
    for (const view of this.#pages) this.#layOutPage(view);
  }

  #layOutPage(view: PageView): void {
    size(view, this.scale(view.number));
    if (view.near) void this.#draw(view);
  }

  async #open(view: PageView): Promise<PdfPage> {
    view.page ??= this.#file.getPage(view.number);
    const page = await view.page;
    const { width, height } = page.getViewport({ scale: 1 });
    if (width !== view.size.width || height !== view.size.height) {
      view.size = { width, height };
      this.#layOutPage(view);
    }
    return page;
  }

  async #draw(view: PageView): Promise<void> {
    const page = await this.#open(view).catch(() => undefined);
    if (page === undefined) return this.#failed(view);
    if (!view.hasText) void this.anyDrawn.then(() => this.#readText(view)).catch(() => undefined);
    const scale = this.scale(view.number);
    // The others keep a canvas of their usual size: all of them in this one exceed the memory that phones give a page.
    const pinch = isOnScreen(view) ? this.#pinch : 1;
    const drawnAt = scale * pinch;
    if (!view.near || view.drawnAt === drawnAt) return;
    view.stop?.();
    view.drawnAt = drawnAt;
    const turn = {};
    view.turn = turn;
    const viewport = page.getViewport({ scale });
    const fine = Math.min(
      Math.max(1, window.devicePixelRatio) * pinch,
      Math.sqrt(MAX_PIXELS / (viewport.width * viewport.height)),
    );
    const canvas = createElement('canvas');
    canvas.width = Math.ceil(viewport.width * fine);
    canvas.height = Math.ceil(viewport.height * fine);
    canvas.setAttribute('aria-hidden', 'true');
    const task = page.render({ canvas, viewport, transform: [fine, 0, 0, fine, 0, 0] });
    view.stop = () => task.cancel();
    try {
      await task.promise;
    } catch {
      // Otherwise released, or rendered again.
      if (view.turn === turn) this.#failed(view);
      return;
    }
    if (view.turn !== turn) return;
    view.stop = undefined;
    discard(view.canvas);
    view.canvas = canvas;
    view.frame.append(canvas);
    // A picture that is still to come is not loaded any more.
    for (const sheet of view.frame.querySelectorAll('.sheet-of')) {
      sheet.removeAttribute('src');
      sheet.remove();
    }
    view.frame.setAttribute('data-drawn', 'true');
    view.frame.dispatchEvent(new Event('drawn', { bubbles: true }));
    this.#tellDrawn();
  }

  /** Renders a page again that has failed: phones refuse a canvas while they free others. */
  #failed(view: PageView): void {
    this.#tellDrawn();
    view.drawnAt = 0;
    view.page = undefined;
    view.failures += 1;
    if (view.failures < MAX_FAILURES) delay(FAILURE_PAUSE_MS * view.failures, () => void this.#draw(view));
  }

  /** Frees the memory of a rendered page. */
  #release(view: PageView): void {
    view.turn = undefined;
    view.stop?.();
    view.stop = undefined;
    view.drawnAt = 0;
    view.page?.then((page) => page.cleanup()).catch(() => undefined);
    discard(view.canvas);
    view.canvas = undefined;
    view.frame.removeAttribute('data-drawn');
  }

  async #readTexts(): Promise<void> {
    for (const view of this.#pages.slice(0, TEXT_PAGES)) {
      await this.#readText(view).catch(() => undefined);
      await new Promise<void>((resolve) => delay(0, resolve));
    }
  }

  async #readText(view: PageView): Promise<void> {
    if (view.hasText) return;
    view.hasText = true;
    const page = await this.#open(view);
    // Browsers would put other words than the document's into what is read aloud and copied.
    const container = createElement('div', { class: 'textLayer', translate: 'no' });
    view.frame.append(container);
    await new this.#pdf.TextLayer({
      textContentSource: page.streamTextContent({ includeMarkedContent: true }),
      container,
      viewport: page.getViewport({ scale: 1 }),
    }).render();
  }
}

/** Of an enlarged page the part that is seen counts. */
function isOnScreen({ near, frame }: PageView): boolean {
  const { top, bottom } = frame.getBoundingClientRect();
  const { offsetTop = 0, height = window.innerHeight } = window.visualViewport ?? {};
  return near && bottom > offsetTop && top < offsetTop + height;
}

/** Removes a canvas; some browsers keep the memory of a removed one. */
function discard(canvas: HTMLCanvasElement | undefined): void {
  if (canvas === undefined) return;
  canvas.remove();
  canvas.width = 0;
  canvas.height = 0;
}

function size({ frame, size: { width, height } }: PageView, scale: number): void {
  frame.style.width = `${width * scale}px`;
  frame.style.height = `${height * scale}px`;
  // On paper each page fills one sheet.
  frame.style.setProperty('--ratio', String(width / height));
  // Custom property that the text layer reads.
  frame.style.setProperty('--total-scale-factor', String(scale));
}

function percent(length: number, whole: number): string {
  return `${(100 * length) / whole}%`;
}
