/**
 * The little of the browser that our pages use. It is typed here, and not by the compiler's own library, so that
 * names such as `location` or `status` stay unknown to the rest of the program.
 *
 * This file and its neighbours run in browsers: they are compiled like everything else and served as they are.
 */

/** An element; members that only some have are missing on others. */
export interface PageElement {
  id: string;
  hidden: boolean;
  className: string;
  textContent: string | null;
  value: string;
  disabled: boolean;
  checked: boolean;
  readonly name: string;
  readonly open: boolean;
  readonly isConnected: boolean;
  readonly files: ArrayLike<File> | null;
  readonly dataset: { [name: string]: string | undefined };
  append(...nodes: (PageElement | string)[]): void;
  replaceChildren(...nodes: (PageElement | string)[]): void;
  remove(): void;
  focus(): void;
  click(): void;
  getAttribute(name: string): string | null;
  setAttribute(name: string, value: string): void;
  removeAttribute(name: string): void;
  addEventListener(type: string, listener: (event: PageEvent) => void): void;
  querySelector(selectors: string): PageElement | null;
  querySelectorAll(selectors: string): Iterable<PageElement>;
  closest(selectors: string): PageElement | null;
  /** Of a `<dialog>`. */
  showModal(): void;
  close(value?: string): void;
  readonly returnValue: string;
}

export interface PageEvent {
  readonly key: string;
  readonly target: PageElement;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
  readonly altKey: boolean;
  preventDefault(): void;
}

interface Browser {
  readonly document: {
    readonly body: PageElement;
    readonly activeElement: PageElement | null;
    readonly hidden: boolean;
    title: string;
    querySelector(selectors: string): PageElement | null;
    querySelectorAll(selectors: string): Iterable<PageElement>;
    createElement(name: string): PageElement;
    createElementNS(space: string, name: string): PageElement;
    addEventListener(type: string, listener: (event: PageEvent) => void): void;
  };
  readonly location: {
    readonly pathname: string;
    readonly search: string;
    readonly origin: string;
    assign(url: string): void;
  };
  readonly history: { replaceState(state: unknown, title: string, url: string): void };
}

const browser = globalThis as unknown as Browser;

export const { document, location, history } = browser;

/** Calls once, in so many milliseconds; the answer cancels it. */
export function later(milliseconds: number, task: () => void): () => void {
  const timer = setTimeout(task, milliseconds);
  return () => clearTimeout(timer);
}

/** The element, which the page surely has. */
export function part(selectors: string, inside: Pick<PageElement, 'querySelector'> = document): PageElement {
  const found = inside.querySelector(selectors);
  if (found === null) throw new Error(`The page has no ${selectors}.`);
  return found;
}

/** Attributes of `make`; a value of undefined leaves one out. */
export type Attributes = { readonly [name: string]: string | undefined };

/** A new element; text given as a child stays text. */
export function make(
  name: string,
  attributes: Attributes = {},
  ...children: (PageElement | string)[]
): PageElement {
  return filled(document.createElement(name), attributes, children);
}

/** A new element of a drawing. */
export function draw(
  name: string,
  attributes: Attributes,
  ...children: (PageElement | string)[]
): PageElement {
  return filled(document.createElementNS('http://www.w3.org/2000/svg', name), attributes, children);
}

function filled(
  element: PageElement,
  attributes: Attributes,
  children: readonly (PageElement | string)[],
): PageElement {
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== undefined) element.setAttribute(key, value);
  }
  element.append(...children);
  return element;
}
