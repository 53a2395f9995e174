/**
 * Contents that updates of a signed PDF show by other means than the text of a field: annotations of every type, layers, states,
 * page boxes, labels, attached files, scripts, and appearances that programs read differently. Beside them stand honest changes.
 */
import test from 'ava';
import { appendRevision, stream } from '../../pdf/build.ts';
import {
  bodyOf,
  CATALOG,
  contract,
  edited,
  FORM,
  FREE,
  PAGE,
  reportOn,
  signed,
  TEXT_FIELD,
} from './attack-files.ts';

type Objects = readonly (readonly [number, string])[];

const PARTS = 60;
const LOOK = FREE;
const OVER = '[18 95 80 113]';
const BLANK = '[20 140 140 170]';

function passes(pdf: Buffer): boolean {
  return reportOn(pdf).signatures[0]?.indication === 'TOTAL-PASSED';
}

/** A contract with a text field at a blank place, a layer, labels, an attached file and a script. */
function rich(
  field = '',
  page = '',
  {
    form = '',
    flags = '/F 4',
    at = BLANK,
  }: {
    readonly form?: string | undefined;
    readonly flags?: string | undefined;
    readonly at?: string | undefined;
  } = {},
): Buffer {
  return contract((objects) => {
    objects.set(TEXT_FIELD, widget('()', field, undefined, flags).replace(BLANK, at));
    objects.set(PAGE, (objects.get(PAGE) ?? '').replace('<<', `<< ${page} `));
    objects.set(FORM, `<< /Fields [7 0 R 30 0 R] /DA (/F1 0 Tf) /XFA ${PARTS + 5} 0 R ${form} >>`);
    objects.set(
      CATALOG,
      (objects.get(CATALOG) ?? '').replace(
        '<<',
        `<< /OCProperties ${PARTS} 0 R /PageLabels << /Nums [0 << /S /D >>] >> /Names << /EmbeddedFiles << /Names [(a.txt) ${PARTS + 2} 0 R] >> /JavaScript << /Names [(a) ${PARTS + 4} 0 R] >> >> `,
      ),
    );
    objects.set(PARTS, `<< /OCGs [${PARTS + 1} 0 R] /D << /OFF [${PARTS + 1} 0 R] >> >>`);
    objects.set(PARTS + 1, '<< /Type /OCG /Name (Layer) >>');
    objects.set(PARTS + 2, `<< /Type /Filespec /F (a.txt) /EF << /F ${PARTS + 3} 0 R >> >>`);
    objects.set(PARTS + 3, stream('/Type /EmbeddedFile', 'Pay 100'));
    objects.set(PARTS + 4, '<< /S /JavaScript /JS (this.calculateNow\\(\\)) >>');
    objects.set(PARTS + 5, stream('', '<xdp><amount>100</amount></xdp>'));
  });
}

const widget = (value: string, more = '', look?: number, flags = '/F 4'): string =>
  `<< /Type /Annot /Subtype /Widget /FT /Tx /T (Name) /V ${value} /Rect ${BLANK} ${flags} /P 10 0 R /DA (/F1 0 Tf) ${look === undefined ? '' : `/AP << /N ${look} 0 R >>`} ${more} >>`;

const SHOWN = 'BT /F1 9 Tf 2 8 Td (100) Tj ET';
const RESOURCES = '/Resources << /Font << /F1 3 0 R >> >>';
const form = (content: string, more = RESOURCES): string =>
  stream(`/Type /XObject /Subtype /Form /BBox [0 0 120 30] ${more}`, content);

const TYPES = (
  'Text Link FreeText Line Square Circle Polygon PolyLine Highlight Underline Squiggly StrikeOut Caret Stamp Ink Popup ' +
  'FileAttachment Sound Redact Movie Screen Widget PrinterMark TrapNet Watermark 3D Projection RichMedia'
).split(' ');
/** Types that paint nothing over a text, or only mark it. */
const MARKING = ['Highlight', 'Underline', 'Squiggly', 'StrikeOut', 'Popup'];

