/**
 * A canvas that records what pdf.js paints as shapes and pictures, in place of pixels. What it cannot record as it would be
 * painted (gradients, masks, text without the shapes of its letters) throws: a page is recorded whole, or not at all.
 */
import { IDENTITY, inverse, Matrix, Path, product, type Six } from './paths.ts';

/** Most shapes of a page, segments of their paths, and samples of its pictures. */
const MAX_SHAPES = 40_000;
const MAX_SEGMENTS = 400_000;
export const MAX_SAMPLES = 12_000_000;
/** Most clips within each other: each is written for each matrix that needs it. */
const MAX_CLIPS = 64;

export interface Clip {
  readonly path: Path;
  readonly matrix: Six;
  readonly isEvenOdd: boolean;
  readonly outer: Clip | undefined;
  /** Number of clips with those around it. */
  readonly depth: number;
}

interface Look {
  readonly clip: Clip | undefined;
  readonly opacity: number;
  /** A blend mode of CSS; `normal` for most. */
  readonly blend: string;
}

/** One thing that was painted on a canvas. */
export type Shape = Look &
  (
    | {
        readonly kind: 'fill';
        readonly path: Path;
        readonly matrix: Six;
        readonly color: string;
        readonly isEvenOdd: boolean;
      }
    | {
        readonly kind: 'stroke';
        readonly path: Path;
        readonly matrix: Six;
        readonly color: string;
        readonly width: number;
        readonly cap: string;
        readonly join: string;
        readonly miter: number;
        readonly dash: readonly number[];
        readonly dashOffset: number;
      }
    | { readonly kind: 'group'; readonly shapes: readonly Shape[]; readonly matrix: Six }
    | { readonly kind: 'picture'; readonly picture: Pixels; readonly color?: string }
  );

/** `ImageData`. */
export class Pixels {
  readonly data: Uint8ClampedArray;

  constructor(
    readonly width: number,
    readonly height: number,
  ) {
    if (width * height > MAX_SAMPLES) throw new Unrecorded('a picture of many samples');
    this.data = new Uint8ClampedArray(width * height * 4);
  }
}

/** The page has something that is not recorded. */
export class Unrecorded extends Error {
  constructor(what: string) {
    super(`The page has ${what}.`);
  }
}

/** Counts what all canvases of a page have recorded. */
interface Budget {
  shapes: number;
  segments: number;
  samples: number;
}

const COLOR = /^#[\da-f]{6}$/i;
const CAPS = new Set(['butt', 'round', 'square']);
const JOINS = new Set(['miter', 'round', 'bevel']);
const BLENDS = new Set([
  'multiply',
  'screen',
  'overlay',
  'darken',
  'lighten',
  'color-dodge',
  'color-burn',
  'hard-light',
  'soft-light',
  'difference',
  'exclusion',
  'hue',
  'saturation',
  'color',
  'luminosity',
]);

/** The state that `save` and `restore` keep. */
const FRESH = {
  matrix: IDENTITY as Six,
  clip: undefined as Clip | undefined,
  fillStyle: '#000000' as unknown,
  strokeStyle: '#000000' as unknown,
  globalAlpha: 1,
  globalCompositeOperation: 'source-over',
  lineWidth: 1,
  lineCap: 'butt',
  lineJoin: 'miter',
  miterLimit: 10,
  lineDashOffset: 0,
  dash: [] as readonly number[],
};

/** The part of `CanvasRenderingContext2D` that pdf.js uses. */
export class RecordedContext {
  #state = { ...FRESH };
  readonly #saved: (typeof FRESH)[] = [];
  font = '';
  fillRule = 'nonzero';
  imageSmoothingEnabled = true;

  constructor(
    readonly canvas: RecordedCanvas,
    private readonly budget: Budget,
  ) {}

  save(): void {
    this.#saved.push({ ...this.#state });
  }

  restore(): void {
    this.#state = this.#saved.pop() ?? this.#state;
  }

  transform(...six: Six): void {
    this.#state.matrix = product(this.#state.matrix, six);
  }

