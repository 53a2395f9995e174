/** Helpers of every script that runs in a browser; compiled with the DOM's own types (web/tsconfig.json). */

/** The class of an element; elements of another class count as missing. */
type ElementClass<Type extends Element> = abstract new () => Type;

/** Attributes of a new element; undefined omits one. */
export type Attributes = { readonly [name: string]: string | undefined };

/** Finds an element. @param type expected class; @param inside where to search */
export function findElement(selectors: string): HTMLElement | undefined;
export function findElement<Type extends Element>(
  selectors: string,
  type: ElementClass<Type>,
  inside?: ParentNode,
): Type | undefined;
export function findElement(
  selectors: string,
  type: ElementClass<Element> = HTMLElement,
  inside: ParentNode = document,
): Element | undefined {
  const found = inside.querySelector(selectors);
  return found instanceof type ? found : undefined;
}

/** Finds an element that the page must contain; throws without it. */
export function requireElement(selectors: string): HTMLElement;
export function requireElement<Type extends Element>(
  selectors: string,
  type: ElementClass<Type>,
  inside?: ParentNode,
): Type;
export function requireElement(
  selectors: string,
  type: ElementClass<Element> = HTMLElement,
  inside: ParentNode = document,
): Element {
  const found = findElement(selectors, type, inside);
  if (found === undefined) throw new Error(`The page has no ${type.name} ${selectors}.`);
  return found;
}

/** Creates an element; string children become text nodes. */
export function createElement<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  attributes: Attributes = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[Name] {
  const element = withAttributes(document.createElement(name), attributes);
  element.append(...children);
  return element;
}

/** Gives attributes to an element; undefined omits one. */
export function withAttributes<Type extends Element>(element: Type, attributes: Attributes): Type {
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== undefined) element.setAttribute(key, value);
  }
  return element;
}

/** Sets a text if it differs: screen readers read a live region again after each change of its nodes. */
export function setText(element: Element, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}

/** Moves the focus to an element, if it can have it. */
export function focusElement(element: Element | null | undefined): void {
  if (element instanceof HTMLElement) element.focus();
}

/** Moves the focus back to an element; when it cannot have it any more, to its closed menu, or to the content of the page. */
export function returnFocus(before: Element | null): void {
  for (const target of [before, before?.closest('details')?.querySelector('summary'), findElement('main')]) {
    focusElement(target);
    if (document.activeElement === target) return;
  }
}

/** Parses a page; its scripts do not run and its resources do not load. */
export function parseHtml(html: string): Document {
  return new DOMParser().parseFromString(html, 'text/html');
}

/** Runs a task once after a delay; the returned function cancels it. */
export function delay(milliseconds: number, task: () => void): () => void {
  const timer = setTimeout(task, milliseconds);
  return () => clearTimeout(timer);
}

/** Loads the page again when the browser shows an earlier copy of it, whose state may be over. */
export function reloadWhenRestored(): void {
  window.addEventListener('pageshow', ({ persisted }) => {
    if (persisted) location.reload();
  });
}

/** Time of the reader's clock, milliseconds since 1970. */
export function currentTime(): number {
  return Date.now();
}

/** Offset of the reader's zone from UTC, minutes; UTC-3 = -180. */
export function utcOffsetMinutes(): number {
  return -new Date().getTimezoneOffset();
}

/** Values of this tab; browsers that forbid storage (frames of other sites) keep nothing. */
export const sessionDraft = {
  read(name: string): string | undefined {
    try {
      return sessionStorage.getItem(name) ?? undefined;
    } catch {
      return undefined;
    }
  },
  /** Undefined removes the value. */
  write(name: string, value: string | undefined): void {
    try {
      if (value === undefined) sessionStorage.removeItem(name);
      else sessionStorage.setItem(name, value);
    } catch {
      // Storage is optional: the page works without a draft.
    }
  },
};

/** The address of a path of the service, which may be below a path of its host: scripts are two folders below it. */
export function below(path: string): string {
  return path.startsWith('/') ? new URL(`../..${path}`, import.meta.url).href : path;
}