function annotated(level: 3 | undefined, annotation: string, more: Objects = [], page = ''): Buffer {
  const pdf = signed(rich('', page), level === undefined ? {} : { certification: level });
  return appendRevision(
    pdf,
    new Map([edited(pdf, PAGE, /(\/Annots\s*\[)/, `$1 ${FREE + 9} 0 R `), [FREE + 9, annotation], ...more]),
  );
}

const annotation = (type: string, rectangle: string, more = ''): string => {
  const [left = 0, bottom = 0, right = 0, top = 0] = rectangle.match(/\d+/g)?.map(Number) ?? [];
  const quads = [left, top, right, top, left, bottom, right, bottom].join(' ');
  return `<< /Type /Annot /Subtype /${type} /Rect ${rectangle} /QuadPoints [${quads}] /F 4 /Contents (Pay 999) ${more} >>`;
};

test('an annotation of any of the 28 types hides and adds nothing', (t) => {
  const white = [LOOK, form('1 g 0 0 120 30 re f', '/Resources << >>')] as const;
  const accepted = new Set<string>();
  const marking = new Set<string>();
  for (const level of [3, undefined] as const)
    for (const type of TYPES) {
      const colour = type === 'Highlight' ? '/C [1 1 0]' : '/C [0 0 1]';
      if (passes(annotated(level, annotation(type, OVER, colour)))) marking.add(type);
      const drawn = annotation(type, OVER, `/AP << /N ${LOOK} 0 R >>`);
      if (passes(annotated(level, drawn, [white]))) accepted.add(`${type}, level ${level}`);
    }
  t.deepEqual([...accepted], []);
  t.deepEqual([...marking], MARKING);
  const highlight = (flags: number, page: string): boolean =>
    passes(
      annotated(3, annotation('Highlight', BLANK, '/C [1 1 0]').replace('/F 4', `/F ${flags}`), [], page),
    );
  t.true(highlight(4, '/Rotate 90'));
  t.false(highlight(4 + 16, '/Rotate 90'), 'not turned with its page');
  t.false(highlight(4 + 16, '/Rotate 90.0'), 'the same by another number');
  t.false(highlight(4 + 8, ''), 'of the same size at any zoom');
  t.true(
    passes(annotated(3, annotation('Text', BLANK).replace('/F 4', '/F 28'))),
    'a note of a usual program',
  );
  const note = (at: string, flags: number): boolean =>
    passes(annotated(3, annotation('Text', at).replace('/F 4', `/F ${flags}`), [], '/Rotate 90'));
  t.true(note('[150 170 170 190]', 28), 'a note that stands upright on a turned page');
  t.true(note('[30 124 50 134]', 4));
  t.false(note('[30 124 50 134]', 28), 'one that could lie on a text there');
});

/** Each: an honest field at a blank place, and one more change. */
const BESIDE: readonly (readonly [string, (pdf: Buffer) => Objects])[] = [
  [
    'a layer that is shown now',
    () => [[PARTS, `<< /OCGs [${PARTS + 1} 0 R] /D << /ON [${PARTS + 1} 0 R] >> >>`]],
  ],
  ['the name of a layer', () => [[PARTS + 1, '<< /Type /OCG /Name (Other) >>']]],
  [
    'layers by another list',
    (pdf) => [edited(pdf, CATALOG, `/OCProperties ${PARTS} 0 R`, '/OCProperties << /OCGs [] /D << >> >>')],
  ],
  ['page labels', (pdf) => [edited(pdf, CATALOG, '/S /D', '/S /R')]],
  ['an attached file', () => [[PARTS + 3, stream('/Type /EmbeddedFile', 'Pay 999')]]],
  [
    'the description of an attached file',
    () => [[PARTS + 2, `<< /Type /Filespec /F (b.txt) /EF << /F ${PARTS + 3} 0 R >> >>`]],
  ],
  [
    'another attached file',
    (pdf) => [
      edited(pdf, CATALOG, '/Names [(a.txt)', `/Names [(b.txt) ${FREE + 8} 0 R (a.txt)`),
      [FREE + 8, '<< /Type /Filespec /F (b.txt) >>'],
    ],
  ],
  ['a script', () => [[PARTS + 4, '<< /S /JavaScript /JS (this.getField\\("Name"\\).value = 999) >>']]],
  ['a script at the opening', (pdf) => [edited(pdf, CATALOG, '<<', `<< /OpenAction ${PARTS + 4} 0 R `)]],
  ['the data of XFA', () => [[PARTS + 5, stream('', '<xdp><amount>999</amount></xdp>')]]],
  ['no XFA', (pdf) => [edited(pdf, FORM, `/XFA ${PARTS + 5} 0 R`, '')]],
  ['an order of calculation', (pdf) => [edited(pdf, FORM, '/DA', '/CO [7 0 R] /DA')]],
  ['a turned page', (pdf) => [edited(pdf, PAGE, '<<', '<< /Rotate 180 ')]],
  ['a part of the page', (pdf) => [edited(pdf, PAGE, '<<', '<< /CropBox [0 120 200 200] ')]],
  ['a larger page', (pdf) => [edited(pdf, PAGE, /\/MediaBox ?\[[^\]]*\]|<</, '<< /MediaBox [0 0 400 400] ')]],
  ['another unit of the page', (pdf) => [edited(pdf, PAGE, '<<', '<< /UserUnit 3 ')]],
  ['a thumbnail', (pdf) => [edited(pdf, PAGE, '<<', `<< /Thumb ${LOOK} 0 R `)]],
  ['an action of the page', (pdf) => [edited(pdf, PAGE, '<<', `<< /AA << /O ${PARTS + 4} 0 R >> `)]],
  [
    'another page for the first',
    (pdf) => [edited(pdf, 2, `${PAGE} 0 R`, `${FREE + 8} 0 R`), [FREE + 8, bodyOf(pdf, PAGE)]],
  ],
];

