/** Writes the appearances of one update, with one font for all of them. */
import { type GlyphLine, TextFont } from '../../pdf/fonts/shaped-text.ts';
import { colourSpace, showImage } from '../../pdf/graphics/image.ts';
import { type Extent, layOut, numbers, textArea } from '../../pdf/graphics/layout.ts';
import type { PageView } from '../../pdf/graphics/page-view.ts';
import type { PdfARules } from '../../pdf/graphics/pdfa-rules.ts';
import type { Reference } from '../../pdf/index.ts';
import { readableLines, wrapText } from '../../pdf/pages/drawing.ts';
import {
  type IncrementalUpdate,
  numberText,
  packedStream,
  referenceText,
} from '../../pdf/update/incremental-update.ts';
import { ink, upright } from '../appearance/draw.ts';
import type { Colour, FieldContent, FieldLook } from './field-look.ts';

const CHECKED = '\u2611';
const UNCHECKED = '\u2610';

type Rotation = PageView['rotation'];

export class AppearanceWriter {
  readonly #draft: IncrementalUpdate;
  readonly #rules: PdfARules;
  readonly #font = new TextFont();
  readonly #images = new Map<Buffer, { readonly extent: Extent; readonly reference: string }>();
  readonly #forms = new Map<string, string>();
  #fontReference: Reference | undefined;

  constructor(draft: IncrementalUpdate, rules: PdfARules) {
    this.#draft = draft;
    this.#rules = rules;
  }

  /** Writes a form XObject and returns the text of the reference to it. @param extent as shown, points */
  stream(
    extent: Extent,
    rotation: Rotation,
    { lines, image: file }: { readonly lines: readonly string[]; readonly image?: Buffer | undefined },
  ): string {
    const image = file && this.#image(file);
    const written = lines.filter((line) => line.trim() !== '');
    const area = textArea(extent, image?.extent);
    const shown = readableLines(written, area).map((line) => this.#font.line(line));
    const { ascent, descent } = this.#font;
    const text = shown.length === 0 ? undefined : { lines: shown, ascent, descent };
    const content = layOut(extent, image?.extent, { text, ink: ink(this.#rules) });
    let resources = text === undefined ? '' : this.#textResources();
    if (image !== undefined) resources += `/XObject<</Im ${image.reference}>>`;
    return this.#form(extent, rotation, resources, content);
  }

  /** Writes a white rectangle and returns the text of the reference to it. @param extent as shown, points */
  blank(extent: Extent, rotation: Rotation): string {
    const box = `0 0 ${numberText(extent.width)} ${numberText(extent.height)} re f`;
    return this.#form(extent, rotation, this.#colourResources(), `${this.#colour([1], 'fill')} ${box}`);
  }

  /** Writes the appearance of a text or choice field in the look of its author. */
  field(extent: Extent, rotation: Rotation, look: FieldLook, content: FieldContent): string {
    const drawn = drawField(extent, look, {
      content,
      font: this.#font,
      paint: (colour, use) => this.#colour(colour, use),
    });
    const hasText = drawn.includes(' Tf\n');
    return this.#form(extent, rotation, hasText ? this.#textResources() : this.#colourResources(), drawn);
  }

  /** Writes the appearances of a checkbox: on, off. */
  checkbox(extent: Extent, rotation: Rotation): readonly [on: string, off: string] {
    return [
      this.stream(extent, rotation, { lines: [CHECKED] }),
      this.stream(extent, rotation, { lines: [UNCHECKED] }),
    ];
  }

  /** Embeds the font. Returns the text of the reference to it; undefined when no text was written. */
  finish(): string | undefined {
    const reference = this.#fontReference;
    if (reference === undefined) return undefined;
    return this.#font.embed(this.#draft, this.#rules, (body) => {
      this.#draft.replace(reference, body);
      return reference;
    });
  }

  #form(extent: Extent, rotation: Rotation, resources: string, content: string): string {
    const size = `${numberText(extent.width)} ${numberText(extent.height)}`;
    const keys = `/Type/XObject/Subtype/Form/BBox[0 0 ${size}]/Matrix[${upright(extent, rotation)}]/Resources<<${resources}>>`;
    // Initials look the same on every page.
    const same = `${keys} ${content}`;
    const written =
      this.#forms.get(same) ??
      referenceText(this.#draft.add(packedStream(keys, Buffer.from(content, 'latin1'))));
    this.#forms.set(same, written);
    return written;
  }

  #textResources(): string {
    this.#fontReference ??= this.#draft.reserve();
    return `/Font<</F ${referenceText(this.#fontReference)}>>${this.#colourResources()}`;
  }

  #colourResources(): string {
    if (this.#rules.deviceColours) return '';
    return `/ColorSpace<</Ink ${colourSpace('grey', this.#rules)}/Rgb ${colourSpace('rgb', this.#rules)}>>`;
  }

  /** Returns the operators that set a colour for filling or for lines. */
  #colour(colour: Colour, use: 'fill' | 'line'): string {
    const values = (list: Colour): string => list.map(numberText).join(' ');
    if (!this.#rules.deviceColours) {
      const rgb = `${values(rgbOf(colour))}`;
      return use === 'fill' ? `/Rgb cs ${rgb} sc` : `/Rgb CS ${rgb} SC`;
    }
    const operator = colour.length === 1 ? 'g' : colour.length === 3 ? 'rg' : 'k';
    return `${values(colour)} ${use === 'fill' ? operator : operator.toUpperCase()}`;
  }

  #image(file: Buffer): { readonly extent: Extent; readonly reference: string } {
    const cached = this.#images.get(file);
    if (cached !== undefined) return cached;
    const image = showImage(file);
    const written = { extent: image, reference: image.embed(this.#draft, this.#rules) };
    this.#images.set(file, written);
    return written;
  }
}

function rgbOf(colour: Colour): Colour {
  const [first = 0, second = first, third = first, black] = colour;
  if (black === undefined) return [first, second, third];
  return [first, second, third].map((part) => (1 - part) * (1 - black));
}

// Draws the content of a form field in the look of its author (ISO 32000-2, 12.7.4.3 and 12.7.5).

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
function drawField(
  extent: Extent,
  look: FieldLook,
  {
    content,
    font,
    paint,
  }: { readonly content: FieldContent; readonly font: TextFont; readonly paint: Painter },
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
  const show = (line: GlyphLine, x: number, y: number): string =>
    line.glyphs === '' ? '' : `${numbers(1, 0, 0, 1, x, y)} Tm <${line.glyphs}> Tj\n`;
  const placed = (line: GlyphLine, size: number, y: number): string => {
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
      // A narrow field would show its text too small to read.
      if (fits < SMALL_SIZE) {
        const { lines, size } = wrapped(content.text, look.size, { width, height: inner }, font);
        if (size > fits && lines.length * LEADING * size <= inner)
          return arranged(extent, look, { ...content, kind: 'lines' }, font);
      }
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
): { readonly lines: readonly GlyphLine[]; readonly size: number } {
  for (let size = wanted || AUTO_SIZE; ; size = Math.max(MIN_SIZE, size * 0.9)) {
    const lines = wrapText(text, size, Math.max(1, width));
    const tall = lines.length * LEADING * size;
    if (tall <= height || size <= MIN_SIZE) return { lines: lines.map((line) => font.line(line)), size };
  }
}
