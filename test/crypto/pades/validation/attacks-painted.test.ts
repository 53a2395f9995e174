/**
 * Changes that the form and the comments of a signed PDF permit, and that show something else than what was signed or than
 * their value. Beside each stands the honest change of the same kind.
 */
import test from 'ava';
import { pki } from '../../../pki/pki.ts';
import { appendRevision, stream } from '../../pdf/build.ts';
import {
  bodyOf,
  CONTENT,
  contract,
  EMPTY_FIELD,
  edited,
  FORM,
  FREE,
  PAGE,
  reportOn,
  signed,
  TEXT_FIELD,
} from './attack-files.ts';

const LOOK = FREE;
const LOOK_2 = FREE + 1;
const FONT_2 = 41;
const NEW_FONT = FREE + 3;
const MAP = FREE + 4;

type Objects = readonly (readonly [number, string])[];
type Verdict = 'passed' | 'warned' | 'undecided' | 'failed';

function verdict(pdf: Buffer): Verdict {
  const [signature] = reportOn(pdf).signatures;
  if (signature?.indication === 'TOTAL-FAILED') return 'failed';
  if (signature?.indication !== 'TOTAL-PASSED') return 'undecided';
  return signature.results.warnings.some(({ type }) => type.startsWith('pdf.')) ? 'warned' : 'passed';
}

const form = (content: string, [width, height]: readonly [number, number], resources = ''): string =>
  stream(
    `/Type /XObject /Subtype /Form /BBox [0 0 ${width} ${height}] /Resources << /Font << /F1 3 0 R /F2 ${NEW_FONT} 0 R /F3 ${FONT_2} 0 R >> ${resources} >>`,
    content,
  );

type Rectangle = readonly [number, number, number, number];
const sizeOf = ([left, bottom, right, top]: Rectangle) => [right - left, top - bottom] as const;
const WHOLE: Rectangle = [0, 0, 200, 200];
const BLANK: Rectangle = [20, 140, 140, 170];

/** A contract with "Pay 100 1" at 20, 100 and a text field. */
function withText(rectangle: Rectangle, entries = '', level?: 2 | 3): Buffer {
  const pdf = contract((objects) => {
    objects.set(TEXT_FIELD, textWidget(rectangle, '()', undefined, entries));
    objects.set(FONT_2, '<< /Type /Font /Subtype /Type1 /BaseFont /Wingdings /Encoding /WinAnsiEncoding >>');
  });
  return signed(pdf, level === undefined ? {} : { certification: level });
}

function textWidget(rectangle: Rectangle, value: string, look: number | undefined, entries: string): string {
  const appearance = look === undefined ? '' : `/AP << /N ${look} 0 R >>`;
  return `<< /Type /Annot /Subtype /Widget /FT /Tx /T (Name) /V ${value} /Rect [${rectangle.join(' ')}] /F 4 /P 10 0 R /DA (/F1 0 Tf) ${appearance} ${entries} >>`;
}

interface Filled {
  readonly content: string;
  readonly value?: string;
  readonly rectangle?: Rectangle;
  readonly entries?: string;
  readonly resources?: string;
  readonly objects?: Objects;
  readonly level?: 2 | 3;
}

function filled({
  content,
  value = '(100)',
  rectangle = BLANK,
  entries,
  resources,
  objects = [],
  level,
}: Filled): Buffer {
  return appendRevision(
    withText(rectangle, entries, level),
    new Map([
      [TEXT_FIELD, textWidget(rectangle, value, LOOK, entries ?? '')],
      [LOOK, form(content, sizeOf(rectangle), resources)],
      ...objects,
    ]),
  );
}

const shows = (text: string, size = 9): string => `BT /F1 ${size} Tf 2 8 Td (${text}) Tj ET`;
const FAINT = '/ExtGState << /G << /ca 0.4 /CA 0.4 >> >>';
const FORMATTED = '/AA << /F << /S /JavaScript /JS (AFNumber_Format) >> >>';
const differing = (glyphs: string, more = ''): readonly [number, string] => [
  NEW_FONT,
  `<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding << /Type /Encoding /Differences [${glyphs}] >> ${more} >>`,
];
const saying = (codes: string): readonly [number, string] => [
  MAP,
  stream('', `1 begincodespacerange <00> <ff> endcodespacerange 3 beginbfchar ${codes} endbfchar`),
];

