/**
 * Annotations of every kind, added, changed and removed after signatures of each level, by the table of `comment-marks.ts`;
 * and comments that change what a reader takes from signed content, each beside one that does not.
 */
import test from 'ava';
import { ANNOTATION_KINDS } from '#crypto/pades/validation/comment-marks.js';
import { appendRevision, stream } from '../../pdf/build.ts';
import {
  appearance,
  bodyOf,
  contract,
  EMPTY_FIELD,
  edited,
  FREE,
  hiddenLook,
  objections,
  PAGE,
  reportOn,
  signed,
} from './attack-files.ts';

type Level = 'none' | 1 | 2 | 3;
type Event = 'added' | 'changed' | 'removed';
type Verdict = 'passed' | 'warned' | 'undecided' | 'failed';

const LEVELS: readonly Level[] = ['none', 1, 2, 3];
const EVENTS: readonly Event[] = ['added', 'changed', 'removed'];
const COMMENT = 40;
const OTHER = FREE + 1;
const LOOK = FREE + 2;
const INNER = FREE + 3;

/** Kinds that may be added, changed and removed at level 3; written once more, to be changed by hand. */
const PERMITTED = 'Text Highlight Underline Squiggly StrikeOut Caret Popup FileAttachment'.split(' ');

function verdict(pdf: Buffer): Verdict {
  const [signature] = reportOn(pdf).signatures;
  if (signature?.indication === 'TOTAL-FAILED') return 'failed';
  if (signature?.indication !== 'TOTAL-PASSED') return 'undecided';
  return signature.results.warnings.some(({ type }) => type === 'pdf.comment') ? 'warned' : 'passed';
}

const BLANK = '150 150 168 168';
const annotation = (type: string, more = '', rectangle = BLANK): string => {
  const [left, bottom, right, top] = rectangle.split(' ');
  const quads = `/QuadPoints [${left} ${top} ${right} ${top} ${left} ${bottom} ${right} ${bottom}]`;
  const written = /QuadPoints/.test(more) ? '' : quads;
  return `<< /Type /Annot /Subtype /${type} /Rect [${rectangle}] /F 4 /Contents (seen) ${written} ${more} >>`;
};

const bases = new Map<string, Buffer>();

