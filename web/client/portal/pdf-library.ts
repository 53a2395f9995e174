/** The part of the pdf.js interface that the pages use, and the selection of one of its two builds. */

import { below, createElement } from '../dom.ts';
import type { PageSize } from './initials.ts';

export interface PdfViewport {
  /** CSS pixels at the requested scale. */
  readonly width: number;
  readonly height: number;
}

export interface PdfPage {
  getViewport(options: { readonly scale: number }): PdfViewport;
  render(options: {
    readonly canvas: unknown;
    readonly viewport: PdfViewport;
    readonly transform?: readonly number[];
  }): {
    readonly promise: Promise<void>;
    cancel(): void;
  };
  streamTextContent(options: { readonly includeMarkedContent: boolean }): unknown;
  cleanup(): void;
}

export interface PdfDocument {
  readonly numPages: number;
  /** From 1. */
  getPage(number: number): Promise<PdfPage>;
  /** Frees what the worker keeps of the file, and ends the worker for all files of the page that are open. */
  destroy(): Promise<void>;
}

interface TextLayer {
  render(): Promise<void>;
}

export interface PdfLibrary {
  readonly GlobalWorkerOptions: { workerPort: Worker };
  readonly TextLayer: new (options: {
    readonly textContentSource: unknown;
    readonly container: unknown;
    readonly viewport: PdfViewport;
  }) => TextLayer;
  getDocument(options: { readonly [name: string]: unknown }): { readonly promise: Promise<PdfDocument> };
}

/** Features of the modern build that browsers older than about a year lack; the legacy build polyfills them. */
function isNew(): boolean {
  const has = (owner: object, name: string) => name in owner;
  return (
    has(Promise, 'try') &&
    has(Promise, 'withResolvers') &&
    has(URL, 'parse') &&
    has(Math, 'sumPrecise') &&
    has(Uint8Array, 'fromBase64') &&
    has(Uint8Array.prototype, 'toHex') &&
    has(Map.prototype, 'getOrInsertComputed')
  );
}

function address(path: string): string {
  return new URL(path, import.meta.url).href;
}

interface LoadedLibrary {
  readonly pdf: PdfLibrary;
  /** False: letters are drawn as paths. */
  readonly usesFonts: boolean;
  /** Rejects when the worker cannot be loaded: the library would wait for it without end. */
  readonly workerFailed: Promise<never>;
}

/** The library that this page has; `pages/early-pdf.ts` is another script of the page. */
const loaded: typeof globalThis & { pdfLibrary?: Promise<LoadedLibrary> } = globalThis;

export function pdfLibrary(): Promise<LoadedLibrary> {
  loaded.pdfLibrary ??= load();
  return loaded.pdfLibrary;
}

async function load(): Promise<LoadedLibrary> {
  const old = isNew() ? '' : 'old-';
  // Started before the library is there, so that both are loaded at the same time.
  const worker = new Worker(address(`${old}pdf.worker.min.mjs`), { type: 'module' });
  const workerFailed = new Promise<never>((_, reject) => {
    worker.addEventListener('error', () => reject(new Error('The worker of pdf.js was not loaded.')));
  });
  workerFailed.catch(() => undefined);
  const usesFonts = import(address('font-probe.js'))
    .then((probe: { canUseFonts(): Promise<boolean> }) => probe.canUseFonts())
    .catch(() => false);
  const pdf = (await import(address(`${old}pdf.min.mjs`))) as PdfLibrary;
  pdf.GlobalWorkerOptions.workerPort = worker;
  return { pdf, usesFonts: await usesFonts, workerFailed };
}

/** Opens the PDF at an address of this host; fetches ranges on demand. */
export async function openPdf(
  url: string,
): Promise<{ readonly pdf: PdfLibrary; readonly file: PdfDocument }> {
  const { pdf, usesFonts, workerFailed } = await pdfLibrary();
  const opened = pdf.getDocument({
    url: below(url),
    cMapUrl: address('cmaps/'),
    cMapPacked: true,
    standardFontDataUrl: address('standard-fonts/'),
    wasmUrl: address('wasm/'),
    enableXfa: false,
    disableFontFace: !usesFonts,
    // Errors only: warnings about a file do not help in the console.
    verbosity: 0,
  });
  // A file that is refused before the worker asks for it leaves a promise of the library without a handler; `opened`
  // rejects later. Of a file that opens, no such promise is the library's.
  const unhandled: unknown[] = [];
  const hold = (event: PromiseRejectionEvent) => {
    event.preventDefault();
    unhandled.push(event.reason);
  };
  addEventListener('unhandledrejection', hold);
  try {
    const file = await Promise.race([opened.promise, workerFailed]);
    for (const reason of unhandled) reportError(reason);
    return { pdf, file };
  } finally {
    removeEventListener('unhandledrejection', hold);
  }
}

/** A small picture of a page. @param width CSS pixels */
export async function drawnPage(
  file: PdfDocument,
  number: number,
  width: number,
): Promise<HTMLCanvasElement> {
  const page = await file.getPage(number);
  const scale = (width / page.getViewport({ scale: 1 }).width) * Math.max(1, window.devicePixelRatio);
  const viewport = page.getViewport({ scale });
  const canvas = createElement('canvas', { 'aria-hidden': 'true' });
  canvas.width = Math.ceil(viewport.width);
  canvas.height = Math.ceil(viewport.height);
  await page.render({ canvas, viewport }).promise;
  return canvas;
}

/** Sizes of all pages of the PDF at an address of this host, points. */
export async function pageSizesOf(url: string): Promise<readonly PageSize[]> {
  const { file } = await openPdf(url);
  const sizes: PageSize[] = [];
  for (let number = 1; number <= file.numPages; number += 1) {
    const { width, height } = (await file.getPage(number)).getViewport({ scale: 1 });
    sizes.push({ width, height });
  }
  return sizes;
}
