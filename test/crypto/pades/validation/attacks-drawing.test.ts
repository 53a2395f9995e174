/** Changes of who draws a field, and from what: entries that show or hide a look or a value, each beside an honest twin. */
import test from 'ava';
import type { PadesFormat } from '#crypto/core/types.js';
import { appendRevision, stream } from '../../pdf/build.ts';
import {
  appearance,
  bodyOf,
  CATALOG,
  CONTENT,
  contract,
  edited,
  FORM,
  FREE,
  objections,
  PAGE,
  reportOn,
  signed,
  TEXT_FIELD,
  textField,
} from './attack-files.ts';

type Objects = Map<number, string>;
type Update = (pdf: Buffer) => readonly (readonly [number, string])[];

interface Attack {
  readonly name: string;
  /** Changes the document before it is signed. */
  readonly document: (objects: Objects, isHonest: boolean) => void;
  /** The same update for both, or one for each. */
  readonly update: (isHonest: boolean) => Update;
  readonly outcome?: 'undecided';
  readonly signature?: PadesFormat;
}

const NOTE = 8;
const PART = 40;
const shows = (text: string): string => appearance(`BT /F1 9 Tf 2 2 Td (${text}) Tj ET`);
const STYLED = /\/DA \(\/F1 0 Tf\)/;
const FONT_DR = '/DR << /Font << /F1 3 0 R >> >>';

function put(objects: Objects, number: number, from: string | RegExp, to: string): void {
  const body = objects.get(number) ?? '';
  const changed = body.replace(from, to);
  if (changed === body) throw new Error(`object ${number} has no ${from}`);
  objects.set(number, changed);
}

/** Adds a field or widget to the first page, and to the form when it is a field. */
function add(objects: Objects, number: number, body: string, isField = true): void {
  objects.set(number, body);
  put(objects, PAGE, '30 0 R ]', `30 0 R ${number} 0 R ]`);
  if (isField) put(objects, FORM, '30 0 R]', `30 0 R ${number} 0 R]`);
}

const field = (type: string, more: string, rectangle = '15 90 115 115'): string =>
  `<< /Type /Annot /Subtype /Widget /FT /${type} /T (Extra) /Rect [${rectangle}] /P ${PAGE} 0 R ${more} >>`;
const ofForm =
  (from: string | RegExp, to: string): Update =>
  (pdf) => [edited(pdf, FORM, from, to)];
/** A value with its look, in the other field. */
const filled: Update = () => [
  [TEXT_FIELD, textField('(y)', FREE)],
  [FREE, shows('y')],
];

