/**
 * Generates PDF updates that fill in a signed text field: honest ones, and ones whose appearance shows something else
 * than the value or paints over the page. Every content is put into fields of several places, with the appearance as a
 * new object or written over the old one, by itself or inside of nested forms.
 */
import { appendRevision, stream } from '../pdf/build.ts';
import { contract, signed, TEXT_FIELD } from './validation/attack-files.ts';

export interface FilledField {
  readonly pdf: Buffer;
  readonly description: string;
}

interface Filling {
  readonly name: string;
  /** Content stream; `W` and `H` are placeholders of the width and height of the field. */
  readonly content: string;
  readonly value?: string;
  /** Further resources of the appearance. */
  readonly resources?: string;
  /** Further objects of the update. */
  readonly objects?: ReadonlyMap<number, string>;
  /** Further entries of the field, there from the start. */
  readonly entries?: string;
  /** Content of the appearance that was signed; left out, the field shows nothing. */
  readonly before?: string;
}

/** Over nothing, over the text "Pay 100 1" of the page, and over the whole page. */
const RECTANGLES = [
  { name: 'a blank place', rectangle: [20, 40, 120, 60] },
  { name: 'text of the page', rectangle: [15, 90, 115, 115] },
  { name: 'the whole page', rectangle: [0, 0, 200, 200] },
] as const;

const OLD_LOOK = 31;
const CHECK_INTERVAL_MS = 150;
const EXTRA = 160;
const WHITE = '1 g 0 0 W H re f 0 g';
const shows = (text: string, size = 9): string => `BT /F1 ${size} Tf 2 4 Td (${text}) Tj ET`;
/** Short vertical lines at parts of the width. */
const comb = (...places: readonly number[]): string =>
  `q 0.005 w W 0 0 1 0 0 cm ${places.map((at) => `${at.toFixed(3)} 0 m ${at.toFixed(3)} 9 l S`).join(' ')} Q`;
const FONT = '/Font << /F1 3 0 R /F2 160 0 R >>';
const DOUBTFUL_GLYPHS = `<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding << /Differences [49 /nine 48 /nine] >> >>`;
const PICTURE = stream(
  '/Type /XObject /Subtype /Image /Width 1 /Height 1 /BitsPerComponent 8 /ColorSpace /DeviceGray',
  'x',
);
const DRAWN_GLYPHS = `<< /Type /Font /Subtype /Type3 /FontBBox [0 0 1 1] /FontMatrix [1 0 0 1 0 0] /FirstChar 49 /LastChar 49 /Widths [1] /Encoding << /Differences [49 /a] >> /CharProcs << /a 161 0 R >> >>`;
const extra = (body: string, more: readonly (readonly [number, string])[] = []): Map<number, string> =>
  new Map([[EXTRA, body], ...more]);

