/** Writes what a canvas has recorded as SVG. Shapes that come several times, such as letters, are defined once. */
import { encode } from 'jpeg-js';
import { IDENTITY, inverse, numbers, type Path, product, type Six } from './paths.ts';
import { pngOf, type Samples, shrunk } from './png.ts';
import {
  type Clip,
  MAX_SAMPLES,
  type Pixels,
  type RecordedCanvas,
  type Shape,
  Unrecorded,
} from './recorded-canvas.ts';

/** Samples from which on a picture may be a photograph, or a scanned page. */
const MANY_SAMPLES = 64 * 64;
/** Of JPEG pictures, percent. */
const QUALITY = 50;
/** Letters are defined with whole numbers in this multiple of their own unit, which is about their size. */
const LETTER_UNITS = 1_000;
/** Most characters that are written, also of a definition that turns out to be known. Compressed they are 120 KB or more. */
const MAX_CHARACTERS = 4_000_000;

/**
 * @param density most samples of a picture for each unit of the canvas. @default 0.8
 * @throws {Unrecorded} for a page whose picture would be long
 */
export function svgOf(canvas: RecordedCanvas, density = 0.8): string {
  return new Writer(density).document(canvas);
}

type Fill = Extract<Shape, { readonly kind: 'fill' }>;

class Writer {
  readonly #uses = new Map<Path, number>();
  readonly #letters = new Map<Path, string>();
  readonly #clips = new Map<string, string>();
  readonly #known = new Map<Clip, Map<string, string>>();
  readonly #encoded = new Map<Pixels, Map<string, string>>();
  #definitions = '';
  #charactersLeft = MAX_CHARACTERS;
  #samplesLeft = MAX_SAMPLES;

  constructor(private readonly density: number) {}

