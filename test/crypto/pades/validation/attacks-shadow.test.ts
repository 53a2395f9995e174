import test from 'ava';
import { pki } from '../../../pki/pki.ts';
import { pdfsig, withTools } from '../../../verifiers/index.ts';
import {
  appendRevision,
  classicPdf,
  documentObjects,
  objectStream,
  stream,
  streamPdf,
} from '../../pdf/build.ts';
import {
  allowances,
  appearance,
  bodyOf,
  CATALOG,
  CONTENT,
  contract,
  EMPTY_FIELD,
  edited,
  FONT,
  FREE,
  objections,
  PAGE,
  signed,
  TEXT_FIELD,
  textField,
  verdicts,
} from './attack-files.ts';
import { put } from './verdicts.ts';

const toolTest = withTools(test, 'pdfsig', 'certutil');

const FAILED = ['TOTAL-FAILED FORMAT_FAILURE'];

/** A revision with these objects after a signed file: the signature must fail for a reason that has these words. */
function rejects(
  t: {
    deepEqual: (actual: unknown, expected: unknown) => void;
    regex: (text: string, pattern: RegExp) => void;
  },
  pdf: Buffer,
  objects: readonly (readonly [number, string])[],
  reason: RegExp,
): void {
  const forged = appendRevision(pdf, new Map(objects));
  t.deepEqual(verdicts(forged), FAILED);
  t.regex(objections(forged).join('\n'), reason);
}

test('an untouched contract, and one with identical rewritten objects, pass as controls', (t) => {
  const pdf = signed(contract());
  t.deepEqual(verdicts(pdf), ['TOTAL-PASSED']);
  const again = [CATALOG, PAGE, CONTENT, FONT, TEXT_FIELD].map(
    (number) => [number, bodyOf(pdf, number)] as const,
  );
  const rewritten = appendRevision(pdf, new Map(again));
  t.deepEqual(verdicts(rewritten), ['TOTAL-PASSED']);
  t.deepEqual(objections(rewritten), []);
});

toolTest(
  'a page whose content a later revision exchanges fails its signature, although pdfsig calls it valid',
  async (t) => {
    const pdf = signed(contract());
    const content = stream('', 'BT /F1 12 Tf 20 100 Td (Pay 900) Tj ET');
    rejects(t, pdf, [[CONTENT, content]], /^revision 3 changed the content of page 1 \(object 11\)/m);
    const [verdict] = await pdfsig(put(appendRevision(pdf, new Map([[CONTENT, content]]))), pki());
    t.is(verdict?.signature, 'Signature is Valid.');
  },
);

test('hiding: an overlay that covered content at signing may not be removed', (t) => {
  const cover =
    '<< /Type /Annot /Subtype /Square /Rect [10 90 190 120] /IC [1 1 1] /F 4 /AP << /N 41 0 R >> >>';
  const covered = signed(
    contract((objects) => {
      objects.set(40, cover);
      objects.set(41, appearance('1 1 1 rg 0 0 70 20 re f'));
      objects.set(PAGE, (objects.get(PAGE) ?? '').replace('/Annots [', '/Annots [ 40 0 R '));
    }),
  );
  t.deepEqual(verdicts(covered), ['TOTAL-PASSED']);
  rejects(
    t,
    covered,
    [edited(covered, PAGE, '40 0 R', '')],
    /removed or reordered annotations \(Square\) of page 1/,
  );
  rejects(t, covered, [edited(covered, 40, '/F 4', '/F 2')], /changed an annotation \(Square\) of page 1/);
  rejects(t, covered, [[41, appearance('')]], /changed an annotation \(Square\) of page 1/);
  rejects(t, covered, [[40, 'null']], /changed an annotation \(Square\) of page 1/);
});

test('hiding: a picture or form drawn over the content may not be emptied, freed or retyped', (t) => {
  const covered = signed(
    contract((objects) => {
      objects.set(40, appearance('1 1 1 rg 0 0 70 20 re f'));
      objects.set(PAGE, (objects.get(PAGE) ?? '').replace('/Font <<', '/XObject << /X 40 0 R >> /Font <<'));
    }),
  );
  t.deepEqual(verdicts(covered), ['TOTAL-PASSED']);
  for (const body of [appearance(''), 'null', '<< /Type /Metadata /Subtype /XML >>']) {
    rejects(t, covered, [[40, body]], /changed the resources of page 1 \(object 40\)/);
  }
});