/** A value of 100 in each; what a reader sees is something else. */
const FORGED: readonly Filling[] = [
  { name: 'another text', content: shows('999') },
  { name: 'another text in front', content: shows('999 100') },
  { name: 'another text behind', content: `${shows('100')} ${shows('000')}` },
  { name: 'another text on white', content: `${WHITE} ${shows('999')}` },
  ...[0.4, 0.5, 0.62, 0.85].map((at) => ({
    name: `a stroke in a cell at ${at}`,
    content: `${comb(1 / 3, at)} BT /F1 9 Tf 2 4 Td (100) Tj ET`,
    entries: '/MaxLen 3 /Ff 16777216',
  })),
  { name: 'no text', content: WHITE },
  { name: 'a part of its value', content: shows('10') },
  {
    name: 'a value as a picture',
    content: `${shows('100')} q W 0 0 H 0 0 cm /X Do Q`,
    resources: '/XObject << /X 160 0 R >>',
    objects: extra(PICTURE),
  },
  {
    name: 'an inline picture',
    content: `${shows('100')} q W 0 0 H 0 0 cm BI /W 1 /H 1 /BPC 8 /CS /G ID x\nEI Q`,
  },
  {
    name: 'a shading',
    content: `${shows('100')} /S sh`,
    resources:
      '/Shading << /S << /ShadingType 2 /ColorSpace /DeviceGray /Coords [0 0 1 1] /Function << /FunctionType 2 /Domain [0 1] /N 1 >> >> >>',
  },
  {
    name: 'a pattern',
    content: `${shows('100')} /Pattern cs /P scn 0 0 W H re f`,
    resources: '/Pattern << /P 160 0 R >>',
    objects: extra(
      stream(
        '/Type /Pattern /PatternType 1 /PaintType 1 /TilingType 1 /BBox [0 0 9 9] /XStep 9 /YStep 9 /Resources << >>',
        '0 0 9 9 re f',
      ),
    ),
  },
  {
    name: 'glyphs that are drawings',
    content: 'BT /F2 9 Tf 2 4 Td (100) Tj ET',
    objects: extra(DRAWN_GLYPHS, [[161, stream('', '1 0 d0 0 0 1 1 re f')]]),
  },
  {
    name: 'codes that mean other glyphs',
    content: 'BT /F2 9 Tf 2 4 Td (100) Tj ET',
    objects: extra(DOUBTFUL_GLYPHS),
  },
  {
    name: 'an invisible text, and drawn curves',
    content: `BT /F1 9 Tf 3 Tr 2 4 Td (100) Tj ET 0 0 m 5 9 9 5 9 0 c f`,
  },
  { name: 'an invisible text alone', content: 'BT /F1 9 Tf 3 Tr 2 4 Td (100) Tj ET' },
  { name: 'drawn curves', content: `${shows('100')} 0 0 m 5 9 9 5 9 0 c S` },
  { name: 'a digit of lines', content: `${shows('100')} 40 4 m 46 4 l 46 12 l S 40 8 m 46 8 l S` },
  { name: 'a dash in front', content: `BT /F1 9 Tf 9 4 Td (100) Tj ET 2 7 m 6 7 l S` },
  { name: 'a stroke behind', content: `${shows('100')} 30 4 m 30 11 l S` },
  { name: 'slanted lines', content: `${shows('100')} 0 0 m 5 9 l S` },
  { name: 'a text of many lines', content: `${shows('100')} ${'2 2 m 2 9 l S '.repeat(40)}` },
  {
    name: 'a mask',
    content: `/G gs ${shows('100')}`,
    resources: '/ExtGState << /G << /SMask << /S /Alpha /G 160 0 R >> >> >>',
    objects: extra(stream('/Type /XObject /Subtype /Form /BBox [0 0 9 9]', '')),
  },
  {
    name: 'a font set by a graphics state',
    content: '/G gs BT 2 4 Td (100) Tj ET',
    resources: '/ExtGState << /G << /Font [160 0 R 9] >> >>',
    objects: extra(DOUBTFUL_GLYPHS),
  },
  { name: 'a text squeezed backwards', content: 'BT /F1 9 Tf -100 Tz 60 4 Td (100) Tj ET' },
  { name: 'a text with steps backwards', content: 'BT /F1 9 Tf -20 Tc 60 4 Td (001) Tj ET', value: '(001)' },
  { name: 'kerning backwards', content: 'BT /F1 9 Tf 60 4 Td [(0) 2000 (0) 2000 (1)] TJ ET', value: '(001)' },
  {
    name: 'the right text in another order',
    content: 'BT /F1 9 Tf 60 4 Td (0) Tj -20 0 Td (0) Tj -20 0 Td (1) Tj ET',
    value: '(001)',
  },
  { name: 'boxes beside the field', content: `${shows('100')} 0 g -900 -900 800 800 re f` },
];

