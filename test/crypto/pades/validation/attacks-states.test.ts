/**
 * Values that a later revision changes without a new appearance: it selects one that was signed but not shown, or
 * leaves one that shows another value.
 */
import test from 'ava';
import { IDENTITY } from '#crypto/pades/painting/geometry.js';
import { PaintedPath } from '#crypto/pades/painting/paths.js';
import { appendRevision, stream } from '../../pdf/build.ts';
import {
  appearance,
  CONTENT,
  contract,
  FREE,
  reportOn,
  signed,
  TEXT_FIELD,
  textField,
} from './attack-files.ts';

const LOOK = 31;
const OFF = 32;
const KID = 33;
const OVER_PAGE = '0 0 200 200';
const OVER_TEXT = '20 100 60 120';
const ASIDE = '20 20 60 60';
const FORGED_PAGE = '1 g 0 0 70 20 re f 0 g BT /F1 9 Tf 2 2 Td (Pay 999) Tj ET';
const CHECK_MARK = '0 0 m 70 20 l S';

type Looks = Readonly<Record<number, string>>;

/** Signs a form with these objects, then appends the changed ones. */
function changed(before: Looks, after: Looks): Buffer {
  const pdf = signed(
    contract((objects) => {
      for (const [number, body] of Object.entries(before)) objects.set(Number(number), body);
    }),
  );
  return appendRevision(pdf, new Map(Object.entries(after).map(([number, body]) => [Number(number), body])));
}

function box(rectangle: string, state: string, value = state): string {
  return `<< /Type /Annot /Subtype /Widget /FT /Btn /T (Agree) /V /${value} /AS /${state} /Rect [${rectangle}] /F 4 /P 10 0 R /AP << /N << /Yes ${LOOK} 0 R /Off ${OFF} 0 R >> >> >>`;
}

/** Toggles a check box whose state Yes shows `yes`. */
function toggled(rectangle: string, yes: string, state = 'Yes', value = 'Yes'): Buffer {
  const looks = { [LOOK]: appearance(yes), [OFF]: appearance('') };
  return changed(
    { ...looks, [TEXT_FIELD]: box(rectangle, 'Off') },
    { [TEXT_FIELD]: box(rectangle, state, value) },
  );
}

const KID_WIDGET = `<< /Type /Annot /Subtype /Widget /Parent ${TEXT_FIELD} 0 R /Rect [20 20 90 40] /F 4 /P 10 0 R /AP << /N ${LOOK} 0 R >> >>`;
const parent = (value: string): string => `<< /FT /Tx /T (Name) /V ${value} /Kids [${KID} 0 R] >>`;

function choice(value: string): string {
  return textField(value, LOOK).replace(
    '/FT /Tx',
    '/FT /Ch /Ff 131072 /Opt [[(a) (Pay 100)] [(b) (Pay 999)]]',
  );
}

const shows = (text: string): string => appearance(`BT /F1 9 Tf 2 2 Td (${text}) Tj ET`);

const FORGED: readonly (readonly [string, () => Buffer])[] = [
  ['a check box as large as the page comes to light', () => toggled(OVER_PAGE, FORGED_PAGE)],
  ['a curve as large as the page comes to light', () => toggled(OVER_PAGE, '0 0 m 30 30 40 9 70 20 c f')],
  ['a small check box whitens a text', () => toggled(OVER_TEXT, '1 g 0 0 70 20 re f')],
  ['a check box shows a text', () => toggled('20 20 120 60', 'BT /F1 9 Tf 2 2 Td (Pay 999) Tj ET')],
  ['a check box shows a state without its value', () => toggled(ASIDE, CHECK_MARK, 'Yes', 'Off')],
  ['a check box has a value and does not show it', () => toggled(ASIDE, CHECK_MARK, 'Off', 'Yes')],
  [
    'a text field keeps the look of its earlier value',
    () =>
      changed(
        { [TEXT_FIELD]: textField('(100)', LOOK), [LOOK]: shows('100') },
        { [TEXT_FIELD]: textField('(999)', LOOK) },
      ),
  ],
  [
    'a choice keeps the look of its earlier value',
    () => changed({ [TEXT_FIELD]: choice('(a)'), [LOOK]: shows('Pay 100') }, { [TEXT_FIELD]: choice('(b)') }),
  ],
  [
    'the widget below a text field keeps the look of its earlier value',
    () =>
      changed(
        { [TEXT_FIELD]: parent('(100)'), [KID]: KID_WIDGET, [LOOK]: shows('100') },
        { [TEXT_FIELD]: parent('(999)') },
      ),
  ],
];