test('replacing: a field may show new text with its new value, and its appearance alone may not be replaced by that of other fields', (t) => {
  const pdf = signed(contract());
  const filled = appendRevision(
    pdf,
    new Map([
      [TEXT_FIELD, textField('(y)', FREE)],
      [FREE, appearance('BT /F1 9 Tf 2 2 Td (y) Tj ET')],
    ]),
  );
  t.deepEqual(verdicts(filled), ['TOTAL-PASSED']);
  t.deepEqual(allowances(filled), ['revision 3 filled in the field Name']);
  const moved = textField('(y)', 31).replace('[20 20 90 40]', '[0 0 200 200]');
  rejects(t, pdf, [[TEXT_FIELD, moved]], /changed \/Rect of the field Name/);
  rejects(
    t,
    pdf,
    [[TEXT_FIELD, textField('(y)', 31).replace('(Name)', '(Sum)')]],
    /changed \/T of the field Name/,
  );
  const acting = textField('(y)', 31).replace('/F 4', '/F 4 /AA << /F << /S /JavaScript /JS (x) >> >>');
  rejects(t, pdf, [[TEXT_FIELD, acting]], /changed \/AA of the field Name/);
});

test('replacing: a changed appearance under the same value fails, and so does a value with more than text', (t) => {
  const pdf = signed(contract());
  rejects(
    t,
    pdf,
    [
      [TEXT_FIELD, textField('(x)', FREE)],
      [FREE, appearance('BT /F1 9 Tf 2 2 Td (900) Tj ET')],
    ],
    /gave the field Name another look without another value/,
  );
  rejects(t, pdf, [[31, appearance('BT /F1 9 Tf 2 2 Td (900) Tj ET')]], /gave the field Name another look/);
  rejects(t, pdf, [[TEXT_FIELD, textField('<< /A 1 >>', 31)]], /gave the field Name an unusual value/);
});

test('replacing: a font that the signed pages use may not be exchanged', (t) => {
  const pdf = signed(contract());
  const other =
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding << /Differences [49 /nine] >> >>';
  rejects(t, pdf, [[FONT, other]], /changed the resources of page 1 \(object 3\)/);
});

test('switching: an unused object of the signed revision may not replace a used one', (t) => {
  const hidden = stream('', 'BT /F1 12 Tf 20 100 Td (Pay 900) Tj ET');
  const prepared = signed(
    contract((objects) => {
      objects.set(50, '<< /Type /Pages /Count 1 /Kids [51 0 R] >>');
      objects.set(
        51,
        (objects.get(PAGE) ?? '').replace('/Parent 2 0 R', '/Parent 50 0 R').replace('11 0 R', '52 0 R'),
      );
      objects.set(52, hidden);
    }),
  );
  t.deepEqual(verdicts(prepared), ['TOTAL-PASSED']);
  rejects(
    t,
    prepared,
    [edited(prepared, CATALOG, '/Pages 2 0 R', '/Pages 50 0 R')],
    /changed \/Pages in the catalogue/,
  );
  rejects(t, prepared, [edited(prepared, 2, '10 0 R', '51 0 R')], /changed the page tree/);
  rejects(
    t,
    prepared,
    [edited(prepared, PAGE, '/Contents 11 0 R', '/Contents 52 0 R')],
    /changed the content of page 1/,
  );
});

test('switching: a cross-reference from a used number to a hidden object is detected', (t) => {
  const pdf = signed(contract((objects) => objects.set(52, stream('', 'BT (Pay 900) Tj ET'))));
  const text = pdf.toString('latin1');
  const offset = text.indexOf('\n52 0 obj\n') + 1;
  const entry = `11 1\n${String(offset).padStart(10, '0')} 00000 n \n`;
  const empty = appendRevision(pdf, new Map()).toString('latin1');
  // The number in the object itself is not that of the entry: readers that don't mind show it.
  const forged = Buffer.from(
    empty.replace(/xref\n0 1\n0000000000 65535 f \n(?=trailer)(?!.*xref\n0 1)/s, (head) => head + entry),
    'latin1',
  );
  t.not(forged.length, empty.length);
  t.deepEqual(verdicts(forged), FAILED);
});

