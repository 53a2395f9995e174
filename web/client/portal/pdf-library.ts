/** The part of the pdf.js interface that the pages use. */

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

function address(path: string): string {
  return new URL(path, import.meta.url).href;
}

export interface LoadedLibrary {
  readonly pdf: PdfLibrary;
  /** False: letters are drawn as paths. */
  readonly usesFonts: boolean;
  /** Rejects when the worker cannot be loaded: the library would wait for it without end. */
  readonly workerFailed: Promise<never>;
}

/** The library that this page has: `pages/early-pdf.ts` is a script of the page already, or is loaded now. */
export async function pdfLibrary(): Promise<LoadedLibrary> {
  const { library }: { readonly library: Promise<LoadedLibrary> } = await import(address('early-pdf.js'));
  return library;
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
    // Letters look the same everywhere; the files of fonts come only for a document that embeds none.
    useSystemFonts: false,
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

/** A small picture of a page. @param width CSS pixels @param place shown on it; left, top, width and height, points */
export async function drawnPage(
  file: PdfDocument,
  number: number,
  width: number,
  place?: readonly number[],
): Promise<HTMLCanvasElement> {
  const page = await file.getPage(number);
  const scale = (width / page.getViewport({ scale: 1 }).width) * Math.max(1, window.devicePixelRatio);
  const viewport = page.getViewport({ scale });
  const canvas = createElement('canvas', { 'aria-hidden': 'true' });
  canvas.width = Math.ceil(viewport.width);
  canvas.height = Math.ceil(viewport.height);
  await page.render({ canvas, viewport }).promise;
  const context = canvas.getContext('2d');
  const [x = 0, y = 0, across = 0, down = 0] = (place ?? []).map((length) => length * scale);
  if (context !== null && place !== undefined) {
    context.fillStyle = getComputedStyle(document.body).getPropertyValue('--now-line');
    context.globalAlpha = 0.3;
    context.fillRect(x, y, across, down);
  }
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