  translate(x: number, y: number): void {
    this.transform(1, 0, 0, 1, x, y);
  }

  scale(x: number, y: number): void {
    this.transform(x, 0, 0, y, 0, 0);
  }

  setTransform(...given: readonly [Matrix] | Six): void {
    this.#state.matrix = given.length === 1 ? given[0].six() : given;
  }

  getTransform(): Matrix {
    return new Matrix(this.#state.matrix);
  }

  clip(path: Path, rule?: string): void {
    this.#count(path);
    const { matrix, clip: outer } = this.#state;
    this.#state.clip = clipIn(outer, { path, matrix, isEvenOdd: rule === 'evenodd' });
  }

  fill(path: Path, rule?: string): void {
    this.#count(path);
    const { matrix, fillStyle } = this.#state;
    const isEvenOdd = rule === 'evenodd';
    this.#add({ kind: 'fill', path, matrix, color: colorOf(fillStyle), isEvenOdd, ...this.#look() });
  }

  fillRect(x: number, y: number, width: number, height: number): void {
    if (this.#state.globalCompositeOperation === 'source-in') {
      this.#color();
      return;
    }
    const path = new Path();
    path.rect(x, y, width, height);
    this.fill(path);
  }

  stroke(path: Path): void {
    this.#count(path);
    const { matrix, strokeStyle, lineWidth: width, lineCap: cap, lineJoin: join } = this.#state;
    const { miterLimit: miter, dash, lineDashOffset: dashOffset } = this.#state;
    if (!(CAPS.has(cap) && JOINS.has(join))) throw new Unrecorded('a line of another kind');
    const line = { width, cap, join, miter, dash, dashOffset };
    this.#add({ kind: 'stroke', path, matrix, color: colorOf(strokeStyle), ...line, ...this.#look() });
  }

  setLineDash(dash: readonly number[]): void {
    this.#state.dash = [...dash];
  }

  getLineDash(): readonly number[] {
    return this.#state.dash;
  }

  /** The source has to be a canvas of these; the forms with three and nine parameters. */
  drawImage(source: unknown, ...places: readonly number[]): void {
    if (!(source instanceof RecordedCanvas) || source === this.canvas)
      throw new Unrecorded('a picture of another kind');
    const { width, height } = source;
    const whole = [0, 0, width, height];
    const [fromX = 0, fromY = 0, fromWidth = 0, fromHeight = 0] = places.length === 8 ? places : whole;
    const to = places.length === 8 ? places.slice(4) : [places[0] ?? 0, places[1] ?? 0, width, height];
    const [x = 0, y = 0, toWidth = 0, toHeight = 0] = to;
    if (fromWidth <= 0 || fromHeight <= 0) return;
    const across = toWidth / fromWidth;
    const down = toHeight / fromHeight;
    const { matrix } = this.#state;
    const path = new Path();
    path.rect(x, y, toWidth, toHeight);
    this.#count(path);
    const look = this.#look();
    const clip = clipIn(look.clip, { path, matrix, isEvenOdd: false });
    const place = product(matrix, [across, 0, 0, down, x - fromX * across, y - fromY * down]);
    this.#countShapes(source.shapes.length);
    this.#add({ kind: 'group', shapes: [...source.shapes], matrix: place, ...look, clip });
  }

  createImageData(width: number, height: number): Pixels {
    return new Pixels(width, height);
  }

  putImageData({ width, height, data }: Pixels, x: number, y: number): void {
    const picture = this.canvas.pixels((samples) => this.#countSamples(samples));
    const rows = Math.min(height, picture.height - y);
    if (x !== 0 || width !== picture.width || y < 0) throw new Unrecorded('a part of a picture');
    picture.data.set(data.subarray(0, Math.max(0, rows) * width * 4), y * width * 4);
  }

  /** Colors what the canvas has. */
  #color(): void {
    const color = colorOf(this.#state.fillStyle);
    this.canvas.shapes = this.canvas.shapes.map((shape) => colored(shape, color));
  }

  #look(): Look {
    const { clip, globalAlpha: opacity, globalCompositeOperation: name } = this.#state;
    if (name === 'source-over') return { clip, opacity, blend: 'normal' };
    if (!BLENDS.has(name)) throw new Unrecorded('a mask');
    return { clip, opacity, blend: name };
  }

  #count(path: Path): void {
    this.budget.segments += path.length;
    if (this.budget.segments > MAX_SEGMENTS) throw new Unrecorded('many lines');
  }