const NEW = FREE + 4;
/** An empty signature field over the text of the page, or beside it. */
const newField =
  (more: string, look?: string) =>
  (isHonest: boolean): Update =>
  (pdf) => [
    edited(pdf, FORM, /(\/Fields *\[)/, `$1 ${NEW} 0 R `),
    edited(pdf, PAGE, /(\/Annots *\[)/, `$1 ${NEW} 0 R `),
    [
      NEW,
      `<< /Type /Annot /Subtype /Widget /FT /Sig /T (New) /Rect [${isHonest ? '15 130 115 155' : '15 90 115 115'}] /P ${PAGE} 0 R /F 4 ${more} >>`,
    ],
    ...(look === undefined ? [] : ([[NEW + 1, look]] as const)),
  ];

const nothing = (): void => undefined;

const ATTACKS: readonly Attack[] = [
  ...['4', '36', '0'].map((flags) => ({
    name: `a hidden look comes to light (/F ${flags})`,
    document: (objects: Objects, isHonest: boolean) => {
      objects.set(PART, shows('999'));
      add(objects, 41, field('Sig', `/F 2 ${isHonest ? '' : `/AP << /N ${PART} 0 R >>`}`));
    },
    update: () => (pdf: Buffer) => [edited(pdf, 41, '/F 2', `/F ${flags}`)],
  })),
  {
    name: 'a look is hidden',
    document: (objects, isHonest) => {
      objects.set(PART, shows('not'));
      add(objects, 41, field('Sig', `/F 4 ${isHonest ? '' : `/AP << /N ${PART} 0 R >>`}`, '60 60 99 75'));
    },
    update: () => (pdf) => [edited(pdf, 41, '/F 4', '/F 2')],
  },
  {
    name: 'a background of an empty field comes to light',
    document: (objects, isHonest) =>
      add(objects, 41, field('Sig', `/F 2 /MK << ${isHonest ? '' : '/BG [1]'} >>`)),
    update: () => (pdf) => [edited(pdf, 41, '/F 2', '/F 4')],
  },
  {
    name: 'a locked field shows its hidden look',
    document: (objects, isHonest) => {
      objects.set(PART, shows('999'));
      put(objects, 30, '/F 4', `/F 4 /Lock << /Type /SigFieldLock /Action /Exclude /Fields [(Extra)] >>`);
      add(objects, 41, field('Sig', `/F 2 ${isHonest ? '' : `/AP << /N ${PART} 0 R >>`}`));
    },
    update: () => (pdf) => [edited(pdf, 41, '/F 2', '/F 4')],
    signature: { fieldName: 'Approval' },
  },
  {
    name: 'a style added to the form draws a field',
    document: (objects, isHonest) => {
      put(objects, FORM, STYLED, FONT_DR);
      add(objects, 41, field('Tx', `/F 4 /V (999) ${isHonest ? '/DA (/F1 9 Tf 0 g)' : ''}`));
    },
    update: () => ofForm('/DR', '/DA (/F1 18 Tf 0 g) /DR'),
  },
  {
    name: 'a style added to the form draws a widget that no field lists',
    document: (objects, isHonest) => {
      put(objects, FORM, STYLED, FONT_DR);
      add(objects, 41, field('Tx', `/F 4 /V (999) ${isHonest ? '/DA (/F1 9 Tf 0 g)' : ''}`), false);
    },
    update: () => ofForm('/DR', '/DA (/F1 18 Tf 0 g) /DR'),
  },
  {
    name: 'the form gets the font that a style names',
    document: (objects) => {
      put(objects, FORM, STYLED, FONT_DR);
      add(objects, 41, field('Tx', '/F 4 /V (999) /DA (/F#32 9 Tf 0 g)'));
    },
    update: (isHonest) => (pdf) => [
      edited(pdf, FORM, '/F1 3 0 R', `/F1 3 0 R /F${isHonest ? 3 : 2} ${FREE} 0 R`),
      [FREE, '<< /Type /Font /Subtype /Type1 /BaseFont /ZapfDingbats >>'],
    ],
  },
  {
    name: 'the form gets the font that a look without resources names',
    document: (objects) => {
      put(objects, FORM, STYLED, FONT_DR);
      objects.set(
        31,
        stream('/Type /XObject /Subtype /Form /BBox [0 0 70 20]', 'BT /F2 9 Tf 2 2 Td (x) Tj ET'),
      );
    },
    update: (isHonest) => (pdf) => [
      edited(pdf, FORM, '/F1 3 0 R', `/F1 3 0 R /F${isHonest ? 3 : 2} ${FREE} 0 R`),
      [FREE, '<< /Type /Font /Subtype /Type1 /BaseFont /ZapfDingbats >>'],
    ],
  },
  ...['', '/NeedAppearances false'].map((to) => ({
    name: `the stored look in place of the value (${to})`,
    document: (objects: Objects, isHonest: boolean) => {
      put(objects, FORM, '<<', '<< /NeedAppearances true');
      objects.set(31, shows(isHonest ? 'x' : '999'));
    },
    update: () => ofForm('/NeedAppearances true', to),
  })),
  {
    name: 'the stored look by a value in an object of its own',
    document: (objects, isHonest) => {
      put(objects, FORM, '<<', `<< /NeedAppearances ${PART} 0 R`);
      objects.set(PART, 'true');
      objects.set(31, shows(isHonest ? 'x' : '999'));
    },
    update: () => () => [[PART, 'false']],
  },
  {
    name: 'the value in place of the stored look, beside another value',
    document: (objects, isHonest) => {
      objects.set(PART, shows(isHonest ? '999' : 'seen'));
      add(
        objects,
        41,
        field('Tx', `/F 4 /V (999) /DA (/F1 9 Tf 0 g) /AP << /N ${PART} 0 R >>`, '20 60 90 80'),
      );
    },
    update: () => (pdf) => [edited(pdf, FORM, '/DA', '/NeedAppearances true /DA'), ...filled(pdf)],
  },
  {
    name: 'an invisible value in place of the stored look, beside another value',
    outcome: 'undecided',
    document: (objects, isHonest) => {
      objects.set(PART, shows('999'));
      add(
        objects,
        41,
        field(
          'Tx',
          `/F 4 /V (999) /DA (/F1 9 Tf ${isHonest ? 0 : 1} g) /AP << /N ${PART} 0 R >>`,
          '20 60 90 80',
        ),
      );
    },
    update: () => (pdf) => [edited(pdf, FORM, '/DA', '/NeedAppearances true /DA'), ...filled(pdf)],
  },
  {
    name: 'a value above fields that keep their looks',
    outcome: 'undecided',
    document: (objects) => {
      objects.set(PART, '<< /FT /Tx /T (Above) /V (1) /DA (/F1 9 Tf 0 g) /Kids [41 0 R] >>');
      objects.set(42, shows('1'));
      objects.set(
        41,
        `<< /Type /Annot /Subtype /Widget /T (Part) /Parent ${PART} 0 R /Rect [20 60 90 80] /F 4 /AP << /N 42 0 R >> >>`,
      );
      put(objects, PAGE, '30 0 R ]', '30 0 R 41 0 R ]');
      put(objects, FORM, '30 0 R]', `30 0 R ${PART} 0 R]`);
    },
    update: (isHonest) => (pdf) => [
      edited(pdf, PART, '/V (1)', '/V (9)'),
      ...(isHonest ? ([[42, shows('9')]] as const) : []),
    ],
  },
  ...[
    '/MK << /BC [1] >> /BS << /W 60 >>',
    '/MK << /BC [1] >> /Border [0 0 60]',
    '/BS << /W 60 >>',
    '/MK << /BG [1] >>',
    `/MK ${NEW + 1} 0 R`,
  ].map((more) => ({
    name: `a new field without a look paints (${more})`,
    document: nothing,
    update: newField(more, '<< /BG [1 1 1] >>'),
  })),
  {
    name: 'a value with a style that hides it',
    outcome: 'undecided',
    document: (objects) => void objects.set(TEXT_FIELD, textField('(x)', 31).replace(/\/AP <<.*?>>/, '')),
    update: (isHonest) => () => [
      [
        TEXT_FIELD,
        textField('(y)', 31)
          .replace(/\/AP <<.*?>>/, '')
          .replace('/F1 0 Tf', `/F1 9 Tf ${isHonest ? 0 : 1} g`),
      ],
    ],
  },
  {
    name: 'an alignment with a look that shows another text',
    document: nothing,
    update: (isHonest) => () => [
      [TEXT_FIELD, textField('(y)', FREE).replace('/F1 0 Tf)', '/F1 9 Tf 0 g) /Q 2')],
      [FREE, shows(isHonest ? 'y' : '9')],
    ],
  },
];

function outcome(pdf: Buffer): string {
  const [signature] = reportOn(pdf).signatures;
  if (signature?.indication === 'TOTAL-PASSED') return 'passed';
  return signature?.indication === 'INDETERMINATE' ? 'undecided' : 'failed';
}

for (const { name, document, update, outcome: wanted = 'failed', signature = {} } of ATTACKS) {
  test(`${name}: it is listed and refused, and its honest twin passes`, (t) => {
    for (const isHonest of [true, false]) {
      const pdf = signed(
        contract((objects) => document(objects, isHonest)),
        signature,
      );
      const after = appendRevision(pdf, new Map(update(isHonest)(pdf)));
      t.is(outcome(pdf), 'passed');
      t.is(outcome(after), isHonest ? 'passed' : wanted, isHonest ? 'honest' : 'forged');
      t.true((reportOn(after).signatures[0]?.changes.length ?? 0) > 0);
    }
  });
}

test('a field with a shown value may not change its look by a certification without changes, nor under a lock', (t) => {
  for (const signature of [{ certification: 1 }, { certification: 2 }, {}] as const) {
    const pdf = signed(
      contract((objects) => put(objects, FORM, STYLED, FONT_DR)),
      signature,
    );
    const added = appendRevision(pdf, new Map([edited(pdf, FORM, '/DR', '/DA (/F1 9 Tf 0 g) /DR')]));
    t.is(outcome(added), 'certification' in signature && signature.certification === 1 ? 'failed' : 'passed');
  }
});

test('lines of a comment may be in a form inside of its appearance, and a text may not', (t) => {
  const pdf = signed(contract(), { certification: 3 });
  const nested = (content: string, resources: string): Buffer =>
    appendRevision(
      pdf,
      new Map([
        edited(pdf, PAGE, /(\/Annots *\[)/, `$1 ${FREE} 0 R `),
        [
          FREE,
          `<< /Type /Annot /Subtype /Underline /Rect [20 130 90 150] /QuadPoints [20 150 90 150 20 130 90 130] /F 4 /AP << /N ${FREE + 1} 0 R >> >>`,
        ],
        [
          FREE + 1,
          stream(
            `/Type /XObject /Subtype /Form /BBox [0 0 70 20] /Resources << /XObject << /I ${FREE + 2} 0 R >> >>`,
            '/I Do',
          ),
        ],
        [
          FREE + 2,
          stream(`/Type /XObject /Subtype /Form /BBox [0 0 70 20] /Resources << ${resources} >>`, content),
        ],
      ]),
    );
  t.is(outcome(nested('1 0 0 RG 0 2 m 70 2 l S', '')), 'passed');
  t.is(outcome(nested('BT /F1 9 Tf 2 2 Td (999) Tj ET', '/Font << /F1 3 0 R >>')), 'failed');
  t.is(outcome(nested('1 0 0 RG 0 2 m 70 2 l S', '/Font << /F1 3 0 R >>')), 'passed', 'a font alone');
});

test('a comment may be removed that stood before a field, and the fields keep their order', (t) => {
  for (const [certification, wanted] of [
    [3, 'passed'],
    [2, 'failed'],
  ] as const) {
    const pdf = signed(contract(), { certification });
    const removed = appendRevision(pdf, new Map([edited(pdf, PAGE, new RegExp(`\\b${NOTE} 0 R `), '')]));
    t.is(outcome(removed), wanted, objections(removed).join());
  }
  const pdf = signed(contract(), { certification: 3 });
  const turned = edited(pdf, PAGE, `${NOTE} 0 R ${TEXT_FIELD} 0 R 30 0 R`, `30 0 R ${TEXT_FIELD} 0 R`);
  t.is(outcome(appendRevision(pdf, new Map([turned]))), 'failed');
});

const OWN = 60;

/** Objects of their own that entries of the signed document lead to, and what a later update makes of them. */
const LED: readonly (readonly [
  name: string,
  document: (objects: Objects) => void,
  before: string,
  after: string,
])[] = [
  [
    'the rectangle of a field',
    (objects) => put(objects, TEXT_FIELD, '[20 20 90 40]', `${OWN} 0 R`),
    '[20 20 90 40]',
    '[15 90 115 115]',
  ],
  ['the flags of a field', (objects) => put(objects, TEXT_FIELD, '/F 4', `/F ${OWN} 0 R`), '4', '2'],
  [
    'the flags of an empty signature field',
    (objects) => put(objects, 30, '/F 4', `/F ${OWN} 0 R`),
    '4',
    '36',
  ],
  ['the flags of a text', (objects) => put(objects, TEXT_FIELD, '/F 4', `/F 4 /Ff ${OWN} 0 R`), '0', '8192'],
  [
    'the colours of a field',
    (objects) => put(objects, TEXT_FIELD, '/F 4', `/F 4 /MK ${OWN} 0 R`),
    '<< >>',
    '<< /BG [0] >>',
  ],
  [
    'the layer of a field',
    (objects) => put(objects, TEXT_FIELD, '/F 4', `/F 4 /OC ${OWN} 0 R`),
    '<< /Type /OCG /Name (a) >>',
    '<< /Type /OCG /Name (x) >>',
  ],
  [
    'the state of a field',
    (objects) => put(objects, TEXT_FIELD, '/F 4', `/F 4 /AS ${OWN} 0 R`),
    '/Off',
    '/On',
  ],
  [
    'the options of a choice',
    (objects) => put(objects, TEXT_FIELD, '/FT /Tx', `/FT /Ch /Opt ${OWN} 0 R`),
    '[[(x) (x)]]',
    '[[(x) (999)]]',
  ],
  ['the number of cells', (objects) => put(objects, TEXT_FIELD, '/F 4', `/F 4 /MaxLen ${OWN} 0 R`), '9', '1'],
  [
    'the action of a field',
    (objects) => put(objects, TEXT_FIELD, '/F 4', `/F 4 /AA << /F ${OWN} 0 R >>`),
    '<< /S /JavaScript /JS (a) >>',
    '<< /S /JavaScript /JS (x) >>',
  ],
  [
    'the style of a field',
    (objects) => put(objects, TEXT_FIELD, '(/F1 0 Tf)', `${OWN} 0 R`),
    '(/F1 9 Tf 0 g)',
    '(/F1 9 Tf 1 g)',
  ],
  [
    'the style of the form',
    (objects) => put(objects, FORM, '(/F1 0 Tf)', `${OWN} 0 R`),
    '(/F1 9 Tf 0 g)',
    '(/F1 9 Tf 1 g)',
  ],
  [
    'the layers of the document',
    (objects) => put(objects, CATALOG, '<<', `<< /OCProperties << /D ${OWN} 0 R >>`),
    '<< /BaseState /ON >>',
    '<< /BaseState /OFF >>',
  ],
  [
    'the names of the document',
    (objects) => put(objects, CATALOG, '<<', `<< /Names << /JavaScript ${OWN} 0 R >>`),
    '<< /Names [] >>',
    '<< /Names [(a) << /S /JavaScript >>] >>',
  ],
  [
    'the structure of the document',
    (objects) => put(objects, CATALOG, '<<', `<< /StructTreeRoot ${OWN} 0 R`),
    '<< /ActualText (100) >>',
    '<< /ActualText (999) >>',
  ],
  [
    'the window of the document',
    (objects) => put(objects, CATALOG, '<<', `<< /ViewerPreferences ${OWN} 0 R`),
    '<< /HideMenubar false >>',
    '<< /HideMenubar true >>',
  ],
  ['the turn of a page', (objects) => put(objects, PAGE, '<<', `<< /Rotate ${OWN} 0 R`), '0', '180'],
  ['the turn of all pages', (objects) => put(objects, 2, '<<', `<< /Rotate ${OWN} 0 R`), '0', '180'],
  ['the unit of a page', (objects) => put(objects, PAGE, '<<', `<< /UserUnit ${OWN} 0 R`), '1', '9'],
  [
    'the length of the content',
    (objects) => put(objects, CONTENT, /\/Length \d+/, `/Length ${OWN} 0 R`),
    '',
    '3',
  ],
  [
    'the resources of all pages',
    (objects) => put(objects, 2, '<<', `<< /Resources ${OWN} 0 R`),
    '<< /Font << /F1 3 0 R >> >>',
    '<< /Font << /F1 31 0 R >> >>',
  ],
  [
    'the collection of the document',
    (objects) => put(objects, CATALOG, '<<', `<< /Collection ${OWN} 0 R`),
    '<< /View /D >>',
    '<< /View /H >>',
  ],
  [
    'the parts of XFA',
    (objects) => put(objects, FORM, '<<', `<< /XFA [(template) ${OWN} 0 R]`),
    stream('', '<s/>'),
    stream('', '<t/>'),
  ],
];

for (const [name, document, before, after] of LED) {
  test(`${name}, in an object of its own, may be written again and not be another`, (t) => {
    const pdf = signed(
      contract((objects) => {
        const [, length = ''] = /\/Length (\d+)/.exec(objects.get(CONTENT) ?? '') ?? [];
        document(objects);
        objects.set(OWN, before === '' ? length : before);
      }),
    );
    t.is(outcome(appendRevision(pdf, new Map([[OWN, ` ${bodyOf(pdf, OWN)}`]]))), 'passed', 'written again');
    t.is(outcome(appendRevision(pdf, new Map([[OWN, after]]))), 'failed', 'another');
  });
}

test('a page may be written again with decimals in its extent, and not with another extent', (t) => {
  const pdf = signed(contract());
  const extent = (to: string): string =>
    outcome(appendRevision(pdf, new Map([edited(pdf, PAGE, '/MediaBox [0 0 200 200]', `/MediaBox ${to}`)])));
  t.is(extent('[0.0 0 200.00 200]'), 'passed');
  t.is(extent('[0 0 200 150]'), 'failed');
});

test('a border may be filled side by side, slanted at its corners, and draws nothing else', (t) => {
  const pdf = signed(contract());
  const sides = [
    '2 18 m 68 18 l 70 20 l 0 20 l 2 18 l f',
    '68 18 m 68 2 l 70 0 l 70 20 l 68 18 l f',
    '68 2 m 2 2 l 0 0 l 70 0 l 68 2 l f',
    '2 2 m 2 18 l 0 20 l 0 0 l 2 2 l f',
  ];
  const filled = (paths: readonly string[]) =>
    appendRevision(
      pdf,
      new Map([
        [TEXT_FIELD, textField('(y)', FREE)],
        [FREE, appearance(`1 0.7 0.7 rg ${paths.join(' ')} 0 g BT /F1 9 Tf 5 6 Td (y) Tj ET`)],
      ]),
    );
  const verdict = (paths: readonly string[]) => reportOn(filled(paths)).signatures[0]?.indication;
  t.is(verdict(sides), 'TOTAL-PASSED');
  const [top = '', ...others] = sides;
  for (const [name, forged] of Object.entries({
    'a notch in the middle': top.replace('68 18 l', '30 18 l 32 20 l 34 18 l 68 18 l'),
    'away from the edge': top.replaceAll('18', '12').replaceAll('20', '14'),
    short: top.replaceAll('68', '38').replaceAll('70', '40'),
    thick: top.replaceAll('18', '12'),
    curved: top.replace('68 18 l', '20 18 40 18 68 18 c'),
  }))
    t.is(verdict([forged, ...others]), 'TOTAL-FAILED', name);
});