test('a filled field brings no other change of the document', (t) => {
  const pdf = signed(rich());
  const filled = (more: Objects): Buffer =>
    appendRevision(pdf, new Map([[TEXT_FIELD, widget('(100)', '', LOOK)], [LOOK, form(SHOWN)], ...more]));
  t.true(passes(filled([])));
  const redrawn = edited(pdf, FORM, '/DA', '/NeedAppearances true /DA');
  t.true(passes(filled([redrawn])), 'fields drawn by the viewer, which show the same values');
  const accepted = BESIDE.filter(([, more]) => passes(filled(more(pdf)))).map(([name]) => name);
  t.deepEqual(accepted, []);
});

const OTHER = FREE + 3;
const TURNED: readonly [number, string] = [
  OTHER,
  '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding << /Differences [48 /nine /nine] >> >>',
];
const hiding = (name: string, more: string): string =>
  `${RESOURCES.replace('>> >>', `>> ${more} >>`)} ${name}`;

/** Appearances of the value 100 that programs read differently, or that show more. */
const APPEARANCES: readonly (readonly [name: string, look: string, more?: Objects])[] = [
  [
    'fonts written twice',
    form(SHOWN, `/Resources << /Font << /F1 3 0 R >> /Font << /F1 ${OTHER} 0 R >> >>`),
    [TURNED],
  ],
  [
    'fonts written twice, the other first',
    form(SHOWN, `/Resources << /Font << /F1 ${OTHER} 0 R >> /Font << /F1 3 0 R >> >>`),
    [TURNED],
  ],
  ['a font written twice', form(SHOWN, `/Resources << /Font << /F1 3 0 R /F1 ${OTHER} 0 R >> >>`), [TURNED]],
  [
    'resources written twice',
    form(SHOWN, `${RESOURCES} /Resources << /Font << /F1 ${OTHER} 0 R >> >>`),
    [TURNED],
  ],
  ['an extent written twice', form(SHOWN, `${RESOURCES} /BBox [0 0 1200 300]`)],
  ['a matrix written twice', form(SHOWN, `${RESOURCES} /Matrix [1 0 0 1 0 0] /Matrix [9 0 0 9 0 0]`)],
  [
    'an encoding written twice',
    form('BT /F2 9 Tf 2 8 Td (100) Tj ET', `/Resources << /Font << /F2 ${OTHER} 0 R >> >>`),
    [[OTHER, TURNED[1].replace('/Encoding', '/Encoding /WinAnsiEncoding /Encoding')]],
  ],
  ['too many numbers for a place', form('BT /F1 9 Tf 2 8 2 -400 Td (100) Tj ET')],
  ['too few numbers for a place', form('BT /F1 9 Tf 2 8 Td 9 Td (100) Tj ET')],
  ['too many numbers for a box', form(`${SHOWN} 1 g 0 0 1 1 0 0 120 30 re f`)],
  ['too many strings', form('BT /F1 9 Tf 2 8 Td (100) (999) Tj ET')],
  ['too many sizes', form('BT /F1 9 /F1 400 Tf 2 8 Td (100) Tj ET')],
  ['too many numbers for a matrix', form('1 0 0 1 0 0 9 0 0 9 0 0 cm BT /F1 9 Tf 2 8 Td (100) Tj ET')],
  ['too many parts of a grey', form('0 1 g BT /F1 9 Tf 2 8 Td (100) Tj ET')],
  ['data in another file', form(SHOWN, `${RESOURCES} /F (other.bin)`)],
  ['a second text in a compatible part', form(`BX ${SHOWN} EX BT /F1 9 Tf 40 8 Td (999) Tj ET`)],
  [
    'a text in a Type 3 font',
    form('BT /F2 9 Tf 2 8 Td (100) Tj ET', `/Resources << /Font << /F2 ${OTHER} 0 R >> >>`),
    [
      [
        OTHER,
        `<< /Type /Font /Subtype /Type3 /FontBBox [0 0 1 1] /FontMatrix [1 0 0 1 0 0] /FirstChar 48 /LastChar 49 /Widths [1 1] /Encoding << /Differences [48 /zero /one] >> /CharProcs << /zero ${OTHER + 1} 0 R /one ${OTHER + 1} 0 R >> >>`,
      ],
      [OTHER + 1, stream('', '1 0 d0 0 0 1 1 re f')],
    ],
  ],
  [
    'a tiling of 999',
    form(`${SHOWN} /Pattern cs /P scn 0 0 120 30 re f`, hiding('', `/Pattern << /P ${OTHER} 0 R >>`)),
    [
      [
        OTHER,
        stream(
          '/Type /Pattern /PatternType 1 /PaintType 1 /TilingType 1 /BBox [0 0 40 9] /XStep 40 /YStep 9 /Resources << /Font << /F1 3 0 R >> >>',
          'BT /F1 9 Tf (999) Tj ET',
        ),
      ],
    ],
  ],
  [
    'a difference of what is below',
    form(`/G gs 1 g 0 0 120 30 re f ${SHOWN}`, hiding('', '/ExtGState << /G << /BM /Difference >> >>')),
  ],
  [
    'a mask of luminosity',
    form(
      `/G gs ${SHOWN}`,
      hiding('', `/ExtGState << /G << /SMask << /S /Luminosity /G ${OTHER} 0 R >> >> >>`),
    ),
    [[OTHER, form('0 g 0 0 120 30 re f')]],
  ],
  ['a hidden layer', form(SHOWN, `${RESOURCES} /OC ${PARTS + 1} 0 R`)],
  [
    'a layer in marked content',
    form(`/OC /L BDC ${SHOWN} EMC`, hiding('', `/Properties << /L ${PARTS + 1} 0 R >>`)),
  ],
  [
    'a second text in a form of a form',
    form(`${SHOWN} /X Do`, hiding('', `/XObject << /X ${OTHER} 0 R >>`)),
    [
      [OTHER, form('/Y Do', `/Resources << /XObject << /Y ${OTHER + 1} 0 R >> >>`)],
      [OTHER + 1, form('BT /F1 9 Tf 60 8 Td (000) Tj ET')],
    ],
  ],
  [
    'a second text of a form that is its own',
    form(`${SHOWN} /X Do`, hiding('', `/XObject << /X ${LOOK} 0 R >>`)),
  ],
];

