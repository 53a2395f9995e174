/**
 * Interprets content streams and the form XObjects they draw, and collects the marks they paint: enough to compare
 * shown text with a value, and to find marks that cover others.
 */
import {
  asName,
  asReference,
  asString,
  type ByteSlice,
  items,
  operationsIn,
  type PdfDict,
  type PdfDocument,
  PdfSyntaxError,
} from '../../pdf/index.ts';
import { type FontReader, fontReader } from './font-text.ts';
import {
  applied,
  type Box,
  boxAround,
  boxOf,
  contains,
  IDENTITY,
  isUpright,
  type Matrix,
  matrixOf,
  multiply,
  numberOf,
  transformed,
} from './geometry.ts';
import { type Mark, type PaintedContent, THIN, UnreadableContent } from './painted-marks.ts';

/** Most marks of one content. */
const MAX_MARKS = 50_000;
/** Most bytes of content, with its forms. */
const MAX_BYTES = 4 << 20;
const MAX_FORM_DEPTH = 12;
const MAX_SAVED_STATES = 64;
/** Bytes of content read in one step. */
const BYTES_PER_STEP = 32;
const UNIT_SQUARE: Box = { left: 0, bottom: 0, right: 1, top: 1 };
const EMPTY_ARRAY: ByteSlice = { bytes: Buffer.from('[]'), at: -1, start: 0, end: 2 };
/** Width of a glyph as a fraction of the font size: above the average, so that text is not estimated too short. */
const GLYPH_WIDTH = 0.6;
/** Thousandths of the font size that a TJ adjustment may move back without an overlap with earlier glyphs. */
const MAX_KERNING = 400;

export class ContentReader {
  readonly #pdf: PdfDocument;
  readonly #spend: (steps: number) => void;
  readonly #marks: Mark[] = [];
  readonly #fonts = new Map<number, FontReader>();
  #unsupported: string | undefined;
  #bytes = 0;

  /** @param spend charges steps to the work budget */
  constructor(pdf: PdfDocument, spend: (steps: number) => void) {
    this.#pdf = pdf;
    this.#spend = spend;
  }

  /** Returns the marks of a form XObject; `to` is applied after its /Matrix. @throws UnreadableContent */
  form(value: ByteSlice | undefined, to: Matrix = IDENTITY): PaintedContent {
    return this.#read(() => this.#paintForm(value, initialState(to), undefined, 0));
  }

