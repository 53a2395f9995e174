/** Matrices and paths with the interface of `DOMMatrix` and `Path2D` that pdf.js uses, without a browser. */

export type Six = readonly [a: number, b: number, c: number, d: number, e: number, f: number];

export const IDENTITY: Six = [1, 0, 0, 1, 0, 0];

/** The mapping that applies `inner` first. */
export function product(outer: Six, inner: Six): Six {
  const [a, b, c, d, e, f] = outer;
  const [g, h, i, j, k, l] = inner;
  return [a * g + c * h, b * g + d * h, a * i + c * j, b * i + d * j, a * k + c * l + e, b * k + d * l + f];
}

/** Undefined for a matrix that maps areas to lines. */
export function inverse([a, b, c, d, e, f]: Six): Six | undefined {
  const area = a * d - b * c;
  if (area === 0 || !Number.isFinite(area)) return undefined;
  return [d / area, -b / area, -c / area, a / area, (c * f - d * e) / area, (b * e - a * f) / area];
}

/** `DOMMatrix`. */
export class Matrix {
  a = 1;
  b = 0;
  c = 0;
  d = 1;
  e = 0;
  f = 0;

  constructor(given: Six | Matrix = IDENTITY) {
    this.#set(given instanceof Matrix ? given.six() : given);
  }

  six(): Six {
    return [this.a, this.b, this.c, this.d, this.e, this.f];
  }

  invertSelf(): this {
    return this.#set(inverse(this.six()) ?? [Number.NaN, 0, 0, Number.NaN, 0, 0]);
  }

  multiplySelf(other: Six | Matrix): this {
    return this.#set(product(this.six(), new Matrix(other).six()));
  }

  preMultiplySelf(other: Six | Matrix): this {
    return this.#set(product(new Matrix(other).six(), this.six()));
  }

  translate(x: number, y: number): Matrix {
    return new Matrix(product(this.six(), [1, 0, 0, 1, x, y]));
  }

  scale(x: number, y: number): Matrix {
    return new Matrix(product(this.six(), [x, 0, 0, y, 0, 0]));
  }

  #set([a, b, c, d, e, f]: Six): this {
    return Object.assign(this, { a, b, c, d, e, f });
  }
}

/** Letter of SVG, and its points. */
type Segment = readonly [letter: 'M' | 'L' | 'C' | 'Q' | 'Z', ...points: readonly number[]];

/** `Path2D`. */
export class Path {
  readonly #segments: Segment[] = [];

  moveTo(x: number, y: number): void {
    this.#segments.push(['M', x, y]);
  }

  lineTo(x: number, y: number): void {
    this.#segments.push(['L', x, y]);
  }

  bezierCurveTo(...points: readonly [number, number, number, number, number, number]): void {
    this.#segments.push(['C', ...points]);
  }

  quadraticCurveTo(...points: readonly [number, number, number, number]): void {
    this.#segments.push(['Q', ...points]);
  }

  closePath(): void {
    this.#segments.push(['Z']);
  }

  rect(x: number, y: number, width: number, height: number): void {
    this.moveTo(x, y);
    this.lineTo(x + width, y);
    this.lineTo(x + width, y + height);
    this.lineTo(x, y + height);
    this.closePath();
  }

  addPath(path: Path, matrix: Matrix = new Matrix()): void {
    const six = matrix.six();
    for (const [letter, ...points] of path.#segments)
      this.#segments.push([letter, ...mapped(points, six)] as Segment);
  }

  get length(): number {
    return this.#segments.length;
  }

  /** As SVG has it, whole numbers where `digits` is 0. */
  text(matrix: Six, digits = 1): string {
    return this.#segments
      .map(([letter, ...points]) => `${letter}${numbers(mapped(points, matrix), digits)}`)
      .join('');
  }
}

function mapped(points: readonly number[], [a, b, c, d, e, f]: Six): number[] {
  const found: number[] = [];
  for (let at = 0; at + 1 < points.length; at += 2) {
    const x = points[at] ?? 0;
    const y = points[at + 1] ?? 0;
    found.push(a * x + c * y + e, b * x + d * y + f);
  }
  return found;
}

/** Numbers of SVG, as short as they can be. */
export function numbers(values: readonly number[], digits: number): string {
  const factor = 10 ** digits;
  let text = '';
  for (const value of values) {
    if (!Number.isFinite(value)) throw new Error('A place is not a number.');
    const shown = String(Math.round(value * factor) / factor);
    text += text === '' || shown.startsWith('-') ? shown : ` ${shown}`;
  }
  return text;
}
