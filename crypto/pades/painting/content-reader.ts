/**
 * Interprets content streams and the form XObjects they draw, and collects the marks they paint: enough to compare
 * shown text with a value, and to find marks that cover others.
 */
import {
  asName,
  asString,
  type ByteSlice,
  items,
  operationsIn,
  type PdfDict,
  type PdfDocument,
  PdfSyntaxError,
} from '../../pdf/index.ts';
import { componentsOf, lightnessOf, replacesDevice } from './colours.ts';
import { groupOf, keepsColour } from './compositing.ts';
import { assertOnce, ContentFonts } from './content-fonts.ts';
import { operatorFault, requiredNumber } from './content-operators.ts';
import { type ContentPlace, clipBy, type Operation, type Resources, TextPosition } from './content-place.ts';
import { type Ink, together } from './font-program.ts';
import { codesWithoutFont } from './font-text.ts';
import {
  applied,
  around,
  type Box,
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
import { anyInk } from './glyph-ink.ts';
import { differencesIn } from './glyph-names.ts';
import {
  blendOf,
  drawsPicture,
  type GraphicsState,
  initialState,
  isDash,
  lineWidthOf,
  outlined,
  readParameters,
  setTextParameter,
} from './graphics-state.ts';
import {
  type Glyph,
  type Mark,
  type PaintedContent,
  UnmeasuredFont,
  UnreadableContent,
} from './painted-marks.ts';
import { curveOf, PaintedPath, widened } from './paths.ts';

/** Most marks of one content. */
const MAX_MARKS = 50_000;
/** Most bytes of content, with its forms. */
const MAX_BYTES = 4 << 20;
const MAX_FORM_DEPTH = 12;
const MAX_SAVED_STATES = 64;
/** Bytes of content read in one step. */
const BYTES_PER_STEP = 32;
/** Entries of forms (tables 93 and 5) whose effect is known. Others draw something else in some programs: /Ref, /OPI, /PS. */
const FORM_KEYS: ReadonlySet<string> = new Set(
  'Type Subtype FormType BBox Matrix Resources Group OC Length Filter DecodeParms DL Name LastModified StructParent StructParents PieceInfo Metadata Measure PtData'.split(
    ' ',
  ),
);
const UNIT_SQUARE: Box = { left: 0, bottom: 0, right: 1, top: 1 };
const EMPTY_ARRAY: ByteSlice = { bytes: Buffer.from('[]'), at: -1, start: 0, end: 2 };
/** Most fonts of drawings whose glyphs use another such font. */
const MAX_DRAWN_DEPTH = 2;
/** Thousandths of the font size that a TJ adjustment may move back without an overlap with earlier glyphs. */
const MAX_KERNING = 400;

export class ContentReader {
  readonly #pdf: PdfDocument;
  readonly #spend: (steps: number) => void;
  readonly #marks: Mark[] = [];
  readonly #fonts: ContentFonts;
  readonly #drawn = new Map<PdfDict, Map<number, Ink>>();
  readonly #drawnDepth: number;
  #unsupported: string | undefined;
  #bytes = 0;
  #pageResources: PdfDict | undefined;
  /** True for the content of an appearance, which all programs have to read alike. */
  #isStrict = false;

  /** @param spend charges steps to the work budget */
  constructor(pdf: PdfDocument, spend: (steps: number) => void, drawnDepth = 0) {
    this.#pdf = pdf;
    this.#fonts = new ContentFonts(pdf);
    this.#spend = spend;
    this.#drawnDepth = drawnDepth;
  }

  /** Returns the marks of a form XObject; `to` is applied after its /Matrix. @throws UnreadableContent */
  form(value: ByteSlice | undefined, to: Matrix = IDENTITY): PaintedContent {
    this.#isStrict = true;
    return this.#read(() => this.#paintForm(value, initialState(to), [], 0));
  }

  /** Returns the marks of concatenated content streams (7.8.2). @throws UnreadableContent */
  content(streams: readonly ByteSlice[], resources: PdfDict | undefined): PaintedContent {
    return this.#read(() => {
      const bytes = streams.map((stream) => {
        assertOnce(this.#pdf.dict(stream));
        return this.#pdf.stream(stream) ?? Buffer.alloc(0);
      });
      this.#assertResources(resources);
      this.#pageResources = resources;
      const joined = Buffer.concat(bytes.flatMap((part) => [part, Buffer.from('\n')]));
      this.#interpret(joined, resources === undefined ? [] : [resources], initialState(IDENTITY), 0);
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

  #paintForm(value: ByteSlice | undefined, state: GraphicsState, inherited: Resources, depth: number): void {
    const dict = this.#pdf.dict(value);
    const bytes = this.#pdf.stream(value);
    const matrix = matrixOf(this.#pdf, dict?.get('Matrix'));
    const box = boxOf(this.#pdf, dict?.get('BBox'));
    if (dict === undefined || bytes === undefined || matrix === undefined || box === undefined) {
      throw new UnreadableContent('a form without content, extent or matrix');
    }
    if (depth > MAX_FORM_DEPTH) throw new UnreadableContent('forms nested too deep');
    const own = this.#pdf.dict(dict.get('Resources'));
    assertOnce(dict);
    const odd = dict.entries.map((entry) => dict.keyOf(entry)).find((key) => !FORM_KEYS.has(key));
    if (odd !== undefined) this.#noteUnsupported(`a form with /${odd}`);
    this.#assertResources(own);
    // An appearance has to bring what it uses.
    const resources = own === undefined ? inherited : this.#isStrict ? [own] : [own, ...inherited];
    const ctm = multiply(matrix, state.ctm);
    const clip = intersectClip(state.clip, transformed(ctm, box));
    const isOptional = dict.get('OC') !== undefined;
    if (isOptional) this.#noteUnsure('optional content');
    const hides = state.hides && isUpright(ctm) && !isOptional;
    const isConditional = state.isConditional || isOptional;
    const group = this.#grouped(state, dict);
    this.#interpret(bytes, resources, { ...state, ...group, ctm, clip, hides, isConditional }, depth);
  }

  /** Returns what a transparency group changes: what is set outside of it applies to the group as a whole (11.6.6). */
  #grouped(state: GraphicsState, form: PdfDict): Partial<GraphicsState> {
    const group = groupOf(this.#pdf, form);
    if (group === undefined) return {};
    assertOnce(this.#pdf.dict(form.get('Group')));
    if (group.fault !== undefined) this.#noteUnsupported(group.fault);
    const { alpha, isIsolated } = state.group;
    return {
      group: {
        alpha: alpha * state.alpha,
        blend: blendOf(state),
        isIsolated: isIsolated || group.isIsolated,
      },
      isOdd: state.isOdd || group.fault !== undefined,
      alpha: 1,
      lineAlpha: 1,
      blend: 'Normal',
    };
  }

  #interpret(bytes: Buffer, resources: Resources, start: GraphicsState, depth: number): void {
    this.#bytes += bytes.length;
    this.#spend(bytes.length / BYTES_PER_STEP);
    if (this.#bytes > MAX_BYTES) throw new UnreadableContent('more content than is looked at');
    const place: ContentPlace = {
      resources,
      depth,
      saved: [],
      state: { ...start },
      path: new PaintedPath(),
      clips: false,
      text: new TextPosition(),
    };
    for (const { operator, operands } of operationsIn(bytes)) {
      const fault = operatorFault(operator, operands, this.#isStrict);
      if (fault !== undefined) throw new UnreadableContent(fault);
      const operation: Operation = {
        operator,
        operands,
        n: (index) => requiredNumber(operator, operands[index]),
      };
      const isDone = this.#interpretPath(place, operation) || this.#interpretText(place, operation);
      if (!isDone) this.#interpretState(place, operation);
    }
  }

  /** Operators of paths (8.5). @returns false for others */
  #interpretPath(place: ContentPlace, { operator, operands, n }: Operation): boolean {
    const { state, path } = place;
    switch (operator) {
      case 're':
        path.rectangle(n(0), n(1), n(2), n(3));
        return true;
      case 'm':
      case 'l':
        path.point(n(0), n(1), operator === 'l');
        return true;
      case 'c':
      case 'v':
      case 'y': {
        const numbers = operands.map((_, index) => n(index));
        path.curve(curveOf(operator, path, numbers));
        return true;
      }
      case 'h':
        path.close();
        return true;
      case 'W':
      case 'W*':
        place.clips = true;
        return true;
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
        if (place.clips) clipBy(state, path);
        place.path = new PaintedPath();
        place.clips = false;
        return true;
      default:
        return false;
    }
  }

  /** Operators of text (9.3, 9.4). @returns false for others */
  #interpretText(place: ContentPlace, { operator, operands, n }: Operation): boolean {
    const { state, text } = place;
    switch (operator) {
      case 'BT':
        text.begin();
        return true;
      case 'Tf':
        state.font = this.#fonts.of(this.#resource(place.resources, 'Font', operands[0]));
        state.size = n(1);
        return true;
      case 'TL':
      case 'Ts':
      case 'Tz':
      case 'Tr':
        setTextParameter(state, operator, n(0));
        return true;
      case 'Tc':
      case 'Tw':
        if (!(n(0) > -Math.abs(state.size || 12) / 2)) this.#noteUnsupported('text written backwards');
        if (operator === 'Tc') state.letterSpace = n(0);
        else state.wordSpace = n(0);
        return true;
      case 'Td':
        text.move(n(0), n(1));
        return true;
      case 'TD':
        state.leading = -n(1);
        text.move(n(0), n(1));
        return true;
      case 'Tm':
        text.set([n(0), n(1), n(2), n(3), n(4), n(5)]);
        return true;
      case 'T*':
        text.move(0, -state.leading);
        return true;
      default:
        return this.#interpretStrings(place, { operator, operands, n });
    }
  }

  /** Operators that show text (9.4.3). @returns false for others */
  #interpretStrings({ state, text }: ContentPlace, { operator, operands, n }: Operation): boolean {
    switch (operator) {
      case 'Tj':
        this.#show(state, text, operands[0]);
        return true;
      case "'":
        text.move(0, -state.leading);
        this.#show(state, text, operands[0]);
        return true;
      case '"':
        state.wordSpace = n(0);
        state.letterSpace = n(1);
        text.move(0, -state.leading);
        this.#show(state, text, operands[2]);
        return true;
      case 'TJ':
        for (const item of items(operands[0] ?? EMPTY_ARRAY)) {
          const back = numberOf(item);
          if (back === undefined) this.#show(state, text, item);
          else {
            if (back > MAX_KERNING) this.#noteUnsupported('text written backwards');
            text.advance((-back / 1000) * state.size * state.scale);
          }
        }
        return true;
      default:
        return false;
    }
  }

  #show(state: GraphicsState, text: TextPosition, string: ByteSlice | undefined): void {
    const shown = asString(string);
    if (shown === undefined) throw new UnreadableContent('a text that is none');
    if (shown.length > 0) text.matrix = this.#showText(state, text.matrix, shown);
  }

  /** Operators of the graphics state, of colours, of shadings, pictures and forms. */
  #interpretState(place: ContentPlace, { operator, operands, n }: Operation): void {
    const { state, resources } = place;
    switch (operator) {
      case 'q':
        if (place.saved.length === MAX_SAVED_STATES) throw new UnreadableContent('states nested too deep');
        place.saved.push({ ...state });
        break;
      case 'Q':
        place.state = place.saved.pop() ?? state;
        break;
      case 'cm':
        state.ctm = multiply([n(0), n(1), n(2), n(3), n(4), n(5)], state.ctm);
        break;
      case 'sh': {
        this.#noteUnsupported('a shading');
        const shading = this.#resource(resources, 'Shading', operands[0]);
        const isShaped = state.isShaped || drawsPicture(this.#pdf, shading);
        const box = state.clip ?? EVERYWHERE;
        this.#addMark({ ...state, fill: undefined, isShaped }, { kind: 'fill', box, isRectilinear: true });
        break;
      }
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
        this.#setColour(state, resources, operator, operands);
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
        if (asName(operands[0]) !== 'OC') break;
        this.#noteUnsure('optional content');
        state.hides = false;
        state.isConditional = true;
        break;
      case 'gs':
        this.#readGraphicsParameters(state, resources, operands[0]);
        break;
      case 'BI':
        this.#addMark(state, { kind: 'image', box: transformed(state.ctm, UNIT_SQUARE) });
        break;
      case 'Do':
        this.#paintXObject(state, resources, operands[0], place.depth);
        break;
    }
  }

  #assertResources(resources: PdfDict | undefined): void {
    assertOnce(resources);
    for (const entry of resources?.entries ?? []) assertOnce(this.#pdf.dict(resources?.valueAt(entry)));
  }

  #resource(resources: Resources, kind: string, name: ByteSlice | undefined): ByteSlice | undefined {
    const key = asName(name) ?? '';
    const found = resources.flatMap((one) => this.#pdf.dict(one.get(kind))?.get(key) ?? []);
    // Some programs look it up in the resources of the page.
    if (found.length === 0 && kind !== 'Font') this.#noteUnsure('a name that is not in its resources');
    return found[0];
  }

  #noteUnsure(construct: string): void {
    if (this.#isStrict) this.#noteUnsupported(construct);
  }

  #noteUnsupported(construct: string): void {
    this.#unsupported ??= construct;
  }

  #addMark(state: GraphicsState, mark: Pick<Mark, 'kind' | 'box'> & Partial<Mark>): void {
    if (this.#marks.length >= MAX_MARKS) throw new UnreadableContent('more marks than are looked at');
    const { clip } = state;
    const covers = (mark.covers ?? []).map((box) => (clip === undefined ? box : intersectClip(clip, box)));
    const { isConditional, group } = state;
    const draws = mark.kind === 'stroke' ? state.lineDraws : state.fillDraws;
    const isShaped = state.isShaped || draws || state.isMasked;
    const alpha = mark.alpha ?? state.alpha;
    const colour = 'lightness' in mark ? mark.lightness : state.fill;
    this.#marks.push({
      isRectilinear: false,
      edges: undefined,
      hides: false,
      isCurved: false,
      blend: blendOf(state),
      isConditional,
      isShaped,
      ...mark,
      lightness: keepsColour(group, state.blend) ? colour : undefined,
      alpha: alpha * group.alpha,
      clip,
      covers,
    });
  }

  #setColour(
    state: GraphicsState,
    resources: Resources,
    operator: string,
    operands: readonly ByteSlice[],
  ): void {
    const isPattern = asName(operands.at(-1)) !== undefined;
    if (isPattern) this.#noteUnsupported('a pattern');
    const isLine = operator === operator.toUpperCase();
    const pattern = isPattern ? this.#resource(resources, 'Pattern', operands.at(-1)) : undefined;
    state[isLine ? 'lineDraws' : 'fillDraws'] = isPattern && drawsPicture(this.#pdf, pattern);
    const isSpecial = /sc/i.test(operator);
    if (!isSpecial) state[isLine ? 'lineComponents' : 'fillComponents'] = operands.length;
    const components = isLine ? state.lineComponents : state.fillComponents;
    const isKnown =
      !isPattern &&
      components === operands.length &&
      (isSpecial || !replacesDevice(this.#pdf, resources, components));
    const colour = operands.map((operand) => numberOf(operand) ?? Number.NaN);
    state[isLine ? 'line' : 'fill'] = isKnown ? lightnessOf(colour) : undefined;
  }

  #paintPath(state: GraphicsState, path: PaintedPath, operator: string): void {
    if (path.points.length === 0) return;
    const { ctm, clip } = state;
    const kind = /[Ss]/.test(operator) ? 'stroke' : 'fill';
    const box = path.extent(ctm);
    const isRectilinear = (kind === 'fill' ? path.isBox : path.isRectilinear) && isUpright(ctm);
    const stroked = /[fFn]/.test(operator) ? [] : path.stroked(ctm, lineWidthOf(state));
    const filled = path.rectangles?.map((one) => transformed(ctm, one)) ?? [box];
    const covers = kind === 'fill' ? [...filled, ...stroked] : stroked;
    const isWhole = clip === undefined || contains(clip, box, 1);
    const hides = kind === 'fill' && state.hides && path.isRectangle && isRectilinear && isWhole;
    const isConditional = state.isConditional || state.isDashed;
    const own = kind === 'fill' ? {} : { lightness: state.line, alpha: state.lineAlpha, isConditional };
    const edges = kind === 'stroke' ? stroked : isRectilinear ? undefined : [...path.edges(ctm), ...stroked];
    this.#addMark(state, { kind, box, isRectilinear, covers, edges, hides, isCurved: path.isCurved, ...own });
  }

  /** Adds a text mark. Returns the text matrix behind it. */
  #showText(state: GraphicsState, start: Matrix, bytes: Buffer): Matrix {
    const { font, size, mode, scale, rise, letterSpace, wordSpace } = state;
    if (font?.reader.drawn === true) this.#noteUnsupported('glyphs that are drawings');
    if (mode !== 0 && mode !== 1 && mode !== 2) this.#noteUnsupported('text that is not painted');
    if (!(scale > 0)) this.#noteUnsupported('text written backwards');
    // Some programs show a text without a font in one of their own.
    const codes = font?.reader.codes(bytes) ?? codesWithoutFont(bytes);
    if (font === undefined) this.#noteUnsupported('text without a font');
    let matrix = start;
    const outline = mode === 0 ? 0 : lineWidthOf(state);
    const glyphs: Glyph[] = [];
    for (const { code, text, width, isSpace, ink: measured } of codes) {
      const advance = (width * size + letterSpace + (isSpace ? wordSpace : 0)) * scale;
      const toPage = multiply(matrix, state.ctm);
      const drawn = font?.reader.drawn === true ? this.#drawnInk(font.dict, code) : measured;
      if (drawn === undefined) throw new UnmeasuredFont();
      const { left, bottom, right, top } =
        drawn === 'blank' ? { ...anyInk(width), bottom: 0, top: 0 } : drawn;
      const ink = transformed(toPage, {
        left: left * size * scale,
        right: right * size * scale,
        bottom: rise + bottom * size,
        top: rise + top * size,
      });
      glyphs.push({
        code,
        text,
        box: outline > 0 ? widened(ink, outline / 2) : ink,
        isBlank: drawn === 'blank',
        at: applied(toPage, 0, rise),
        to: applied(toPage, advance, rise),
      });
      matrix = multiply([1, 0, 0, 1, advance, 0], matrix);
    }
    if (mode > 3) state.isShaped = true;
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
    const inked = glyphs.filter(({ isBlank }) => !isBlank).map(({ box }) => box);
    const isStroked = mode === 1;
    this.#addMark(state, {
      kind: 'text',
      box: inked.reduce(around, inked[0] ?? { left: at[0], right: at[0], bottom: at[1], top: at[1] }),
      covers: inked,
      text,
      lightness: isStroked ? state.line : mode === 2 ? outlined(state) : state.fill,
      alpha: mode === 3 ? 0 : isStroked ? state.lineAlpha : state.alpha,
    });
    return matrix;
  }

  /** Measures what the procedure of a glyph paints (9.6.4), whatever extent it declares. */
  #drawnInk(font: PdfDict, code: number): Ink {
    const known = this.#drawn.get(font) ?? new Map<number, Ink>();
    this.#drawn.set(font, known);
    const ink = known.get(code) ?? this.#measureDrawing(font, code);
    known.set(code, ink);
    return ink;
  }

  #measureDrawing(font: PdfDict, code: number): Ink {
    const matrix = matrixOf(this.#pdf, font.get('FontMatrix'));
    const name = differencesIn(this.#pdf, font).get(code);
    const drawing = this.#pdf.dict(font.get('CharProcs'))?.get(name ?? '');
    if (matrix === undefined || this.#drawnDepth >= MAX_DRAWN_DEPTH) throw new UnmeasuredFont();
    if (drawing === undefined) return 'blank';
    const own = this.#pdf.dict(font.get('Resources')) ?? this.#pageResources;
    const reader = new ContentReader(this.#pdf, this.#spend, this.#drawnDepth + 1);
    const { marks } = reader.content([drawing], own);
    return together(marks.map(({ box }) => transformed(matrix, box))) ?? 'blank';
  }

  #paintXObject(
    state: GraphicsState,
    resources: Resources,
    name: ByteSlice | undefined,
    depth: number,
  ): void {
    const value = this.#resource(resources, 'XObject', name);
    const subtype = asName(this.#pdf.resolve(this.#pdf.dict(value)?.get('Subtype')));
    if (subtype === 'Form') this.#paintForm(value, state, resources, depth + 1);
    else if (value !== undefined)
      this.#addMark(state, { kind: 'image', box: transformed(state.ctm, UNIT_SQUARE) });
  }

  /** Reads a graphics state parameter dictionary (8.4.5). */
  #readGraphicsParameters(state: GraphicsState, resources: Resources, name: ByteSlice | undefined): void {
    const dict = this.#pdf.dict(this.#resource(resources, 'ExtGState', name));
    if (dict === undefined) return;
    assertOnce(dict);
    for (const key of readParameters(this.#pdf, state, dict))
      this.#noteUnsupported(`a graphics state with /${key}`);
    const [font, size] = items(this.#pdf.resolve(dict.get('Font')));
    if (font === undefined) return;
    state.font = this.#fonts.of(font);
    state.size = numberOf(size) ?? Number.NaN;
  }
}

const EVERYWHERE: Box = { left: -1e6, bottom: -1e6, right: 1e6, top: 1e6 };