const HONEST: readonly (readonly [string, () => Buffer])[] = [
  ['a check box is checked', () => toggled(ASIDE, CHECK_MARK)],
  [
    'a check box beside the text of the page is checked',
    () => toggled('20 40 40 60', 'q 1 g 0 0 70 20 re f Q 0 0 m 70 20 l S'),
  ],
  [
    'a text field has a new value and shows it',
    () =>
      changed(
        { [TEXT_FIELD]: textField('(100)', LOOK), [LOOK]: shows('100') },
        { [TEXT_FIELD]: textField('(999)', LOOK), [LOOK]: shows('999') },
      ),
  ],
  [
    'a choice has a new value and shows it',
    () =>
      changed(
        { [TEXT_FIELD]: choice('(a)'), [LOOK]: shows('Pay 100') },
        { [TEXT_FIELD]: choice('(b)'), [LOOK]: shows('Pay 999') },
      ),
  ],
  [
    'a widget shows the new value of the field above it',
    () =>
      changed(
        { [TEXT_FIELD]: parent('(100)'), [KID]: KID_WIDGET, [LOOK]: shows('100') },
        { [TEXT_FIELD]: parent('(999)'), [LOOK]: shows('999') },
      ),
  ],
  [
    'a field without an appearance has a new value',
    () => {
      const bare = (value: string) => textField(value, LOOK).replace(/\/AP << .*? >>/, '');
      return changed({ [TEXT_FIELD]: bare('(100)') }, { [TEXT_FIELD]: bare('(999)') });
    },
  ],
];

function outcome(pdf: Buffer): string {
  const [signature] = reportOn(pdf).signatures;
  if (signature?.indication === 'TOTAL-PASSED') return 'passed';
  return signature?.indication === 'INDETERMINATE' ? 'undecided' : 'failed';
}

test('states: content that was signed and hidden, and fields that no longer show their value, never pass', (t) => {
  for (const [name, forged] of FORGED) t.not(outcome(forged()), 'passed', name);
  t.is(outcome(toggled(OVER_PAGE, FORGED_PAGE)), 'failed');
});

test('states: check boxes, choices and text fields that show their new value pass', (t) => {
  for (const [name, honest] of HONEST) t.is(outcome(honest()), 'passed', name);
});

/** Turns a check box on, beside another /MK. */
const marked = (before: string, after: string): Buffer => {
  const looks = { [LOOK]: appearance(CHECK_MARK), [OFF]: appearance('') };
  const withMark = (state: string, mark: string) => box(ASIDE, state).replace('/F 4', `/F 4 ${mark}`);
  return changed(
    { ...looks, [TEXT_FIELD]: withMark('Off', before) },
    { [TEXT_FIELD]: withMark('Yes', after) },
  );
};
const OTHER = 34;
/** Turns the first of two radio buttons on, or only says so. */
const chosen = (state: string): Buffer => {
  const radio = (as: string) =>
    box('20 20 30 30', as).replace(/\/FT \/Btn .*?\/AS/, `/Parent ${TEXT_FIELD} 0 R /AS`);
  const group = (value: string) =>
    `<< /FT /Btn /Ff 49152 /T (One) /V /${value} /Kids [${KID} 0 R ${OTHER} 0 R] >>`;
  const looks = { [LOOK]: appearance('4 4 8 8 re f'), [OFF]: appearance('') };
  return changed(
    { ...looks, [TEXT_FIELD]: group('Off'), [KID]: radio('Off'), [OTHER]: radio('Off') },
    { [TEXT_FIELD]: group('Yes'), [KID]: radio(state) },
  );
};
/** Turns on a box with a mark in its middle, above what the page draws at 20, 20. */
const above = (drawing: string): Buffer => {
  const looks = { [LOOK]: appearance('q 7 0 0 2 0 0 cm 4 4 2 2 re f Q'), [OFF]: appearance('') };
  const page = { [CONTENT]: stream('', `1 0 0 1 20 20 cm 0.9 g ${drawing}`) };
  const of = (state: string) => box('20 20 30 30', state);
  return changed({ ...looks, ...page, [TEXT_FIELD]: of('Off') }, { [TEXT_FIELD]: of('Yes') });
};
const CIRCLE = '10 5 m 10 7.8 7.8 10 5 10 c 2.2 10 0 7.8 0 5 c 0 2.2 2.2 0 5 0 c 7.8 0 10 2.2 10 5 c';
/** Fills a field with a background, above what the page draws at 20, 20. */
const bordered = (drawing: string): Buffer => {
  const look = (text: string, paper = '') => appearance(`${paper} BT /F1 9 Tf 4 6 Td (${text}) Tj ET`);
  return changed(
    { [CONTENT]: stream('', `1 0 0 1 20 20 cm 0.5 g ${drawing}`), [LOOK]: look('x') },
    { [TEXT_FIELD]: textField('(y)', LOOK), [LOOK]: look('y', '1 g 0 0 70 20 re f 0 g') },
  );
};
const CORNER = '0 0 m 70 0 l 69.5 0.5 l 0.5 0.5 l 0.5 19.5 l 0 20 l h f';
/** Fills a part of a field, and says another value of the field, or the same. */
const part = (ownValue: string): Buffer => {
  const kid = KID_WIDGET.replace('/F 4', `/F 4 /V ${ownValue}`);
  return changed(
    { [TEXT_FIELD]: parent('(1)'), [KID]: kid, [LOOK]: shows('1') },
    { [TEXT_FIELD]: parent('(2)'), [LOOK]: shows('2') },
  );
};
/** Fills a field by a value in an object of its own. */
const stored = (number: number, body: string): Buffer =>
  changed(
    { [OTHER]: '[(2)]' },
    { [TEXT_FIELD]: textField(`${number} 0 R`, LOOK), [LOOK]: shows('2'), [number]: body },
  );