/** A contract with "Pay 100 1" and perhaps a comment, which is signed with it. */
function base(level: Level, comment?: string): Buffer {
  const key = `${level} ${comment}`;
  const known =
    bases.get(key) ??
    signed(
      contract((objects) => {
        if (comment === undefined) return;
        objects.set(COMMENT, comment);
        const page = objects.get(PAGE) ?? '';
        objects.set(PAGE, page.replace(/(\/Annots\s*\[)/, `$1 ${COMMENT} 0 R `));
      }),
      level === 'none' ? {} : { certification: level },
    );
  bases.set(key, known);
  return known;
}

type Objects = readonly (readonly [number, string])[];

const added = (level: Level, comment: string, more: Objects = []): Buffer => {
  const pdf = base(level);
  const list = edited(pdf, PAGE, /(\/Annots\s*\[)/, `$1 ${FREE} 0 R `);
  return appendRevision(pdf, new Map([list, [FREE, comment], ...more]));
};
const changed = (level: Level, comment: string, now: string, more: Objects = []): Buffer =>
  appendRevision(base(level, comment), new Map([[COMMENT, now], ...more]));
const removed = (level: Level, comment: string): Buffer => {
  const pdf = base(level, comment);
  return appendRevision(pdf, new Map([edited(pdf, PAGE, `${COMMENT} 0 R`, '')]));
};

function after(event: Event, level: Level, type: string): Buffer {
  const comment = annotation(type);
  if (event === 'added') return added(level, comment);
  if (event === 'removed') return removed(level, comment);
  return changed(level, comment, comment.replace('(seen)', '(not seen)'));
}

function expected(type: string, event: Event, level: Level): Verdict {
  if (!PERMITTED.includes(type) || level === 1 || level === 2) return 'failed';
  if (level === 'none' || event !== 'added' || type === 'FileAttachment') return 'warned';
  return 'passed';
}

test('the table names the kinds of the standard', (t) => {
  const known = Object.keys(ANNOTATION_KINDS);
  t.is(known.length, 28);
  t.deepEqual(known.filter((type) => ANNOTATION_KINDS[type] !== 'refused').sort(), [...PERMITTED].sort());
});

for (const type of [...Object.keys(ANNOTATION_KINDS), 'Other', '__proto__', 'constructor'])
  test(`annotations of the kind ${type}, added, changed and removed`, (t) => {
    for (const event of EVENTS)
      for (const level of LEVELS) {
        const pdf = after(event, level, type);
        t.is(verdict(pdf), expected(type, event, level), `${event} at level ${level}`);
        if (expected(type, event, level) === 'failed') t.true(objections(pdf).length > 0, 'it is listed');
      }
  });

const OVER = '18 90 90 120';

test('an open window of a comment over signed text is a warning, and a closed one or one beside it is none', (t) => {
  const popup = (open: string, rectangle = OVER): Verdict =>
    verdict(added(3, annotation('Popup', `/Open ${open}`, rectangle)));
  t.is(popup('true'), 'warned');
  t.is(popup('false'), 'passed');
  t.is(popup('true', '110 130 190 190'), 'passed');
  const note = (open: string, rectangle: string): Verdict =>
    verdict(
      added(3, annotation('Text', `/Open ${open} /Popup ${OTHER} 0 R`), [
        [OTHER, annotation('Popup', `/Parent ${FREE} 0 R`, rectangle)],
      ]),
    );
  t.is(note('true', OVER), 'warned');
  t.is(note('false', OVER), 'passed');
  t.is(note('true', '110 130 190 190'), 'passed');
  const signedPopup = annotation('Popup', '/Open false', OVER);
  t.is(verdict(changed(3, signedPopup, signedPopup.replace('false', 'true'))), 'warned');
  const open = annotation('Popup', '/Open true', OVER);
  t.is(verdict(changed(3, open, open.replace('true', 'false'))), 'passed');
});

test('a signed comment that is moved, or has other words, is a warning, and one with another date is none', (t) => {
  const strike = annotation('StrikeOut', '/C [1 0 0] /M (D:2025)', '42 97 64 110');
  const moved = annotation('StrikeOut', '/C [1 0 0] /M (D:2025)', '20 97 40 110');
  t.is(verdict(changed(3, strike, moved)), 'warned');
  t.is(verdict(changed(3, strike, strike.replace('(seen)', '(struck)'))), 'warned');
  t.is(verdict(changed(3, strike, strike.replace('[1 0 0]', '[0 0 1]'))), 'warned');
  t.is(verdict(changed(3, strike, strike.replace('/F 4', '/F 6'))), 'warned', 'hidden');
  t.is(verdict(changed(3, strike, strike.replace('D:2025', 'D:2026'))), 'passed');
  t.is(verdict(changed(3, strike, strike.replace('[42 97 64 110]', '[42.0 97 64.0 110]'))), 'passed');
});

test('a comment that stood before a field may be removed, and the fields may not change places', (t) => {
  const pdf = base(3, annotation('Text'));
  const list = /\/Annots\s*\[([^\]]*)\]/.exec(bodyOf(pdf, PAGE))?.[1] ?? '';
  const numbers = [...list.matchAll(/(\d+) 0 R/g)].map(([, number]) => number);
  t.is(numbers[0], String(COMMENT));
  const listed = (order: readonly (string | undefined)[]): Verdict => {
    const entry = edited(pdf, PAGE, list, order.map((number) => `${number} 0 R`).join(' '));
    return verdict(appendRevision(pdf, new Map([entry])));
  };
  t.is(listed(numbers.slice(1)), 'warned');
  t.is(listed(numbers.slice(1).reverse()), 'failed');
  t.is(listed(numbers.slice(1, -1)), 'failed');
});

test('a look of a comment draws lines, and no text in a form inside of a form', (t) => {
  const nested = (content: string, resources: string): Verdict =>
    verdict(
      added(3, annotation('Highlight', `/AP << /N ${LOOK} 0 R >>`), [
        [LOOK, appearance('/X Do', `/XObject << /X ${INNER} 0 R >>`)],
        [INNER, stream(`/Type /XObject /Subtype /Form /BBox [0 0 70 20] ${resources}`, content)],
      ]),
    );
  t.is(nested('1 1 0 rg 0 0 70 20 re f', '/Resources << >>'), 'warned');
  t.is(nested('BT /F1 9 Tf 2 4 Td (9) Tj ET', '/Resources << /Font << /F1 3 0 R >> >>'), 'failed');
  t.is(nested('BT /F1 9 Tf 2 4 Td (9) Tj ET', '/Resources << >>'), 'failed');
  t.is(nested('BT /F1 9 Tf 2 4 Td (9) Tj ET', ''), 'failed');
  t.is(nested('BI /W 1 /H 1 /BPC 8 /CS /G ID x EI', '/Resources << >>'), 'failed');
});

const BLACK: Objects = [[LOOK, appearance('0 g 0 0 70 20 re f')]];
const LINE: Objects = [[LOOK, appearance('1 1 0.9 rg 0 0 1 1 re f')]];
const DRAWN = `/AP << /N ${LOOK} 0 R >>`;
const PAY = '18 95 80 113';

/** Comments that programs read or draw in different ways, each beside one that differs in one respect. */
const READINGS: readonly (readonly [name: string, expected: Verdict, comment: string, more?: Objects])[] = [
  ['hidden', 'passed', annotation('Highlight', DRAWN, PAY).replace('/F 4', '/F 2'), BLACK],
  ...['36', '4294967298', '2.0', '-2', '(2)'].map(
    (flags) =>
      [
        `flags ${flags}`,
        'failed',
        annotation('Highlight', DRAWN, PAY).replace('/F 4', `/F ${flags}`),
        BLACK,
      ] as const,
  ),
  ['corners of a whole area', 'warned', annotation('Highlight', '/C [1 1 0]', PAY)],
  [
    'corners of less',
    'undecided',
    annotation('Highlight', '/C [1 1 0] /QuadPoints [18 113 80 113 18 95 80]', PAY),
  ],
  [
    'corners that are no numbers',
    'undecided',
    annotation('Highlight', '/QuadPoints [18 113 80 113 18 95 80 --95]', PAY),
  ],
  [
    'a rectangle of three numbers',
    'undecided',
    annotation('Text', '', PAY).replace(`[${PAY}]`, '[18 95 80]'),
  ],
  [
    'a rectangle with two signs',
    'undecided',
    annotation('Text', '', PAY).replace(`[${PAY}]`, '[18 95 --80 113]'),
  ],
  ['a note whose middle is blank', 'passed', annotation('Text', '', '100 130 190 190')],
  ['a note whose middle is over a text', 'failed', annotation('Text', '', '-56 4 154 204')],
  ['a file whose middle is over a text', 'failed', annotation('FileAttachment', '', '-56 4 154 204')],
  ['a caret on blank paper', 'passed', annotation('Caret', '', '150 130 170 150')],
  ['a caret as large as a line', 'failed', annotation('Caret', '', '10 60 130 146')],
  ['a look beside a light colour', 'undecided', annotation('Highlight', `${DRAWN} /C [1 1 0]`, PAY), LINE],
  ['a look beside a dark colour', 'failed', annotation('Highlight', `${DRAWN} /C [0 0 0]`, PAY), LINE],
  ['a look beside no colour', 'failed', annotation('Highlight', DRAWN, PAY), LINE],
  ['a line below a text', 'warned', annotation('Underline', '', '42 97 64 110')],
  ['a line beside a text', 'undecided', annotation('StrikeOut', '', '12 97 17 110')],
  ['a line far from a text', 'passed', annotation('StrikeOut', '', '150 150 168 168')],
];

for (const [name, expected, comment, more] of READINGS)
  test(`a comment that programs may read differently: ${name}`, (t) =>
    t.is(verdict(added(3, comment, more ?? [])), expected));

/** Spellings that programs read as different numbers (ISO 32000-2, 7.3.3), and others that all read alike. */
const ODD_NUMBERS = ['--60', '1.2.3', '6-0', '1e1', '+-1', '0x1', '-', '.', '1,5', 'nan', '1'.repeat(50)];
const NUMBERS = ['+1', '1.', '.5', '1.0', '0'];
const ON_BLANK = '150 150 168 168';

/** An entry of a comment, or the content of its look, with a place for a number. */
const PLACES: readonly (readonly [name: string, entries: string, content?: string])[] = [
  ['the width of a line', '/BS << /W % >>'],
  ['a dash', '/BS << /W 1 /D [%] >>'],
  ['the third number of a border', '/Border [0 0 %]'],
  ['a dash of a border', '/Border [0 0 1 [%]]'],
  ['an opacity', '/CA %'],
  ['a colour', '/C [1 % 0]'],
  ['a distance', '/RD [% 0 0 0]'],
  ...'w J M i|% # m l|% 0 # re|0 0 % 1 # Td|% 0 # c|1 1 1 1 % 1 # rg RG|1 % 0 # cm|1 0 0 1 % 0 # TL Ts Tc Tw|%'
    .split(' # ')
    .flatMap((one) => {
      const [operators = '', operands = ''] = one.split('|');
      return operators
        .split(' ')
        .map((operator) => [`an operand of ${operator}`, DRAWN, `0 0 m ${operands} ${operator} n`] as const);
    }),
  ['a dash of a look', DRAWN, '[%] 0 d'],
  ['a distance in a text', DRAWN, 'BT [%] TJ ET'],
  ['a width of the state', DRAWN, '/W gs'],
];

for (const [name, entries, content = ''] of PLACES)
  test(`a number that programs read differently leaves a comment open: ${name}`, (t) => {
    const of = (number: string): Verdict => {
      const look = appearance(
        `1 0 0 RG 1 w 0 7 m 70 7 l S ${content.replace('%', number)}`,
        `/ExtGState << /W << /LW ${number} >> >>`,
      );
      const more: Objects = content === '' ? [] : [[LOOK, look]];
      return verdict(added(3, annotation('StrikeOut', entries.replace('%', number), ON_BLANK), more));
    };
    for (const number of NUMBERS) t.regex(of(number), /passed|warned/, number);
    for (const number of ODD_NUMBERS) t.is(of(number), 'undecided', number);
  });

test('a signature that was hidden when it was signed comes to light by no spelling of its flags', (t) => {
  const hidden = signed(contract(hiddenLook));
  const flagged = (flags: string): Verdict =>
    verdict(appendRevision(hidden, new Map([edited(hidden, EMPTY_FIELD, '/F 2', `/F ${flags}`)])));
  t.is(flagged('34'), 'passed');
  for (const flags of ['0', '2.0', '4294967298', '-2', '36']) t.is(flagged(flags), 'failed', flags);
});
