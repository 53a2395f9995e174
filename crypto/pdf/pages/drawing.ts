/**
 * Draws text, boxes, matrix codes and images on a page. Positions are points from the top left corner of
 * the page as shown, x to the right and y down.
 */

import { CryptoError } from '../../core/types.ts';
import { showText, TextFont } from '../fonts/shaped-text.ts';
import { showImage } from '../graphics/image.ts';
import { type Extent, fittingSize, layOut, numbers, textArea } from '../graphics/layout.ts';
import { FREE, type PdfARules } from '../graphics/pdfa-rules.ts';
import { textString } from '../syntax/strings.ts';
import { numberText, type ObjectSink } from '../update/incremental-update.ts';

interface Place {
  readonly x: number;
  readonly y: number;
}
interface Area extends Place {
  readonly width: number;
  readonly height: number;
}

export type DrawnItem =
  /** `y` is the base line; grey from 0 (black) to 1. */
  | (Place & {
      readonly shape: 'text';
      readonly text: string;
      readonly size: number;
      readonly grey?: number;
    })
  | (Area & {
      readonly shape: 'box';
      readonly fill?: number;
      /** Grey level of a line of half a point. */
      readonly line?: number;
    })
  /** Modules of a matrix code, row by row from the top; true is dark. */
  | (Place & {
      readonly shape: 'cells';
      readonly size: number;
      readonly cells: readonly (readonly boolean[])[];
    })
  /** Lines of text with an image (PNG or JPEG) on their left, as in a visible signature. */
  | (Area & {
      readonly shape: 'stamp';
      readonly lines: readonly string[];
      readonly image?: Uint8Array | undefined;
    })
  /** A link to a URI. */
  | (Area & { readonly shape: 'link'; readonly uri: string });

interface DrawnContent {
  /** Operators in the coordinates of the page as shown, with the origin at the lower left. */
  readonly operators: string;
  /** Entries of the resource dictionary for `operators`. */
  readonly resources: string;
  /** Link annotations without their /P. */
  readonly links: readonly {
    readonly box: readonly [number, number, number, number];
    readonly uri: string;
  }[];
}

/**
 * @param height of the page as shown, points
 * @throws {CryptoError} `request.invalid` for an image that can't be read
 */
export function drawItems(
  items: readonly DrawnItem[],
  height: number,
  {
    font,
    fontReference,
    sink,
  }: {
    readonly font: TextFont;
    /** Text of the reference to the object of `font`. */
    readonly fontReference: string;
    readonly sink: ObjectSink;
  },
): DrawnContent {
  let operators = '';
  const images: string[] = [];
  const links: { readonly box: readonly [number, number, number, number]; readonly uri: string }[] = [];
  for (const item of items) {
    const { x } = item;
    switch (item.shape) {
      case 'text': {
        const { glyphs } = font.line(item.text);
        if (glyphs === '') break;
        const place = numbers(1, 0, 0, 1, x, height - item.y);
        operators += `q ${numberText(item.grey ?? 0)} g BT /F ${numberText(item.size)} Tf ${place} Tm <${glyphs}> Tj ET Q\n`;
        break;
      }
      case 'box': {
        const box = numbers(x, height - item.y - item.height, item.width, item.height);
        if (item.fill !== undefined) operators += `q ${numberText(item.fill)} g ${box} re f Q\n`;
        if (item.line !== undefined) operators += `q 0.5 w ${numberText(item.line)} G ${box} re S Q\n`;
        break;
      }
      case 'cells':
        operators += cellsText(item.cells, x, height - item.y, item.size);
        break;
      case 'stamp': {
        const image = item.image === undefined ? undefined : showImage(item.image);
        if (image !== undefined) images.push(image.embed(sink, FREE));
        const written = item.lines.filter((line) => line.trim() !== '');
        const lines = readableLines(written, textArea(item, image)).map((line) => font.line(line));
        const text = lines.length === 0 ? undefined : { lines, ascent: font.ascent, descent: font.descent };
        const inside = layOut(item, image, { text, ink: '0 g', imageName: `Im${images.length}` });
        operators += `q 1 0 0 1 ${numbers(x, height - item.y - item.height)} cm\n${inside}Q\n`;
        break;
      }
      case 'link':
        links.push({
          box: [x, height - item.y - item.height, x + item.width, height - item.y],
          uri: item.uri,
        });
    }
  }
  const pictures = images.map((reference, index) => `/Im${index + 1} ${reference}`).join('');
  const resources = `/Font<</F ${fontReference}>>${pictures === '' ? '' : `/XObject<<${pictures}>>`}`;
  return { operators, resources, links };
}