const FIELDS: readonly (readonly [name: string, expected: readonly Verdict[], file: () => Buffer])[] = [
  // A glyph as paint.
  ...([undefined, 2, 3] as const).flatMap((level) => [
    [
      `a large white dash hides a line, level ${level ?? 'none'}`,
      ['failed'] as const,
      () =>
        filled({
          rectangle: WHOLE,
          value: '(_ Pay 9999 to Eve)',
          content:
            '1 g BT /F1 505 Tf -20 150 Td (_) Tj ET 0 g BT /F1 9 Tf 20 150 Td ( Pay 9999 to Eve) Tj ET',
          ...(level === undefined ? {} : { level }),
        }),
    ] as const,
  ]),
  [
    'a black text as large as the page',
    ['failed'],
    () => filled({ rectangle: WHOLE, value: '(H)', content: 'BT /F1 200 Tf 10 20 Td (H) Tj ET' }),
  ],
  [
    'its value over the text of the page',
    ['failed'],
    () => filled({ rectangle: WHOLE, content: 'BT /F1 12 Tf 40 100 Td (100) Tj ET' }),
  ],
  [
    'its value at a blank place of a field over the page',
    ['passed'],
    () => filled({ rectangle: WHOLE, content: 'BT /F1 12 Tf 20 150 Td (100) Tj ET' }),
  ],
  // Lines across signed letters: the frame of a field, and text of the shape of a line.
  ...(
    [
      [69, 0.5, '0 G', 'failed'],
      [60, 1, '0 G', 'failed'],
      [61.5, 1.5, '0 G', 'failed'],
      [69, 2, '0 G', 'failed'],
      [69, 1, '/G gs 0 G', 'failed'],
      [76, 0.5, '0 G', 'passed'],
      [76, 2, '0 G', 'passed'],
      [76, 1, '/G gs 0 G', 'passed'],
    ] as const
  ).map(
    ([left, width, state, expected]) =>
      [
        `a frame of ${width} at ${left}, ${state}`,
        [expected],
        () =>
          filled({
            rectangle: [left, 95, left + 60, 115],
            content: `${state} ${width} w ${width / 2} ${width / 2} ${60 - width} ${20 - width} re S BT /F1 9 Tf 20 8 Td (100) Tj ET`,
            resources: FAINT,
          }),
      ] as const,
  ),
  ...(
    [
      ['_', 5, 69, 105, 'failed'],
      ['-', 12, 69, 103, 'failed'],
      ['_', 5, 69, 125, 'passed'],
      ['-', 12, 69, 125, 'passed'],
    ] as const
  ).map(
    ([value, size, x, y, expected]) =>
      [
        `a faint ${value} of ${size} at ${x}, ${y}`,
        [expected],
        () =>
          filled({
            rectangle: WHOLE,
            value: `(${value})`,
            content: `/G gs BT /F1 ${size} Tf ${x} ${y} Td (${value}) Tj ET`,
            resources: FAINT,
          }),
      ] as const,
  ),
  [
    'its value within a large letter',
    ['failed', 'undecided'],
    () => filled({ rectangle: WHOLE, value: '(_)', content: 'BT /F1 5 Tf 46 103 Td (_) Tj ET' }),
  ],
  [
    'a dash squeezed to a third',
    ['failed'],
    () => filled({ value: '(-)', content: '1 0 0 3 0 0 cm BT /F1 2 Tf 4 4 Td (-) Tj ET' }),
  ],
  [
    'a corner of a letter on a letter',
    ['failed'],
    () => filled({ rectangle: WHOLE, value: '(x)', content: '0 0 1 rg BT /F1 9 Tf 66 98 Td (x) Tj ET' }),
  ],
  [
    'a letter beside a letter',
    ['passed'],
    () => filled({ rectangle: WHOLE, value: '(x)', content: '0 0 1 rg BT /F1 9 Tf 76 98 Td (x) Tj ET' }),
  ],
  // A value that runs from right to left, in fonts that readers have.
  ...(
    [
      ['/uni05D0 /uni05D1', 'ab', 'passed'],
      ['/uni05D1 /uni05D0', 'ab', 'undecided'],
      ['/afii57664 /afii57665', 'ab', 'undecided'],
      ['/one /two', 'ab', 'undecided'],
      ['/uni05D0 /uni05D1', 'ab', 'failed', '1 g'],
    ] as const
  ).map(
    ([glyphs, shown, expected, ink = '0 g']) =>
      [
        `two letters from right to left, shown by ${glyphs} in ${ink}`,
        [expected],
        () =>
          filled({
            value: '<FEFF05D105D0>',
            content: `${ink} BT /F2 9 Tf 2 8 Td (${shown}) Tj ET`,
            objects: [differing(`97 ${glyphs}`)],
          }),
      ] as const,
  ),
  // Several glyphs of such a value: its digits neither lie on each other, nor are they small, or apart.
  ...(
    [
      ['(1000a) Tj', 'passed'],
      ['40 0 Td (a) Tj -40 0 Td (1000) Tj', 'passed'],
      ['40 0 Td (a) Tj -40 0 Td (100) Tj 10.5 0 Td (0) Tj', 'undecided'],
      ['40 0 Td (a) Tj -40 0 Td (100) Tj 15 1.8 Td /F2 4 Tf (0) Tj', 'undecided'],
      ['60 0 Td (a) Tj -60 0 Td (10) Tj 30 0 Td (00) Tj', 'undecided'],
      ['(20 10 a) Tj', 'passed', '00310030002000320030'],
      ['(2010 a) Tj', 'undecided', '00310030002000320030'],
    ] as const
  ).map(
    ([shown, expected, digits = '0031003000300030']) =>
      [
        `a letter from right to left and ${digits}, shown by ${shown}`,
        [expected],
        () =>
          filled({
            value: digits.includes('0020') ? `<FEFF05D10020${digits}>` : `<FEFF05D1${digits}>`,
            content: `BT /F2 9 Tf 2 8 Td ${shown} ET`,
            objects: [differing('97 /uni05D1')],
          }),
      ] as const,
  ),
  // Letters and signs that are narrow in usual fonts.
  ...(
    [
      ['/lslash /quoteright', '01422019'],
      ['/uni0456 /uni03B9', '045603B9'],
    ] as const
  ).flatMap(([glyphs, value]) =>
    (
      [
        ['', 222, 'passed'],
        ['/FontDescriptor << /FontFile2 99 0 R >>', 222, 'undecided'],
        ['', 60, 'failed'],
      ] as const
    ).map(
      ([font, width, expected]) =>
        [
          `${glyphs} of ${width} ${font}`,
          [expected],
          () =>
            filled({
              value: `<FEFF${value}>`,
              content: 'BT /F2 9 Tf 2 8 Td (ab) Tj ET',
              objects: [differing(`97 ${glyphs}`, `/FirstChar 97 /Widths [${width} ${width}] ${font}`)],
            }),
        ] as const,
    ),
  ),
  ...(['1\\240', '2\\240'] as const).map(
    (rich) =>
      [
        `a rich text of ${rich} for 1 euro`,
        [rich.startsWith('1') ? 'passed' : 'undecided'] as const,
        () =>
          filled({
            value: '(1\\240)',
            entries: `/Ff 33554432 /RV (<p>${rich}</p>)`,
            content: 'BT /F2 9 Tf 2 8 Td (1a) Tj ET',
            objects: [differing('97 /Euro')],
          }),
      ] as const,
  ),
  // Formats of numbers and dates.
  ...(
    [
      ['(10)', '1000', 'failed'],
      ['(10)', '10 thousand', 'failed'],
      ['(10)', 'VOID, pay Eve 10 times all', 'failed'],
      ['(10)', '10 EVE', 'failed'],
      ['(10)', '-10', 'failed'],
      ['(1)', '1,000', 'failed'],
      ['(10)', '10 %', 'failed'],
      ['(03/04/2026)', '04/03/2026', 'failed'],
      ['(2026-04-03)', '3 May 2026', 'failed'],
      ['(10)', '10.00', 'passed'],
      ['(1234.5)', '$1,234.50', 'passed'],
      ['(1234.5)', '1.234,50 EUR', 'passed'],
      ['(-5)', '\\(5.00\\)', 'passed'],
      ['(0.1)', '10 %', 'passed'],
      ['(2026-04-03)', '3 April 2026', 'passed'],
      ['(2026-04-03)', '03.04.2026', 'passed'],
    ] as const
  ).map(
    ([value, shown, expected]) =>
      [
        `${value} shown as ${shown}`,
        [expected],
        () => filled({ value, content: shows(shown), entries: FORMATTED }),
      ] as const,
  ),
  ['a format without an action', ['failed'], () => filled({ value: '(10)', content: shows('10.00') })],
  // Fonts that lie.
  [
    'glyphs 100 that say 999',
    ['failed'],
    () =>
      filled({
        value: '(100)',
        content: 'BT /F2 9 Tf 2 8 Td (abb) Tj ET',
        objects: [
          differing('97 /one /zero', `/ToUnicode ${MAP} 0 R`),
          saying('<61> <0039> <62> <0039> <63> <0039>'),
        ],
      }),
  ],
  [
    'glyphs 100 that say 100',
    ['passed'],
    () =>
      filled({
        content: 'BT /F2 9 Tf 2 8 Td (abb) Tj ET',
        objects: [
          differing('97 /one /zero', `/ToUnicode ${MAP} 0 R`),
          saying('<61> <0031> <62> <0030> <63> <0039>'),
        ],
      }),
  ],
  ['its value in a symbol font', ['failed'], () => filled({ content: 'BT /F3 9 Tf 2 8 Td (100) Tj ET' })],
  [
    'its value in an unknown font of the update',
    ['undecided', 'failed'],
    () =>
      filled({
        content: 'BT /F2 9 Tf 2 8 Td (100) Tj ET',
        objects: [
          [NEW_FONT, '<< /Type /Font /Subtype /Type1 /BaseFont /NineForOne /Encoding /WinAnsiEncoding >>'],
        ],
      }),
  ],
  // Values that are not shown.
  ['a white value', ['failed'], () => filled({ content: `1 g ${shows('100')}` })],
  [
    'a white value by its colour space',
    ['failed'],
    () => filled({ content: `/DeviceRGB cs 1 1 1 sc ${shows('100')}` }),
  ],
  [
    'a white value on a dark field',
    ['passed'],
    () => filled({ content: `0 0 0.5 rg 0 0 120 30 re f 1 g ${shows('100')}` }),
  ],
  [
    'a black value on a black field',
    ['failed'],
    () => filled({ content: `0 g 0 0 120 30 re f ${shows('100')}` }),
  ],
  ['a grey value', ['passed'], () => filled({ content: `0.4 g ${shows('100')}` })],
  ['a value of 0.01 pt', ['failed'], () => filled({ content: shows('100', 0.01) })],
  [
    'a value made tiny by a matrix',
    ['failed'],
    () => filled({ content: `0.01 0 0 0.01 0 0 cm ${shows('100')}` }),
  ],
  ['a value without width', ['failed'], () => filled({ content: `BT /F1 9 Tf 1 Tz 2 8 Td (100) Tj ET` })],
  [
    'a transparent value',
    ['failed'],
    () => filled({ content: `/G gs ${shows('100')}`, resources: '/ExtGState << /G << /ca 0.02 >> >>' }),
  ],
  ['a value below a box', ['failed'], () => filled({ content: `${shows('100')} 1 g 0 0 120 30 re f` })],
  [
    'a faint value over the text of the page',
    ['failed'],
    () =>
      filled({
        rectangle: WHOLE,
        content: '/G gs BT /F1 12 Tf 40 100 Td (100) Tj ET',
        resources: '/ExtGState << /G << /ca 0.4 >> >>',
      }),
  ],
  [
    'a faint value on a faint field',
    ['failed'],
    () =>
      filled({
        content: `/G gs 0 0 1 rg 0 0 120 30 re f 0.3 g ${shows('100')}`,
        resources: '/ExtGState << /G << /ca 0.4 >> >>',
      }),
  ],
  [
    'a dark value on a faint field',
    ['passed'],
    () =>
      filled({
        content: `q /G gs 0 0 1 rg 0 0 120 30 re f Q 0 g ${shows('100')}`,
        resources: '/ExtGState << /G << /ca 0.4 >> >>',
      }),
  ],
  [
    'a value cut off at its top',
    ['undecided'],
    () => filled({ content: `0 0 120 12 re W n ${shows('888')}` }),
  ],
  [
    'a black value below a black box',
    ['failed'],
    () => filled({ content: `${shows('100')} 0 g 0 0 120 30 re f` }),
  ],
  [
    'a line through a value',
    ['undecided'],
    () => filled({ content: `${shows('100')} 1 w 0 11 m 120 11 l S` }),
  ],
  [
    'a line behind a value',
    ['undecided'],
    () => filled({ content: `0.6 g 0 10.5 120 1 re f 0 g ${shows('100')}` }),
  ],
  [
    'a line behind a value, drawn many times',
    ['undecided'],
    () => filled({ content: `0.6 g ${'0 10.5 120 1 re f '.repeat(5)} 0 g ${shows('100')}` }),
  ],
  [
    'a background of thin boxes',
    ['passed'],
    () => {
      const boxes = [6, 8.5, 11, 13.5].map((y) => `0 ${y} 120 2.6 re f`).join(' ');
      return filled({ content: `0.9 g ${boxes} 0 g ${shows('100')}` });
    },
  ],
  [
    'a black value on a thick black line',
    ['failed'],
    () => filled({ content: `0 G 30 w 0 15 m 120 15 l S 0 g ${shows('100')}` }),
  ],
  [
    'a black value on a thick light line',
    ['passed'],
    () => filled({ content: `0.9 G 30 w 0 15 m 120 15 l S 0 g ${shows('100')}` }),
  ],
  [
    'a white value beside a thick black line',
    ['failed'],
    () => filled({ content: `0 G 30 w 1 8 m 2 8 l S 1 g ${shows('100')}` }),
  ],
  ['a line below a value', ['passed'], () => filled({ content: `${shows('100')} 1 w 0 4 m 120 4 l S` })],
  ['a narrow dash', ['failed'], () => filled({ value: '(-)', content: 'BT /F1 9 Tf 1 Tz 2 8 Td (-) Tj ET' })],
  [
    'characters without space between them',
    ['failed'],
    () => filled({ content: 'BT /F1 9 Tf -5 Tc 2 8 Td (100) Tj ET' }),
  ],
  [
    'characters with less space',
    ['passed'],
    () => filled({ content: 'BT /F1 9 Tf -0.5 Tc 2 8 Td (100) Tj ET' }),
  ],
  ...(
    [
      ['/FirstChar 48 /LastChar 57 /Widths [0 0 0 0 0 0 0 0 0 0]', '100', 'failed'],
      ['/FirstChar 48 /LastChar 57 /Widths [0 0 0 0 0 0 0 0 0 0]', '- -', 'failed'],
      ['/FirstChar 48 /LastChar 57 /Widths [556 556 556 556 556 556 556 556 556 556]', '100', 'passed'],
    ] as const
  ).map(
    ([widths, value, expected]) =>
      [
        `${value} in a font with ${widths}`,
        [expected],
        () =>
          filled({
            value: `(${value})`,
            content: `BT /F2 9 Tf 2 8 Td (${value}) Tj ET`,
            objects: [
              [
                NEW_FONT,
                `<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding ${widths} >>`,
              ],
            ],
          }),
      ] as const,
  ),
  ['a value of outlines', ['undecided'], () => filled({ content: `1 Tr ${shows('100')}` })],
  ['a value with thick outlines', ['undecided'], () => filled({ content: `2 Tr ${shows('100')}` })],
  ['a value with thin outlines', ['passed'], () => filled({ content: `2 Tr 0.3 w ${shows('100')}` })],
  [
    'a value outside of its clip',
    ['undecided', 'failed'],
    () => filled({ content: `0 0 6 30 re W n ${shows('100')}` }),
  ],
  [
    'a value in a layer',
    ['undecided', 'failed'],
    () => filled({ content: `/OC /L BDC ${shows('100')} EMC` }),
  ],
  [
    'a superscript',
    ['failed'],
    () => filled({ value: '(102)', content: 'BT /F1 9 Tf 2 8 Td (10) Tj 4 Ts /F1 5 Tf (2) Tj ET' }),
  ],
  [
    'a superscript by its place',
    ['failed'],
    () => filled({ value: '(102)', content: 'BT /F1 9 Tf 2 8 Td (10) Tj 11 3 Td (2) Tj ET' }),
  ],
  [
    'two numbers for one',
    ['failed'],
    () => filled({ value: '(1000)', content: 'BT /F1 9 Tf 2 8 Td (10) Tj 30 0 Td (00) Tj ET' }),
  ],
  ['one number for two', ['failed'], () => filled({ value: '(10 00)', content: shows('1000') })],
  [
    'a value upside down',
    ['failed'],
    () => filled({ value: '(66)', content: 'BT /F1 9 Tf -1 0 0 -1 40 20 Tm (66) Tj ET' }),
  ],
  [
    'letters over each other',
    ['failed'],
    () => filled({ value: '(108)', content: 'BT /F1 9 Tf 2 8 Td (10) Tj 5 0 Td (8) Tj ET' }),
  ],
];

