/**
 * The appearance of a visible signature: a form that carries its font and image with it, upright however the page is
 * turned (ISO 32000-2, 8.10 and 12.5.5).
 */
import { CryptoError, type SignatureAppearance } from '../../types.ts';
import { type Draft, referenceText } from '../draft.ts';
import { type AppearanceRules, appearanceRules } from './archive-rules.ts';
import { colourSpace } from './colour.ts';
import { type ShownImage, showImage } from './image.ts';
import { type Extent, layOut } from './layout.ts';
import type { PageView } from './page-view.ts';
import { type ShownText, showText } from './shown-text.ts';
import { numberText, packedStream } from './stream-object.ts';

/** More than fit on any page that somebody wants to read. */
const MOST_LINES = 200;
const MOST_LETTERS = 10_000;

/**
 * Draws an appearance and gives the text of the reference to it. Readers stretch it over the rectangle of the widget,
 * whatever a unit of the page is worth.
 * @param extent of the rectangle as it is shown, points
 * @throws {CryptoError} `request.invalid` for an image that can't be read, too much text, or nothing to show
 */
export function drawAppearance(
  draft: Draft,
  appearance: SignatureAppearance,
  extent: Extent,
  rotation: PageView['rotation'],
): string {
  const { text, image } = shownParts(appearance);
  const rules = appearanceRules(draft.pdf);
  const content = layOut(extent, image, text, ink(rules));
  const { width, height } = extent;
  const keys =
    `/Type/XObject/Subtype/Form/BBox[0 0 ${numberText(width)} ${numberText(height)}]` +
    `/Matrix[${upright(extent, rotation)}]/Resources<<${resources(draft, rules, text, image)}>>`;
  return referenceText(draft.add(packedStream(keys, Buffer.from(content, 'latin1'))));
}

function shownParts({ lines = [], image }: SignatureAppearance): {
  readonly text: ShownText | undefined;
  readonly image: ShownImage | undefined;
} {
  if (lines.length > MOST_LINES || lines.reduce((sum, line) => sum + line.length, 0) > MOST_LETTERS) {
    throw new CryptoError(
      'request.invalid',
      `A visible signature can show ${MOST_LINES} lines and ${MOST_LETTERS} letters at most.`,
    );
  }
  const hasText = lines.some((line) => line.trim() !== '');
  if (!hasText && image === undefined) {
    throw new CryptoError('request.invalid', 'A visible signature needs an image or a line of text to show.');
  }
  return {
    text: hasText ? showText(lines) : undefined,
    image: image === undefined ? undefined : showImage(image),
  };
}

/** Black. */
function ink(rules: AppearanceRules): string {
  return rules.deviceColours ? '0 g' : '/Ink cs 0 sc';
}

function resources(
  draft: Draft,
  rules: AppearanceRules,
  text: ShownText | undefined,
  image: ShownImage | undefined,
): string {
  let found = '';
  if (text !== undefined) {
    found += `/Font<</F ${text.embed(draft, rules)}>>`;
    if (!rules.deviceColours) found += `/ColorSpace<</Ink ${colourSpace('grey', rules)}>>`;
  }
  if (image !== undefined) found += `/XObject<</Im ${image.embed(draft, rules)}>>`;
  return found;
}

/** Turns the form against the page; its box stays in the first quadrant. */
function upright({ width, height }: Extent, rotation: PageView['rotation']): string {
  if (rotation === 90) return `0 1 -1 0 ${numberText(height)} 0`;
  if (rotation === 180) return `-1 0 0 -1 ${numberText(width)} ${numberText(height)}`;
  if (rotation === 270) return `0 -1 1 0 0 ${numberText(width)}`;
  return '1 0 0 1 0 0';
}
