/**
 * Draws the first page of a PDF as SVG with pdf.js, which paints on a canvas that records shapes: without a native canvas,
 * and in a few tens of kilobytes. The limits of a task bound its time and memory.
 */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, constants } from 'node:zlib';
import { describeFailure } from '@sealwright/runtime/core';
import type { FirstPageTask, PortalResults } from '../portal-tasks.ts';
import { TaskFailure } from '../task-failure.ts';
import { assertBoundedDecoding } from './decoding-bounds.ts';
import { loadPdfJs, PDF_JS } from './pdf-js.ts';
import { MAX_SAMPLES, RecordedCanvas, Unrecorded } from './recorded-canvas.ts';
import { svgOf } from './svg.ts';

/** Width of the page, units of its picture. */
const WIDTH = 1_000;
/** Most bytes of the compressed picture: with more it is not there before the document itself is. */
const MAX_BYTES = 120_000;
const QUALITY = 9;
/** Samples for each unit: fewer where the page is a picture that would have too many bytes. */
const DENSITIES = [0.8, 0.5, 0.3];

/** @throws {TaskFailure} `document.unreadable` for a file without a page that can be read */
export async function drawFirstPage({ path }: FirstPageTask): Promise<PortalResults['portal.first-page']> {
  const root = new RecordedCanvas(1, 1);
  const { getDocument, VerbosityLevel } = await loadPdfJs();
  const file = readFileSync(path);
  assertBounded(file);
  const reading = getDocument({
    data: new Uint8Array(file),
    maxImageSize: MAX_SAMPLES,
    disableFontFace: true,
    isEvalSupported: false,
    useSystemFonts: false,
    cMapUrl: folder('cmaps'),
    standardFontDataUrl: folder('standard_fonts'),
    wasmUrl: folder('wasm'),
    CanvasFactory: factoryFor(root),
    FilterFactory: NoFilters,
    verbosity: VerbosityLevel.ERRORS,
  });
  try {
    const page = await (await reading.promise).getPage(1);
    try {
      const viewport = page.getViewport({ scale: WIDTH / page.getViewport({ scale: 1 }).width });
      root.width = Math.ceil(viewport.width);
      root.height = Math.ceil(viewport.height);
      await page.render({ canvas: root, canvasContext: root.getContext(), viewport }).promise;
      const picture = shortPicture(root);
      return picture === undefined ? {} : { picture };
    } catch {
      // A page with an error is drawn in the browser alone.
      return {};
    }
  } catch (error) {
    throw new TaskFailure('document.unreadable', describeFailure(error).message);
  } finally {
    await reading.destroy();
  }
}

/** Undefined for a page that no density makes short. @throws {Unrecorded} */
function shortPicture(root: RecordedCanvas): Buffer | undefined {
  let before = Number.POSITIVE_INFINITY;
  for (const density of DENSITIES) {
    const picture = brotliCompressSync(svgOf(root, density), {
      params: { [constants.BROTLI_PARAM_QUALITY]: QUALITY },
    });
    if (picture.length <= MAX_BYTES) return picture;
    // A page of shapes is not shorter with fewer samples.
    if (picture.length === before) return undefined;
    before = picture.length;
  }
  return undefined;
}

/** @throws {TaskFailure} `document.unreadable` */
function assertBounded(file: Buffer): void {
  try {
    assertBoundedDecoding(file);
  } catch (error) {
    if (error instanceof Unrecorded) throw new TaskFailure('document.unreadable', error.message);
    throw error;
  }
}

function folder(name: string): string {
  return fileURLToPath(new URL(`${name}/`, PDF_JS));
}

function factoryFor(root: RecordedCanvas) {
  return class {
    create(width: number, height: number) {
      const canvas = root.another(width, height);
      return { canvas, context: canvas.getContext() };
    }

    reset(entry: { canvas: RecordedCanvas; context: unknown }, width: number, height: number) {
      const { canvas } = entry;
      canvas.clear();
      canvas.width = width;
      canvas.height = height;
      entry.context = canvas.getContext();
    }

    /** Nothing is freed: what was painted from it is recorded. */
    destroy() {}
  };
}

/** Filters of soft masks and transfer functions. */
class NoFilters {
  /** @param maps of a transfer function; null = none */
  addFilter(maps?: unknown) {
    if (maps) throw new Unrecorded('a transfer function');
    return 'none';
  }

  addHCMFilter() {
    return 'none';
  }

  addAlphaFilter() {
    throw new Unrecorded('a mask');
  }

  addLuminosityFilter() {
    throw new Unrecorded('a mask');
  }

  addHighlightHCMFilter() {
    return 'none';
  }

  destroy() {}
}