test('a filled field passes only when it shows its value and hides nothing', (t) => {
  for (const [name, expected, file] of FIELDS) {
    const pdf = file();
    const found = verdict(pdf);
    const { results, signatures } = reportOn(pdf);
    const reasons = (signatures[0]?.results ?? results).errors.map(
      ({ message, detail }) => `${message} ${detail}`,
    );
    t.true(expected.includes(found), `${name}: ${found} ${reasons?.join()}`);
  }
});

test('a value is turned as its page is, also by the parent of the page', (t) => {
  const turned = (turn: string): Verdict => {
    const pdf = contract((objects) => {
      objects.set(TEXT_FIELD, textWidget(BLANK, '()', undefined, ''));
      objects.set(2, (objects.get(2) ?? '').replace('<<', `<< ${turn}`));
    });
    const look = form('BT /F1 9 Tf -1 0 0 -1 40 20 Tm (100) Tj ET', sizeOf(BLANK));
    return verdict(
      appendRevision(
        signed(pdf),
        new Map([
          [TEXT_FIELD, textWidget(BLANK, '(100)', LOOK, '')],
          [LOOK, look],
        ]),
      ),
    );
  };
  t.is(turned('/Rotate 180'), 'passed');
  t.is(turned('/Rotate 0'), 'failed');
});

