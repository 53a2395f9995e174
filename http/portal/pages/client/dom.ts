/**
 * The little of the browser that the portal's pages use, typed here for the reason that `http/pages/client/browser.ts`
 * gives. This file and its neighbours run in browsers: compiled like everything else and served as they are.
 */

export interface PageStyle {
  width: string;
  height: string;
  left: string;
  top: string;
  setProperty(name: string, value: string): void;
}

export interface Box {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
  readonly width: number;
  readonly height: number;
}

/** What is drawn with on a canvas. */
export interface Pencil {
  lineWidth: number;
  lineCap: string;
  lineJoin: string;
  strokeStyle: string;
  fillStyle: string;
  setTransform(a: number, b: number, c: number, d: number, e: number, f: number): void;
  clearRect(x: number, y: number, width: number, height: number): void;
  beginPath(): void;
  moveTo(x: number, y: number): void;
  lineTo(x: number, y: number): void;
  quadraticCurveTo(cx: number, cy: number, x: number, y: number): void;
  arc(x: number, y: number, radius: number, from: number, to: number): void;
  stroke(): void;
  fill(): void;
}

/** An element; members that only some have are missing on others. */
export interface Part {
  id: string;
  hidden: boolean;
  className: string;
  textContent: string | null;
  value: string;
  disabled: boolean;
  checked: boolean;
  open: boolean;
  tabIndex: number;
  readonly isConnected: boolean;
  readonly childNodes: Iterable<Part>;
  readonly dataset: { [name: string]: string | undefined };
  readonly style: PageStyle;
  readonly clientWidth: number;
  readonly clientHeight: number;
  /** Of an `<input type="file">`. */
  readonly files: ArrayLike<Blob> | null;
  append(...nodes: (Part | string)[]): void;
  replaceChildren(...nodes: (Part | string)[]): void;
  remove(): void;
  focus(options?: { readonly preventScroll?: boolean }): void;
  blur(): void;
  scrollIntoView(options?: { readonly block?: string; readonly inline?: string }): void;
  getBoundingClientRect(): Box;
  getAttribute(name: string): string | null;
  setAttribute(name: string, value: string): void;
  removeAttribute(name: string): void;
  addEventListener(
    type: string,
    listener: (event: PageEvent) => void,
    options?: { readonly passive?: boolean },
  ): void;
  querySelector(selectors: string): Part | null;
  querySelectorAll(selectors: string): Iterable<Part>;
  closest(selectors: string): Part | null;
  setPointerCapture(pointer: number): void;
  reset(): void;
  /** Of a canvas. */
  getContext(kind: '2d'): Pencil | null;
  toDataURL(type: string): string;
}

export interface CanvasPart extends Part {
  width: number;
  height: number;
}

export interface PageEvent {
  readonly key: string;
  readonly shiftKey: boolean;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
  readonly altKey: boolean;
  readonly target: Part;
  readonly currentTarget: Part;
  readonly clientX: number;
  readonly clientY: number;
  readonly pointerId: number;
  readonly button: number;
  preventDefault(): void;
}

export interface Seen {
  readonly target: Part;
  readonly isIntersecting: boolean;
}

interface Place {
  readonly coords: { readonly latitude: number; readonly longitude: number; readonly accuracy: number };
}

interface BrowserWindow {
  readonly parent: BrowserWindow;
  readonly devicePixelRatio: number;
  readonly innerHeight: number;
  readonly innerWidth: number;
  readonly isSecureContext: boolean;
  postMessage(message: string, target: string): void;
  addEventListener(
    type: string,
    listener: (event: PageEvent) => void,
    options?: { readonly passive?: boolean },
  ): void;
  requestAnimationFrame(task: () => void): number;
  matchMedia(query: string): { readonly matches: boolean };
}

interface Browser {
  readonly window: BrowserWindow;
  readonly document: {
    readonly body: Part;
    readonly documentElement: Part;
    readonly activeElement: Part | null;
    readonly referrer: string;
    title: string;
    querySelector(selectors: string): Part | null;
    querySelectorAll(selectors: string): Iterable<Part>;
    createElement(name: string): Part;
    addEventListener(type: string, listener: (event: PageEvent) => void): void;
  };
  readonly location: { readonly origin: string; readonly ancestorOrigins?: ArrayLike<string> };
  readonly navigator: {
    readonly geolocation?: {
      getCurrentPosition(
        found: (place: Place) => void,
        refused: () => void,
        options: { readonly timeout: number; readonly maximumAge: number },
      ): void;
    };
  };
  readonly sessionStorage: {
    getItem(name: string): string | null;
    setItem(name: string, value: string): void;
    removeItem(name: string): void;
  };
  readonly DOMParser: new () => {
    parseFromString(text: string, type: 'text/html'): Pick<Part, 'querySelector'>;
  };
  readonly IntersectionObserver: new (
    seen: (entries: readonly Seen[]) => void,
    options: { readonly rootMargin: string },
  ) => { observe(part: Part): void; disconnect(): void };
  readonly ResizeObserver: new (changed: () => void) => { observe(part: Part): void };
  readonly Worker: new (
    url: URL,
    options: { readonly type: 'module' },
  ) => {
    onmessage: ((event: { readonly data: unknown }) => void) | null;
    onerror: (() => void) | null;
    postMessage(message: unknown): void;
    terminate(): void;
  };
}

const browser = globalThis as unknown as Browser;

export const { document, location, navigator, window, IntersectionObserver, ResizeObserver, Worker } =
  browser;

/** A page as the server sent it; nothing in it is run or loaded. */
export function parsedPage(html: string): Pick<Part, 'querySelector'> {
  return new browser.DOMParser().parseFromString(html, 'text/html');
}

/** Calls once, in so many milliseconds; the answer cancels it. */
export function later(milliseconds: number, task: () => void): () => void {
  const timer = setTimeout(task, milliseconds);
  return () => clearTimeout(timer);
}

/** Minutes from UTC where the reader is; UTC-3 = -180. */
export function minutesFromUtc(): number {
  return -new Date().getTimezoneOffset();
}

/** The element, which the page surely has. */
export function part(selectors: string, inside: Pick<Part, 'querySelector'> = document): Part {
  const found = inside.querySelector(selectors);
  if (found === null) throw new Error(`The page has no ${selectors}.`);
  return found;
}

/** The element, where the page has it. */
export function maybe(selectors: string): Part | undefined {
  return document.querySelector(selectors) ?? undefined;
}

/** A new element; text given as a child stays text. */
export function make(
  name: string,
  attributes: { readonly [name: string]: string } = {},
  ...children: (Part | string)[]
): Part {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

export function makeCanvas(): CanvasPart {
  return make('canvas') as CanvasPart;
}

/** Kept while the tab is open; browsers that forbid it (frames of other sites) keep nothing. */
export const draft = {
  read(name: string): string | undefined {
    try {
      return browser.sessionStorage.getItem(name) ?? undefined;
    } catch {
      return undefined;
    }
  },
  /** Undefined removes it. */
  write(name: string, value: string | undefined): void {
    try {
      if (value === undefined) browser.sessionStorage.removeItem(name);
      else browser.sessionStorage.setItem(name, value);
    } catch {
      // It is only a convenience.
    }
  },
};