/** Appearances of programs that fill in forms; the value is 100 unless stated. */
const HONEST: readonly Filling[] = [
  { name: 'its value', content: shows('100') },
  {
    name: 'its value inside of marked content and a clip',
    content: `/Tx BMC q 1 1 W H re W n ${shows('100')} Q EMC`,
  },
  { name: 'its value with kerning', content: 'BT /F1 9 Tf 2 4 Td [(1) -30 (0) 20 (0)] TJ ET' },
  { name: 'its value in hexadecimal', content: 'BT /F1 9 Tf 1 0 0 1 2 4 Tm <313030> Tj ET' },
  {
    name: 'combs',
    content: `${comb(1 / 3, 2 / 3)} BT /F1 9 Tf 2 4 Td (1) Tj 20 0 Td (0) Tj 20 0 Td (0) Tj ET`,
    entries: '/MaxLen 3 /Ff 16777216',
  },
  {
    name: 'several lines',
    content: 'BT /F1 9 Tf 12 TL 2 14 Td (First line) Tj T* (second) Tj ET',
    value: '(First line\\nsecond)',
    entries: '/Ff 4096',
  },
  { name: 'a frame', content: `1 w 0.5 0.5 W H re S ${shows('100')}`.replace('W H', 'V G') },
  {
    name: 'a background that was there',
    content: `0.9 g 0 0 W H re f 0 g ${shows('100')}`,
    before: '0.9 g 0 0 W H re f',
  },
  { name: 'nothing', content: '/Tx BMC EMC', value: '()', before: shows('100') },
  { name: 'asterisks of a password', content: shows('***'), entries: '/Ff 8192' },
  {
    name: 'letters by their names',
    content: 'BT /F2 9 Tf 2 4 Td (\\001) Tj ET',
    value: '(\\344)',
    objects: extra(
      '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding << /Differences [1 /adieresis] >> >>',
    ),
  },
  {
    name: 'letters of the Windows encoding',
    content: 'BT /F2 9 Tf 2 4 Td (\\200 5) Tj ET',
    value: '<FEFF20AC00200035>',
    objects: extra('<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>'),
  },
  {
    name: 'the text of its option',
    content: shows('Austria'),
    value: '(at)',
    entries: '/Opt [[(de) (Germany)] [(at) (Austria)]]',
  },
  {
    name: 'a formatted number',
    content: shows('1,234.50'),
    value: '(1234.5)',
    entries: '/AA << /F << /S /JavaScript /JS (AFNumber_Format) >> >>',
  },
];

/** The value of 100, shown as it should be, and a cover over text of the page. */
const HIDING: readonly Filling[] = [
  { name: 'its value on white', content: `${WHITE} ${shows('100')}` },
  { name: 'a thick white line', content: `1 1 1 RG 200 w 0 9 m 90 9 l S ${shows('100')}` },
  {
    name: 'a line made thick by a graphics state',
    content: `1 1 1 RG /G gs 0 9 m 90 9 l S ${shows('100')}`,
    resources: '/ExtGState << /G << /LW 200 >> >>',
  },
  {
    name: 'a line made thick by a matrix',
    content: `q 200 0 0 200 0 0 cm 1 1 1 RG 0 .1 m .4 .1 l S Q ${shows('100')}`,
  },
  { name: 'a thick frame', content: `1 1 1 RG 90 w 0 0 W H re S ${shows('100')}` },
  { name: 'thick white outlines of text', content: `1 1 1 RG 200 w BT /F1 9 Tf 1 Tr 2 4 Td (100) Tj ET` },
  { name: 'thick outlines of filled text', content: `1 1 1 RG 200 w BT /F1 9 Tf 2 Tr 2 4 Td (100) Tj ET` },
  { name: 'thin boxes side by side', content: `1 g ${thinBoxes('W 1.5', 0, 1.5, 12)} 0 g ${shows('100')}` },
  {
    name: 'a combed field of thin boxes',
    content: `1 g ${thinBoxes('1.5 H', 2, 0, 48)} 0 g ${shows('100')}`,
    entries: '/MaxLen 90',
  },
  {
    name: 'white where a transparent fill was',
    content: `${WHITE} ${shows('100')}`,
    before: '/G gs 1 g 0 0 W H re f',
    resources: '/ExtGState << /G << /ca 0 >> >>',
  },
  {
    name: 'white where a fill was clipped away',
    content: `${WHITE} ${shows('100')}`,
    before: '0 0 1 1 re W n 1 g 0 0 W H re f',
  },
  {
    name: 'white where a path of no area was',
    content: `${WHITE} ${shows('100')}`,
    before: '1 g 0 0 m W H m f',
  },
];