test('a value may stand on a line of dots, and not on letters', (t) => {
  const on = (text: string): Verdict => {
    const pdf = contract((objects) => {
      objects.set(TEXT_FIELD, textWidget(BLANK, '()', undefined, ''));
      objects.set(CONTENT, stream('', `BT /F1 12 Tf 20 150 Td (${text}) Tj ET`));
    });
    const look = form('BT /F1 9 Tf 2 10 Td (J.S) Tj ET', sizeOf(BLANK));
    return verdict(
      appendRevision(
        signed(pdf),
        new Map([
          [TEXT_FIELD, textWidget(BLANK, '(J.S)', LOOK, '')],
          [LOOK, look],
        ]),
      ),
    );
  };
  t.is(on('............'), 'passed');
  t.is(on(',,,,,,,,,,,,'), 'failed');
});

test('a line that the appearance of a field had before hides what is below only where it was painted', (t) => {
  const line = '1 G 12 w 20 104 m 100 104 l S';
  const before = (state: string): Verdict => {
    const pdf = contract((objects) => {
      objects.set(TEXT_FIELD, textWidget(WHOLE, '()', 42, ''));
      objects.set(42, form(`${state} ${line}`, sizeOf(WHOLE), '/ExtGState << /M << /BM /Multiply >> >>'));
    });
    const look = form(`${line} 0 g BT /F1 12 Tf 20 150 Td (100) Tj ET`, sizeOf(WHOLE));
    return verdict(
      appendRevision(
        signed(pdf),
        new Map([
          [TEXT_FIELD, textWidget(WHOLE, '(100)', LOOK, '')],
          [LOOK, look],
        ]),
      ),
    );
  };
  t.is(before('[] 0 d'), 'passed');
  t.is(before('[0.001 900] 800 d'), 'failed', 'a dash that is not reached');
  t.is(before('/M gs'), 'failed', 'white that is multiplied');
});