  document({ width, height, shapes }: RecordedCanvas): string {
    this.#countUses(shapes);
    const content = this.#written(shapes, IDENTITY);
    return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}"><defs>${this.#definitions}</defs>${content}</svg>`;
  }

  #countUses(shapes: readonly Shape[]): void {
    for (const shape of shapes) {
      this.#spend(1);
      if (shape.kind === 'group') this.#countUses(shape.shapes);
      if (shape.kind === 'fill') this.#uses.set(shape.path, 1 + (this.#uses.get(shape.path) ?? 0));
    }
  }

  /** @param to maps to the units of the page */
  #written(shapes: readonly Shape[], to: Six): string {
    let text = '';
    let run: string | undefined;
    for (const shape of shapes) {
      const head = this.#isLetter(shape) ? this.#runOf(shape) : undefined;
      if (head !== run) {
        if (run !== undefined) text += '</g>';
        if (head !== undefined) text += this.#spent(`<g${head}>`);
        run = head;
      }
      text += this.#isLetter(shape) ? this.#letter(shape) : this.#shape(shape, to);
    }
    return run === undefined ? text : `${text}</g>`;
  }

  #isLetter(shape: Shape): shape is Fill {
    return shape.kind === 'fill' && (this.#uses.get(shape.path) ?? 0) > 1;
  }

  /** Attributes that letters of one size and color have in common. */
  #runOf(shape: Fill): string {
    const [a, b, c, d] = shape.matrix;
    const [p, q, r, s] = [a, b, c, d].map((part) => part / LETTER_UNITS);
    return ` transform="matrix(${numbers([p ?? 0, q ?? 0, r ?? 0, s ?? 0], 6)} 0 0)"${this.#look(shape, shape.matrix)}${filled(shape)}`;
  }

  #letter({ path, matrix }: Fill): string {
    let id = this.#letters.get(path);
    if (id === undefined) {
      id = `l${this.#letters.size.toString(36)}`;
      this.#letters.set(path, id);
      const units: Six = [LETTER_UNITS, 0, 0, LETTER_UNITS, 0, 0];
      this.#definitions += this.#spent(`<path id="${id}" d="${path.text(units, 0)}"/>`);
    }
    const [a, b, c, d, e, f] = matrix;
    const back = inverse([a / LETTER_UNITS, b / LETTER_UNITS, c / LETTER_UNITS, d / LETTER_UNITS, 0, 0]);
    const [x, y] = product(back ?? IDENTITY, [1, 0, 0, 1, e, f]).slice(4);
    return this.#spent(`<use href="#${id}" x="${numbers([x ?? 0], 0)}" y="${numbers([y ?? 0], 0)}"/>`);
  }

  #shape(shape: Shape, to: Six): string {
    const look = this.#look(shape);
    switch (shape.kind) {
      case 'fill':
        return this.#spent(`<path d="${shape.path.text(shape.matrix)}"${filled(shape)}${look}/>`);
      case 'stroke': {
        const { path, matrix, color, width, cap, join, miter, dash, dashOffset } = shape;
        const line = [
          ` stroke-width="${numbers([width], 3)}"`,
          cap === 'butt' ? '' : ` stroke-linecap="${cap}"`,
          join === 'miter' ? '' : ` stroke-linejoin="${join}"`,
          miter === 4 ? '' : ` stroke-miterlimit="${numbers([miter], 1)}"`,
          dash.length === 0
            ? ''
            : ` stroke-dasharray="${numbers(dash, 3)}" stroke-dashoffset="${numbers([dashOffset], 3)}"`,
        ].join('');
        const drawn = `<path d="${path.text(IDENTITY, 3)}" fill="none" stroke="${color}"${line} transform="matrix(${numbers(matrix, 4)})"/>`;
        return this.#spent(look === '' ? drawn : `<g${look}>${drawn}</g>`);
      }
      case 'group': {
        const { shapes, matrix } = shape;
        const head = this.#spent(`<g transform="matrix(${numbers(matrix, 4)})">`);
        const inner = `${head}${this.#written(shapes, product(to, matrix))}</g>`;
        return look === '' ? inner : `<g${look}>${inner}</g>`;
      }
      case 'picture': {
        const { picture, color } = shape;
        const address = this.#address(picture, to, color);
        return this.#spent(
          `<image width="${picture.width}" height="${picture.height}" preserveAspectRatio="none" href="${address}"${look}/>`,
        );
      }
    }
  }

  /** A picture of the same size and color is encoded once. */
  #address(picture: Pixels, [a, b, c, d]: Six, color: string | undefined): string {
    const width = Math.ceil(picture.width * Math.hypot(a, b) * this.density);
    const height = Math.ceil(picture.height * Math.hypot(c, d) * this.density);
    const sizes = entryOf(this.#encoded, picture);
    const size = `${width} ${height} ${color}`;
    let address = sizes.get(size);
    if (address === undefined) {
      this.#samplesLeft -= picture.width * picture.height;
      if (this.#samplesLeft < 0) throw new Unrecorded('pictures in many sizes');
      address = addressOf(shrunk(picture, width, height), color);
      sizes.set(size, address);
    }
    return address;
  }

  #spent(text: string): string {
    this.#spend(text.length);
    return text;
  }

  #spend(characters: number): void {
    this.#charactersLeft -= characters;
    if (this.#charactersLeft < 0) throw new Unrecorded('a long picture');
  }

  /** @param within the matrix of the element that has the attributes, in whose units its clip is */
  #look({ clip, opacity, blend }: Shape, within?: Six): string {
    const parts = [
      clip === undefined ? '' : ` clip-path="url(#${this.#clip(clip, within)})"`,
      opacity === 1 ? '' : ` opacity="${numbers([opacity], 3)}"`,
      blend === 'normal' ? '' : ` style="mix-blend-mode:${blend}"`,
    ];
    return parts.join('');
  }

  #clip(clip: Clip, within?: Six): string {
    const known = entryOf(this.#known, clip);
    const matrix = within === undefined ? '' : linear(within).join(' ');
    const found = known.get(matrix);
    if (found !== undefined) return found;
    const unit = within && product(LETTERS, inverse(linear(within)) ?? IDENTITY);
    const outer = clip.outer === undefined ? '' : ` clip-path="url(#${this.#clip(clip.outer, within)})"`;
    const place = unit === undefined ? clip.matrix : product(unit, clip.matrix);
    const rule = clip.isEvenOdd ? ' clip-rule="evenodd"' : '';
    const content = this.#spent(`${outer}><path d="${clip.path.text(place)}"${rule}/>`);
    let id = this.#clips.get(content);
    if (id === undefined) {
      id = `c${this.#clips.size.toString(36)}`;
      this.#clips.set(content, id);
      this.#definitions += `<clipPath id="${id}"${content}</clipPath>`;
    }
    known.set(matrix, id);
    return id;
  }
}

/** As the address of a JPEG or PNG, whichever is shorter. */
function addressOf(samples: Samples, color: string | undefined): string {
  const { bytes: png, isOpaque } = pngOf(samples, color);
  const mayBePhoto = isOpaque && samples.width * samples.height >= MANY_SAMPLES;
  const jpeg = mayBePhoto ? encode(samples, QUALITY).data : png;
  return jpeg.length < png.length
    ? `data:image/jpeg;base64,${jpeg.toString('base64')}`
    : `data:image/png;base64,${png.toString('base64')}`;
}

function entryOf<Key>(all: Map<Key, Map<string, string>>, key: Key): Map<string, string> {
  let entry = all.get(key);
  if (entry === undefined) {
    entry = new Map();
    all.set(key, entry);
  }
  return entry;
}

const LETTERS: Six = [LETTER_UNITS, 0, 0, LETTER_UNITS, 0, 0];

function linear([a, b, c, d]: Six): Six {
  return [a, b, c, d, 0, 0];
}

function filled({ color, isEvenOdd }: Fill): string {
  return `${color === '#000000' ? '' : ` fill="${color}"`}${isEvenOdd ? ' fill-rule="evenodd"' : ''}`;
}
