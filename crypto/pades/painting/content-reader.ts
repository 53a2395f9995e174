/**
 * Interprets content streams and the form XObjects they draw, and collects the marks they paint: enough to compare
 * shown text with a value, and to find marks that cover others.
 */
import {
  asName,
  asReference,
  asString,
  type ByteSlice,
  entriesOf,
  isArray,
  items,
  operationsIn,
  type PdfDict,
  type PdfDocument,
  PdfSyntaxError,
} from '../../pdf/index.ts';
import { componentsOf, lightnessOf } from './colours.ts';
import { type FontReader, fontReader } from './font-text.ts';
import {
  applied,
  around,
  type Box,
  boxAround,
  boxOf,
  contains,
  IDENTITY,
  intersectClip,
  isUpright,
  type Matrix,
  matrixOf,
  multiply,
  numberOf,
  transformed,
} from './geometry.ts';
import { inkOf } from './glyph-ink.ts';
import { type Glyph, type Mark, type PaintedContent, UnreadableContent } from './painted-marks.ts';
import { curveOf, PaintedPath, widened } from './paths.ts';

/** Most marks of one content. */
const MAX_MARKS = 50_000;
/** Most bytes of content, with its forms. */
const MAX_BYTES = 4 << 20;
const MAX_FORM_DEPTH = 12;
const MAX_SAVED_STATES = 64;
/** Bytes of content read in one step. */
const BYTES_PER_STEP = 32;
/** Operands of operators (ISO 32000-2, annex A): with more of them, programs take the first or the last ones. */
const OPERANDS: ReadonlyMap<string, number> = new Map(
  [
    "w g G Tj ' TJ TL Ts Tz Tr Tc Tw gs Do cs CS sh",
    'm l Td TD Tf',
    'rg RG "',
    'k K re v y',
    '',
    'cm c Tm',
  ].flatMap((operators, index) => operators.split(' ').map((operator) => [operator, index + 1] as const)),
);
const UNIT_SQUARE: Box = { left: 0, bottom: 0, right: 1, top: 1 };
const EMPTY_ARRAY: ByteSlice = { bytes: Buffer.from('[]'), at: -1, start: 0, end: 2 };
/** Thousandths of the font size that a TJ adjustment may move back without an overlap with earlier glyphs. */
const MAX_KERNING = 400;

export class ContentReader {
  readonly #pdf: PdfDocument;
  readonly #spend: (steps: number) => void;
  readonly #marks: Mark[] = [];
  readonly #fonts = new Map<number, FontReader>();
  #unsupported: string | undefined;
  #bytes = 0;
  /** True for the content of an appearance, which all programs have to read alike. */
  #isStrict = false;

  /** @param spend charges steps to the work budget */
  constructor(pdf: PdfDocument, spend: (steps: number) => void) {
    this.#pdf = pdf;
    this.#spend = spend;
  }

  /** Returns the marks of a form XObject; `to` is applied after its /Matrix. @throws UnreadableContent */
  form(value: ByteSlice | undefined, to: Matrix = IDENTITY): PaintedContent {
    this.#isStrict = true;
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
    const own = this.#pdf.dict(dict.get('Resources'));
    this.#assertOnce(dict);
    this.#assertOnce(own);
    for (const entry of own?.entries ?? []) this.#assertOnce(this.#pdf.dict(own?.valueAt(entry)));
    const ctm = multiply(matrix, state.ctm);
    const clip = intersectClip(state.clip, transformed(ctm, box));
    const isOptional = dict.get('OC') !== undefined;
    const hides = state.hides && isUpright(ctm) && !isOptional;
    const isConditional = state.isConditional || isOptional;
    // What is set outside of a transparency group applies to the group as a whole (11.6.6).
    const group =
      dict.get('Group') === undefined
        ? {}
        : {
            group: { alpha: state.group.alpha * state.alpha, blend: blendOf(state) },
            alpha: 1,
            lineAlpha: 1,
            blend: 'Normal',
          };
    this.#interpret(bytes, own ?? inherited, { ...state, ...group, ctm, clip, hides, isConditional }, depth);
  }

