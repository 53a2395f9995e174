/**
 * What is drawn on a page: text, boxes, squares of a code, pictures. Places are points from the top left corner of
 * the page as it is shown, x to the right and y down.
 */
import type { AppearanceRules } from '../pades/appearance/archive-rules.ts';
import { showImage } from '../pades/appearance/image.ts';
import { layOut } from '../pades/appearance/layout.ts';
import { TextFont } from '../pades/appearance/shown-text.ts';
import { numberText, type ObjectSink } from '../pades/appearance/stream-object.ts';
import { textString } from '../pades/text-string.ts';
import { CryptoError } from '../types.ts';

interface Place {
  readonly x: number;
  readonly y: number;
}
interface Area extends Place {
  readonly width: number;
  readonly height: number;
}

export type DrawnItem =
  /** `y` is the line the letters stand on; grey from 0 (black) to 1. */
  | (Place & {
      readonly shape: 'text';
      readonly text: string;
      readonly size: number;
      readonly grey?: number;
    })
  | (Area & {
      readonly shape: 'box';
      readonly fill?: number;
      /** Grey of a line of half a point. */
      readonly line?: number;
    })
  /** Dark squares of a code, row by row from the top. */
  | (Place & {
      readonly shape: 'cells';
      readonly size: number;
      readonly cells: readonly (readonly boolean[])[];
    })
  /** Lines of text with a picture (PNG or JPEG) at their left, as a visible signature shows them. */
  | (Area & {
      readonly shape: 'stamp';
      readonly lines: readonly string[];
      readonly image?: Uint8Array | undefined;
    })
  /** An address to follow. */
  | (Area & { readonly shape: 'link'; readonly uri: string });

export interface DrawnContent {
  /** Operators, for a space of the page as shown with its origin at the lower left. */
  readonly operators: string;
  /** Keys of the resource dictionary that `operators` need. */
  readonly resources: string;
  /** Dictionaries of links, without their page. */
  readonly links: readonly {
    readonly box: readonly [number, number, number, number];
    readonly uri: string;
  }[];
}

/** New files say nothing about archiving. */
const RULES: AppearanceRules = { deviceColours: true, transparency: true, listGlyphs: false };

/**
 * @param height of the page as shown, points
 * @param fontReference text of the reference to what `font` is going to be
 * @throws {CryptoError} `request.invalid` for a picture that can't be read
 */
export function drawItems(
  items: readonly DrawnItem[],
  height: number,
  font: TextFont,
  fontReference: string,
  sink: ObjectSink,
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
        if (image !== undefined) images.push(image.embed(sink, RULES));
        const lines = item.lines.filter((line) => line.trim() !== '').map((line) => font.line(line));
        const text = lines.length === 0 ? undefined : { lines, ascent: font.ascent, descent: font.descent };
        const inside = layOut(item, image, text, '0 g', `Im${images.length}`);
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

/** An annotation that leads to an address. @param box in the coordinates of the page's content */
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
      // Squares side by side are one box: thin white lines between them irritate readers of codes.
      while (line[to] === true) to++;
      text += `${numbers(left + from * cell, top - (row + 1) * cell, (to - from) * cell, cell)} re\n`;
      from = to;
    }
  }
  return `${text}f Q\n`;
}

/** Whether a picture can be drawn: a whole PNG or JPEG of bearable size. */
export function isPicture(file: Uint8Array): boolean {
  try {
    // Only who takes all of it knows.
    showImage(file).embed({ add: () => ({ number: 1, generation: 0 }) }, RULES);
    return true;
  } catch (error) {
    if (error instanceof CryptoError) return false;
    throw error;
  }
}

/** Points of a text of `size` points. */
export function textWidth(text: string, size: number): number {
  return (new TextFont().line(text).width * size) / 1000;
}

/** Lines no wider than `width` points, broken between words, and inside those that are too long for a line. */
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
      for (const letter of word) {
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

function numbers(...values: readonly number[]): string {
  return values.map(numberText).join(' ');
}
