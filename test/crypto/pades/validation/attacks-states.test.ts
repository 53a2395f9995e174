/**
 * Values that a later revision changes without a new appearance: it selects one that was signed but not shown, or
 * leaves one that shows another value.
 */
import test from 'ava';
import { appendRevision } from '../../pdf/build.ts';
import { appearance, contract, reportOn, signed, TEXT_FIELD, textField } from './attack-files.ts';

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
