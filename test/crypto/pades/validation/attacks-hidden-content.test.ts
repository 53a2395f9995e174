/**
 * Signed pages that say something else than they paint, so that a later field could hide their text unnoticed: fonts with
 * wrong widths, character maps and outlines, texts that programs find in different ways. Beside each stands a field that hides
 * nothing on the same page.
 */
import test from 'ava';
import { type1Program } from '#crypto/pades/painting/type1-program.js';
import { TextFont } from '#crypto/pdf/fonts/shaped-text.js';
import { appendRevision, stream } from '../../pdf/build.ts';
import { CONTENT, contract, FREE, PAGE, reportOn, signed, TEXT_FIELD } from './attack-files.ts';

type Rectangle = readonly [number, number, number, number];
const WHOLE: Rectangle = [0, 0, 200, 200];
const TEXT: Rectangle = [18, 96, 110, 116];
const BLANK: Rectangle = [18, 126, 110, 146];

const FONT_5 = 60;
const DESCENDANT = 61;
const DESCRIPTOR = 62;
const PROGRAM = 63;
const MAP = 64;
const FONT_6 = 70;
const FORM_1 = 71;
const FORM_2 = 72;
const DRAWING = 73;

function widget(value: string, look?: number): string {
  const appearance = look === undefined ? '' : `/AP << /N ${look} 0 R >>`;
  return `<< /Type /Annot /Subtype /Widget /FT /Tx /T (Name) /V ${value} /Rect [${WHOLE.join(' ')}] /F 4 /P 10 0 R /DA (/F1 0 Tf) ${appearance} >>`;
}

/** Fills the field in, with a white area at a place of the page. */
function verdict(pdf: Buffer, [left, bottom, right, top]: Rectangle): string {
  const area = `1 g ${left} ${bottom} ${right - left} ${top - bottom} re f`;
  const look = stream(
    '/Type /XObject /Subtype /Form /BBox [0 0 200 200] /Resources << /Font << /F1 3 0 R >> >>',
    `${area} 0 g BT /F1 12 Tf 20 160 Td (J.S) Tj ET`,
  );
  const filled = appendRevision(
    signed(pdf),
    new Map([
      [TEXT_FIELD, widget('(J.S)', FREE)],
      [FREE, look],
    ]),
  );
  const [signature] = reportOn(filled).signatures;
  if (signature?.indication !== 'TOTAL-PASSED') return signature?.indication ?? 'none';
  return signature.results.warnings.some(({ type }) => type.startsWith('pdf.')) ? 'warned' : 'passed';
}

const FAILED = 'TOTAL-FAILED';
const UNDECIDED = 'INDETERMINATE';

/** A page with a field over it, and this content. */
function page(content: string, objects: Readonly<Record<number, string>> = {}, resources = ''): Buffer {
  return contract((all) => {
    const fonts = `/F1 3 0 R /F5 ${FONT_5} 0 R /F6 ${FONT_6} 0 R >> ${resources}`;
    all.set(PAGE, (all.get(PAGE) ?? '').replace('/F1 3 0 R >>', fonts));
    all.set(TEXT_FIELD, widget('()'));
    all.set(CONTENT, stream('', content));
    for (const [number, body] of Object.entries(objects)) all.set(Number(number), body);
  });
}

function hexStream(dict: string, bytes: Buffer): string {
  return stream(`${dict} /Filter /ASCIIHexDecode`, `${bytes.toString('hex')}>`);
}

interface EmbeddedFont {
  readonly show?: string;
  /** Text that the character map gives a character. */
  readonly says?: (character: string) => string;
  readonly widths?: string;
  /** Thousandths of the font size by which the outlines are higher. */
  readonly raised?: number;
  readonly encoding?: string;
  readonly at?: string;
}