test('a later definition of an object that the signed pages refer to fails, wherever it is hidden', (t) => {
  const dangling = signed(
    contract((objects) => {
      objects.set(PAGE, (objects.get(PAGE) ?? '').replace('/Contents 11 0 R', '/Contents [11 0 R 60 0 R]'));
    }),
  );
  t.deepEqual(verdicts(dangling), ['TOTAL-PASSED']);
  rejects(
    t,
    dangling,
    [[60, stream('', 'BT /F1 12 Tf 20 100 Td (900) Tj ET')]],
    /added object 60, which the content of page 1 already pointed to/,
  );
  // As the look of a harmless filled-in field it is still the content of the page.
  rejects(
    t,
    dangling,
    [
      [TEXT_FIELD, textField('(y)', 60)],
      [60, appearance('BT /F1 9 Tf 2 2 Td (y) Tj ET')],
    ],
    /added object 60/,
  );
});

test('a reference in a spelling that only some readers accept is followed', (t) => {
  for (const spelt of ['60 %\n0 R', '60 0 %x\nR', '+60 0 R', '0060 0 R']) {
    const pdf = signed(
      contract((objects) => {
        objects.set(
          PAGE,
          (objects.get(PAGE) ?? '').replace('/Contents 11 0 R', `/Contents [11 0 R ${spelt}]`),
        );
      }),
    );
    rejects(t, pdf, [[60, stream('', 'BT (900) Tj ET')]], /added object 60/);
  }
});

test('an object stream may not be overwritten below its objects', (t) => {
  const objects = documentObjects({ pages: 1, text: 'Pay 100' });
  const pdf = signed(streamPdf(objects));
  t.deepEqual(verdicts(pdf), ['TOTAL-PASSED']);
  const container = Math.max(...objects.keys()) + 1;
  const packed = [...objects].filter(([, body]) => !body.includes('endstream'));
  const swapped = packed.map(
    ([number, body]) => [number, body.replace('/BaseFont /Helvetica', '/BaseFont /Courier')] as const,
  );
  rejects(
    t,
    pdf,
    [[container, objectStream(new Map(swapped))]],
    /changed the resources of page 1 \(object 3\)/,
  );
});

test('an object with an offset behind the signed bytes may not be supplied later', (t) => {
  const make = (place: number): Buffer => {
    const plain = contract((objects) => {
      objects.set(60, stream('', 'q Q'));
      objects.set(PAGE, (objects.get(PAGE) ?? '').replace('/Contents 11 0 R', '/Contents [11 0 R 60 0 R]'));
    }).toString('latin1');
    return Buffer.from(plain.replace(/(60 1\n)\d{10}/, `$1${String(place).padStart(10, '0')}`), 'latin1');
  };
  const end = signed(make(0)).length;
  const pdf = signed(make(end));
  t.is(pdf.length, end);
  const body = stream('', 'BT /F1 12 Tf 20 100 Td (900) Tj ET');
  const forged = appendRevision(pdf, new Map([[60, body]]));
  t.is(forged.indexOf('60 0 obj', end), end);
  t.deepEqual(verdicts(forged), FAILED);
  // Even when the new cross-reference does not mention it.
  const added = forged.toString('latin1', end).replace(/\n60 1\n\d{10} 00000 n /, '');
  t.deepEqual(verdicts(Buffer.concat([pdf, Buffer.from(added, 'latin1')])), FAILED);
});

test('a page may not be added, removed, rotated or resized', (t) => {
  const pdf = signed(contract());
  const page = bodyOf(pdf, PAGE);
  rejects(t, pdf, [edited(pdf, 2, '[10 0 R', `[${FREE} 0 R 10 0 R`), [FREE, page]], /changed the page tree/);
  rejects(t, pdf, [edited(pdf, 2, '12 0 R', '')], /changed the page tree/);
  rejects(t, pdf, [edited(pdf, PAGE, '/MediaBox', '/Rotate 90 /MediaBox')], /changed \/Rotate of page 1/);
  rejects(t, pdf, [edited(pdf, PAGE, '200 200', '200 100')], /changed \/MediaBox of page 1/);
  rejects(t, pdf, [[12, 'null']], /removed page 2/);
});

