/**
 * The embedding widget, served at `/widget.js` for any page: puts a signing page or the editor into an element and reports its
 * events. A classic script without dependencies, which sends no requests itself.
 *
 *     const widget = new SealwrightWidget();
 *     widget.on('documentSigned', ({ id }) => …);
 *     widget.render(embedUrl, 'element-id', 1, 'PageWidth');
 *
 * or `<sealwright-signing src="…embedUrl…" refusal></sealwright-signing>`.
 *
 * Source: docs/portal-values.md §9.
 */

interface WidgetOptions {
  /** Sends no notifications after signing. @default false */
  readonly notify?: boolean;
  /** Hides the document. @default false */
  readonly hidePreview?: boolean;
  /** Offers refusing. @default false */
  readonly refusal?: boolean;
  /** `light` or `dark`. @default the system's scheme */
  readonly theme?: string;
  /** `en`, `pt`, `es`, `de`, `fr` or `it`. @default the browser's language */
  readonly culture?: string;
  /** Gives the frame the height of its content. Needs a list of origins. @default false */
  readonly autoHeight?: boolean;
  /**
   * Name of the frame for screen readers, such as the title of the document. @default the purpose of the page in its
   * language, such as "Document to sign"
   */
  readonly frameTitle?: string;
}

interface WidgetMessage {
  readonly type: string;
  readonly id?: string;
  readonly data?: unknown;
  readonly code?: string;
  /** Ids of the documents that the editor has made. */
  readonly documents?: readonly string[];
  /** CSS pixels. */
  readonly height?: number;
}

type Listener = (message: WidgetMessage) => void;

const KNOWN = [
  'documentSigned',
  'documentApproved',
  'documentRefused',
  'marksPositioned',
  'ready',
  'viewed',
  'waiting',
  'signed',
  'refused',
  'expired',
  'error',
  'resize',
  'closed',
  'saved',
  'sent',
];

/** Height from which a place has one of its own, and not that of what it holds until the frame comes; CSS pixels. */
const LEAST_HEIGHT = 320;

/** Names of the frame by language and by a part of the address. */
const FRAME_TITLES: { readonly [language: string]: readonly (readonly [part: string, title: string])[] } = {
  en: [
    ['/position-marks/', 'Places for signatures'],
    ['/editor', 'Document editor'],
    ['', 'Document to sign'],
  ],
  pt: [
    ['/position-marks/', 'Lugares das assinaturas'],
    ['/editor', 'Editor de documentos'],
    ['', 'Documento para assinar'],
  ],
  es: [
    ['/position-marks/', 'Lugares de las firmas'],
    ['/editor', 'Editor de documentos'],
    ['', 'Documento para firmar'],
  ],
  de: [
    ['/position-marks/', 'Positionen der Signaturen'],
    ['/editor', 'Dokumenteditor'],
    ['', 'Dokument zum Signieren'],
  ],
  fr: [
    ['/position-marks/', 'Emplacements des signatures'],
    ['/editor', 'Éditeur de documents'],
    ['', 'Document à signer'],
  ],
  it: [
    ['/position-marks/', 'Posizioni delle firme'],
    ['/editor', 'Editor di documenti'],
    ['', 'Documento da firmare'],
  ],
};

function frameTitle(embedUrl: string, culture: string): string {
  const titles = FRAME_TITLES[culture.slice(0, 2).toLowerCase()] ?? FRAME_TITLES['en'] ?? [];
  const { pathname } = new URL(embedUrl);
  return titles.find(([part]) => pathname.includes(part))?.[1] ?? '';
}

/** Shows one signing page at a time. */
class SealwrightWidget {
  readonly #options: WidgetOptions;
  readonly #listeners = new Map<string, Set<Listener>>();
  #frame: HTMLIFrameElement | undefined;
  #origin = '';

  constructor(options: WidgetOptions = {}) {
    this.#options = options;
    window.addEventListener('message', ({ data, origin, source }) => {
      // Other windows may post messages to the page; only those of the own frame count.
      if (origin !== this.#origin || source !== this.#frame?.contentWindow || typeof data !== 'string')
        return;
      const message = readMessage(data);
      if (message === undefined) return;
      if (message.type === 'resize' && this.#options.autoHeight === true && Number.isFinite(message.height))
        Object.assign(this.#frame.style, { height: `${message.height}px`, minHeight: '0' });
      for (const listener of this.#listeners.get(message.type) ?? []) listener(message);
    });
  }

  /** Calls `listener` for every message of this type; the returned function unsubscribes. */
  on(type: string, listener: Listener): () => void {
    const listeners = this.#listeners.get(type) ?? new Set();
    listeners.add(listener);
    this.#listeners.set(type, listeners);
    return () => listeners.delete(listener);
  }

  /** @param page from 1, -1 = the last; @param scale `PageWidth`, 50, 75, 100, 125, 150, 200 or 300 */
  render(embedUrl: string, elementId: string, page?: number, scale?: string | number): HTMLIFrameElement {
    const element = window.document.getElementById(elementId);
    if (element === null) throw new Error(`The page has no element with the id ${elementId}.`);
    return this.renderElement(embedUrl, element, page, scale);
  }

  renderElement(
    embedUrl: string,
    element: Element,
    page?: number,
    scale?: string | number,
  ): HTMLIFrameElement {
    const frame = window.document.createElement('iframe');
    frame.setAttribute(
      'allow',
      'geolocation; camera; fullscreen; publickey-credentials-get; publickey-credentials-create',
    );
    const { frameTitle: given, culture } = this.#options;
    frame.setAttribute('title', given || frameTitle(embedUrl, culture || navigator.language));
    // A place with a height of its own is filled: what follows it is not covered.
    const minHeight = element.clientHeight >= LEAST_HEIGHT ? '0' : '40rem';
    Object.assign(frame.style, { display: 'block', width: '100%', height: '100%', minHeight, border: '0' });
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

/** The widget as an element; messages become events of the same name. */
class SealwrightSigning extends HTMLElement {
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
    // Browsers call back for the attribute and for the connection; both show one page.
    if (src === null || src === '' || src === this.#shown) return;
    this.#shown = src;
    const widget = new SealwrightWidget({
      notify: this.hasAttribute('notify'),
      hidePreview: this.hasAttribute('hide-preview'),
      refusal: this.hasAttribute('refusal'),
      theme: this.getAttribute('theme') ?? '',
      culture: this.getAttribute('culture') ?? '',
      autoHeight: this.hasAttribute('auto-height'),
      frameTitle: this.getAttribute('frame-title') ?? '',
    });
    for (const type of KNOWN) {
      widget.on(type, (message) => {
        this.dispatchEvent(new CustomEvent(type, { detail: message, bubbles: true }));
      });
    }
    const page = this.getAttribute('page');
    this.style.display = 'block';
    widget.renderElement(
      src,
      this,
      page === null ? undefined : Number(page),
      this.getAttribute('scale') ?? undefined,
    );
  }
}

Object.assign(window, { SealwrightWidget });
if (window.customElements.get('sealwright-signing') === undefined) {
  window.customElements.define('sealwright-signing', SealwrightSigning);
}
