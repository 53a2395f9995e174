/**
 * The embedding widget, served at `/widget.js` for any page: puts a signing page into an element and tells what
 * became of it. A plain script; it needs no library and asks for nothing itself.
 *
 *     const widget = new SealwrightWidget();
 *     widget.on('documentSigned', ({ id }) => …);
 *     widget.render(embedUrl, 'element-id', 1, 'PageWidth');
 *
 * or `<sealwright-signing src="…embedUrl…" refusal></sealwright-signing>`.
 *
 * Source: portal-gaps §9, "Embedding protocol".
 */

interface WidgetOptions {
  /** Notices are sent after signing. @default false */
  readonly notify?: boolean;
  /** Shows no document. @default false */
  readonly hidePreview?: boolean;
  /** Offers refusing. @default false */
  readonly refusal?: boolean;
  /** `light` or `dark`. @default that of the system */
  readonly theme?: string;
  /** `pt`, `en` or `es`. @default that of the browser */
  readonly culture?: string;
}

interface WidgetMessage {
  readonly type: string;
  readonly id?: string;
  readonly data?: unknown;
}

interface Element {
  readonly contentWindow: object;
  readonly isConnected: boolean;
  readonly style: { [name: string]: string };
  setAttribute(name: string, value: string): void;
  getAttribute(name: string): string | null;
  hasAttribute(name: string): boolean;
  replaceChildren(...nodes: Element[]): void;
  dispatchEvent(event: object): void;
}

interface Surroundings {
  readonly document: { createElement(name: string): Element; getElementById(id: string): Element | null };
  addEventListener(type: 'message', listener: (event: Message) => void): void;
  readonly HTMLElement: new () => Element;
  readonly CustomEvent: new (
    type: string,
    options: { readonly detail: unknown; readonly bubbles: boolean },
  ) => object;
  readonly customElements: {
    get(name: string): unknown;
    define(name: string, element: new () => Element): void;
  };
  SealwrightWidget?: unknown;
}

interface Message {
  readonly data: unknown;
  readonly origin: string;
  readonly source: object | null;
}

type Listener = (message: WidgetMessage) => void;

const around = globalThis as unknown as Surroundings;
const KNOWN = ['documentSigned', 'documentApproved', 'documentRefused', 'marksPositioned'];

/** Shows one signing page at a time. */
class SealwrightWidget {
  readonly #options: WidgetOptions;
  readonly #listeners = new Map<string, Set<Listener>>();
  #frame: Element | undefined;
  #origin = '';

  constructor(options: WidgetOptions = {}) {
    this.#options = options;
    around.addEventListener('message', ({ data, origin, source }) => {
      // Others may talk to the page as well; only our own frame is listened to.
      if (origin !== this.#origin || source !== this.#frame?.contentWindow || typeof data !== 'string')
        return;
      const message = readMessage(data);
      if (message === undefined) return;
      for (const listener of this.#listeners.get(message.type) ?? []) listener(message);
    });
  }

  /** Calls `listener` for every message of this type; the answer stops that. */
  on(type: string, listener: Listener): () => void {
    const listeners = this.#listeners.get(type) ?? new Set();
    listeners.add(listener);
    this.#listeners.set(type, listeners);
    return () => listeners.delete(listener);
  }

  /** @param page from 1, -1 = the last; @param scale `PageWidth`, 50, 75, 100, 125, 150, 200 or 300 */
  render(embedUrl: string, elementId: string, page?: number, scale?: string | number): Element {
    const element = around.document.getElementById(elementId);
    if (element === null) throw new Error(`The page has no element with the id ${elementId}.`);
    return this.renderElement(embedUrl, element, page, scale);
  }

  renderElement(embedUrl: string, element: Element, page?: number, scale?: string | number): Element {
    const frame = around.document.createElement('iframe');
    frame.setAttribute('allow', 'geolocation; camera; fullscreen');
    frame.setAttribute('title', 'Document');
    Object.assign(frame.style, { width: '100%', height: '100%', minHeight: '40rem', border: '0' });
    frame.setAttribute('src', this.#address(embedUrl, page, scale));
    this.#origin = new URL(embedUrl).origin;
    this.#frame = frame;
    element.replaceChildren(frame);
    return frame;
  }

  #address(embedUrl: string, page: number | undefined, scale: string | number | undefined): string {
    const { notify, hidePreview, refusal, theme, culture } = this.#options;
    const wanted: readonly (readonly [name: string, value: string | undefined])[] = [
      ['notify', notify === true ? 'true' : undefined],
      ['page', page === undefined ? undefined : String(page)],
      ['scale', scale === undefined ? undefined : String(scale)],
      ['preview', hidePreview === true ? 'true' : undefined],
      ['refusal', refusal === true ? 'true' : undefined],
      ['theme', theme],
      ['culture', culture],
    ];
    const given = wanted.filter(([, value]) => value !== undefined && value !== '');
    const more = given.map(([name, value]) => `&${name}=${encodeURIComponent(value ?? '')}`).join('');
    return `${embedUrl}${more}`;
  }
}

function readMessage(text: string): WidgetMessage | undefined {
  try {
    const message = JSON.parse(text) as WidgetMessage;
    return KNOWN.includes(message.type) ? message : undefined;
  } catch {
    return undefined;
  }
}

/** The same as an element; messages become events of their name. */
class SealwrightSigning extends around.HTMLElement {
  static readonly observedAttributes = ['src'];

  connectedCallback(): void {
    this.#show();
  }

  attributeChangedCallback(): void {
    if (this.isConnected) this.#show();
  }

  #shown = '';

  #show(): void {
    const src = this.getAttribute('src');
    // Browsers tell of the attribute and of the element being there; one page is shown for both.
    if (src === null || src === '' || src === this.#shown) return;
    this.#shown = src;
    const widget = new SealwrightWidget({
      notify: this.hasAttribute('notify'),
      hidePreview: this.hasAttribute('hide-preview'),
      refusal: this.hasAttribute('refusal'),
      theme: this.getAttribute('theme') ?? '',
      culture: this.getAttribute('culture') ?? '',
    });
    for (const type of KNOWN) {
      widget.on(type, (message) => {
        this.dispatchEvent(new around.CustomEvent(type, { detail: message, bubbles: true }));
      });
    }
    const page = this.getAttribute('page');
    this.style['display'] = 'block';
    widget.renderElement(
      src,
      this,
      page === null ? undefined : Number(page),
      this.getAttribute('scale') ?? undefined,
    );
  }
}

around.SealwrightWidget = SealwrightWidget;
if (around.customElements.get('sealwright-signing') === undefined) {
  around.customElements.define('sealwright-signing', SealwrightSigning);
}

export {};