/** A check box beside the text of the page, with the appearances of its states signed, or new with its new value. */
function checked(on: string, isSigned: boolean, resources = '', font = `/F1`): Buffer {
  const rectangle: Rectangle = [76, 96, 116, 116];
  const box = (state: string, look: string) =>
    `<< /Type /Annot /Subtype /Widget /FT /Btn /T (Name) /V /${state} /AS /${state} /Rect [${rectangle.join(' ')}] /F 4 /P 10 0 R ${look} >>`;
  // Numbers below those of the signature, or above them.
  const [yes, no] = isSigned ? [42, 43] : [FREE + 5, FREE + 6];
  const states = `/AP << /N << /Yes ${yes} 0 R /Off ${no} 0 R >> >>`;
  const looks: Objects = [
    [yes, form(on.replace('/F1', font), sizeOf(rectangle), resources)],
    [no, form('', sizeOf(rectangle))],
  ];
  const pdf = signed(
    contract((objects) => {
      objects.set(TEXT_FIELD, box('Off', isSigned ? states : ''));
      objects.set(FONT_2, '<< /Type /Font /Subtype /Type1 /BaseFont /ZapfDingbats >>');
      if (isSigned) for (const [number, body] of looks) objects.set(number, body);
    }),
  );
  return appendRevision(pdf, new Map([[TEXT_FIELD, box('Yes', states)], ...(isSigned ? [] : looks)]));
}

