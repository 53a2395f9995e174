/** Writes the appearances of one update, with one font for all of them. */
import { TextFont } from '../../pdf/fonts/shown-text.ts';
import { colourSpace } from '../../pdf/graphics/colour.ts';
import { showImage } from '../../pdf/graphics/image.ts';
import { type Extent, layOut } from '../../pdf/graphics/layout.ts';
import type { PageView } from '../../pdf/graphics/page-view.ts';
import type { PdfARules } from '../../pdf/graphics/pdfa-rules.ts';
import type { Reference } from '../../pdf/index.ts';
import { type IncrementalUpdate, referenceText } from '../../pdf/update/incremental-update.ts';
import { numberText, packedStream } from '../../pdf/update/stream-object.ts';
import { ink, upright } from '../appearance/draw.ts';
import { drawField } from './field-drawing.ts';
import type { Colour, FieldContent, FieldLook } from './field-look.ts';

const [CHECKED, UNCHECKED] = ['\u2611', '\u2610'];

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
    const shown = lines.filter((line) => line.trim() !== '').map((line) => this.#font.line(line));
    const { ascent, descent } = this.#font;
    const text = shown.length === 0 ? undefined : { lines: shown, ascent, descent };
    const image = file && this.#image(file);
    const content = layOut(extent, image?.extent, text, ink(this.#rules));
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
    const drawn = drawField(extent, look, content, this.#font, (colour, use) => this.#colour(colour, use));
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
