/** Place in a content stream that is being interpreted: the states, the path and the position of the text. */
import type { ByteSlice, PdfDict } from '../../pdf/index.ts';
import { IDENTITY, intersectClip, isUpright, type Matrix, multiply } from './geometry.ts';
import type { GraphicsState } from './graphics-state.ts';
import type { PaintedPath } from './paths.ts';

/** Resources in which a name is looked up, the innermost first: some programs go on to those around a form. */
export type Resources = readonly PdfDict[];

export interface ContentPlace {
  readonly resources: Resources;
  /** Forms around it. */
  readonly depth: number;
  readonly saved: GraphicsState[];
  readonly text: TextPosition;
  state: GraphicsState;
  path: PaintedPath;
  /** The path becomes part of the clip when it is painted. */
  clips: boolean;
}

export interface Operation {
  readonly operator: string;
  readonly operands: readonly ByteSlice[];
  /** A number among the operands. @throws UnreadableContent */
  readonly n: (index: number) => number;
}

/** Restricts what is painted next to the inside of a path (8.5.4). */
export function clipBy(state: GraphicsState, path: PaintedPath): void {
  state.hides = false;
  if (!(path.isBox && isUpright(state.ctm))) Object.assign(state, { isConditional: true, isShaped: true });
  if (path.points.length > 0) state.clip = intersectClip(state.clip, path.extent(state.ctm));
}

/** Text matrix and line matrix (9.4.1, 9.4.2). */
export class TextPosition {
  matrix: Matrix = IDENTITY;
  #line: Matrix = IDENTITY;

  begin(): void {
    this.set(IDENTITY);
  }

  set(matrix: Matrix): void {
    this.#line = matrix;
    this.matrix = matrix;
  }

  /** Begins a line at an offset from the begin of the current one. */
  move(x: number, y: number): void {
    this.set(multiply([1, 0, 0, 1, x, y], this.#line));
  }

  /** Goes on along the line. */
  advance(x: number): void {
    this.matrix = multiply([1, 0, 0, 1, x, 0], this.matrix);
  }
}