test('a check box shows a mark and no text, whether its appearance was signed or not', (t) => {
  for (const isSigned of [true, false]) {
    const on = (content: string, font?: string) => verdict(checked(content, isSigned, '', font));
    for (const text of ['000', '0', 'VOID', 'V', 'O'])
      t.is(on(`BT /F1 9 Tf 1 4 Td (${text}) Tj ET`), 'failed', `${text} ${isSigned}`);
    t.is(on('BT /F1 9 Tf 9 4 Td (4) Tj ET', '/F3'), 'passed', `a check ${isSigned}`);
    t.is(on('BT /F1 9 Tf 9 4 Td (X) Tj ET'), 'passed', `a cross ${isSigned}`);
  }
  t.is(verdict(checked('2 2 m 8 16 14 16 20 2 c S', false)), 'failed');
  t.not(verdict(checked('2 2 m 2 16 l S', false)), 'passed');
  t.is(verdict(checked('', false)), 'failed', 'a value without a mark');
});

/** A comment on the first page. */
function commented(comment: string, level: 3 | undefined, more: Objects = []): Buffer {
  const pdf = signed(contract(), level === undefined ? {} : { certification: level });
  return appendRevision(
    pdf,
    new Map([edited(pdf, PAGE, /(\/Annots\s*\[)/, `$1 ${FREE + 9} 0 R `), [FREE + 9, comment], ...more]),
  );
}

const comment = (type: string, rectangle: Rectangle, more: string): string => {
  const [left, bottom, right, top] = rectangle;
  const quads = `${left} ${top} ${right} ${top} ${left} ${bottom} ${right} ${bottom}`;
  return `<< /Type /Annot /Subtype /${type} /Rect [${rectangle.join(' ')}] /QuadPoints [${quads}] /F 4 ${more} >>`;
};
const TEXT: Rectangle = [18, 95, 80, 113];

test('a comment may mark a text and neither hide nor change it', (t) => {
  for (const level of [3, undefined] as const) {
    const bare = (type: string, more: string, rectangle = TEXT) =>
      verdict(commented(comment(type, rectangle, more), level));
    const fine: Verdict = level === 3 ? 'passed' : 'warned';
    t.is(bare('Highlight', '/C [1 1 0]'), 'warned', 'viewers draw it');
    t.is(bare('Highlight', '/C [0 0 0]'), 'failed');
    t.is(bare('Highlight', '/C [1 1 0] /CA 0.5'), 'warned');
    t.is(bare('Highlight', '/C [1 1 1] /CA 0.9'), 'failed');
    t.is(bare('Text', '/C [1 1 1] /CA 0.5', TEXT), 'failed');
    t.is(bare('Highlight', '/C [0.1 0 0.2]'), 'failed');
    t.is(bare('StrikeOut', '/C [1 0 0]'), 'warned');
    t.is(bare('StrikeOut', '/C [1 1 1] /BS << /W 20 >>'), 'failed');
    t.is(bare('StrikeOut', '/C [1 0 0] /Border [0 0 12]'), 'failed');
    t.is(bare('StrikeOut', '/C [1 1 1]'), 'failed');
    t.is(bare('Underline', '/C [0 0 1]'), 'warned');
    const tall: Rectangle = [0, 20, 200, 188];
    t.is(bare('StrikeOut', '/C [0 0 0]', tall), 'failed', 'a line of a part of a high area');
    t.is(bare('Underline', '/C [0 0 0]', [0, 104, 200, 199]), 'failed', 'the same below it');
    t.is(bare('StrikeOut', '/C [0 0 0]', [0, 110, 200, 188]), fine, 'the same where nothing is');
    t.is(bare('Text', '/Contents (seen)', [150, 150, 170, 170]), fine);
    t.is(bare('Text', '/Contents (seen)', TEXT), 'failed');
    const drawn = (content: string, resources = '', type = 'Highlight', rectangle = TEXT) =>
      verdict(
        commented(comment(type, rectangle, `/AP << /N ${LOOK_2} 0 R >>`), level, [
          [LOOK_2, form(content, sizeOf(rectangle), resources).replace(/\/Font << .*? >>/, '')],
        ]),
      );
    const multiply = '/ExtGState << /G << /BM /Multiply >> >>';
    t.is(drawn('/G gs 1 1 0 rg 0 0 62 18 re f', multiply), 'warned');
    t.is(drawn('/G gs 0 g 0 0 62 18 re f', multiply), 'failed');
    t.is(drawn('1 1 1 RG 20 w 0 9 m 62 9 l S'), 'failed', 'a white stroke erases');
    t.is(drawn('1 1 1 RG 1 w 0 9 m 62 9 l S'), 'failed', 'a thin white stroke');
    t.is(drawn('1 1 1 RG 2 w 0 0 m 62 18 l 0 18 m 62 0 l S'), 'failed', 'slanted strokes');
    t.is(drawn('0 0 62 18 re W n 1 g 0 0 62 18 re f'), 'failed', 'a clipped fill');
    t.is(drawn('1 0 0 RG 1 w 0 7 m 62 7 l S', '', 'StrikeOut'), 'warned');
    t.is(drawn('0 G 14 w 0 84 m 200 84 l S', '', 'StrikeOut', tall), 'failed', 'a bar on a text');
    t.is(drawn('0 G 5.5 w 0 84 m 200 84 l S', '', 'StrikeOut', tall), 'failed', 'a thick line on a text');
    t.is(drawn('0 G 2 w 0 84 m 200 84 l S', '', 'StrikeOut', tall), 'warned');
    t.is(
      drawn('1 0 0 RG 2 w 3 0 m 3 18 l 30 0 m 30 18 l S', '', 'Squiggly'),
      'failed',
      'strokes down a text',
    );
    t.is(drawn('1 0 0 RG 2 w 4 1 55 16 re S', '', 'Squiggly'), 'failed', 'a box on a text');
    t.is(
      drawn('1 0 0 RG 2 w 0 4 m 62 4 l 0 7 m 62 7 l 0 10 m 62 10 l 0 12 m 62 12 l S', '', 'StrikeOut'),
      'failed',
      'lines that hide a text together',
    );
    t.is(drawn('1 0 0 RG 0.5 w 0 2 m 3 4 l 6 2 l 9 4 l 12 2 l 62 3 l S', '', 'Squiggly'), 'warned');
    t.is(
      drawn('/G gs BT 1 4 Td (999) Tj ET', '/ExtGState << /G << /Font [3 0 R 9] >> >>', 'Highlight', BLANK),
      'failed',
      'a font of a graphics state',
    );
    t.not(drawn('0 g 10 0 3 18 re f 30 0 3 18 re f', '', 'Highlight', BLANK), 'passed');
    t.is(
      drawn('0 g 10 0 1 18 re f 30 0 1 18 re f', '', 'Highlight', BLANK),
      'undecided',
      'strokes of digits',
    );
  }
});

test('many lines of a comment in many areas are not compared without end', (t) => {
  const MANY = 16_000;
  const quads = '0 9 9 9 0 0 9 0 '.repeat(MANY);
  const pdf = commented(
    `<< /Type /Annot /Subtype /Squiggly /Rect [0 140 100 180] /QuadPoints [${quads}] /F 4 /AP << /N ${LOOK_2} 0 R >> >>`,
    undefined,
    [
      [
        LOOK_2,
        stream(
          '/Type /XObject /Subtype /Form /BBox [0 0 100 40] /Resources << >>',
          '0 0 9 9 re f '.repeat(MANY),
        ),
      ],
    ],
  );
  const { results, signatures } = reportOn(pdf);
  const found = [results, ...signatures.map((one) => one.results)].flatMap(({ errors }) => errors);
  t.true(
    found.some(({ type }) => type === 'file.work'),
    JSON.stringify(found),
  );
});

test('many highlights that leave little of a text together fail', (t) => {
  const stacked = (count: number): Verdict => {
    const pdf = signed(contract(), { certification: 3 });
    const numbers = Array.from({ length: count }, (_, index) => FREE + 20 + index);
    const list = numbers.map((number) => `${number} 0 R`).join(' ');
    return verdict(
      appendRevision(
        pdf,
        new Map([
          edited(pdf, PAGE, /(\/Annots\s*\[)/, `$1 ${list} `),
          ...numbers.map((number) => [number, comment('Highlight', TEXT, '/C [0 0.9 0.2]')] as const),
        ]),
      ),
    );
  };
  t.is(stacked(1), 'warned');
  t.is(stacked(4), 'failed');
});

test('a highlight over a value that viewers draw is not decided', (t) => {
  const over = (rectangle: Rectangle): Verdict => {
    const pdf = signed(
      contract((objects) => {
        objects.set(TEXT_FIELD, textWidget(BLANK, '(Alice)', 31, ''));
        objects.set(31, form('', sizeOf(BLANK)));
      }),
      { certification: 3 },
    );
    const mark = comment('Highlight', rectangle, '/C [0.2 0.2 0.2]');
    const added = edited(pdf, PAGE, /(\/Annots\s*\[)/, `$1 ${FREE} 0 R `);
    return verdict(appendRevision(pdf, new Map([added, [FREE, mark]])));
  };
  t.is(over(BLANK), 'undecided');
  t.is(over([20, 175, 60, 190]), 'passed');
});

test('a dark highlight has round ends, and a light one hides nothing', (t) => {
  const beside = (left: number, colour: string): Verdict =>
    verdict(commented(comment('Highlight', [left, 90, left + 60, 120], `/C ${colour}`), 3));
  t.is(beside(78, '[0.2 0.2 0.2]'), 'failed');
  t.is(beside(78, '[1 1 0]'), 'passed');
  t.is(beside(90, '[0.2 0.2 0.2]'), 'passed');
});

test('a note beside a text is as large as viewers draw it', (t) => {
  const at = (left: number): Verdict =>
    verdict(commented(comment('Text', [left, 100, left + 4, 104], '/Contents (seen)'), 3));
  t.is(at(3), 'failed');
  t.is(at(90), 'passed');
});

test('a comment is no permitted change of a certification for forms, or of a signature with a lock', (t) => {
  for (const level of [1, 2] as const) {
    const pdf = signed(contract(), { certification: level });
    const note = comment('Text', [150, 150, 170, 170], '/Contents (seen)');
    const added = appendRevision(
      pdf,
      new Map([edited(pdf, PAGE, /(\/Annots\s*\[)/, `$1 ${FREE} 0 R `), [FREE, note]]),
    );
    t.is(verdict(added), 'failed');
  }
});

test('an empty signature field paints no background over what was signed', (t) => {
  const added = (rectangle: Rectangle, more: string): Verdict => {
    const pdf = signed(contract());
    const field = `<< /Type /Annot /Subtype /Widget /FT /Sig /T (New) /F 4 /P 10 0 R /Rect [${rectangle.join(' ')}] ${more} >>`;
    return verdict(
      appendRevision(
        pdf,
        new Map([
          edited(pdf, FORM, '30 0 R', `30 0 R ${FREE} 0 R`),
          edited(pdf, PAGE, '30 0 R', `30 0 R ${FREE} 0 R`),
          [FREE, field],
        ]),
      ),
    );
  };
  t.is(added(TEXT, '/MK << /BG [1] >>'), 'failed');
  t.is(added(BLANK, '/MK << /BG [1] >>'), 'warned');
});

test('a later signature covers no text that was signed', (t) => {
  const later = (rectangle: Rectangle): Verdict => {
    const moved = contract((objects) =>
      objects.set(
        EMPTY_FIELD,
        bodyOf(contract(), EMPTY_FIELD).replace('[100 20 180 60]', `[${rectangle.join(' ')}]`),
      ),
    );
    const format = { fieldName: 'Approval', appearance: { lines: ['Eve was here'] } };
    return verdict(signed(signed(moved), format, pki().signer('rsa-2048')));
  };
  t.is(later(TEXT), 'failed');
  t.is(later(BLANK), 'passed');
});