  /** Returns the marks of concatenated content streams (7.8.2). @throws UnreadableContent */
  content(streams: readonly ByteSlice[], resources: PdfDict | undefined): PaintedContent {
    return this.#read(() => {
      const bytes = streams.map((stream) => this.#pdf.stream(stream) ?? Buffer.alloc(0));
      const joined = Buffer.concat(bytes.flatMap((part) => [part, Buffer.from('\n')]));
      this.#interpret(joined, resources, initialState(IDENTITY), 0);
    });
  }

  #read(read: () => void): PaintedContent {
    try {
      read();
    } catch (error) {
      if (error instanceof PdfSyntaxError) throw new UnreadableContent(error.message);
      throw error;
    }
    return { marks: this.#marks, unsupported: this.#unsupported };
  }

  #paintForm(
    value: ByteSlice | undefined,
    state: GraphicsState,
    inherited: PdfDict | undefined,
    depth: number,
  ): void {
    const dict = this.#pdf.dict(value);
    const bytes = this.#pdf.stream(value);
    const matrix = matrixOf(this.#pdf, dict?.get('Matrix'));
    const box = boxOf(this.#pdf, dict?.get('BBox'));
    if (dict === undefined || bytes === undefined || matrix === undefined || box === undefined) {
      throw new UnreadableContent('a form without content, extent or matrix');
    }
    if (depth > MAX_FORM_DEPTH) throw new UnreadableContent('forms nested too deep');
    const ctm = multiply(matrix, state.ctm);
    const clip = intersectClip(state.clip, transformed(ctm, box));
    const hides = state.hides && isUpright(ctm) && dict.get('OC') === undefined;
    this.#interpret(
      bytes,
      this.#pdf.dict(dict.get('Resources')) ?? inherited,
      { ...state, ctm, clip, hides },
      depth,
    );
  }

  #interpret(bytes: Buffer, resources: PdfDict | undefined, start: GraphicsState, depth: number): void {
    this.#bytes += bytes.length;
    this.#spend(bytes.length / BYTES_PER_STEP);
    if (this.#bytes > MAX_BYTES) throw new UnreadableContent('more content than is looked at');
    let state = { ...start };
    const saved: GraphicsState[] = [];
    let path: Path = emptyPath();
    let matrix: Matrix = IDENTITY;
    let line: Matrix = IDENTITY;
    let clips = false;
    const move = (x: number, y: number): void => {
      line = multiply([1, 0, 0, 1, x, y], line);
      matrix = line;
    };
    const show = (string: ByteSlice | undefined): void => {
      const shown = asString(string);
      if (shown === undefined || shown.length === 0) return;
      matrix = multiply([1, 0, 0, 1, this.#showText(state, matrix, shown), 0], matrix);
    };
    for (const { operator, operands } of operationsIn(bytes)) {
      const n = (index: number): number => numberOf(operands[index]) ?? Number.NaN;
      switch (operator) {
        case 'q':
          if (saved.length === MAX_SAVED_STATES) throw new UnreadableContent('states nested too deep');
          saved.push({ ...state });
          break;
        case 'Q':
          state = saved.pop() ?? state;
          break;
        case 'cm':
          state.ctm = multiply([n(0), n(1), n(2), n(3), n(4), n(5)], state.ctm);
          break;
        case 're':
          addRectangle(path, n(0), n(1), n(2), n(3));
          break;
        case 'm':
        case 'l':
          addPoint(path, n(0), n(1), operator === 'l');
          break;
        case 'c':
        case 'v':
        case 'y':
          path.isRectilinear = false;
          for (let at = 0; at < operands.length; at += 2) addPoint(path, n(at), n(at + 1), false);
          break;
        case 'W':
        case 'W*':
          clips = true;
          break;
        case 'f':
        case 'F':
        case 'f*':
        case 'B':
        case 'B*':
        case 'b':
        case 'b*':
        case 'S':
        case 's':
        case 'n':
          if (operator !== 'n') this.#paintPath(state, path, operator);
          if (clips) state.hides = false;
          if (clips && path.points.length > 0)
            state.clip = intersectClip(
              state.clip,
              boxAround(path.points.map(([x, y]) => applied(state.ctm, x, y))),
            );
          path = emptyPath();
          clips = false;
          break;
        case 'sh':
          this.#noteUnsupported('a shading');
          break;
        case 'scn':
        case 'SCN':
          if (asName(operands.at(-1)) !== undefined) this.#noteUnsupported('a pattern');
          break;
        case 'w':
          state.lineWidth = n(0);
          break;
        case 'BDC':
          if (asName(operands[0]) === 'OC') state.hides = false;
          break;
        case 'gs':
          this.#readGraphicsParameters(state, resources, operands[0]);
          break;
        case 'BI':
          this.#addMark(state, { kind: 'image', box: transformed(state.ctm, UNIT_SQUARE) });
          break;
        case 'Do':
          this.#paintXObject(state, resources, operands[0], depth);
          break;
        case 'BT':
          matrix = IDENTITY;
          line = IDENTITY;
          break;
        case 'Tf':
          state.font = this.#selectFont(resources, operands[0]);
          state.size = n(1);
          break;
        case 'TL':
          state.leading = n(0);
          break;
        case 'Ts':
          state.rise = n(0);
          break;
        case 'Tz':
          state.scale = n(0) / 100;
          break;
        case 'Tr':
          state.mode = n(0);
          break;
        case 'Tc':
        case 'Tw':
          if (!(n(0) > -Math.abs(state.size || 12) / 2)) this.#noteUnsupported('text written backwards');
          break;
        case 'Td':
          move(n(0), n(1));
          break;
        case 'TD':
          state.leading = -n(1);
          move(n(0), n(1));
          break;
        case 'Tm':
          line = [n(0), n(1), n(2), n(3), n(4), n(5)];
          matrix = line;
          break;
        case 'T*':
          move(0, -state.leading);
          break;
        case 'Tj':
          show(operands[0]);
          break;
        case "'":
          move(0, -state.leading);
          show(operands[0]);
          break;
        case '"':
          move(0, -state.leading);
          show(operands[2]);
          break;
        case 'TJ':
          for (const item of items(operands[0] ?? EMPTY_ARRAY)) {
            const back = numberOf(item);
            if (back === undefined) show(item);
            else if (back > MAX_KERNING) this.#noteUnsupported('text written backwards');
          }
          break;
      }
    }
  }

  #noteUnsupported(construct: string): void {
    this.#unsupported ??= construct;
  }

  #addMark(state: GraphicsState, mark: Pick<Mark, 'kind' | 'box'> & Partial<Mark>): void {
    if (this.#marks.length >= MAX_MARKS) throw new UnreadableContent('more marks than are looked at');
    const { clip } = state;
    const covers = (mark.covers ?? []).map((box) => (clip === undefined ? box : intersectClip(clip, box)));
    this.#marks.push({ isRectilinear: false, hides: false, ...mark, clip, covers });
  }

  #paintPath(state: GraphicsState, path: Path, operator: string): void {
    if (path.points.length === 0) return;
    const { ctm, clip } = state;
    const kind = /[Ss]/.test(operator) ? 'stroke' : 'fill';
    const points = path.points.map(([x, y]) => applied(ctm, x, y));
    const box = boxAround(points);
    const isRectilinear = path.isRectilinear && isUpright(ctm);
    const width = lineWidthOf(state);
    const stroked = /[fFn]/.test(operator)
      ? []
      : strokedAreas({ ...path, points, isRectilinear }, width, THIN);
    const covers = kind === 'fill' ? [box, ...stroked] : stroked;
    const isWhole = clip === undefined || contains(clip, box, 1);
    const hides = kind === 'fill' && state.hides && path.isRectangle && isRectilinear && isWhole;
    this.#addMark(state, { kind, box, isRectilinear, covers, hides });
  }

  /** Adds a text mark. Returns its width in text space, an estimate, since glyph widths are not read. */
  #showText(state: GraphicsState, matrix: Matrix, bytes: Buffer): number {
    const { font, size, mode, scale, rise } = state;
    if (font?.reader.drawn === true) this.#noteUnsupported('glyphs that are drawings');
    if (mode !== 0 && mode !== 1 && mode !== 2) this.#noteUnsupported('text that is not painted');
    if (!(scale > 0)) this.#noteUnsupported('text written backwards');
    const width = (bytes.length / (font?.reader.width ?? 1)) * Math.abs(size) * GLYPH_WIDTH;
    const toPage = multiply(matrix, state.ctm);
    const corners = { left: 0, bottom: rise - 0.2 * size, right: width, top: rise + 0.8 * size };
    const at = applied(toPage, 0, rise);
    const [x, y] = applied(toPage, 1, rise);
    const text = {
      text: font?.reader.text(bytes),
      fontNumber: font?.number,
      embedded: font?.reader.embedded ?? true,
      at,
      direction: [x - at[0], y - at[1]] as const,
      size: Math.abs(size) * Math.hypot(toPage[2], toPage[3]),
    };
    const box = transformed(toPage, corners);
    const outline = mode === 0 ? 0 : lineWidthOf(state);
    this.#addMark(state, {
      kind: 'text',
      box,
      covers: outline <= THIN ? [] : [widened(box, outline / 2)],
      text,
    });
    return width;
  }

  #selectFont(resources: PdfDict | undefined, name: ByteSlice | undefined): GraphicsState['font'] {
    const value = this.#pdf.dict(resources?.get('Font'))?.get(asName(name) ?? '');
    const dict = this.#pdf.dict(value);
    if (dict === undefined) return undefined;
    const number = asReference(value)?.number;
    const cached = number === undefined ? undefined : this.#fonts.get(number);
    const reader = cached ?? fontReader(this.#pdf, dict);
    if (number !== undefined) this.#fonts.set(number, reader);
    return { reader, number };
  }

  #paintXObject(
    state: GraphicsState,
    resources: PdfDict | undefined,
    name: ByteSlice | undefined,
    depth: number,
  ): void {
    const value = this.#pdf.dict(resources?.get('XObject'))?.get(asName(name) ?? '');
    const subtype = asName(this.#pdf.resolve(this.#pdf.dict(value)?.get('Subtype')));
    if (subtype === 'Form') this.#paintForm(value, state, resources, depth + 1);
    else if (value !== undefined)
      this.#addMark(state, { kind: 'image', box: transformed(state.ctm, UNIT_SQUARE) });
  }

  /** Checks a graphics state parameter dictionary: soft masks and fonts are not supported (8.4.5). */
  #readGraphicsParameters(
    state: GraphicsState,
    resources: PdfDict | undefined,
    name: ByteSlice | undefined,
  ): void {
    const dict = this.#pdf.dict(this.#pdf.dict(resources?.get('ExtGState'))?.get(asName(name) ?? ''));
    for (const entry of dict?.entries ?? []) {
      const key = dict?.keyOf(entry) ?? '';
      const value = this.#pdf.resolve(dict?.valueAt(entry));
      const isOff = asName(value) === 'None';
      if (key === 'LW') state.lineWidth = numberOf(value) ?? Number.NaN;
      if (key === 'ca' && numberOf(value) !== 1) state.hides = false;
      if (key === 'BM' && asName(value) !== 'Normal') state.hides = false;
      if ((key === 'SMask' && !isOff) || key === 'Font')
        this.#noteUnsupported('a graphics state that masks or sets a font');
    }
  }
}