/** Turns a box on whose appearance has no stream for that, or one that cannot be read. */
const bare = (look: string, more = ''): Buffer => {
  const of = (state: string, states = '') =>
    box(ASIDE, state).replace(/\/AP .*/, `/AP << /N << /Yes ${look} ${states} >> >> >>`);
  const looks = { [LOOK]: appearance('BT 1 2 3 Td ET 4 4 8 8 re f') };
  return changed({ ...looks, [TEXT_FIELD]: of('Off') }, { [TEXT_FIELD]: of('Yes', more) });
};
/** Updates of programs in wide use, each with a twin that differs in one respect. */
const FILLED: readonly (readonly [name: string, pdf: () => Buffer, wanted: string])[] = [
  ['a browser leaves the caption out', () => marked('/MK << /CA (4) >>', '/MK << >>'), 'passed'],
  ['a caption is exchanged', () => marked('/MK << /CA (4) >>', '/MK << /CA (8) >>'), 'failed'],
  [
    'a colour is written in red, green and blue',
    () => marked('/MK << /BC [1] >>', '/MK << /BC [1 1 1] >>'),
    'passed',
  ],
  ['a colour is exchanged', () => marked('/MK << /BC [1] >>', '/MK << /BC [1 1 0] >>'), 'failed'],
  ['a field is turned', () => marked('/MK << /R 0 >>', '/MK << /R 90 >>'), 'failed'],
  ['a part of a group shows its value', () => chosen('Yes'), 'passed'],
  ['no part of a group shows its value', () => chosen('Off'), 'undecided'],
  ['a mark lies in a circle of the page', () => above(`${CIRCLE} f`), 'passed'],
  ['a mark lies in a line around it', () => above(`${CIRCLE} S`), 'passed'],
  ['a mark lies on a curve of the page', () => above('0 0 m 3 9 6 9 10 10 c 6 1 3 1 0 0 c f'), 'failed'],
  ['a mark lies on a line of the page', () => above('2 2 m 8 8 l S'), 'failed'],
  ['a mark lies on a shape that is not closed', () => above('0 9 m 0 0 l 9 0 l f'), 'failed'],
  ['a field covers its border', () => bordered(CORNER), 'passed'],
  ['a field covers a line that is no border', () => bordered('0 0 m 70 0 l 35 18 l h f'), 'failed'],
  ['a field covers a border and a letter', () => bordered(`${CORNER} 30 2 m 36 2 l 33 15 l f`), 'failed'],
  ['a part has the value of its field', () => part('(2)'), 'passed'],
  ['a part has another value than its field', () => part('(1)'), 'undecided'],
  ['a value is a new stream', () => stored(FREE, stream('', '2')), 'passed'],
  ['a value is a stream of another kind', () => stored(FREE, stream('/Type /XObject', '2')), 'failed'],
  ['a value is another stream', () => stored(FREE, stream('', '3')), 'failed'],
  ['a value is an object that was there', () => stored(OTHER, stream('', '2')), 'failed'],
  ['a state has no stream', () => bare('<< >>'), 'undecided'],
  ['a state cannot be read', () => bare(`${LOOK} 0 R`), 'undecided'],
  ['a state gets another look without a stream', () => bare('<< >>', '/No << >>'), 'failed'],
];

test('states: what programs in wide use write passes or is left open, and its forged twin fails', (t) => {
  for (const [name, pdf, wanted] of FILLED) t.is(outcome(pdf()), wanted, name);
});

test('states: a path extends to the points that are not kept, and a box has four right angles', (t) => {
  const drawn = (points: readonly (readonly [number, number])[]): PaintedPath => {
    const path = new PaintedPath();
    for (const [index, [x, y]] of points.entries()) path.point(x, y, index > 0);
    return path;
  };
  const long = drawn([...Array.from({ length: 10_001 }, () => [1, 1] as const), [90, 80]]);
  t.deepEqual(long.extent(IDENTITY), { left: 1, bottom: 1, right: 90, top: 80 });
  t.true(
    drawn([
      [0, 0],
      [9, 0],
      [9, 9],
      [0, 9],
      [0, 0],
    ]).isBox,
  );
  t.false(
    drawn([
      [0, 0],
      [9, 0],
      [9, 9],
      [4, 9],
      [4, 4],
    ]).isBox,
  );
});
