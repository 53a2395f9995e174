/** Writes the appearances of one update, with one font for all of them. */
import { TextFont } from '../../pdf/fonts/shown-text.ts';
import { colourSpace } from '../../pdf/graphics/colour.ts';
import { showImage } from '../../pdf/graphics/image.ts';
import { type Extent, layOut } from '../../pdf/graphics/layout.ts';
import type { PageView } from '../../pdf/graphics/page-view.ts';
import type { PdfARules } from '../../pdf/graphics/pdfa-rules.ts';
import type { Reference } from '../../pdf/index.ts';
import { wrapText } from '../../pdf/pages/drawing.ts';
import { type IncrementalUpdate, referenceText } from '../../pdf/update/incremental-update.ts';
import { numberText, packedStream } from '../../pdf/update/stream-object.ts';
import { ink, upright } from '../appearance/draw.ts';

/** Size of text that is broken into lines, points. */
const TEXT_SIZE = 10;
/** Space at the sides of text, points. */
const MARGINS = 4;
const [CHECKED, UNCHECKED] = ['\u2611', '\u2610'];

type Rotation = PageView['rotation'];

export class AppearanceWriter {
  readonly #draft: IncrementalUpdate;
  readonly #rules: PdfARules;
  readonly #font = new TextFont();
  readonly #images = new Map<Buffer, { readonly extent: Extent; readonly reference: string }>();
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
    const size = `${numberText(extent.width)} ${numberText(extent.height)}`;
    let resources = '';
    if (text !== undefined) {
      this.#fontReference ??= this.#draft.reserve();
      resources += `/Font<</F ${referenceText(this.#fontReference)}>>`;
      if (!this.#rules.deviceColours) resources += `/ColorSpace<</Ink ${colourSpace('grey', this.#rules)}>>`;
    }
    if (image !== undefined) resources += `/XObject<</Im ${image.reference}>>`;
    const keys = `/Type/XObject/Subtype/Form/BBox[0 0 ${size}]/Matrix[${upright(extent, rotation)}]/Resources<<${resources}>>`;
    return referenceText(this.#draft.add(packedStream(keys, Buffer.from(content, 'latin1'))));
  }

  /** Writes a white rectangle and returns the text of the reference to it. @param extent as shown, points */
  blank(extent: Extent, rotation: Rotation): string {
    const size = `${numberText(extent.width)} ${numberText(extent.height)}`;
    const resources = this.#rules.deviceColours
      ? ''
      : `/ColorSpace<</Ink ${colourSpace('grey', this.#rules)}>>`;
    const white = this.#rules.deviceColours ? '1 g' : '/Ink cs 1 sc';
    const keys = `/Type/XObject/Subtype/Form/BBox[0 0 ${size}]/Matrix[${upright(extent, rotation)}]/Resources<<${resources}>>`;
    return referenceText(
      this.#draft.add(packedStream(keys, Buffer.from(`${white} 0 0 ${size} re f`, 'latin1'))),
    );
  }

  /** Writes the appearance of a text field: one line, or more where they fit. */
  text(extent: Extent, rotation: Rotation, value: string): string {
    const fits = extent.height >= 2 * 1.2 * TEXT_SIZE || value.includes('\n');
    const lines = fits ? wrapText(value, TEXT_SIZE, Math.max(1, extent.width - MARGINS)) : [value];
    return this.stream(extent, rotation, { lines });
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

  #image(file: Buffer): { readonly extent: Extent; readonly reference: string } {
    const cached = this.#images.get(file);
    if (cached !== undefined) return cached;
    const image = showImage(file);
    const written = { extent: image, reference: image.embed(this.#draft, this.#rules) };
    this.#images.set(file, written);
    return written;
  }
}