/** A page with a text in an embedded TrueType font. */
function withFont({
  show = 'Pay 100',
  says = (one) => one,
  widths = '/DW 600',
  raised = 0,
  encoding = '/Identity-H',
  at = '20 100',
}: EmbeddedFont): Buffer {
  const font = new TextFont();
  const { glyphs } = font.line(show);
  const { file, texts } = font.subset();
  const rows = texts.map(
    (text, index) =>
      `<${index.toString(16).padStart(4, '0')}> <${Buffer.from(says(text), 'utf16le').swap16().toString('hex')}>`,
  );
  const program = raised === 0 ? file : withRaisedOutlines(file, raised);
  return page(`BT /F5 12 Tf ${at} Td <${glyphs}> Tj ET`, {
    [FONT_5]: `<< /Type /Font /Subtype /Type0 /BaseFont /ABCDEF+Sans /Encoding ${encoding} /DescendantFonts [${DESCENDANT} 0 R] /ToUnicode ${MAP} 0 R >>`,
    [DESCENDANT]: `<< /Type /Font /Subtype /CIDFontType2 /BaseFont /ABCDEF+Sans /CIDToGIDMap /Identity /CIDSystemInfo << /Registry (Adobe) /Ordering (Identity) /Supplement 0 >> /FontDescriptor ${DESCRIPTOR} 0 R ${widths} >>`,
    [DESCRIPTOR]: `<< /Type /FontDescriptor /FontName /ABCDEF+Sans /Flags 4 /FontBBox [0 -300 1000 1000] /ItalicAngle 0 /Ascent 800 /Descent -200 /CapHeight 729 /StemV 80 /FontFile2 ${PROGRAM} 0 R >>`,
    [PROGRAM]: hexStream(`/Length1 ${program.length}`, program),
    [MAP]: stream('', `${rows.length - 1} beginbfchar ${rows.slice(1).join('\n')} endbfchar`),
  });
}

/** Moves letters up in their font. */
function withRaisedOutlines(file: Buffer, thousandths: number): Buffer {
  const copy = Buffer.from(file);
  const tables = new Map<string, number>();
  for (let entry = 12; entry < 12 + 16 * copy.readUInt16BE(4); entry += 16)
    tables.set(copy.toString('latin1', entry, entry + 4), copy.readUInt32BE(entry + 8));
  const [head = 0, loca = 0, glyf = 0, maxp = 0] = ['head', 'loca', 'glyf', 'maxp'].map((name) =>
    tables.get(name),
  );
  const raise = Math.round((thousandths * copy.readUInt16BE(head + 18)) / 1000);
  for (let glyph = 0; glyph < copy.readUInt16BE(maxp + 4); glyph++) {
    const start = copy.readUInt32BE(loca + 4 * glyph);
    const end = copy.readUInt32BE(loca + 4 * glyph + 4);
    const at = glyf + start;
    const contours = start === end ? 0 : copy.readInt16BE(at);
    if (contours <= 0) continue;
    const points = copy.readUInt16BE(at + 8 + 2 * contours) + 1;
    let place = at + 12 + 2 * contours + copy.readUInt16BE(at + 10 + 2 * contours);
    let width = 0;
    let count = 0;
    const [first = 0] = copy.subarray(place);
    while (count < points) {
      const flags = copy.readUInt8(place++);
      const times = (flags & 8) === 0 ? 1 : 1 + copy.readUInt8(place++);
      count += times;
      width += times * ((flags & 2) !== 0 ? 1 : (flags & 16) !== 0 ? 0 : 2);
    }
    // The height of the first point is two bytes in some of the letters.
    if ((first & 0x24) === 0) copy.writeInt16BE(copy.readInt16BE(place + width) + raise, place + width);
  }
  return copy;
}

const shift = (key: number, plain: Buffer): Buffer => {
  let state = key;
  return Buffer.from(
    Array.from(plain, (byte) => {
      const packed = byte ^ (state >> 8);
      state = ((packed + state) * 52_845 + 22_719) & 0xffff;
      return packed;
    }),
  );
};