test('the catalogue may not get actions, names or layers', (t) => {
  const pdf = signed(contract());
  for (const entry of [
    '/OpenAction << /S /JavaScript /JS (app.alert\\(1\\)) >>',
    '/AA << /WC << /S /JavaScript /JS (x) >> >>',
    '/Names << /JavaScript << /Names [] >> >>',
    '/OCProperties << /OCGs [] /D << >> >>',
    '/Outlines 2 0 R',
    '/Perms << /DocMDP 7 0 R >>',
  ]) {
    const key = entry.split(' ')[0]?.slice(1);
    rejects(
      t,
      pdf,
      [edited(pdf, CATALOG, '/Pages', `${entry} /Pages`)],
      new RegExp(`changed /${key} in the catalogue`),
    );
  }
});

test('document information, XMP metadata and the version may change', (t) => {
  const pdf = signed(contract());
  const changed = appendRevision(
    pdf,
    new Map([
      edited(pdf, CATALOG, '/Pages', `/Version /1.7 /Metadata ${FREE + 1} 0 R /Pages`),
      [FREE, '<< /Producer (someone) /ModDate (D:20260101) >>'],
      [FREE + 1, stream('/Type /Metadata /Subtype /XML', '<x/>')],
    ]),
    `/Info ${FREE} 0 R`,
  );
  t.deepEqual(verdicts(changed), ['TOTAL-PASSED']);
  t.is(allowances(changed).length, 3);
});

test('a form may not lose fields, request new appearances, or get fields other than signature fields', (t) => {
  const pdf = signed(contract());
  rejects(t, pdf, [edited(pdf, 4, '7 0 R', '')], /removed fields from the form/);
  rejects(t, pdf, [edited(pdf, 4, '/DA', '/NeedAppearances true /DA')], /draw all fields anew/);
  rejects(t, pdf, [edited(pdf, 4, '/DA', '/XFA [] /DA')], /changed \/XFA of the form/);
  rejects(
    t,
    pdf,
    [edited(pdf, 4, '7 0 R', `7 0 R ${FREE} 0 R`), [FREE, '<< /FT /Tx /T (New) /V (z) >>']],
    /added the form field New, which is for no signature/,
  );
  rejects(t, pdf, [[EMPTY_FIELD, 'null']], /removed the field Approval/);
});

test('a page changed before the second signature fails the first alone, and one changed after it fails both', (t) => {
  const pdf = signed(contract());
  const forged = appendRevision(pdf, new Map([[CONTENT, stream('', 'BT (900) Tj ET')]]));
  // Whoever signs the forged state vouches for it as it is.
  t.deepEqual(verdicts(signed(forged)), ['TOTAL-FAILED FORMAT_FAILURE', 'TOTAL-PASSED']);
  const twice = signed(signed(contract()));
  t.deepEqual(verdicts(twice), ['TOTAL-PASSED', 'TOTAL-PASSED']);
  t.deepEqual(verdicts(appendRevision(twice, new Map([[CONTENT, stream('', 'BT (900) Tj ET')]]))), [
    'TOTAL-FAILED FORMAT_FAILURE',
    'TOTAL-FAILED FORMAT_FAILURE',
  ]);
});

test('an object that is both the content of a page and part of a permitted change may not change', (t) => {
  const both = signed(
    classicPdf(
      new Map([
        ...documentObjects({ pages: 1, catalog: '/DSS << /Type /DSS /Certs 70 0 R >>' }),
        [70, '[ 11 0 R ]'],
        [
          10,
          '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 200 200] /Resources << /Font << /F1 3 0 R >> >> /Contents 70 0 R >>',
        ],
      ]),
    ),
  );
  t.deepEqual(verdicts(both), ['TOTAL-PASSED']);
  rejects(
    t,
    both,
    [
      [70, `[ 11 0 R ${FREE} 0 R ]`],
      [FREE, stream('', 'BT /F1 12 Tf 20 60 Td (900) Tj ET')],
    ],
    /changed the content of page 1 \(object 70\)/,
  );
});
