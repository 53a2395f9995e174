import { createHash } from 'node:crypto';
import test from 'ava';
import { buildSignedData } from '../../../crypto/cms/build.ts';
import { preparePades } from '../../../crypto/pades/prepare.ts';
import { bufferSource } from '../../../crypto/pdf/index.ts';
import { pki } from '../../pki/pki.ts';
import { appendRevision } from '../pdf/build.ts';
import {
  allowances,
  appearance,
  bodyOf,
  contract,
  EMPTY_FIELD,
  edited,
  FORM,
  FREE,
  objections,
  PAGE,
  reportOn,
  signed,
  TEXT_FIELD,
  textField,
  verdicts,
} from './attack-files.ts';

const FAILED = 'TOTAL-FAILED FORMAT_FAILURE';
const PASSED = 'TOTAL-PASSED';
const other = () => pki().signer('p-384');

const certified = (certification: 1 | 2 | 3, change?: (objects: Map<number, string>) => void): Buffer =>
  signed(contract(change), { certification });

/** A revision that puts an annotation on the first page. */
function annotated(pdf: Buffer, annotation: string, look?: string): Buffer {
  return appendRevision(
    pdf,
    new Map([
      edited(pdf, PAGE, /(\/Annots\s*\[)/, `$1 ${FREE} 0 R `),
      [FREE, annotation],
      ...(look === undefined ? [] : [[FREE + 1, look] as const]),
    ]),
  );
}

const NOTE = '<< /Type /Annot /Subtype /Text /Rect [5 5 9 9] /Contents (seen) /F 4 >>';
const drawn = (type: string, more = ''): string =>
  `<< /Type /Annot /Subtype /${type} /Rect [20 90 190 120] /F 4 ${more} /AP << /N ${FREE + 1} 0 R >> >>`;
const WHITE = appearance('1 1 1 rg 0 0 70 20 re f', '');

test('certified for comments: a note is permitted, and with a lesser permission it is not', (t) => {
  for (const [level, verdict] of [
    [1, FAILED],
    [2, FAILED],
    [3, PASSED],
  ] as const) {
    const pdf = certified(level);
    t.deepEqual(verdicts(pdf), [PASSED]);
    const noted = annotated(pdf, NOTE);
    t.deepEqual(verdicts(noted), [verdict], `permission ${level}`);
    t.regex([...objections(noted), ...allowances(noted)].join(), /added an annotation \(Text\) to page 1/);
  }
});

test('evil annotations: what can cover or replace content is not permitted even where comments are', (t) => {
  const pdf = certified(3);
  const type = (name: string, more?: string) => annotated(pdf, drawn(name, more), WHITE);
  for (const name of [
    'FreeText',
    'Stamp',
    'Redact',
    'Square',
    'Circle',
    'Line',
    'Polygon',
    'Ink',
    'Watermark',
    'Screen',
    '3D',
    'Widget',
    'Link',
  ]) {
    t.deepEqual(verdicts(type(name)), [FAILED], name);
  }
  t.deepEqual(verdicts(type('Highlight', '/QuadPoints [20 90 190 90 20 120 190 120]')), [PASSED]);
  t.deepEqual(verdicts(type('Text', '/A << /S /URI /URI (http://x) >>')), [FAILED]);
});

test('evil annotations: a comment that draws text or pictures is not permitted', (t) => {
  const pdf = certified(3);
  const look = (body: string) => verdicts(annotated(pdf, drawn('Highlight'), body));
  t.deepEqual(look(WHITE), [PASSED]);
  t.deepEqual(look(appearance('BT /F1 9 Tf (900) Tj ET')), [FAILED]);
  t.deepEqual(look(appearance('/I Do', '/XObject << /I 11 0 R >>')), [FAILED]);
  t.deepEqual(look(appearance('q BI /W 1 /H 1 /BPC 8 /CS /G ID x EI Q', '')), [FAILED]);
  // Without resources of its own it would draw with the fonts of the page.
  t.deepEqual(look(WHITE.replace('/Resources <<  >>', '')), [FAILED]);
});

test('evil signature: a new visible field could cover what was certified, an invisible one can not', (t) => {
  for (const level of [2, 3] as const) {
    const pdf = certified(level);
    t.deepEqual(verdicts(signed(pdf, {}, other())), [PASSED, PASSED]);
    t.deepEqual(verdicts(signed(pdf, { fieldName: 'Approval' }, other())), [PASSED, PASSED]);
    const covering = signedVisibly(pdf);
    t.deepEqual(verdicts(covering), [FAILED, PASSED]);
    t.regex(objections(covering).join(), /a new visible field can cover what was certified/);
  }
  // Without a certification, signing where it can be seen is what signers do: allowed, and told.
  const approved = signedVisibly(signed(contract()));
  t.deepEqual(verdicts(approved), [PASSED, PASSED]);
  t.deepEqual(
    reportOn(approved).signatures.map(({ results }) => results.warnings.map(({ type }) => type)),
    [['pdf.covering'], []],
  );
});

/** As `signed`, with a place on the page for the widget. */
function signedVisibly(pdf: Buffer): Buffer {
  const options = { signer: other(), at: Date.now(), digest: 'sha256' } as const;
  const { update, holeStart, holeEnd } = preparePades(bufferSource(pdf), options);
  update.write('/Rect [0 0 9 9]', update.indexOf('/Rect [0 0 0 0]'), 'latin1');
  const hash = createHash('sha256').update(pdf).update(update.subarray(0, holeStart));
  const messageDigest = hash.update(update.subarray(holeEnd)).digest();
  update.write(buildSignedData({ ...options, messageDigest }).toString('hex'), holeStart + 1, 'latin1');
  return Buffer.concat([pdf, update]);
}

test('evil signature: a new field with a look and without a signature is not permitted by any signature', (t) => {
  for (const pdf of [signed(contract()), certified(2), certified(3)]) {
    const field = (more: string) =>
      appendRevision(
        pdf,
        new Map([
          edited(pdf, FORM, '30 0 R', `30 0 R ${FREE} 0 R`),
          edited(pdf, PAGE, '30 0 R', `30 0 R ${FREE} 0 R`),
          [FREE, `<< /Type /Annot /Subtype /Widget /FT /Sig /T (New) /F 4 /P 10 0 R ${more} >>`],
          [FREE + 1, WHITE],
        ]),
      );
    t.deepEqual(verdicts(field(`/Rect [20 90 190 120] /AP << /N ${FREE + 1} 0 R >>`)), [FAILED]);
    t.deepEqual(verdicts(field('/Rect [0 0 0 0]')), [PASSED]);
    t.deepEqual(verdicts(field('/Rect [0 0 0 0] /AA << >>')), [FAILED]);
  }
});

test('forms may be filled in with the second permission and not with the first', (t) => {
  for (const [level, verdict] of [
    [1, FAILED],
    [2, PASSED],
    [3, PASSED],
  ] as const) {
    const pdf = certified(level);
    const filled = appendRevision(
      pdf,
      new Map([
        [TEXT_FIELD, textField('(y)', FREE)],
        [FREE, appearance('BT /F1 9 Tf 2 2 Td (y) Tj ET')],
      ]),
    );
    t.deepEqual(verdicts(filled), [verdict], `permission ${level}`);
  }
});

test('a signature in a field with a lock allows what the lock leaves open', (t) => {
  const lock = (text: string) => (objects: Map<number, string>) =>
    objects.set(
      EMPTY_FIELD,
      (objects.get(EMPTY_FIELD) ?? '').replace('/F 4', `/F 4 /Lock << /Type /SigFieldLock ${text} >>`),
    );
  const filledAfter = (text: string): readonly string[] => {
    const pdf = signed(contract(lock(text)), { fieldName: 'Approval' });
    const filled = appendRevision(
      pdf,
      new Map([
        [TEXT_FIELD, textField('(y)', FREE)],
        [FREE, appearance('BT /F1 9 Tf 2 2 Td (y) Tj ET')],
      ]),
    );
    t.deepEqual(verdicts(pdf), [PASSED]);
    return verdicts(filled);
  };
  t.deepEqual(filledAfter('/Action /All'), [FAILED]);
  t.deepEqual(filledAfter('/Action /Include /Fields [(Name)]'), [FAILED]);
  t.deepEqual(filledAfter('/Action /Include /Fields [(Other)]'), [PASSED]);
  t.deepEqual(filledAfter('/Action /Exclude /Fields [(Name)]'), [PASSED]);
  t.deepEqual(filledAfter('/Action /Exclude /Fields [(Other)]'), [FAILED]);
  t.deepEqual(filledAfter('/Action /Include /Fields [(Other)] /P 1'), [FAILED]);
});

test('the look of a field that is signed may not change, nor its value be exchanged', (t) => {
  const pdf = signed(contract(), { fieldName: 'Approval' });
  const value = /\/V (\d+) 0 R/.exec(bodyOf(pdf, EMPTY_FIELD))?.[1];
  t.not(value, undefined);
  const again = (from: string | RegExp, to: string) =>
    verdicts(appendRevision(pdf, new Map([edited(pdf, EMPTY_FIELD, from, to), [FREE, WHITE]])));
  t.deepEqual(again('/F 4', `/F 4 /AP << /N ${FREE} 0 R >>`), [FAILED]);
  t.deepEqual(again('/Rect [100 20 180 60]', '/Rect [0 0 180 160]'), [FAILED]);
  t.deepEqual(again('/F 4', '/F 2'), [FAILED]);
  t.deepEqual(again(`/V ${value} 0 R`, `/V ${FREE} 0 R`), [FAILED]);
});

test('a certification may not be added, changed or taken away by a later revision', (t) => {
  const pdf = certified(2);
  const without = appendRevision(pdf, new Map([edited(pdf, 1, /\/Perms\s*<<[^>]*>>/, '')]));
  t.deepEqual(verdicts(without), [FAILED]);
  t.regex(objections(without).join(), /changed \/Perms in the catalogue/);
});