/** A Type 1 font whose digit one is a box at this height, in thousandths, with more glyphs of so many operators each. */
function type1(bottom: number, more = 0, operators = 0): Buffer {
  const number = (value: number): number[] =>
    Math.abs(value) <= 107 ? [value + 139] : [255, ...Buffer.from(Int32Array.of(value).buffer).reverse()];
  const box = [
    ...number(0),
    ...number(600),
    13,
    ...number(50),
    ...number(bottom),
    21,
    ...number(500),
    6,
    ...number(700),
    7,
    ...number(-500),
    6,
    9,
    14,
  ];
  const packed = (code: readonly number[]): Buffer => shift(4330, Buffer.from([0, 0, 0, 0, ...code]));
  // 0 hmoveto, again and again.
  const long = [
    ...number(0),
    ...number(600),
    13,
    ...Array(operators / 2)
      .fill([139, 22])
      .flat(),
    14,
  ];
  const glyphs = [
    ['.notdef', [...number(0), ...number(600), 13, 14]],
    ['one', box],
    ...Array.from({ length: more }, (_, at) => [`g${at}`, long] as const),
  ] as const;
  const body = Buffer.concat([
    Buffer.from(
      'dup /Private 8 dict dup begin /RD {string currentfile exch readstring pop} executeonly def /ND {def} def /NP {put} def /lenIV 4 def 2 index /CharStrings 2 dict dup begin\n',
    ),
    ...glyphs.flatMap(([name, code]) => [
      Buffer.from(`/${name} ${packed(code).length} RD `),
      packed(code),
      Buffer.from(' ND\n'),
    ]),
    Buffer.from(
      'end end readonly put put dup /FontName get exch definefont pop mark currentfile closefile\n',
    ),
  ]);
  const head =
    '%!PS-AdobeFont-1.0: Box\n/FontName /Box def /PaintType 0 def /FontType 1 def /FontMatrix [0.001 0 0 0.001 0 0] readonly def /FontBBox {0 0 600 800} readonly def /Encoding StandardEncoding def currentfile eexec\n';
  return Buffer.concat([Buffer.from(head), shift(55_665, Buffer.concat([Buffer.alloc(4), body]))]);
}

/** The same as a CFF font. */
function compact(bottom: number): Buffer {
  const number = (value: number): number[] => [28, (value >> 8) & 255, value & 255];
  const long = (value: number): number[] => [29, 0, 0, value >> 8, value & 255];
  const index = (...parts: readonly (readonly number[])[]): number[] => {
    let end = 1;
    const offsets = parts.map((part) => (end += part.length));
    return parts.length === 0 ? [0, 0] : [0, parts.length, 1, 1, ...offsets, ...parts.flat()];
  };
  const box = [
    ...number(50),
    ...number(bottom),
    21,
    ...number(500),
    6,
    ...number(700),
    7,
    ...number(-500),
    6,
    14,
  ];
  const start = (charset: number, glyphs: number): number[] => [
    1,
    0,
    4,
    1,
    ...index([...Buffer.from('Box')]),
    ...index([...long(charset), 15, ...long(glyphs), 17, ...long(0), ...long(glyphs), 18]),
    ...index(),
    ...index(),
  ];
  const { length } = start(0, 0);
  return Buffer.from([...start(length, length + 3), 0, 0, 18, ...index([14], box)]);
}

/** A page with three digits in a simple font with this program. */
function withProgram(key: 'FontFile' | 'FontFile3', program: Buffer): Buffer {
  return page('BT /F5 12 Tf 20 100 Td (111) Tj ET', {
    [FONT_5]: `<< /Type /Font /Subtype /Type1 /BaseFont /ABCDEF+Box /Encoding /WinAnsiEncoding /FirstChar 49 /LastChar 49 /Widths [600] /FontDescriptor ${DESCRIPTOR} 0 R >>`,
    [DESCRIPTOR]: `<< /Type /FontDescriptor /FontName /ABCDEF+Box /Flags 32 /FontBBox [0 0 600 800] /ItalicAngle 0 /Ascent 800 /Descent 0 /CapHeight 700 /StemV 80 /${key} ${PROGRAM} 0 R >>`,
    [PROGRAM]: hexStream(
      key === 'FontFile3' ? '/Subtype /Type1C' : '/Length1 1 /Length2 1 /Length3 0',
      program,
    ),
  });
}