/** Returns the width of lines in the space of the requested content, in the direction where they are widest. */
function lineWidthOf({ lineWidth, ctm: [a, b, c, d] }: GraphicsState): number {
  return Math.abs(lineWidth) * Math.max(Math.hypot(a, b), Math.hypot(c, d));
}

/**
 * Graphics state and current path while content is interpreted (ISO 32000-2, 8.4 and 8.5).
 */
interface GraphicsState {
  ctm: Matrix;
  clip: Box | undefined;
  font: { readonly reader: FontReader; readonly number: number | undefined } | undefined;
  size: number;
  leading: number;
  rise: number;
  scale: number;
  mode: number;
  lineWidth: number;
  /** False while a fill may show what is below: transparent, blended, optional, or inside of a clipping path. */
  hides: boolean;
}

interface Path {
  readonly points: (readonly [number, number])[];
  isRectilinear: boolean;
  /** True for one rectangle of the operator `re`. */
  isRectangle: boolean;
}

/** Most points kept of one path; the others are dropped. */
const MAX_POINTS = 10_000;
/** Most points of a rectilinear path: a closed rectangle. */
const MAX_RECTILINEAR_POINTS = 5;

function initialState(ctm: Matrix): GraphicsState {
  return {
    ctm,
    clip: undefined,
    font: undefined,
    size: 0,
    leading: 0,
    rise: 0,
    scale: 1,
    mode: 0,
    lineWidth: 1,
    hides: true,
  };
}

