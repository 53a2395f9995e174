/**
 * Pages of a PDF below each other: a picture of each and, over it, its text, invisible but there for selection,
 * find-in-page and screen readers. Pictures are made for pages in sight and given up far from it.
 */
import {
  type CanvasPart,
  IntersectionObserver,
  later,
  make,
  makeCanvas,
  type Part,
  ResizeObserver,
  window,
} from './dom.ts';
import type { PageSize } from './initials.ts';
import { filled, type PlacedMark } from './page-data.ts';
import { openPdf, type PdfDocument, type PdfLibrary, type PdfPage } from './pdf-library.ts';

/** CSS pixels per point at 100 per cent. */
const PIXELS_PER_POINT = 96 / 72;
/** Pixels of one picture at most; beyond it, phones run out of memory. */
const MOST_PIXELS = 12_000_000;
/** Of files with more pages, the text is read when a page comes near. */
const TEXT_PAGES = 200;
/** How far around the window pages are prepared. */
const NEAR = '60% 0px';

/** `PageWidth`, or per cent as text. */
export type Zoom = string;

interface Leaf {
  readonly frame: Part;
  readonly number: number;
  size: PageSize;
  page: Promise<PdfPage> | undefined;
  canvas: CanvasPart | undefined;
  stop: (() => void) | undefined;
  near: boolean;
  hasText: boolean;
  /** Scale of the picture that is there; 0 = none. */
  drawnAt: number;
}

export interface ShownPdf {
  readonly count: number;
  pageSizes(): Promise<readonly PageSize[]>;
  /** The page in the middle of the window, from 1. */
  current(): number;
  /** @param number from 1; -1 = the last */
  goTo(number: number): void;
  setZoom(zoom: Zoom): void;
  /** CSS pixels per point. */
  scale(): number;
  /** The frame of a page, which is as large as the page. @param number from 1 */
  frame(number: number): Part | undefined;
  /** Shows where a mark will be. */
  point(mark: PlacedMark, label: string): Promise<void>;
}

/** @param words `pageOf` with `{page}` and `{count}` */
export async function showPdf(
  container: Part,
  url: string,
  words: { readonly pageOf: string },
): Promise<ShownPdf> {
  const { pdf, file } = await openPdf(url);
  const view = new PdfView(container, pdf, file, words.pageOf);
  await view.begin();
  return view;
}

class PdfView implements ShownPdf {
  readonly #container: Part;
  readonly #pdf: PdfLibrary;
  readonly #file: PdfDocument;
  readonly #pageOf: string;
  readonly #leaves: Leaf[] = [];
  #zoom: Zoom = 'PageWidth';
  #width = 0;

  constructor(container: Part, pdf: PdfLibrary, file: PdfDocument, pageOf: string) {
    this.#container = container;
    this.#pdf = pdf;
    this.#file = file;
    this.#pageOf = pageOf;
  }

  get count(): number {
    return this.#file.numPages;
  }

