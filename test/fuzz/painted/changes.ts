/**
 * Random changes of signed PDFs that look permitted: filled fields, boxes and comments, with fonts, strokes and colours that
 * tell the truth or not.
 */

import {
  contract,
  EMPTY_FIELD,
  edited,
  FREE,
  PAGE,
  signed,
  TEXT_FIELD,
} from '../../crypto/pades/validation/attack-files.ts';
import { appendRevision, stream } from '../../crypto/pdf/build.ts';
import type { Random } from '../random.ts';

/** Left, bottom, right, top in units of the page. */
export type Rectangle = readonly [number, number, number, number];

/** An unsigned document with one page that a change can be made on. */
export interface Page {
  readonly name: string;
  /** Rectangles around words of the page. */
  readonly words: readonly Rectangle[];
  /** A rectangle without content. */
  readonly blank: Rectangle;
  /** Number of the page, of the field that is signed with it, and the first of those that changes may use. */
  readonly page: number;
  readonly field: number;
  readonly free: number;
  readonly trailer: string;
  /** Signs the document with one more annotation on its page, which is a field when it has a name. */
  signed(annotation: string | undefined, level: Level): Buffer;
}

export type Level = 2 | 3 | undefined;

export interface PaintedChange {
  /** Repeats the change; for people. */
  readonly description: string;
  readonly before: Buffer;
  readonly after: Buffer;
  /** Nothing outside may change. */
  readonly place: Rectangle;
  readonly kind: 'text' | 'box' | 'line' | 'highlight' | 'note' | 'entry';
  /** True where nothing that is seen may change. */
  readonly isFrozen?: boolean;
  /** The same change with the value as its text, in a font that does not lie; undefined when `after` is that. */
  readonly honest?: Buffer;
  /** The value alone, black and of a readable size. */
  readonly plain?: Buffer;
}

/** "Pay 100 1" at 20, 100. */
export const CONTRACT: Page = {
  name: 'contract',
  words: [
    [20, 97, 75, 110],
    [42, 97, 64, 110],
  ],
  blank: [20, 140, 140, 170],
  page: PAGE,
  field: TEXT_FIELD,
  free: FREE,
  trailer: '',
  signed(annotation, level) {
    const pdf = contract((objects) => {
      // Viewers draw an empty signature field on their own.
      objects.set(EMPTY_FIELD, (objects.get(EMPTY_FIELD) ?? '').replace('100 20 180 60', '0 0 0 0'));
      if (annotation !== undefined) objects.set(TEXT_FIELD, annotation);
    });
    return signed(pdf, level === undefined ? {} : { certification: level });
  },
};

const COLOURS = [
  '0 g',
  '1 g',
  '0.5 g',
  '0.9 g',
  '1 0 0 rg',
  '1 1 0 rg',
  '0 0 1 rg',
  '0 0 0 1 k',
  '0 0 0 0 k',
];
const LINE_COLOURS = ['0 G', '1 G', '0.5 G', '1 0 0 RG', '1 1 0 RG', '0 0 0 0 K'];
const WIDTHS = ['0.2', '0.5', '1', '2', '8', '30'];
const STATES =
  '/ExtGState << /M << /BM /Multiply >> /A << /ca 0.4 /CA 0.4 >> /Z << /ca 0.05 >> /W << /LW 30 >> /F << /Font [3 0 R 12] >> >>';
const VALUES = ['100', '10', '7', '999', '_', 'HHH', '- -', 'Ana', '3.50'];
/** Colours of text; most are readable. */
const INKS = [
  '0 g',
  '0 g',
  '0 g',
  '0.3 g',
  '0 0 1 rg',
  '1 g',
  '0.6 g',
  '0.97 g',
  '/A gs',
  '/Z gs',
  '1 1 0 rg',
];
const SIZES = [9, 9, 9, 10, 12, 5, 2, 0.01, 30, 120, 400];
const TEXT_STATES = [
  '',
  '',
  '',
  '',
  '0 Tr',
  '1 Tr',
  '2 Tr',
  '3 Tr',
  '7 Tr',
  '50 Tz',
  '1 Tz',
  '5 Ts',
  '-2 Tc',
  '3 Tc',
];