/** Intersects two clipping boxes. */
function intersectClip(clip: Box | undefined, box: Box): Box {
  if (clip === undefined || contains(clip, box, 0)) return box;
  return {
    left: Math.max(clip.left, box.left),
    bottom: Math.max(clip.bottom, box.bottom),
    right: Math.min(clip.right, box.right),
    top: Math.min(clip.top, box.top),
  };
}

function emptyPath(): Path {
  return { points: [], isRectilinear: true, isRectangle: false };
}

function addRectangle(path: Path, x: number, y: number, width: number, height: number): void {
  if (path.points.length > 0) path.isRectilinear = false;
  path.isRectangle = path.points.length === 0;
  if (path.points.length < MAX_POINTS) path.points.push([x, y], [x + width, y + height]);
}

function addPoint(path: Path, x: number, y: number, isLine: boolean): void {
  const last = path.points.at(-1);
  path.isRectangle = false;
  if (isLine && last !== undefined && last[0] !== x && last[1] !== y) path.isRectilinear = false;
  if (path.points.length >= MAX_RECTILINEAR_POINTS) path.isRectilinear = false;
  if (path.points.length < MAX_POINTS) path.points.push([x, y]);
}

/** Most points of a curve or slanted line that is thin; one with more can hatch its whole box. */
const MAX_LINE_POINTS = 32;

/**
 * Returns the areas that stroking a path paints, in the space of the path: its lines, widened, or the box of the whole path
 * when its shape is not a rectangle of lines.
 * @param thin width of a line that covers nothing by its slanted parts
 */
function strokedAreas({ points, isRectilinear, isRectangle }: Path, width: number, thin: number): Box[] {
  const around = widened(boxAround(points), width / 2);
  if (!isRectilinear) return width <= thin && points.length <= MAX_LINE_POINTS ? [] : [around];
  const [[x1, y1] = [Number.NaN, Number.NaN], [x2, y2] = [Number.NaN, Number.NaN]] = points;
  const corners = isRectangle
    ? ([
        [x1, y1],
        [x2, y1],
        [x2, y2],
        [x1, y2],
      ] as const)
    : points;
  const lines = corners.map(
    (corner, index) => [corner, corners[(index + 1) % corners.length] ?? corner] as const,
  );
  const isSlanted = lines.some(([from, to]) => from[0] !== to[0] && from[1] !== to[1]);
  if (isSlanted && !(width <= thin)) return [around];
  return lines
    .filter(([from, to]) => from[0] === to[0] || from[1] === to[1])
    .map((line) => widened(boxAround(line), width / 2));
}

/** Enlarges a box on each side. */
function widened({ left, bottom, right, top }: Box, by: number): Box {
  return { left: left - by, bottom: bottom - by, right: right + by, top: top + by };
}