  async begin(): Promise<void> {
    const first = (await this.#file.getPage(1)).getViewport({ scale: 1 });
    for (let number = 1; number <= this.count; number += 1) {
      const label = filled(this.#pageOf, { page: number, count: this.count });
      const frame = make('div', {
        class: 'page',
        role: 'group',
        'aria-label': label,
        'data-page': String(number),
      });
      this.#container.append(frame);
      const size = { width: first.width, height: first.height };
      this.#leaves.push({
        frame,
        number,
        size,
        page: undefined,
        canvas: undefined,
        stop: undefined,
        near: false,
        hasText: false,
        drawnAt: 0,
      });
    }
    this.#lay();
    const observer = new IntersectionObserver(
      (entries) => {
        for (const { target, isIntersecting } of entries) {
          const leaf = this.#leaves[Number(target.dataset['page']) - 1];
          if (leaf === undefined) continue;
          leaf.near = isIntersecting;
          if (isIntersecting) void this.#draw(leaf);
          else this.#giveUp(leaf);
        }
      },
      { rootMargin: NEAR },
    );
    for (const { frame } of this.#leaves) observer.observe(frame);
    new ResizeObserver(() => {
      if (this.#container.clientWidth !== this.#width) this.#lay();
    }).observe(this.#container);
    void this.#readTexts();
  }

  async pageSizes(): Promise<readonly PageSize[]> {
    for (const leaf of this.#leaves) await this.#open(leaf);
    return this.#leaves.map(({ size }) => size);
  }

  current(): number {
    const middle = window.innerHeight / 2;
    const found = this.#leaves.find(({ frame }) => frame.getBoundingClientRect().bottom > middle);
    return found?.number ?? this.count;
  }

  goTo(number: number): void {
    const wanted = number === -1 ? this.count : Math.min(Math.max(1, Math.trunc(number)), this.count);
    this.#leaves[wanted - 1]?.frame.scrollIntoView({ block: 'start' });
  }

  setZoom(zoom: Zoom): void {
    const page = this.current();
    this.#zoom = zoom;
    this.#lay();
    this.goTo(page);
  }

  scale(): number {
    const widest = Math.max(...this.#leaves.slice(0, TEXT_PAGES).map(({ size }) => size.width), 1);
    if (this.#zoom === 'PageWidth') return Math.max(0.1, this.#container.clientWidth / widest);
    return (Number(this.#zoom) / 100) * PIXELS_PER_POINT;
  }

  frame(number: number): Part | undefined {
    return this.#leaves[number - 1]?.frame;
  }

  async point(mark: PlacedMark, label: string): Promise<void> {
    const leaf = this.#leaves[(mark.pageNumber ?? this.count) - 1];
    if (leaf === undefined) return;
    await this.#open(leaf);
    const { width, height } = leaf.size;
    const box = make('div', { class: 'mark' }, make('span', {}, label));
    box.style.left = percent(mark.topLeftX, width);
    box.style.top = percent(mark.topLeftY, height);
    box.style.width = percent(mark.width, width);
    box.style.height = percent(mark.height, height);
    leaf.frame.append(box);
  }

  /** Gives every page its room; pictures that are there stretch until better ones are made. */
  #lay(): void {
    this.#width = this.#container.clientWidth;
    const scale = this.scale();
    for (const leaf of this.#leaves) {
      size(leaf, scale);
      if (leaf.near) void this.#draw(leaf);
    }
  }

  async #open(leaf: Leaf): Promise<PdfPage> {
    leaf.page ??= this.#file.getPage(leaf.number);
    const page = await leaf.page;
    const { width, height } = page.getViewport({ scale: 1 });
    if (width !== leaf.size.width || height !== leaf.size.height) {
      leaf.size = { width, height };
      // The widest page decides how large all of them are.
      this.#lay();
    }
    return page;
  }

  async #draw(leaf: Leaf): Promise<void> {
    const page = await this.#open(leaf);
    if (!leaf.hasText) void this.#readText(leaf);
    const scale = this.scale();
    if (!leaf.near || leaf.drawnAt === scale) return;
    leaf.stop?.();
    leaf.drawnAt = scale;
    const viewport = page.getViewport({ scale });
    const fine = Math.min(
      Math.max(1, window.devicePixelRatio),
      Math.sqrt(MOST_PIXELS / (viewport.width * viewport.height)),
    );
    const canvas = makeCanvas();
    canvas.width = Math.ceil(viewport.width * fine);
    canvas.height = Math.ceil(viewport.height * fine);
    canvas.setAttribute('aria-hidden', 'true');
    const task = page.render({ canvas, viewport, transform: [fine, 0, 0, fine, 0, 0] });
    leaf.stop = () => task.cancel();
    try {
      await task.promise;
    } catch {
      // Given up, or drawn anew at another size.
      if (leaf.drawnAt === scale) leaf.drawnAt = 0;
      return;
    }
    if (leaf.drawnAt !== scale) return;
    leaf.stop = undefined;
    leaf.canvas?.remove();
    leaf.canvas = canvas;
    leaf.frame.append(canvas);
    leaf.frame.setAttribute('data-drawn', 'true');
  }

  #giveUp(leaf: Leaf): void {
    leaf.stop?.();
    leaf.stop = undefined;
    leaf.drawnAt = 0;
    void leaf.page?.then((page) => page.cleanup());
    if (leaf.canvas !== undefined) {
      leaf.canvas.remove();
      // Some browsers keep the memory of a canvas that is gone.
      leaf.canvas.width = 0;
      leaf.canvas.height = 0;
      leaf.canvas = undefined;
    }
    leaf.frame.removeAttribute('data-drawn');
  }

  async #readTexts(): Promise<void> {
    for (const leaf of this.#leaves.slice(0, TEXT_PAGES)) {
      await this.#readText(leaf).catch(() => undefined);
      await new Promise<void>((resolve) => later(0, resolve));
    }
  }

  async #readText(leaf: Leaf): Promise<void> {
    if (leaf.hasText) return;
    leaf.hasText = true;
    const page = await this.#open(leaf);
    const container = make('div', { class: 'textLayer' });
    leaf.frame.append(container);
    await new this.#pdf.TextLayer({
      textContentSource: page.streamTextContent({ includeMarkedContent: true }),
      container,
      viewport: page.getViewport({ scale: 1 }),
    }).render();
  }
}

function size({ frame, size: { width, height } }: Leaf, scale: number): void {
  frame.style.width = `${width * scale}px`;
  frame.style.height = `${height * scale}px`;
  // What the text layer reckons with.
  frame.style.setProperty('--total-scale-factor', String(scale));
}

function percent(length: number, whole: number): string {
  return `${(100 * length) / whole}%`;
}