test('an appearance that programs read differently, or that shows more than the value, does not pass', (t) => {
  const pdf = signed(rich());
  const filled = (look: string, more: Objects = [], field = ''): Buffer =>
    appendRevision(pdf, new Map([[TEXT_FIELD, widget('(100)', field, LOOK)], [LOOK, look], ...more]));
  t.true(passes(filled(form(SHOWN))));
  const accepted = APPEARANCES.filter(([, look, more]) => passes(filled(look, more))).map(([name]) => name);
  t.deepEqual(accepted, []);
});

test('what a viewer shows in place of the appearance has to be the value too', (t) => {
  const filled = (entries: string, before = '', page = '', flags = '/F 4'): boolean => {
    const pdf = signed(rich(before, page, { form: '', flags }));
    return passes(
      appendRevision(
        pdf,
        new Map([
          [TEXT_FIELD, widget('(100)', `${before} ${entries}`, LOOK, flags)],
          [LOOK, form(SHOWN)],
          [LOOK + 1, form('BT /F1 9 Tf 2 8 Td (999) Tj ET')],
        ]),
      ),
    );
  };
  const formatted = '/Ff 33554432';
  t.true(filled(''));
  t.true(filled('/RV (<body><p>100</p></body>)', formatted));
  t.true(filled('', '', '/Rotate 90'));
  const accepted = (
    [
      ['another rich text', '/RV (<body><p>999</p></body>)', formatted],
      ['another rich text of a plain field', '/RV (<body><p>999</p></body>)', ''],
      ['another look below the pointer, written twice', '/AP << /N 150 0 R /R 151 0 R >>', ''],
      ['not turned with its page', '', '', '/Rotate 90', '/F 20'],
    ] as const
  ).filter(([, entries, before, page, flags]) => filled(entries, before, page, flags));
  t.deepEqual(accepted, []);
});

test('a field that viewers draw anew, beside its appearance, covers no text', (t) => {
  const filled = (at: string, whole: string): boolean => {
    const look = form('BT /F1 9 Tf 10 150 Td (100) Tj ET').replace('[0 0 120 30]', '[0 0 180 180]');
    return passes(
      appendRevision(
        signed(rich('', '', { form: whole, flags: undefined, at })),
        new Map([
          [TEXT_FIELD, widget('(100)', '', LOOK).replace(BLANK, at)],
          [LOOK, at === BLANK ? form(SHOWN) : look],
        ]),
      ),
    );
  };
  t.true(filled(BLANK, '/NeedAppearances true'));
  t.true(filled('[10 10 190 190]', ''));
  t.false(filled('[10 10 190 190]', '/NeedAppearances true'));
});