  #countSamples(samples: number): void {
    this.budget.samples += samples;
    if (this.budget.samples > MAX_SAMPLES) throw new Unrecorded('pictures of many samples');
  }

  #countShapes(shapes: number): void {
    this.budget.shapes += shapes;
    if (this.budget.shapes > MAX_SHAPES) throw new Unrecorded('many shapes');
  }

  #add(shape: Shape): void {
    this.#countShapes(1);
    // What has no area is not painted.
    if ('matrix' in shape && inverse(shape.matrix) === undefined) return;
    this.canvas.shapes.push(shape);
  }

  get filter(): string {
    return 'none';
  }
  set filter(value: string) {
    if (value !== 'none') throw new Unrecorded('a filter');
  }

  static {
    const kept = [
      'fillStyle',
      'strokeStyle',
      'globalAlpha',
      'globalCompositeOperation',
      'lineWidth',
      'lineCap',
      'lineJoin',
      'miterLimit',
      'lineDashOffset',
    ] as const;
    for (const name of kept)
      Object.defineProperty(RecordedContext.prototype, name, {
        get(this: RecordedContext) {
          return this.#state[name];
        },
        set(this: RecordedContext, value: never) {
          this.#state[name] = value;
        },
      });
    for (const name of [
      'fillText',
      'strokeText',
      'measureText',
      'getImageData',
      'createPattern',
      'createLinearGradient',
      'createRadialGradient',
      'clearRect',
    ])
      Object.defineProperty(RecordedContext.prototype, name, {
        value: () => {
          throw new Unrecorded(`what ${name} paints`);
        },
      });
  }
}

function clipIn(outer: Clip | undefined, clip: Pick<Clip, 'path' | 'matrix' | 'isEvenOdd'>): Clip {
  const depth = 1 + (outer?.depth ?? 0);
  if (depth > MAX_CLIPS) throw new Unrecorded('many clips within each other');
  return { ...clip, outer, depth };
}

function colored(shape: Shape, color: string): Shape {
  if (shape.kind === 'group') return { ...shape, shapes: shape.shapes.map((inner) => colored(inner, color)) };
  if (shape.kind === 'picture') return { ...shape, color };
  throw new Unrecorded('a mask');
}

function colorOf(style: unknown): string {
  if (typeof style === 'string' && COLOR.test(style)) return style;
  throw new Unrecorded('a pattern');
}

export class RecordedCanvas {
  shapes: Shape[] = [];
  #picture: Pixels | undefined;
  #context: RecordedContext | undefined;

  constructor(
    public width: number,
    public height: number,
    private readonly budget: Budget = { shapes: 0, segments: 0, samples: 0 },
  ) {}

  getContext(): RecordedContext {
    this.#context ??= new RecordedContext(this, this.budget);
    return this.#context;
  }

  /** The picture of a canvas that has nothing else. */
  pixels(count: (samples: number) => void): Pixels {
    if (this.#picture === undefined) {
      if (this.shapes.length > 0) throw new Unrecorded('a picture over others');
      count(this.width * this.height);
      this.#picture = new Pixels(this.width, this.height);
      this.shapes.push({
        kind: 'picture',
        picture: this.#picture,
        clip: undefined,
        opacity: 1,
        blend: 'normal',
      });
    }
    return this.#picture;
  }

  /** A canvas is used again with another size, empty. */
  clear(): void {
    this.shapes = [];
    this.#picture = undefined;
    this.#context = undefined;
  }

  /** A further canvas of the same page. */
  another(width: number, height: number): RecordedCanvas {
    return new RecordedCanvas(width, height, this.budget);
  }
}