/** A font of drawings in which a character is a text. */
function drawnFont(character: string, name: string): Readonly<Record<number, string>> {
  const code = character.charCodeAt(0);
  return {
    [FONT_6]: `<< /Type /Font /Subtype /Type3 /FontBBox [0 0 1 1] /FontMatrix [0.001 0 0 0.001 0 0] /CharProcs << /${name} ${DRAWING} 0 R >> /Encoding << /Differences [${code} /${name}] >> /FirstChar ${code} /LastChar ${code} /Widths [600] /Resources << /Font << /F1 3 0 R >> >> >>`,
    [DRAWING]: stream('', '600 0 0 0 1 1 d1 BT /F1 1000 Tf 2000 0 Td (100) Tj ET'),
  };
}

test('a field that hides a signed text fails, whatever the font of the text says', (t) => {
  const forged: readonly (readonly [string, Buffer])[] = [
    ['an honest font', withFont({})],
    ['a map to spaces', withFont({ says: () => ' ' })],
    ['a map to the dots of a line to write on', withFont({ says: () => '.' })],
    ['letters without a width', withFont({ widths: '/DW 0' })],
    ['letters above their line', withFont({ raised: 3000, at: '20 64' })],
    ['Type 1, above its line', withProgram('FontFile', type1(100))],
    ['CFF, above its line', withProgram('FontFile3', compact(100))],
    ['a drawing beside its extent', page('BT /F6 12 Tf 20 100 Td (a) Tj ET', drawnFont('a', 'a'))],
    ['a drawing that is a space', page('BT /F6 12 Tf 20 100 Td ( ) Tj ET', drawnFont(' ', 'space'))],
  ];
  for (const [name, pdf] of forged) {
    t.is(verdict(pdf, TEXT), FAILED, name);
    t.is(verdict(pdf, BLANK), 'passed', name);
  }
  for (const [key, make] of [
    ['FontFile', type1],
    ['FontFile3', compact],
  ] as const) {
    t.is(verdict(withProgram(key, make(2300)), BLANK), FAILED, key);
  }
});

test('a Type 1 font is measured up to a million operators', (t) => {
  t.not(type1Program(type1(100, 40, 19_000))?.whole(), undefined);
  t.is(type1Program(type1(100, 60, 19_000))?.whole(), undefined);
});

test('a field may lie on spaces and on a line of dots in an embedded font', (t) => {
  t.is(verdict(withFont({ show: '............' }), TEXT), 'passed');
  t.is(verdict(withFont({ show: '      ' }), TEXT), 'passed');
  t.is(verdict(withFont({ show: ',,,,,,,,,,,,' }), TEXT), FAILED);
});

test('whether a field hides a text is not decided where programs take its font in different ways', (t) => {
  t.is(verdict(withFont({ widths: '/DW 600 /DW 0' }), BLANK), UNDECIDED);
  t.is(verdict(withFont({ encoding: '/Identity-V' }), BLANK), UNDECIDED);
  t.is(verdict(withFont({ widths: '/DW 600' }), BLANK), 'passed');
});

const TEXT_OF_PAGE = 'BT /F1 12 Tf 20 100 Td (Pay 100) Tj ET';
const FONTS = '/Resources << /Font << /F1 3 0 R >> >>';
const formOf = (content: string, entries: string): string =>
  stream(`/Type /XObject /Subtype /Form /BBox [0 0 200 200] ${entries}`, content);

test('a field that hides a text fails where only some programs find the text', (t) => {
  const forms = { [FORM_1]: formOf('/X2 Do', '/Resources << >>'), [FORM_2]: formOf(TEXT_OF_PAGE, FONTS) };
  const named = `/XObject << /X1 ${FORM_1} 0 R /X2 ${FORM_2} 0 R >>`;
  const forged: readonly (readonly [string, Buffer])[] = [
    ['a font that is not there', page(TEXT_OF_PAGE.replace('F1', 'F9'))],
    ['a form that is in the resources of the page', page('/X1 Do', forms, named)],
    ['an inline picture that ends without a space', page(`q ${picture('x')}EI Q ${TEXT_OF_PAGE}`)],
  ];
  for (const [name, pdf] of forged) {
    t.is(verdict(pdf, TEXT), FAILED, name);
    t.is(verdict(pdf, BLANK), 'passed', name);
  }
  t.is(verdict(page(`q ${picture('x')}\nEI Q`), BLANK), 'passed');
  t.is(
    verdict(page(`q ${picture('xEI')} ${TEXT_OF_PAGE} \nEI Q`), BLANK),
    UNDECIDED,
    'two ends of a picture',
  );
  t.is(verdict(page(`q ${picture('xy')}\nEI Q`), BLANK), UNDECIDED, 'a picture of another length');
  t.is(verdict(page(TEXT_OF_PAGE), BLANK), 'passed');
  t.is(
    verdict(page(TEXT_OF_PAGE.replace('Tj ET', 'TjET')), BLANK),
    UNDECIDED,
    'two operators without a space',
  );
});

