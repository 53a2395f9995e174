/** Draws the content of a form field in the look of its author (ISO 32000-2, 12.7.4.3 and 12.7.5). */
import type { ShownLine, TextFont } from '../../pdf/fonts/shown-text.ts';
import type { Extent } from '../../pdf/graphics/layout.ts';
import { wrapText } from '../../pdf/pages/drawing.ts';
import { numberText } from '../../pdf/update/stream-object.ts';
import type { Colour, FieldContent, FieldLook } from './field-look.ts';

/** Line distance in font sizes. */
const LEADING = 1.2;
/** Font size of a field that names none, and the smallest that text shrinks to, points. */
const AUTO_SIZE = 12;
const MIN_SIZE = 4;
/** Size below which text in one line is broken, where the field has room for several. */
const SMALL_SIZE = 7;
/** Space between frame and text, points. */
const PADDING = 2;
/** Background of the marked option of a list. */
const MARKED: Colour = [0.6, 0.757, 0.855];

/** Returns the operators that set a colour. */
type Painter = (colour: Colour, use: 'fill' | 'line') => string;

/**
 * Returns the operators of the appearance; the font resource is `F`.
 * @param extent as shown, points
 */
export function drawField(
  extent: Extent,
  look: FieldLook,
  content: FieldContent,
  font: TextFont,
  paint: Painter,
): string {
  const { text, size, marked } = arranged(extent, look, content, font);
  const marks = marked.length === 0 ? '' : `${paint(MARKED, 'fill')} ${marked.join(' re ')} re f\n`;
  const inset = insetOf(look);
  const inside = `${numbers(inset, inset, extent.width - 2 * inset, extent.height - 2 * inset)} re W n`;
  const shown =
    text === ''
      ? ''
      : `/Tx BMC q ${inside}\n${marks}BT ${paint(look.ink, 'fill')} /F ${numberText(size)} Tf\n${text}ET Q EMC\n`;
  return frame(extent, look, content, paint) + shown;
}

/** Draws background and border, and the lines between cells. */
function frame(
  { width, height }: Extent,
  { background, border, borderWidth, isDashed, isUnderline }: FieldLook,
  content: FieldContent,
  paint: Painter,
): string {
  let drawn = '';
  if (background !== undefined)
    drawn += `q ${paint(background, 'fill')} ${numbers(0, 0, width, height)} re f Q\n`;
  if (border === undefined) return drawn;
  const half = borderWidth / 2;
  const dash = isDashed ? '[3] 0 d ' : '';
  drawn += `q ${paint(border, 'line')} ${numberText(borderWidth)} w ${dash}`;
  if (isUnderline) return `${drawn}${numbers(0, half)} m ${numbers(width, half)} l S Q\n`;
  drawn += `${numbers(half, half, width - borderWidth, height - borderWidth)} re S\n`;
  const cells = content.kind === 'cells' ? content.cells : 0;
  for (let cell = 1; cell < cells; cell++) {
    const x = (cell * width) / cells;
    drawn += `${numbers(x, 0)} m ${numbers(x, height)} l S\n`;
  }
  return `${drawn}Q\n`;
}

function insetOf({ border, borderWidth }: FieldLook): number {
  return border === undefined ? 0 : borderWidth;
}

interface Arranged {
  /** Operators that place and show the text. */
  readonly text: string;
  readonly size: number;
  /** Rectangles behind the marked options of a list. */
  readonly marked: readonly string[];
}

function arranged(extent: Extent, look: FieldLook, content: FieldContent, font: TextFont): Arranged {
  const padding = Math.min(insetOf(look) + PADDING, extent.width / 4);
  const width = extent.width - 2 * padding;
  const tall = (font.ascent - font.descent) / 1000;
  const show = (line: ShownLine, x: number, y: number): string =>
    line.glyphs === '' ? '' : `${numbers(1, 0, 0, 1, x, y)} Tm <${line.glyphs}> Tj\n`;
  const placed = (line: ShownLine, size: number, y: number): string => {
    const free = width - (line.width * size) / 1000;
    const share = look.align === 'left' ? 0 : look.align === 'right' ? 1 : 0.5;
    return show(line, padding + Math.max(0, free) * share, y);
  };
  /** Base line of one line in the middle. */
  const middle = (size: number): number => (extent.height - tall * size) / 2 - (font.descent * size) / 1000;
  const inner = Math.max(1, extent.height - 2 * insetOf(look));
  switch (content.kind) {
    case 'cells': {
      const letters = content.letters.map((letter) => font.line(letter));
      const cell = extent.width / content.cells;
      const widest = Math.max(1, ...letters.map((line) => line.width)) / 1000;
      const size = Math.min(look.size || AUTO_SIZE, inner / tall, cell / widest);
      const left = content.cells - letters.length;
      const first = look.align === 'left' ? 0 : look.align === 'right' ? left : Math.floor(left / 2);
      const text = letters.map((line, index) =>
        show(line, (first + index + 0.5) * cell - (line.width * size) / 2000, middle(size)),
      );
      return { text: text.join(''), size, marked: [] };
    }
    case 'line': {
      const line = font.line(content.text);
      const fits = (1000 * width) / Math.max(1, line.width);
      // A narrow and tall field would show its text too small to read.
      if (fits < SMALL_SIZE && inner >= 2 * LEADING * SMALL_SIZE)
        return arranged(extent, look, { ...content, kind: 'lines' }, font);
      const size = Math.min(look.size || AUTO_SIZE, inner / tall, fits);
      return { text: placed(line, size, middle(size)), size, marked: [] };
    }
    case 'lines': {
      const { lines, size } = wrapped(content.text, look.size, { width, height: inner }, font);
      const top = extent.height - insetOf(look) - (font.ascent * size) / 1000;
      const text = lines.map((line, index) => placed(line, size, top - index * LEADING * size));
      return { text: text.join(''), size, marked: [] };
    }
    case 'list': {
      const size = Math.min(look.size || AUTO_SIZE, inner / LEADING);
      const count = Math.max(1, Math.floor(inner / (LEADING * size)));
      const chosen = content.options.findIndex(({ isMarked }) => isMarked);
      // Scrolled until the marked option is seen.
      const rows = content.options.slice(Math.max(0, chosen - count + 1)).slice(0, count);
      const bottom = (row: number): number => extent.height - insetOf(look) - (row + 1) * LEADING * size;
      return {
        text: rows
          .map((row, index) => placed(font.line(row.text), size, bottom(index) + 0.3 * size))
          .join(''),
        size,
        marked: rows.flatMap(({ isMarked }, index) =>
          isMarked ? [numbers(0, bottom(index), extent.width, LEADING * size)] : [],
        ),
      };
    }
  }
}

/** Breaks text into lines; shrinks it until they fit. */
function wrapped(
  text: string,
  wanted: number,
  { width, height }: Extent,
  font: TextFont,
): { readonly lines: readonly ShownLine[]; readonly size: number } {
  for (let size = wanted || AUTO_SIZE; ; size = Math.max(MIN_SIZE, size * 0.9)) {
    const lines = wrapText(text, size, Math.max(1, width));
    const tall = lines.length * LEADING * size;
    if (tall <= height || size <= MIN_SIZE) return { lines: lines.map((line) => font.line(line)), size };
  }
}

function numbers(...values: readonly number[]): string {
  return values.map(numberText).join(' ');
}