  #interpret(bytes: Buffer, resources: PdfDict | undefined, start: GraphicsState, depth: number): void {
    this.#bytes += bytes.length;
    this.#spend(bytes.length / BYTES_PER_STEP);
    if (this.#bytes > MAX_BYTES) throw new UnreadableContent('more content than is looked at');
    let state = { ...start };
    const saved: GraphicsState[] = [];
    let path = new PaintedPath();
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
      matrix = this.#showText(state, matrix, shown);
    };
    for (const { operator, operands } of operationsIn(bytes)) {
      const wanted = OPERANDS.get(operator);
      if (this.#isStrict && wanted !== undefined && wanted !== operands.length)
        throw new UnreadableContent(`${operator} with ${operands.length} operands`);
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
          path.rectangle(n(0), n(1), n(2), n(3));
          break;
        case 'm':
        case 'l':
          path.point(n(0), n(1), operator === 'l');
          break;
        case 'c':
        case 'v':
        case 'y':
          path.curve(
            curveOf(
              operator,
              path,
              operands.map((_, index) => n(index)),
            ),
          );
          break;
        case 'h':
          path.close();
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
          if (/[sb]/.test(operator)) path.close();
          if (operator !== 'n') this.#paintPath(state, path, operator);
          if (clips) state.hides = false;
          if (clips && !(path.isBox && isUpright(state.ctm))) state.isConditional = true;
          if (clips && path.points.length > 0)
            state.clip = intersectClip(
              state.clip,
              boxAround(path.points.map(([x, y]) => applied(state.ctm, x, y))),
            );
          path = new PaintedPath();
          clips = false;
          break;
        case 'sh':
          this.#noteUnsupported('a shading');
          this.#addMark(
            { ...state, fill: undefined },
            { kind: 'fill', box: state.clip ?? EVERYWHERE, isRectilinear: true },
          );
          break;
        case 'g':
        case 'rg':
        case 'k':
        case 'sc':
        case 'scn':
        case 'G':
        case 'RG':
        case 'K':
        case 'SC':
        case 'SCN':
          this.#setColour(state, operator, operands);
          break;
        case 'cs':
          state.fillComponents = componentsOf(this.#pdf, resources, operands[0]);
          state.fill = state.fillComponents === undefined ? undefined : 0;
          break;
        case 'CS':
          state.lineComponents = componentsOf(this.#pdf, resources, operands[0]);
          state.line = state.lineComponents === undefined ? undefined : 0;
          break;
        case 'w':
          state.lineWidth = n(0);
          break;
        case 'd':
          state.isDashed = isDash(operands[0]);
          break;
        case 'BDC':
          if (asName(operands[0]) === 'OC') {
            state.hides = false;
            state.isConditional = true;
          }
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
          if (operator === 'Tc') state.letterSpace = n(0);
          else state.wordSpace = n(0);
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
          state.wordSpace = n(0);
          state.letterSpace = n(1);
          move(0, -state.leading);
          show(operands[2]);
          break;
        case 'TJ':
          for (const item of items(operands[0] ?? EMPTY_ARRAY)) {
            const back = numberOf(item);
            if (back === undefined) show(item);
            else {
              if (back > MAX_KERNING) this.#noteUnsupported('text written backwards');
              matrix = multiply([1, 0, 0, 1, (-back / 1000) * state.size * state.scale, 0], matrix);
            }
          }
          break;
      }
    }
  }

  /** @throws UnreadableContent for a key that is written twice: programs take the first or the last one */
  #assertOnce(dict: PdfDict | undefined): void {
    if (this.#isStrict && dict !== undefined && entriesOf(dict) === undefined)
      throw new UnreadableContent('a key that is written twice');
  }