const picture = (data: string): string => `BI /W 1 /H 1 /BPC 8 /CS /G ID ${data}`;

test('a field that hides a text fails, whatever paints the text', (t) => {
  const large = 'scn 0 0 200 125 re f';
  const tile =
    '/Type /Pattern /PatternType 1 /PaintType 1 /TilingType 1 /BBox [0 0 400 400] /XStep 400 /YStep 400';
  const mask = formOf(`1 g ${TEXT_OF_PAGE}`, `/Group << /S /Transparency /CS /DeviceGray >> ${FONTS}`);
  const shading = (type: number): string =>
    `<< /ShadingType ${type} /ColorSpace /DeviceGray /Coords [0 0 200 0] /Function << /FunctionType 2 /Domain [0 1] /C0 [0.9] /C1 [1] /N 1 >> >>`;
  const painted: readonly (readonly [string, Buffer])[] = [
    ['letters that clip', page('q BT /F1 12 Tf 7 Tr 20 100 Td (Pay 100) Tj ET 0 g 0 0 200 125 re f Q')],
    ['shapes that clip', page('q 20 100 3 10 re 30 100 8 10 re 42 100 8 10 re W n 0 g 0 0 200 125 re f Q')],
    [
      'a pattern',
      page(
        `/Pattern cs /P1 ${large}`,
        { [FORM_1]: stream(`${tile} ${FONTS}`, TEXT_OF_PAGE) },
        `/Pattern << /P1 ${FORM_1} 0 R >>`,
      ),
    ],
    [
      'a mask',
      page(
        'q /M gs 0 g 0 0 200 125 re f Q',
        { [FORM_1]: mask },
        `/ExtGState << /M << /SMask << /S /Luminosity /G ${FORM_1} 0 R >> >> >>`,
      ),
    ],
    [
      'a shading',
      page('0 0 200 125 re W n /S1 sh', { [FORM_1]: shading(1) }, `/Shading << /S1 ${FORM_1} 0 R >>`),
    ],
  ];
  for (const [name, pdf] of painted) {
    t.is(verdict(pdf, TEXT), FAILED, name);
    t.is(verdict(pdf, BLANK), 'passed', name);
  }
  t.is(
    verdict(
      page('0 0 200 125 re W n /S1 sh', { [FORM_1]: shading(2) }, `/Shading << /S1 ${FORM_1} 0 R >>`),
      TEXT,
    ),
    'passed',
  );
  t.is(verdict(page('0.9 g 0 0 200 125 re f'), TEXT), 'passed', 'a background');
});

test('short lines below a field could be letters, unless they are a line to write on or a table', (t) => {
  const cells = ['###..###', '#.#..#.#', '#.#..#.#', '###..###'];
  const drawn = cells.flatMap((row, line) =>
    [...row].map((cell, column) => (cell === '#' ? `${30 + 2 * column} ${108 - line} 2 1 re f` : '')),
  );
  t.is(verdict(page(drawn.join(' ')), TEXT), UNDECIDED);
  t.is(verdict(page(drawn.join(' ')), BLANK), 'passed');
  const dashes = Array.from(
    { length: 30 },
    (_, index) => `${20 + 3 * index} 105 m ${21.5 + 3 * index} 105 l S`,
  );
  t.is(verdict(page(dashes.join(' ')), TEXT), 'passed');
  t.is(verdict(page('0.5 w 10 106 m 190 106 l S 18 90 m 18 120 l S 60 90 m 60 120 l S'), TEXT), 'passed');
});
