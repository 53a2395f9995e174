/**
 * Appearance of a visible signature: a form XObject with its font and image, upright for any rotation of the
 * page (ISO 32000-2, 8.10 and 12.5.5).
 */

import { openSource } from '../../core/files.ts';
import { CryptoError, type SignatureAppearance } from '../../core/types.ts';
import { type ShapedText, showText } from '../../pdf/fonts/shaped-text.ts';
import { colourSpace, type EmbeddableImage, showImage } from '../../pdf/graphics/image.ts';
import { type Extent, layOut, textArea } from '../../pdf/graphics/layout.ts';
import type { PageView } from '../../pdf/graphics/page-view.ts';
import { type PdfARules, pdfARules } from '../../pdf/graphics/pdfa-rules.ts';
import { withPdf } from '../../pdf/index.ts';
import { pictureFault, readableLines } from '../../pdf/pages/drawing.ts';
import {
  type IncrementalUpdate,
  numberText,
  packedStream,
  referenceText,
} from '../../pdf/update/incremental-update.ts';

/** Most lines and characters of an appearance; more than a page can show legibly. */
const MAX_LINES = 200;
const MAX_LETTERS = 10_000;

/**
 * Draws an appearance and returns the text of the reference to it. Readers scale it to the rectangle of the widget,
 * for any user unit of the page.
 * @param extent of the rectangle as shown, points
 * @throws {CryptoError} `request.invalid` for an image that can't be read, too much text, or an empty appearance
 */
export function drawAppearance(
  draft: IncrementalUpdate,
  appearance: SignatureAppearance,
  extent: Extent,
  rotation: PageView['rotation'],
): string {
  const { text, image } = shownParts(appearance, extent);
  const rules = pdfARules(draft.pdf);
  const content = layOut(extent, image, { text, ink: ink(rules) });
  const { width, height } = extent;
  const keys =
    `/Type/XObject/Subtype/Form/BBox[0 0 ${numberText(width)} ${numberText(height)}]` +
    `/Matrix[${upright(extent, rotation)}]/Resources<<${resources(draft, rules, text, image)}>>`;
  return referenceText(draft.add(packedStream(keys, Buffer.from(content, 'latin1'))));
}

function shownParts(
  { lines = [], image }: SignatureAppearance,
  extent: Extent,
): {
  readonly text: ShapedText | undefined;
  readonly image: EmbeddableImage | undefined;
} {
  if (lines.length > MAX_LINES || lines.reduce((sum, line) => sum + line.length, 0) > MAX_LETTERS) {
    throw new CryptoError(
      'request.invalid',
      `A visible signature can show ${MAX_LINES} lines and ${MAX_LETTERS} letters at most.`,
    );
  }
  const hasText = lines.some((line) => line.trim() !== '');
  if (!hasText && image === undefined) {
    throw new CryptoError('request.invalid', 'A visible signature needs an image or a line of text to show.');
  }
  const shown = image === undefined ? undefined : showImage(image);
  const text = hasText ? showText(readableLines(lines, textArea(extent, shown))) : undefined;
  return { text, image: shown };
}

/** Builds the operators that set the fill colour to black. */
export function ink(rules: PdfARules): string {
  return rules.deviceColours ? '0 g' : '/Ink cs 0 sc';
}

function resources(
  draft: IncrementalUpdate,
  rules: PdfARules,
  text: ShapedText | undefined,
  image: EmbeddableImage | undefined,
): string {
  let found = '';
  if (text !== undefined) {
    found += `/Font<</F ${text.embed(draft, rules)}>>`;
    if (!rules.deviceColours) found += `/ColorSpace<</Ink ${colourSpace('grey', rules)}>>`;
  }
  if (image !== undefined) found += `/XObject<</Im ${image.embed(draft, rules)}>>`;
  return found;
}

/** Builds the matrix that rotates a form against its page; its box stays in the first quadrant. */
export function upright({ width, height }: Extent, rotation: PageView['rotation']): string {
  if (rotation === 90) return `0 1 -1 0 ${numberText(height)} 0`;
  if (rotation === 180) return `-1 0 0 -1 ${numberText(width)} ${numberText(height)}`;
  if (rotation === 270) return `0 -1 1 0 0 ${numberText(width)}`;
  return '1 0 0 1 0 0';
}

/**
 * Returns the reason why a picture cannot be drawn in a PDF, as a sentence; undefined when it can.
 * @throws {CryptoError} `input.unreadable`, `pdf.malformed`, `pdf.encrypted`
 */
export function pictureFaultIn(path: string, picture: Uint8Array): string | undefined {
  const source = openSource(path);
  try {
    return withPdf(source, (pdf) => pictureFault(picture, pdfARules(pdf)));
  } finally {
    source.close();
  }
}
