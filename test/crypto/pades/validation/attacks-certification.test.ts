import { createHash } from 'node:crypto';
import test from 'ava';
import { buildSignedData } from '#crypto/cms/build.js';
import { preparePades } from '#crypto/pades/sign.js';
import { bufferSource } from '#crypto/pdf/index.js';
import { pki } from '../../../pki/pki.ts';
import { appendRevision, stream } from '../../pdf/build.ts';
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
/** As programs draw a highlight: the content below shows through. */
const YELLOW = appearance('/G gs 1 1 0 rg 0 0 70 20 re f', '/ExtGState << /G << /BM /Multiply >> >>');
const warningsOf = (pdf: Buffer) => reportOn(pdf).signatures[0]?.results.warnings.map(({ type }) => type);
const WHITE = appearance('1 1 1 rg 0 0 70 20 re f', '');

test('certified for comments: a note is permitted, and under a stricter permission it is not', (t) => {
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

test('evil annotations: an annotation that can cover or replace content is not permitted, even where comments are', (t) => {
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
  const quads = '/QuadPoints [20 90 190 90 20 120 190 120]';
  t.deepEqual(verdicts(type('Highlight', quads)), [FAILED], 'a white box over the text');
  const highlighted = annotated(pdf, drawn('Highlight', quads), YELLOW);
  t.deepEqual(verdicts(highlighted), [PASSED]);
  t.deepEqual(warningsOf(highlighted), ['pdf.comment']);
  t.deepEqual(warningsOf(annotated(pdf, NOTE)), []);
  t.deepEqual(verdicts(type('Text', '/A << /S /URI /URI (http://x) >>')), [FAILED]);
});

test('evil annotations: a comment that draws text or pictures is not permitted', (t) => {
  const pdf = certified(3);
  const look = (body: string) => verdicts(annotated(pdf, drawn('Highlight'), body));
  t.deepEqual(look(YELLOW), [PASSED]);
  t.deepEqual(look(appearance('BT /F1 9 Tf (900) Tj ET')), [FAILED]);
  t.deepEqual(look(appearance('/I Do', '/XObject << /I 11 0 R >>')), [FAILED]);
  t.deepEqual(look(appearance('q BI /W 1 /H 1 /BPC 8 /CS /G ID x EI Q', '')), [FAILED]);
  // Without resources of its own it would draw with the fonts of the page.
  t.deepEqual(look(WHITE.replace('/Resources <<  >>', '')), [FAILED]);
});

test('evil signature: a new visible field that could cover certified content is refused, an invisible one is permitted', (t) => {
  for (const level of [2, 3] as const) {
    const pdf = certified(level);
    t.deepEqual(verdicts(signed(pdf, {}, other())), [PASSED, PASSED]);
    t.deepEqual(verdicts(signed(pdf, { fieldName: 'Approval' }, other())), [PASSED, PASSED]);
    const covering = signedVisibly(pdf);
    t.deepEqual(verdicts(covering), [FAILED, PASSED]);
    t.regex(objections(covering).join(), /a new visible field can cover what was certified/);
  }
  // Without a certification, a visible signature is allowed and reported.
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
  const { update, placeholderStart, placeholderEnd } = preparePades(bufferSource(pdf), options);
  update.write('/Rect [0 0 9 9]', update.indexOf('/Rect [0 0 0 0]'), 'latin1');
  const hash = createHash('sha256').update(pdf).update(update.subarray(0, placeholderStart));
  const messageDigest = hash.update(update.subarray(placeholderEnd)).digest();
  update.write(
    buildSignedData({ ...options, messageDigest }).toString('hex'),
    placeholderStart + 1,
    'latin1',
  );
  return Buffer.concat([pdf, update]);
}

test('evil signature: a new field with an appearance and without a signature is not permitted by any signature', (t) => {
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

test('forms may be filled in with permission 2 and not with permission 1', (t) => {
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

test('the appearance of a signed field may not change, nor its value be exchanged', (t) => {
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

/** A revision with so many empty invisible signature fields, and further objects. */
function crowded(pdf: Buffer, fields: number, more: readonly (readonly [number, string])[] = []): Buffer {
  const numbers = Array.from({ length: fields }, (_, index) => FREE + 2 + index);
  const list = numbers.map((number) => `${number} 0 R`).join(' ');
  return appendRevision(
    pdf,
    new Map([
      edited(pdf, FORM, '30 0 R', `30 0 R ${list}`),
      ...numbers.map((number) => [number, `<< /FT /Sig /T (New${number}) >>`] as const),
      ...more,
    ]),
  );
}

test('many permitted changes never hide a forbidden one from the report', (t) => {
  const evil = stream('', 'BT /F1 12 Tf 20 100 Td (Pay 900) Tj ET');
  for (const pdf of [signed(contract()), certified(2), certified(3)]) {
    const honest = crowded(pdf, 60);
    t.deepEqual(verdicts(honest), [PASSED]);
    const content = [
      edited(pdf, PAGE, /\/Contents\s+\d+ 0 R/, `/Contents ${FREE} 0 R`),
      [FREE, evil],
    ] as const;
    const forged = crowded(pdf, 60, content);
    t.deepEqual(verdicts(forged), [FAILED]);
    t.regex(objections(forged).join(), /changed the content of page 1/);
    const annotated = [
      edited(pdf, PAGE, /(\/Annots\s*\[)/, `$1 ${FREE} 0 R `),
      [FREE, drawn('FreeText')],
      [FREE + 1, WHITE],
    ] as const;
    t.deepEqual(verdicts(crowded(pdf, 60, annotated)), [FAILED]);
    t.true(allowances(honest).includes('revision 3 has 10 more changes'), 'what is left out is counted');
  }
});

test('many permitted changes never hide a change of a locked field from the report', (t) => {
  const lock = '/F 4 /Lock << /Type /SigFieldLock /Action /Include /Fields [(Name)] >>';
  const pdf = signed(
    contract((objects) => objects.set(EMPTY_FIELD, (objects.get(EMPTY_FIELD) ?? '').replace('/F 4', lock))),
    { fieldName: 'Approval' },
  );
  t.deepEqual(verdicts(crowded(pdf, 60)), [PASSED]);
  const filling = [
    [TEXT_FIELD, textField('(y)', FREE)],
    [FREE, appearance('BT /F1 9 Tf 2 2 Td (y) Tj ET')],
  ] as const;
  t.deepEqual(verdicts(crowded(pdf, 60, filling)), [FAILED]);
});

test('of two comments that are changed on one page, the one that draws text counts', (t) => {
  const pdf = certified(3, (objects) => {
    for (const number of [40, 41])
      objects.set(number, drawn('Highlight').replace(`${FREE + 1} 0 R`, '42 0 R'));
    objects.set(42, YELLOW);
    objects.set(PAGE, (objects.get(PAGE) ?? '').replace('/Annots [', '/Annots [ 40 0 R 41 0 R '));
  });
  const said = (number: number) => edited(pdf, number, '/F 4', '/F 4 /Contents (seen)');
  const lettered = (number: number) => edited(pdf, number, '42 0 R', `${FREE} 0 R`);
  const letters = [FREE, appearance('BT /F1 9 Tf (900) Tj ET')] as const;
  t.deepEqual(verdicts(appendRevision(pdf, new Map([said(40), said(41)]))), [PASSED]);
  t.deepEqual(verdicts(appendRevision(pdf, new Map([lettered(40), said(41), letters]))), [FAILED]);
  t.deepEqual(verdicts(appendRevision(pdf, new Map([said(40), lettered(41), letters]))), [FAILED]);
});

test('of two widgets of one field that are filled in, the one that stays undecided counts', (t) => {
  const pdf = signed(
    contract((objects) => {
      const widget = textField('(x)', 31).replace(/\/FT \/Tx|\/T \(Name\)|\/V \(x\)/g, '');
      objects.set(TEXT_FIELD, '<< /FT /Tx /T (Name) /V (x) /DA (/F1 0 Tf) /Kids [40 0 R 41 0 R] >>');
      for (const number of [40, 41])
        objects.set(number, widget.replace('<<', `<< /Parent ${TEXT_FIELD} 0 R`));
      objects.set(PAGE, (objects.get(PAGE) ?? '').replace('7 0 R 30 0 R ]', '40 0 R 41 0 R 30 0 R ]'));
    }),
  );
  const filled = (first: number, second: number) => {
    const bytes = appendRevision(
      pdf,
      new Map([
        edited(pdf, TEXT_FIELD, '(x)', '(y)'),
        edited(pdf, 40, '31 0 R', `${first} 0 R`),
        edited(pdf, 41, '31 0 R', `${second} 0 R`),
        [FREE, appearance('BT /F1 9 Tf 2 2 Td (y) Tj ET')],
        [FREE + 1, appearance('BT /F1 9 Tf 2 90 Td (y) Tj ET')],
      ]),
    );
    return verdicts(bytes);
  };
  t.deepEqual(filled(FREE, FREE), [PASSED]);
  t.deepEqual(filled(FREE + 1, FREE), ['INDETERMINATE GENERIC']);
  t.deepEqual(filled(FREE, FREE + 1), ['INDETERMINATE GENERIC']);
});