/** Boxes of a size, each at a distance from the one before. */
function thinBoxes(size: string, x: number, y: number, count: number): string {
  return Array.from({ length: count }, (_, index) => `${index * x} ${index * y} ${size} re f`).join(' ');
}

/** Yields every forged update: none may be TOTAL-PASSED without a warning about the appearance. */
export function* forgedFillings(): Generator<FilledField> {
  yield* fillings(FORGED);
  yield* fillings(HIDING, ['text of the page']);
  yield* fillings(
    HIDING.filter(({ name }) => !name.includes('thin')),
    ['the whole page'],
  );
}

/** Yields every honest update: all are TOTAL-PASSED without a warning about the appearance. */
export function* honestFillings(): Generator<FilledField> {
  // Text over text of the page is a forgery.
  yield* fillings(HONEST, ['a blank place', 'the whole page']);
  // Thick white outlines hide the value itself.
  yield* fillings(
    HIDING.filter(({ name }) => !name.includes('outlines')),
    ['a blank place'],
  );
}

function* fillings(kinds: readonly Filling[], places?: readonly string[]): Generator<FilledField> {
  for (const { name: place, rectangle } of RECTANGLES) {
    if (places !== undefined && !places.includes(place)) continue;
    const signedWith = new Map<string, Buffer>();
    for (const filling of kinds) {
      const before = `${filling.entries ?? ''}|${filling.before ?? ''}|${filling.resources ?? ''}`;
      const pdf = signedWith.get(before) ?? signedForm(filling, rectangle);
      signedWith.set(before, pdf);
      for (const nested of [0, 1, 2]) {
        for (const look of [CHECK_INTERVAL_MS, OLD_LOOK]) {
          const objects = updateOf(filling, rectangle, look, nested);
          const how = `${nested} forms around it, ${look === CHECK_INTERVAL_MS ? 'as a new object' : 'written over the old one'}`;
          yield {
            pdf: appendRevision(pdf, objects),
            description: `${filling.name}, over ${place}, ${how}`,
          };
        }
      }
    }
  }
}

type Rectangle = (typeof RECTANGLES)[number]['rectangle'];

function signedForm({ before = '', entries = '', resources = '' }: Filling, rectangle: Rectangle): Buffer {
  return signed(
    contract((objects) => {
      objects.set(TEXT_FIELD, field(rectangle, '(x)', OLD_LOOK, entries));
      objects.set(OLD_LOOK, look(sized(before, rectangle), rectangle, resources));
    }),
  );
}

function updateOf(
  filling: Filling,
  rectangle: Rectangle,
  number: number,
  nested: number,
): Map<number, string> {
  const { content, value = '(100)', resources = '', entries = '' } = filling;
  const objects = new Map(filling.objects);
  objects.set(TEXT_FIELD, field(rectangle, value, number, entries));
  let inner = look(sized(content, rectangle), rectangle, resources);
  for (let level = 0; level < nested; level++) {
    objects.set(170 + level, inner);
    inner = look('/Inner Do', rectangle, `/XObject << /Inner ${170 + level} 0 R >>`);
  }
  return objects.set(number, inner);
}

function field(rectangle: Rectangle, value: string, number: number, entries: string): string {
  return (
    `<< /Type /Annot /Subtype /Widget /FT /Tx /T (Name) /V ${value} /Rect [${rectangle.join(' ')}] /F 4 /P 10 0 R ` +
    `/DA (/F1 0 Tf) /AP << /N ${number} 0 R >> ${entries} >>`
  );
}

function look(content: string, [left, bottom, right, top]: Rectangle, resources: string): string {
  const box = `/BBox [0 0 ${right - left} ${top - bottom}]`;
  return stream(`/Type /XObject /Subtype /Form ${box} /Resources << ${FONT} ${resources} >>`, content);
}

/** `V` and `G`: one unit less than the width and height. */
function sized(content: string, [left, bottom, right, top]: Rectangle): string {
  const sizes: Readonly<Record<string, number>> = {
    W: right - left,
    H: top - bottom,
    V: right - left - 1,
    G: top - bottom - 1,
  };
  return content.replace(/(?<![\w/])[WHVG](?= )(?! n)/g, (letter) => `${sizes[letter]}`);
}