/** A font of the change that shows other glyphs than its codes say, or not; `honest` stands beside it. */
interface Font {
  readonly body: string;
  readonly honest: string;
  readonly map?: string;
}

const type1 = (name: string, more = ''): string =>
  `<< /Type /Font /Subtype /Type1 /BaseFont /${name} ${more} >>`;
const HONEST = type1('Helvetica');
const digits = ['zero', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine'];

function fontOf(random: Random, map: number): Font {
  const turned = (by: number): string => digits.map((_, digit) => `/${digits[(digit + by) % 10]}`).join(' ');
  const differing = (by: number, more = ''): string =>
    type1('Helvetica', `/Encoding << /Type /Encoding /Differences [48 ${turned(by)}] >> ${more}`);
  const mapped = (by: number): string => {
    const rows = digits.map((_, digit) => `<3${digit}> <003${(digit + by) % 10}>`);
    return stream(
      '',
      `1 begincodespacerange <00> <ff> endcodespacerange 10 beginbfchar ${rows.join(' ')} endbfchar`,
    );
  };
  const by = 1 + random.below(9);
  return random.pick<() => Font>([
    () => ({ body: HONEST, honest: HONEST }),
    () => ({ body: HONEST, honest: HONEST }),
    () => ({ body: type1('Courier'), honest: type1('Courier') }),
    () => ({ body: differing(0), honest: HONEST }),
    () => ({ body: differing(by), honest: HONEST }),
    () => ({ body: differing(by, `/ToUnicode ${map} 0 R`), map: mapped(0), honest: HONEST }),
    () => ({ body: type1('Helvetica', `/ToUnicode ${map} 0 R`), map: mapped(by), honest: HONEST }),
    () => ({ body: type1('Symbol'), honest: HONEST }),
    () => ({ body: type1('ZapfDingbats'), honest: HONEST }),
    () => ({
      body: type1('Helvetica', '/FirstChar 48 /LastChar 57 /Widths [0 0 0 0 0 0 0 0 0 0]'),
      honest: HONEST,
    }),
  ])();
}

/** Shapes of an appearance of this size. */
function shape(random: Random, width: number, height: number): string {
  const x = random.below(width + 1);
  const y = random.below(height + 1);
  const a = 1 + random.below(width);
  const b = 1 + random.below(height);
  return random.pick([
    () => `${random.pick(COLOURS)} ${x} ${y} ${a} ${b} re f`,
    () => `${random.pick(LINE_COLOURS)} ${random.pick(WIDTHS)} w ${x} ${y} m ${a} ${random.pick([y, b])} l S`,
    () => `${random.pick(LINE_COLOURS)} ${1 + random.below(3)} w 0.5 0.5 ${width - 1} ${height - 1} re S`,
    () => `${random.pick(COLOURS)} 0 0 ${width} ${height} re f`,
    () => `${random.pick(COLOURS)} ${x} ${y} m ${a} ${b} ${b} ${a} ${width} ${y} c f`,
    () => `${x} ${y} ${a} ${b} re W n`,
    () => `/${random.pick(['M', 'A', 'Z', 'W'])} gs`,
  ])();
}

function shapes(random: Random, [width, height]: Size): readonly string[] {
  return Array.from({ length: random.below(4) }, () => shape(random, width, height));
}

type Size = readonly [number, number];
const sizeOf = ([left, bottom, right, top]: Rectangle): Size => [
  Math.round(right - left),
  Math.round(top - bottom),
];
const listed = (rectangle: Rectangle): string => `[${rectangle.join(' ')}]`;

/** @param font number of the font, for appearances that may have one */
function form(content: string, [width, height]: Size, font?: number): string {
  const fonts = font === undefined ? '' : `/Font << /F1 ${font} 0 R >> `;
  const states = font !== undefined ? STATES : STATES.replace('/F << /Font [3 0 R 12] >>', '');
  return stream(
    `/Type /XObject /Subtype /Form /BBox [0 0 ${width} ${height}] /Resources << ${fonts}${states} >>`,
    content,
  );
}

/** Documents signed with the same annotation and level, which are compared with many changes. */
const bases = new Map<string, Buffer>();

function base(page: Page, annotation: string | undefined, level: Level): Buffer {
  const key = `${page.name} ${annotation} ${level}`;
  const known = bases.get(key) ?? page.signed(annotation, level);
  bases.set(key, known);
  return known;
}

export function randomChange(random: Random, pages: readonly Page[]): PaintedChange {
  const page = random.pick(pages);
  const kind = random.pick([filledText, filledText, filledText, filledBox, comment, comment, comment]);
  return kind(random, page);
}

/** A level of the certification from this one on, or an approval signature. */
function levelIn(random: Random, least: 2 | 3): Level {
  if (random.once(3)) return undefined;
  return random.once(2) ? 3 : least;
}

/** A rectangle over a word, beside one, around one, or at a blank place. */
function placeIn(random: Random, { words, blank }: Page): Rectangle {
  const [left, bottom, right, top] = random.pick(words);
  return random.pick<Rectangle>([
    blank,
    blank,
    [left - 5, bottom - 6, right + 40, top + 8],
    [left - 2, top, right + 10, top + 20],
    [left + 5, bottom - 40, left + 125, bottom],
    [right - 5, bottom - 2, right + 75, top + 5],
    [12, 12, 190, 190],
  ]);
}

function filledText(random: Random, page: Page): PaintedChange {
  const rectangle = placeIn(random, page);
  const level = levelIn(random, 2);
  const [width, height] = sizeOf(rectangle);
  const value = random.pick(VALUES);
  const widget = (entries: string): string =>
    `<< /Type /Annot /Subtype /Widget /FT /Tx /T (Fuzz) /Rect ${listed(rectangle)} /F 4 /P ${page.page} 0 R /DA (/F1 0 Tf) ${entries} >>`;
  const before = base(page, widget('/V ()'), level);
  const font = fontOf(random, page.free + 4);
  const shown = random.pick([
    value,
    value,
    value,
    value,
    [...value].reverse().join(''),
    `${value}0`,
    value.slice(1),
    'VOID',
  ]);
  const size = random.pick(SIZES);
  const state = random.pick(TEXT_STATES);
  const x = random.below(Math.max(2, width >> 2));
  const y = random.below(Math.max(3, height >> 1));
  const first = shapes(random, [width, height]);
  const last = random.once(5) ? [shape(random, width, height)] : [];
  const matrix = random.once(12)
    ? random.pick(['0.01 0 0 0.01 0 0 cm', '-1 0 0 -1 60 20 cm', '1 0 0 3 0 0 cm'])
    : '';
  const ink = random.pick(INKS);
  const content = (text: string): string =>
    [matrix, ...first, `${ink} BT /F1 ${size} Tf ${state} ${x} ${y} Td (${text}) Tj ET`, ...last].join(' ');
  const filled = (look: string, fontBody: string, map?: string): Buffer =>
    appendRevision(
      before,
      new Map([
        [page.field, widget(`/V (${value}) /AP << /N ${page.free} 0 R >>`)],
        [page.free, form(look, [width, height], page.free + 3)],
        [page.free + 3, fontBody],
        ...(map === undefined ? [] : [[page.free + 4, map] as const]),
      ]),
      page.trailer,
    );
  const after = filled(content(shown), font.body, font.map);
  const honest = filled(content(value), font.honest);
  const isScaled = matrix.startsWith('0.01') && size * 0.01 >= 3;
  const readable = size < 3 ? 6 : size;
  const spacing = /Tz|Tc|Ts/.test(state) ? state : '';
  return {
    kind: 'text',
    description: `${page.name} level ${level} text field ${listed(rectangle)} value ${value}: ${content(shown)} ${font.body} ${font.map ?? ''}`,
    before,
    after,
    place: rectangle,
    ...(honest.equals(after) ? {} : { honest }),
    plain: filled(
      `${isScaled || matrix.startsWith('1 ') ? matrix : ''} 0 g BT /F1 ${readable} Tf ${spacing} ${x} ${y} Td (${value}) Tj ET`,
      font.honest,
    ),
  };
}

function filledBox(random: Random, page: Page): PaintedChange {
  const [left, bottom, right, top] = random.pick(page.words);
  const x = page.blank[0];
  const y = page.blank[1];
  const look = page.free;
  const font = page.free + 3;
  const rectangle = random.pick<Rectangle>([
    [x, y, x + 20, y + 20],
    [right, bottom, right + 20, bottom + 20],
    [right, bottom, right + 40, bottom + 20],
    [left - 2, bottom - 2, left + 18, top + 5],
  ]);
  const [width, height] = sizeOf(rectangle);
  const widget = (state: string, entries: string): string =>
    `<< /Type /Annot /Subtype /Widget /FT /Btn /T (Fuzz) /V /${state} /AS /${state} /Rect ${listed(rectangle)} /F 4 /P ${page.page} 0 R ${entries} >>`;
  const before = base(page, widget('Off', ''), undefined);
  const text = random.pick(['X', 'x', '0', 'O', 'I', '4', '000']);
  const drawn = [
    ...shapes(random, [width, height]),
    random.once(3)
      ? ''
      : `${random.pick(INKS)} BT /F1 ${random.pick(SIZES)} Tf ${random.below(10)} ${random.below(10)} Td (${text}) Tj ET`,
  ].join(' ');
  const after = appendRevision(
    before,
    new Map([
      [page.field, widget('Yes', `/AP << /N << /Yes ${look} 0 R /Off ${look + 1} 0 R >> >>`)],
      [look, form(drawn, [width, height], font)],
      [look + 1, form('', [width, height], font)],
      [font, random.pick([HONEST, type1('ZapfDingbats')])],
    ]),
    page.trailer,
  );
  return {
    kind: 'box',
    description: `${page.name} box ${listed(rectangle)}: ${drawn}`,
    before,
    after,
    place: rectangle,
  };
}

function comment(random: Random, page: Page): PaintedChange {
  const level = levelIn(random, 3);
  const before = base(page, undefined, level);
  const [left, bottom, right, top] = random.pick(page.words);
  const rectangle = random.pick<Rectangle>([
    [left - 2, bottom - 2, right + 4, top + 3],
    [left + (right - left) / 3, bottom, right, top],
    [left, bottom - 15, right + 40, bottom],
    page.blank,
  ]);
  const type = random.pick(['Highlight', 'Highlight', 'StrikeOut', 'Underline', 'Squiggly', 'Text', 'Caret']);
  const colour = random.pick([
    '[1 1 0]',
    '[0 0 0]',
    '[1 1 1]',
    '[1 0 0]',
    '[0 1 0]',
    '[0.2 0.2 0.2]',
    '[0.6]',
    '[0 0 1]',
  ]);
  const entries = [
    random.once(3) ? `/BS << /W ${random.pick([1, 3, 12])} >>` : '',
    random.once(3) ? `/CA ${random.pick([0.2, 0.5, 0.9])}` : '',
  ].join(' ');
  const hasLook = !random.once(3);
  const look = [random.once(2) ? '/M gs' : '', ...shapes(random, sizeOf(rectangle))].join(' ');
  const [x1, y1, x2, y2] = rectangle;
  const annotation = `<< /Type /Annot /Subtype /${type} /Rect ${listed(rectangle)} /QuadPoints [${x1} ${y2} ${x2} ${y2} ${x1} ${y1} ${x2} ${y1}] /F 4 /C ${colour} ${entries} ${hasLook ? `/AP << /N ${page.free} 0 R >>` : ''} >>`;
  const after = appendRevision(
    before,
    new Map([
      edited(before, page.page, /(\/Annots\s*\[)/, `$1 ${page.free + 9} 0 R `),
      [page.free + 9, annotation],
      ...(hasLook ? [[page.free, form(look, sizeOf(rectangle))] as const] : []),
    ]),
    page.trailer,
  );
  const kind = type === 'Highlight' ? 'highlight' : type === 'Text' || type === 'Caret' ? 'note' : 'line';
  // Viewers draw the symbols of notes larger than their rectangles, and round the ends of highlights.
  const place: Rectangle = [x1 - 8, y1 - 24, x2 + 24, y2 + 8];
  return {
    kind,
    description: `${page.name} level ${level} ${annotation} ${hasLook ? look : ''}`,
    before,
    after,
    place,
  };
}