  #noteUnsupported(construct: string): void {
    this.#unsupported ??= construct;
  }

  #addMark(state: GraphicsState, mark: Pick<Mark, 'kind' | 'box'> & Partial<Mark>): void {
    if (this.#marks.length >= MAX_MARKS) throw new UnreadableContent('more marks than are looked at');
    const { clip } = state;
    const covers = (mark.covers ?? []).map((box) => (clip === undefined ? box : intersectClip(clip, box)));
    const { isConditional, group } = state;
    const alpha = mark.alpha ?? state.alpha;
    this.#marks.push({
      isRectilinear: false,
      hides: false,
      isCurved: false,
      lightness: state.fill,
      blend: blendOf(state),
      isConditional,
      ...mark,
      alpha: alpha * group.alpha,
      clip,
      covers,
    });
  }

  #setColour(state: GraphicsState, operator: string, operands: readonly ByteSlice[]): void {
    const isPattern = asName(operands.at(-1)) !== undefined;
    if (isPattern) this.#noteUnsupported('a pattern');
    const isLine = operator === operator.toUpperCase();
    const isSpecial = /sc/i.test(operator);
    if (!isSpecial) state[isLine ? 'lineComponents' : 'fillComponents'] = operands.length;
    const components = isLine ? state.lineComponents : state.fillComponents;
    const isKnown = !isPattern && components === operands.length;
    const colour = operands.map((operand) => numberOf(operand) ?? Number.NaN);
    state[isLine ? 'line' : 'fill'] = isKnown ? lightnessOf(colour) : undefined;
  }

  #paintPath(state: GraphicsState, path: PaintedPath, operator: string): void {
    if (path.points.length === 0) return;
    const { ctm, clip } = state;
    const kind = /[Ss]/.test(operator) ? 'stroke' : 'fill';
    const box = boxAround(path.points.map(([x, y]) => applied(ctm, x, y)));
    const isRectilinear = path.isRectilinear && isUpright(ctm);
    const stroked = /[fFn]/.test(operator) ? [] : path.stroked(ctm, lineWidthOf(state));
    const filled = path.rectangles?.map((one) => transformed(ctm, one)) ?? [box];
    const covers = kind === 'fill' ? [...filled, ...stroked] : stroked;
    const isWhole = clip === undefined || contains(clip, box, 1);
    const hides = kind === 'fill' && state.hides && path.isRectangle && isRectilinear && isWhole;
    const isConditional = state.isConditional || state.isDashed;
    const own = kind === 'fill' ? {} : { lightness: state.line, alpha: state.lineAlpha, isConditional };
    this.#addMark(state, { kind, box, isRectilinear, covers, hides, isCurved: path.isCurved, ...own });
  }

  /** Adds a text mark. Returns the text matrix behind it. */
  #showText(state: GraphicsState, start: Matrix, bytes: Buffer): Matrix {
    const { font, size, mode, scale, rise, letterSpace, wordSpace } = state;
    if (font?.reader.drawn === true) this.#noteUnsupported('glyphs that are drawings');
    if (mode !== 0 && mode !== 1 && mode !== 2) this.#noteUnsupported('text that is not painted');
    if (!(scale > 0)) this.#noteUnsupported('text written backwards');
    const codes = font?.reader.codes(bytes) ?? [];
    if (font === undefined) this.#noteUnsupported('text without a font');
    let matrix = start;
    const outline = mode === 0 ? 0 : lineWidthOf(state);
    const glyphs: Glyph[] = [];
    for (const { code, text, width, isSpace, inkWidth } of codes) {
      const advance = (width * size + letterSpace + (isSpace ? wordSpace : 0)) * scale;
      const toPage = multiply(matrix, state.ctm);
      const [low, high] = inkOf(text);
      const ink = transformed(toPage, {
        left: 0,
        right: (text?.trim() === '' ? width : Math.max(inkWidth, MIN_INK)) * size * scale,
        bottom: rise + low * size,
        top: rise + high * size,
      });
      const box = outline > 0 ? widened(ink, outline / 2) : ink;
      glyphs.push({ code, text, box, at: applied(toPage, 0, rise), to: applied(toPage, advance, rise) });
      matrix = multiply([1, 0, 0, 1, advance, 0], matrix);
    }
    const toPage = multiply(start, state.ctm);
    if (toPage[0] * toPage[3] - toPage[1] * toPage[2] < 0 !== size < 0 && size !== 0)
      this.#noteUnsupported('text written backwards');
    const at = applied(toPage, 0, rise);
    const [x, y] = applied(toPage, 1, rise);
    const isKnown = codes.every(({ text }) => text !== undefined);
    const text = {
      text: isKnown && font !== undefined ? codes.map((code) => code.text).join('') : undefined,
      glyphs,
      fontNumber: font?.number,
      embedded: font?.reader.embedded ?? true,
      fontFault: codes.find(({ fault }) => fault !== undefined)?.fault,
      fontName: font?.reader.name ?? '',
      at,
      direction: [x - at[0], y - at[1]] as const,
      size: Math.abs(size) * Math.hypot(toPage[2], toPage[3]),
      isOutline: mode === 1,
      outline,
    };
    const inked = glyphs.filter((glyph) => glyph.text?.trim() !== '').map(({ box }) => box);
    const isStroked = mode === 1;
    this.#addMark(state, {
      kind: 'text',
      box: inked.reduce(around, inked[0] ?? { left: at[0], right: at[0], bottom: at[1], top: at[1] }),
      covers: inked,
      text,
      lightness: isStroked ? state.line : mode === 2 ? outlined(state) : state.fill,
      alpha: mode > 2 ? 0 : isStroked ? state.lineAlpha : state.alpha,
    });
    return matrix;
  }

  #selectFont(resources: PdfDict | undefined, name: ByteSlice | undefined): GraphicsState['font'] {
    return this.#fontIn(this.#pdf.dict(resources?.get('Font'))?.get(asName(name) ?? ''));
  }

  #fontIn(value: ByteSlice | undefined): GraphicsState['font'] {
    const dict = this.#pdf.dict(value);
    if (dict === undefined) return undefined;
    const number = asReference(value)?.number;
    const cached = number === undefined ? undefined : this.#fonts.get(number);
    if (cached === undefined) {
      this.#assertOnce(dict);
      this.#assertOnce(this.#pdf.dict(dict.get('Encoding')));
    }
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
    this.#assertOnce(dict);
    for (const entry of dict?.entries ?? []) {
      const key = dict?.keyOf(entry) ?? '';
      const value = this.#pdf.resolve(dict?.valueAt(entry));
      const isOff = asName(value) === 'None';
      if (key === 'LW') state.lineWidth = numberOf(value) ?? Number.NaN;
      if (key === 'D') state.isDashed = isDash([...items(value)][0]);
      if (key === 'ca' && numberOf(value) !== 1) state.hides = false;
      if (key === 'BM' && asName(value) !== 'Normal') state.hides = false;
      if (key === 'ca') state.alpha = numberOf(value) ?? 1;
      if (key === 'CA') state.lineAlpha = numberOf(value) ?? 1;
      if (key === 'BM') state.blend = blendMode(this.#pdf, value);
      if (key === 'SMask' && !isOff) state.blend = 'mask';
      if ((key === 'SMask' && !isOff) || key === 'Font')
        this.#noteUnsupported('a graphics state that masks or sets a font');
      if (key === 'Font') {
        const [name, size] = items(value);
        state.font = this.#fontIn(name);
        state.size = numberOf(size) ?? Number.NaN;
      }
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
  isDashed: boolean;
  letterSpace: number;
  wordSpace: number;
  /** Lightness of the colours for filling and for lines, and the components of their colour spaces. */
  fill: number | undefined;
  line: number | undefined;
  fillComponents: number | undefined;
  lineComponents: number | undefined;
  alpha: number;
  lineAlpha: number;
  blend: string;
  group: { readonly alpha: number; readonly blend: string };
  isConditional: boolean;
  /** False while a fill may show what is below: transparent, blended, optional, or inside of a clipping path. */
  hides: boolean;
}

/** Width of the narrowest ink, as a fraction of the font size. */
const MIN_INK = 0.1;
const EVERYWHERE: Box = { left: -1e6, bottom: -1e6, right: 1e6, top: 1e6 };

const isDash = (pattern: ByteSlice | undefined): boolean => !items(pattern ?? EMPTY_ARRAY).next().done;

/** Returns the lightness of filled text with outlines; undefined for outlines of another one. */
function outlined({ fill, line }: GraphicsState): number | undefined {
  return fill !== undefined && line !== undefined && Math.abs(fill - line) < 0.3 ? fill : undefined;
}

function blendOf({ blend, group }: GraphicsState): string {
  return group.blend === 'Normal' ? blend : group.blend;
}

/** Returns a blend mode; the first of a list, which readers that know it use. */
function blendMode(pdf: PdfDocument, value: ByteSlice): string {
  const [first = value] = isArray(value) ? items(value) : [];
  return asName(pdf.resolve(first)) ?? 'unknown';
}

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
    isDashed: false,
    letterSpace: 0,
    wordSpace: 0,
    fill: 0,
    line: 0,
    fillComponents: 1,
    lineComponents: 1,
    alpha: 1,
    lineAlpha: 1,
    blend: 'Normal',
    group: { alpha: 1, blend: 'Normal' },
    isConditional: false,
    hides: true,
  };
}
