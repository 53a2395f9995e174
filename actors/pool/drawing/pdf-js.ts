/**
 * Loads pdf.js without a canvas of the system: it paints on a canvas that records shapes (`recorded-canvas.ts`), and takes
 * the classes of a browser from the global names while it loads.
 */
import { Matrix, Path } from './paths.ts';
import { Pixels, type RecordedCanvas, type RecordedContext } from './recorded-canvas.ts';

/** The build puts it here (`scripts/vendor-pdf.mjs`). */
export const PDF_JS = new URL('../../../vendor/pdfjs-dist/', import.meta.url);

interface Viewport {
  readonly width: number;
  readonly height: number;
  convertToViewportPoint(x: number, y: number): readonly number[];
}

/** A piece of the text of a page. */
export interface TextItem {
  readonly str: string;
  readonly width: number;
  readonly transform: readonly number[];
  readonly fontName: string;
  readonly hasEOL: boolean;
}

interface PdfPage {
  getViewport(options: { readonly scale: number }): Viewport;
  getTextContent(): Promise<{
    readonly items: readonly (TextItem | { readonly type: string })[];
    readonly styles: { readonly [font: string]: { readonly fontFamily: string } };
  }>;
  render(options: {
    readonly canvas: RecordedCanvas;
    readonly canvasContext: RecordedContext;
    readonly viewport: Viewport;
  }): { readonly promise: Promise<void> };
  cleanup(): void;
}

interface PdfJs {
  readonly VerbosityLevel: { readonly ERRORS: number };
  getDocument(options: { readonly [name: string]: unknown }): {
    readonly promise: Promise<{ readonly numPages: number; getPage(number: number): Promise<PdfPage> }>;
    destroy(): Promise<void>;
  };
}

export async function loadPdfJs(): Promise<PdfJs> {
  Object.assign(globalThis, { Path2D: Path, DOMMatrix: Matrix, ImageData: Pixels });
  return import(new URL('legacy/build/pdf.mjs', PDF_JS).href);
}
