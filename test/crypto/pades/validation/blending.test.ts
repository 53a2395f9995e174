/**
 * What an annotation may paint over signed text, by the tables of `compositing.ts`: each blend mode, group, parameter
 * and colour space with paint that darkens (its honest use) and with the same paint where it is opaque.
 */
import test from 'ava';
import { BLEND_MODES, PARAMETERS } from '#crypto/pades/painting/compositing.js';
import { appendRevision, stream } from '../../pdf/build.ts';
import {
  appearance,
  contract,
  edited,
  FREE,
  PAGE,
  reportOn,
  signed,
  TEXT_FIELD,
  textField,
} from './attack-files.ts';

const MARK = FREE + 9;
const LOOK = FREE;
const INNER = FREE + 1;
const INNERMOST = FREE + 2;
const SPACE = FREE + 3;
const FILE = signed(contract(), { certification: 3 });

type Verdict = 'accepted' | 'refused' | 'hides';

/** A highlight over "Pay 100 1", with this look. */
function verdict(objects: readonly (readonly [number, string])[], more = ''): Verdict {
  const highlight = `<< /Type /Annot /Subtype /Highlight /Rect [18 95 80 113] /QuadPoints [18 113 80 113 18 95 80 95] /F 4 /C [1 1 0] /AP << /N ${LOOK} 0 R >> ${more} >>`;
  const pdf = appendRevision(
    FILE,
    new Map([edited(FILE, PAGE, /(\/Annots\s*\[)/, `$1 ${MARK} 0 R `), [MARK, highlight], ...objects]),
  );
  const [signature] = reportOn(pdf).signatures;
  if (signature?.indication === 'TOTAL-PASSED') return 'accepted';
  return signature?.changes?.some(({ description }) => description.includes('hides content')) === true
    ? 'hides'
    : 'refused';
}

const form = (content: string, entries: string, resources: string): string =>
  stream(`/Type /XObject /Subtype /Form /BBox [0 0 62 18] ${entries} /Resources << ${resources} >>`, content);
const state = (entries: string): string => `/ExtGState << /G << ${entries} >> >>`;
const YELLOW = '1 1 0 rg 0 0 62 18 re f';
/** The blend mode is set in the group, or outside of it where it applies to the group as a whole. */
const inside = (group: string, entries: string, paint = YELLOW): Verdict =>
  verdict([[LOOK, form(`/G gs ${paint}`, group, state(entries))]]);
const outside = (group: string, entries: string, paint = YELLOW): Verdict =>
  verdict([
    [LOOK, form('/G gs /X Do', '', `${state(entries)} /XObject << /X ${INNER} 0 R >>`)],
    [INNER, form(paint, group, '')],
  ]);

const NO_GROUP = '';
const GROUP = '/Group << /Type /Group /S /Transparency >>';
const ISOLATED = '/Group << /S /Transparency /I true >>';
const OTHERS = [
  '/Group << /S /Transparency /K true >>',
  '/Group << /S /Transparency /I true /K true >>',
  '/Group << /S /Transparency /I 1 >>',
  '/Group << /S /Transparency /K /No >>',
  '/Group << /S /Other >>',
  '/Group << /S /Transparency /Foo true >>',
  '/Group << /S /Transparency /CS [/Lab << /WhitePoint [1 1 1] >>] >>',
  '/Group << /S /Transparency /I true /I false >>',
  '/Group 7',
];

for (const [mode, kind] of Object.entries(BLEND_MODES)) {
  test(`blend mode ${mode} over a signed text`, (t) => {
    const isFine = kind === 'darkens';
    for (const group of [NO_GROUP, GROUP]) {
      t.is(inside(group, `/BM /${mode}`) === 'accepted', isFine, `inside of ${group}`);
      t.is(outside(group, `/BM /${mode}`) === 'accepted', isFine, `outside of ${group}`);
      t.not(inside(group, `/BM /${mode}`, YELLOW.replace('1 1 0', '0 0 0')), 'accepted', 'black');
    }
    t.is(inside(ISOLATED, `/BM /${mode}`), 'hides', 'inside of an isolated group');
    t.is(outside(ISOLATED, `/BM /${mode}`) === 'accepted', isFine, 'outside of an isolated group');
    const multiplied = form(`/G gs ${YELLOW}`, '', state('/BM /Multiply'));
    t.is(verdict([[LOOK, multiplied]], `/BM /${mode}`) === 'accepted', kind !== 'changes', 'of the comment');
    t.is(inside(`${GROUP}`, `/BM [/${mode} /Normal]`) === 'accepted', isFine, 'the first of a list');
    t.not(inside(NO_GROUP, `/BM [/Other /${mode}]`), 'accepted', 'a list whose first mode is unknown');
  });
}

test('a form has no entry with which programs draw something else', (t) => {
  const drawn = (entry: string): Verdict =>
    verdict([[LOOK, form(`/G gs ${YELLOW}`, entry, state('/BM /Multiply'))]]);
  for (const entry of ['', '/Name /X', '/LastModified (D:2026)', '/StructParent 3', '/PieceInfo << >>'])
    t.is(drawn(entry), 'accepted', entry);
  for (const entry of ['/Ref << /F (x.pdf) >>', '/OPI << >>', `/PS ${LOOK} 0 R`, '/Subtype2 /PS', '/Zz 1'])
    t.is(drawn(entry), 'refused', entry);
});

test('a blend mode without a name is refused', (t) => {
  for (const mode of ['/Other', '7', '[]', '(Multiply)', '/__proto__', '/constructor'])
    t.not(inside(NO_GROUP, `/BM ${mode}`), 'accepted', mode);
});

test('a group of another form is refused, wherever its blend mode is set', (t) => {
  for (const group of OTHERS) {
    t.not(inside(group, '/BM /Multiply'), 'accepted', group);
    t.not(outside(group, '/BM /Multiply'), 'accepted', group);
  }
});

test('groups in groups: an isolated one around takes the page away, one within does not', (t) => {
  const nested = (first: string, second: string): Verdict =>
    verdict([
      [LOOK, form('/X Do', first, `/XObject << /X ${INNER} 0 R >>`)],
      [INNER, form('/G gs /Y Do', GROUP, `${state('/BM /Multiply')} /XObject << /Y ${INNERMOST} 0 R >>`)],
      [INNERMOST, form(YELLOW, second, '')],
    ]);
  t.is(nested(GROUP, GROUP), 'accepted');
  t.is(nested(GROUP, ISOLATED), 'accepted');
  t.is(nested(NO_GROUP, ISOLATED), 'accepted');
  t.is(nested(ISOLATED, GROUP), 'hides');
  t.is(nested(ISOLATED, NO_GROUP), 'hides');
  t.is(nested(ISOLATED, ISOLATED), 'hides');
});

test('a mode that turns colours over within a group that multiplies is not interpreted', (t) => {
  const within = (mode: string): Verdict =>
    verdict([
      [LOOK, form('/G gs /X Do', '', `${state('/BM /Multiply')} /XObject << /X ${INNER} 0 R >>`)],
      [INNER, form(`/G gs ${YELLOW}`, GROUP, state(`/BM /${mode}`))],
    ]);
  t.is(within('Multiply'), 'accepted');
  t.is(within('Difference'), 'hides', 'white over black turns the paper as black as the text');
});

/** Values with which a parameter changes nothing, and others. */
const VALUES: Readonly<Record<string, readonly [plain: readonly string[], other: readonly string[]]>> = {
  Type: [['/ExtGState'], []],
  LW: [['1'], []],
  LC: [['0'], []],
  LJ: [['0'], []],
  ML: [['10'], []],
  D: [['[[] 0]'], []],
  RI: [['/Perceptual'], []],
  FL: [['1'], []],
  SM: [['0.1'], []],
  SA: [['true'], []],
  OPM: [['1'], []],
  TK: [['true', 'false'], []],
  UseBlackPtComp: [['/ON'], []],
  OP: [['false'], ['true', '1']],
  op: [['false'], ['true', '/Yes']],
  AIS: [['false'], ['true']],
  ca: [
    ['1', '0.5', '0'],
    ['-1', '1.5', '/Half'],
  ],
  CA: [
    ['1', '0.5'],
    ['-1', '2'],
  ],
  BM: [['/Multiply'], ['/Other']],
  SMask: [['/None'], [`<< /S /Luminosity /G ${INNER} 0 R >>`, '/Other']],
  TR: [['/Identity'], ['/Default', '<< /FunctionType 2 /Domain [0 1] /C0 [1] /C1 [0] /N 1 >>']],
  TR2: [['/Default', '/Identity'], ['<< /FunctionType 2 /Domain [0 1] /C0 [1] /C1 [0] /N 1 >>']],
  BG2: [['/Default'], ['/Other']],
  UCR2: [['/Default'], ['/Other']],
  HT: [['/Default'], ['<< /HalftoneType 1 >>']],
};

test('each parameter of the graphics state has a value that changes nothing, and no other one passes', (t) => {
  t.deepEqual(Object.keys(VALUES).sort(), Object.keys(PARAMETERS).sort());
  const multiply = (key: string): string => (key === 'BM' ? '' : '/BM /Multiply');
  for (const [key, [plain, other]] of Object.entries(VALUES)) {
    for (const value of plain)
      t.is(inside(GROUP, `${multiply(key)} /${key} ${value}`), 'accepted', `/${key} ${value}`);
    for (const value of other)
      t.not(inside(GROUP, `${multiply(key)} /${key} ${value}`), 'accepted', `/${key} ${value}`);
  }
  for (const key of ['BG', 'UCR', 'HTO', 'Font', 'Other', '__proto__', 'constructor'])
    t.not(inside(GROUP, `/BM /Multiply /${key} /Default`), 'accepted', key);
});

/** A profile of a monitor: a matrix, and one gamma. */
function profile(shares: readonly number[], gamma: number, more: readonly string[] = []): string {
  const names = ['rXYZ', 'gXYZ', 'bXYZ', 'rTRC', 'gTRC', 'bTRC', ...more];
  const start = 128 + 4 + 12 * names.length;
  const bytes = Buffer.alloc(start + 20 * names.length);
  bytes.writeUInt32BE(bytes.length, 0);
  for (const [at, text] of [
    [12, 'mntr'],
    [16, 'RGB '],
    [20, 'XYZ '],
    [36, 'acsp'],
  ] as const)
    bytes.write(text, at, 'latin1');
  bytes.writeUInt32BE(0x02100000, 8);
  bytes.writeUInt32BE(names.length, 128);
  for (const [index, name] of names.entries()) {
    const entry = 132 + 12 * index;
    const at = start + 20 * index;
    bytes.write(name, entry, 'latin1');
    bytes.writeUInt32BE(at, entry + 4);
    bytes.writeUInt32BE(20, entry + 8);
    bytes.write(name.endsWith('XYZ') ? 'XYZ ' : 'curv', at, 'latin1');
    if (name.endsWith('XYZ'))
      for (const offset of [8, 12, 16])
        bytes.writeInt32BE(Math.round((shares[index] ?? 0) * 65_536), at + offset);
    else {
      bytes.writeUInt32BE(1, at + 8);
      bytes.writeUInt16BE(gamma * 256, at + 12);
    }
  }
  return stream('/N 3', bytes.toString('latin1'));
}

test('a colour counts as light where its space is that of a monitor', (t) => {
  const coloured = (space: string, paint = `/S cs 1 1 0 sc 0 0 62 18 re f`, object = ''): Verdict =>
    verdict([
      [LOOK, form(`/G gs ${paint}`, '', `${state('/BM /Multiply')} /ColorSpace << ${space} >>`)],
      ...(object === '' ? [] : [[SPACE, object] as const]),
    ]);
  const profiled = (object: string): Verdict => coloured(`/S [/ICCBased ${SPACE} 0 R]`, undefined, object);
  const monitor = [0.2225, 0.7169, 0.0606];
  t.is(profiled(profile(monitor, 2.2)), 'accepted');
  t.not(profiled(profile([0, 0, 0], 2.2)), 'accepted', 'white is black');
  t.not(profiled(profile([0.0606, 0.1, 0.8], 2.2)), 'accepted', 'yellow is dark');
  t.not(profiled(profile(monitor, 40)), 'accepted', 'a curve that falls at once');
  t.not(profiled(profile(monitor, 2.2, ['A2B0'])), 'accepted', 'tables');
  t.not(profiled(stream('/N 3', 'no profile')), 'accepted');
  const white = '/WhitePoint [0.9505 1 1.089]';
  const matrix = '/Matrix [0.41 0.21 0.02 0.36 0.72 0.12 0.18 0.07 0.95]';
  t.is(coloured(`/S [/CalRGB << ${white} ${matrix} /Gamma [2.2 2.2 2.2] >>]`), 'accepted');
  t.not(coloured(`/S [/CalRGB << ${white} /Matrix [0 0 0 0 0 0 0 0 0] >>]`), 'accepted');
  t.not(coloured(`/S [/CalRGB << ${white} ${matrix} /Gamma [50 50 50] >>]`), 'accepted');
  t.is(coloured(`/S [/CalGray << ${white} /Gamma 2.2 >>]`, '/S cs 0.9 sc 0 0 62 18 re f'), 'accepted');
  t.not(coloured(`/S [/CalGray << ${white} /Gamma 50 >>]`, '/S cs 0.9 sc 0 0 62 18 re f'), 'accepted');
  const tint = '<< /FunctionType 2 /Domain [0 1] /C0 [0] /C1 [0] /N 1 >>';
  t.is(coloured('', YELLOW), 'accepted');
  for (const [key, paint] of [
    ['DefaultRGB', YELLOW],
    ['DefaultGray', '1 g 0 0 62 18 re f'],
    ['DefaultCMYK', '0 0 0 0 k 0 0 62 18 re f'],
  ] as const) {
    t.is(coloured('', paint), 'accepted', `without ${key}`);
    t.not(coloured(`/${key} [/Separation /All /DeviceGray ${tint}]`, paint), 'accepted', key);
  }
  t.not(
    coloured(`/DeviceRGB [/Separation /All /DeviceGray ${tint}]`, '/DeviceRGB cs 1 1 0 sc 0 0 62 18 re f'),
    'accepted',
    'a device space of another meaning',
  );
});

/** Constructs that are not interpreted, with what they need: a look with one is left open, and never called broken. */
const CONSTRUCTS: readonly (readonly [
  name: string,
  content: string,
  resources?: string,
  entries?: string,
])[] = [
  ['a shading', '0 0 9 9 re W n /S sh', '/Shading << /S << /ShadingType 2 /ColorSpace /DeviceGray >> >>'],
  ['a pattern', '/Pattern cs /P scn', `/Pattern << /P ${INNER} 0 R >>`],
  ['a graphics state with /SMask', '/G gs', state(`/SMask << /S /Alpha /G ${INNER} 0 R >>`)],
  ['a graphics state with /TR', '/G gs', state('/TR 5')],
  ['a knockout group', '', '', '/Group << /S /Transparency /K true >>'],
  ['a group of an unusual form', '', '', '/Group << /S /Other >>'],
  ['a form with /Ref', '', '', '/Ref << >>'],
  ['optional content', '', '', `/OC ${SPACE} 0 R`],
  ['optional content', '/OC /L BDC 1 0 0 RG 2 1 m 60 1 l S EMC', `/Properties << /L ${SPACE} 0 R >>`],
  ['optional content', '/X Do', `/XObject << /X ${INNER} 0 R >>`],
  ['a name that is not in its resources', '/Y Do'],
  ['a name that is not in its resources', '/H gs'],
  ['text written backwards', '-9 Tw'],
  ['cannot be read', '0 0 m zz'],
  ['cannot be read', '1 2 3 rg 5 rg'],
  ['cannot be read', '', '/XObject << /X 1 0 R /X 2 0 R >>'],
];
const LAYER = '<< /Type /OCG /Name (Layer) >>';
const LAYERED = stream('/Type /XObject /Subtype /Form /BBox [0 0 62 18] /OC 153 0 R /Resources << >>', 'n');

interface Opinion {
  readonly indication: string;
  readonly details: string;
}

function opinionOn(pdf: Buffer): Opinion {
  const [signature] = reportOn(pdf).signatures;
  const details = signature?.results.errors.map(({ message, detail }) => `${message} ${detail}`) ?? [];
  return { indication: signature?.indication ?? '', details: details.join('; ') };
}

const drawn = (content: string, resources: string, entries: string): string =>
  appearance(content, `/Font << /F1 3 0 R >> ${resources}`).replace('<< /Type', `<< ${entries} /Type`);

/** A text field with the value y. */
function fill(content: string, shown: string, resources = '', entries = ''): Buffer {
  const look = drawn(`q ${content} Q BT /F1 9 Tf 2 4 Td (${shown}) Tj ET`, resources, entries);
  return appendRevision(
    FILE,
    new Map([
      [TEXT_FIELD, textField('(y)', LOOK)],
      [LOOK, look],
      [INNER, LAYERED],
      [SPACE, LAYER],
    ]),
  );
}

/** An underline of blank paper. */
function underlined(content: string, more: string, resources = '', entries = ''): Buffer {
  const look = drawn(`q ${content} Q 1 0 0 RG 2 1 m 68 1 l S ${more}`, resources, entries);
  const line = `<< /Type /Annot /Subtype /Underline /Rect [20 130 90 150] /QuadPoints [20 150 90 150 20 130 90 130] /F 4 /AP << /N ${LOOK} 0 R >> >>`;
  const list = edited(FILE, PAGE, /(\/Annots\s*\[)/, `$1 ${MARK} 0 R `);
  return appendRevision(FILE, new Map([list, [MARK, line], [LOOK, look], [INNER, LAYERED], [SPACE, LAYER]]));
}

for (const [index, [name, content, resources, entries]] of CONSTRUCTS.entries())
  test(`a look with what is not interpreted is left open, and fails for what is proven: ${index} ${name}`, (t) => {
    for (const open of [
      fill(content, 'y', resources, entries),
      underlined(content, '', resources, entries),
    ]) {
      const { indication, details } = opinionOn(open);
      t.is(indication, 'INDETERMINATE');
      t.true(details.includes(name), details);
    }
    // Content that cannot be read proves nothing, nor does a text that may not be shown.
    const isRead = name !== 'cannot be read';
    const isShown = isRead && !/Group|OC/.test(entries ?? '');
    const verdict = (isProven: boolean): string => (isProven ? 'TOTAL-FAILED' : 'INDETERMINATE');
    t.is(opinionOn(fill(content, '9', resources, entries)).indication, verdict(isShown));
    const written = underlined(content, 'BT /F1 9 Tf (9) Tj ET', resources, entries);
    t.is(opinionOn(written).indication, verdict(isRead));
  });

test('the same looks without it pass, and fail for what is proven', (t) => {
  t.is(opinionOn(fill('', 'y')).indication, 'TOTAL-PASSED');
  t.is(opinionOn(fill('', '9')).indication, 'TOTAL-FAILED');
  t.is(opinionOn(underlined('', '')).indication, 'TOTAL-PASSED');
  t.is(opinionOn(underlined('', 'BT /F1 9 Tf (9) Tj ET')).indication, 'TOTAL-FAILED');
});

test('a comment that is only printed hides what a printed page shows', (t) => {
  const covering = (flags: number): string => {
    const black = `<< /Type /Annot /Subtype /Highlight /Rect [18 95 80 113] /QuadPoints [18 113 80 113 18 95 80 95] /F ${flags} /AP << /N ${LOOK} 0 R >> >>`;
    const list = edited(FILE, PAGE, /(\/Annots\s*\[)/, `$1 ${MARK} 0 R `);
    const look = appearance('0 g 0 0 70 20 re f');
    return opinionOn(appendRevision(FILE, new Map([list, [MARK, black], [LOOK, look]]))).indication;
  };
  t.is(covering(4), 'TOTAL-FAILED', 'shown and printed');
  t.is(covering(36), 'TOTAL-FAILED', 'printed');
  t.is(covering(32), 'TOTAL-PASSED', 'neither');
});
