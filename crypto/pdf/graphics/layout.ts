/** Arranges image and text in a rectangle: image left, text right, each alone in the whole rectangle. */
import type { ShapedText } from '../fonts/shaped-text.ts';
import { numberText } from '../update/incremental-update.ts';

/** Points. */
export interface Extent {
  readonly width: number;
  readonly height: number;
}

/** Margin on all sides, points; less in tiny rectangles. */
const MARGIN = 2;
/** Font size unless the text has to shrink, points. */
const TEXT_SIZE = 12;
/** Line distance in font sizes. */
const LEADING = 1.2;
/** Largest share of the width for an image beside text. */
const IMAGE_SHARE = 0.4;

interface Area extends Extent {
  readonly left: number;
  readonly bottom: number;
}

/**
 * Builds operators of the content stream; the font resource is `F`.
 * @param image its pixels, when there is one
 */
export function layOut(
  extent: Extent,
  image: Extent | undefined,
  {
    text,
    ink,
    imageName = 'Im',
  }: {
    readonly text: Pick<ShapedText, 'lines' | 'ascent' | 'descent'> | undefined;
    /** Operators that set the colour of text. */
    readonly ink: string;
    /** Of the resource. */
    readonly imageName?: string | undefined;
  },
): string {
  const inner = innerOf(extent);
  if (image === undefined) return text === undefined ? '' : textIn(inner, text, ink);
  if (text === undefined) return imageIn(inner, image, imageName);
  const width = imageWidth(inner, image);
  return imageIn({ ...inner, width }, image, imageName) + textIn(textArea(extent, image), text, ink);
}

function innerOf(extent: Extent): Area {
  const margin = Math.min(MARGIN, extent.width / 20, extent.height / 20);
  return {
    left: margin,
    bottom: margin,
    width: extent.width - 2 * margin,
    height: extent.height - 2 * margin,
  };
}

function imageWidth(inner: Area, image: Extent): number {
  return Math.min((inner.height * image.width) / image.height, IMAGE_SHARE * inner.width);
}

/** Returns the area that text takes: all within the margin, or what an image leaves of it. */
export function textArea(extent: Extent, image: Extent | undefined): Area {
  const inner = innerOf(extent);
  if (image === undefined) return inner;
  // The margin is also the distance from the image.
  const left = inner.left + imageWidth(inner, image) + inner.left;
  return { ...inner, left, width: inner.left + inner.width - left };
}

/** Returns the size at which all lines fit, points. */
export function fittingSize(
  area: Extent,
  { lines, ascent, descent }: Pick<ShapedText, 'lines' | 'ascent' | 'descent'>,
): number {
  const tall = (ascent - descent) / 1000 + (lines.length - 1) * LEADING;
  const widest = Math.max(...lines.map(({ width }) => width)) / 1000;
  return Math.min(TEXT_SIZE, area.height / tall, widest > 0 ? area.width / widest : TEXT_SIZE);
}

/** Fits the image into the area with its aspect ratio, centred. */
function imageIn(area: Area, image: Extent, name: string): string {
  const scale = Math.min(area.width / image.width, area.height / image.height);
  const width = image.width * scale;
  const height = image.height * scale;
  const left = area.left + (area.width - width) / 2;
  const bottom = area.bottom + (area.height - height) / 2;
  return `q ${numbers(width, 0, 0, height, left, bottom)} cm /${name} Do Q\n`;
}

/** Fits all lines at one size, left-aligned, vertically centred. */
function textIn(
  area: Area,
  { lines, ascent, descent }: Pick<ShapedText, 'lines' | 'ascent' | 'descent'>,
  ink: string,
): string {
  const tall = (ascent - descent) / 1000 + (lines.length - 1) * LEADING;
  const size = fittingSize(area, { lines, ascent, descent });
  const top = area.bottom + (area.height + tall * size) / 2;
  let text = `q ${ink} BT /F ${numberText(size)} Tf\n`;
  for (const [index, { glyphs }] of lines.entries()) {
    const baseline = top - (ascent / 1000 + index * LEADING) * size;
    if (glyphs !== '') text += `${numbers(1, 0, 0, 1, area.left, baseline)} Tm <${glyphs}> Tj\n`;
  }
  return `${text}ET Q\n`;
}

export function numbers(...values: readonly number[]): string {
  return values.map(numberText).join(' ');
}