/** Builds a link annotation. @param box in the coordinates of the page's content */
export function linkAnnotation(box: readonly number[], uri: string): string {
  const address = textString(new URL(uri).href);
  return `<</Type/Annot/Subtype/Link/Rect[${numbers(...box)}]/Border[0 0 0]/F 4/A<</S/URI/URI ${address}>>>>`;
}

function cellsText(cells: readonly (readonly boolean[])[], left: number, top: number, size: number): string {
  const cell = size / Math.max(1, cells.length);
  let text = 'q 0 g\n';
  for (const [row, line] of cells.entries()) {
    for (let from = 0; from < line.length; from++) {
      if (line[from] !== true) continue;
      let to = from;
      // Adjacent modules become one box: thin white lines between them can prevent code readers from working.
      while (line[to] === true) to++;
      text += `${numbers(left + from * cell, top - (row + 1) * cell, (to - from) * cell, cell)} re\n`;
      from = to;
    }
  }
  return `${text}f Q\n`;
}

/** True when an image can be drawn: a complete PNG or JPEG within the limits. */
export function isPicture(file: Uint8Array): boolean {
  return pictureFault(file) === undefined;
}

/** Returns the reason why an image cannot be drawn, as a sentence; undefined when it can. */
export function pictureFault(file: Uint8Array, rules: PdfARules = FREE): string | undefined {
  return faultOf(() => showImage(file).embed({ add: () => ({ number: 1, generation: 0 }) }, rules));
}

/**
 * Like `pictureFault`, but without reading samples or other files. `unknown`: only they can tell.
 * @param pixels a PNG of so many pixels is decoded
 */
export function quickPictureFault(file: Uint8Array, pixels: number): string | 'unknown' | undefined {
  let isCostly = false;
  const fault = faultOf(() => {
    const image = showImage(file);
    isCostly = image.isCmyk || image.width * image.height > pixels;
  });
  return fault ?? (isCostly ? 'unknown' : pictureFault(file));
}

function faultOf(draw: () => void): string | undefined {
  try {
    draw();
    return undefined;
  } catch (error) {
    if (error instanceof CryptoError) return error.message;
    throw error;
  }
}

/** Returns the width in points of a text of `size` points. */
export function textWidth(text: string, size: number): number {
  return (new TextFont().line(text).width * size) / 1000;
}

/** Letters as they are read, with their marks. Made with the first long word: it loads tables of the Unicode library. */
let segmenter: Intl.Segmenter | undefined;

/** Splits text into lines of at most `width` points, between words, and inside words that are too long. */
export function wrapText(text: string, size: number, width: number): readonly string[] {
  const font = new TextFont();
  const fits = (line: string) => (font.line(line).width * size) / 1000 <= width;
  const lines: string[] = [];
  for (const paragraph of text.split('\n')) {
    let line = '';
    for (const word of paragraph.split(' ')) {
      const longer = line === '' ? word : `${line} ${word}`;
      if (fits(longer)) {
        line = longer;
        continue;
      }
      if (line !== '') lines.push(line);
      line = '';
      segmenter ??= new Intl.Segmenter();
      for (const { segment: letter } of segmenter.segment(word)) {
        if (line !== '' && !fits(line + letter)) {
          lines.push(line);
          line = '';
        }
        line += letter;
      }
    }
    lines.push(line);
  }
  return lines;
}

/** Size below which long lines wrap, points. */
const READABLE = 6;
/** Size at which nothing is gained by wrapping. */
const LEAST = 0.1;

/**
 * Returns the lines for `layOut`; where they would shrink below `READABLE` for their width, they wrap at the largest size
 * at which the wrapped ones fit. Lines that are too many for the height shrink, as nothing may be left out.
 */
export function readableLines(lines: readonly string[], area: Extent): readonly string[] {
  if (lines.length === 0) return lines;
  const whole = showText(lines);
  const size = fittingSize(area, whole);
  const oneLine = lines.map((line) => line.replace(/\s/g, ' '));
  for (let wanted = READABLE; wanted > Math.max(size, LEAST); wanted *= 0.9) {
    const perRow = (1000 * area.width) / wanted;
    const rows = whole.lines.reduce((sum, { width }) => sum + Math.max(1, Math.ceil(width / perRow)), 0);
    // Fewer rows than these are impossible, and measuring words takes long.
    if (rows * wanted > area.height) continue;
    const wrapped = oneLine.flatMap((line) => wrapText(line, wanted, area.width));
    if (fittingSize(area, showText(wrapped)) >= wanted * 0.999) return wrapped;
  }
  return lines;
}
