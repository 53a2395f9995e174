/** Warnings at signing: each file differs from the honest contract in one respect. */
import { existsSync } from 'node:fs';
import test from 'ava';
import { trySigning } from '#crypto/files/sign-file.js';
import { signPades } from '#crypto/pades/sign.js';
import { pki } from '../../pki/pki.ts';
import { appendRevision, documentObjects, stream, streamPdf } from '../pdf/build.ts';
import {
  appearance,
  CATALOG,
  CONTENT,
  contract,
  EMPTY_FIELD,
  FORM,
  FREE,
  hiddenLook,
  PAGE,
  reportOn,
  signed,
  TEXT_FIELD,
  textField,
} from './validation/attack-files.ts';
import { freshPath, put } from './validation/verdicts.ts';

const LOOK = 31;
const SCRIPT = '/S /JavaScript /JS (app.alert\\(1\\))';

type Change = (objects: Map<number, string>) => void;

const adds =
  (number: number, entries: string): Change =>
  (objects) =>
    objects.set(number, (objects.get(number) ?? '').replace(/<</, `<< ${entries}`));

/** Calls one after the other. */
const all =
  (...changes: readonly Change[]): Change =>
  (objects) => {
    for (const change of changes) change(objects);
  };

const replaces =
  (number: number, from: string | RegExp, to: string): Change =>
  (objects) =>
    objects.set(number, (objects.get(number) ?? '').replace(from, to));

const box = (value: string, state: string): Change =>
  all(
    (objects) => objects.set(FREE, appearance('0 0 5 5 re f')),
    (objects) =>
      objects.set(
        TEXT_FIELD,
        `<< /Type /Annot /Subtype /Widget /FT /Btn /T (Agreed) /V /${value} /AS /${state} /Rect [20 20 40 40] /F 4 /P 10 0 R /AP << /N << /Yes ${FREE} 0 R /Off ${LOOK} 0 R >> >> >>`,
      ),
  );
const text = (content: string, value = '(x)'): Change =>
  all(
    (objects) => objects.set(LOOK, appearance(content)),
    (objects) => objects.set(TEXT_FIELD, textField(value, LOOK)),
  );

const layers = (state: string, usage = ''): Change =>
  all(
    (objects) => objects.set(FREE + 1, `<< /Type /OCG /Name (Notes) ${usage} >>`),
    adds(CATALOG, `/OCProperties << /OCGs [${FREE + 1} 0 R] /D << ${state} >> >>`),
  );

/** Honest files; each stands beside the cases that differ from it. */
const HONEST: { readonly [name: string]: Change } = {
  'a filled form': () => {},
  'a signature field with a look': all(hiddenLook, replaces(EMPTY_FIELD, '/F 2', '/F 4')),
  'a hidden field without a look': replaces(EMPTY_FIELD, '/F 4', '/F 2'),
  'a hidden field whose look paints nothing': all(hiddenLook, (objects) =>
    objects.set(FREE, appearance('q Q')),
  ),
  'an empty field': text('/Tx BMC EMC', '()'),
  'a box that is ticked': box('Yes', 'Yes'),
  'a value in two lines': text('BT /F1 9 Tf 2 12 Td (Ana) Tj 0 -10 Td (Silva) Tj ET', '(Ana\\nSilva)'),
  'a number that an action formats': all(
    text('BT /F1 9 Tf 2 2 Td (1,250.00) Tj ET', '(1250)'),
    adds(TEXT_FIELD, '/AA << /F << /S /JavaScript /JS (AFNumber_Format\\(2, 0, 0, 0, "", true\\);) >> >>'),
  ),
  'layers that are seen': layers('/ON [151 0 R]', '/Usage << /Print << /PrintState /ON >> >>'),
  'no usage rights': adds(CATALOG, '/Perms << /UR3 null >>'),
  'a place to begin': adds(CATALOG, '/OpenAction [10 0 R /Fit]'),
  'a link': adds(PAGE, '/AA << /O << /S /URI /URI (https://example.com) >> >>'),
};

const WARNED: { readonly [name: string]: readonly [expected: string, change: Change] } = {
  'a hidden signature field with a look': ['pdf.hidden-look Approval', hiddenLook],
  'a field that is only printed': ['pdf.hidden-look Name', replaces(TEXT_FIELD, '/F 4', '/F 36')],
  'a look that shows another value': ['pdf.look-differs Name', text('BT /F1 9 Tf 2 2 Td (900) Tj ET')],
  'a look of an empty field': ['pdf.look-differs Name', text('BT /F1 9 Tf 2 2 Td (900) Tj ET', '()')],
  'a look that shows nothing of a value': ['pdf.look-differs Name', text('/Tx BMC EMC')],
  'a look in white': ['pdf.look-differs Name', text('1 g BT /F1 9 Tf 2 2 Td (x) Tj ET')],
  'a box that seems ticked': ['pdf.look-differs Agreed', box('Off', 'Yes')],
  'a box that seems open': ['pdf.look-differs Agreed', box('Yes', 'Off')],
  'a script of the document': [
    'pdf.script The document',
    adds(CATALOG, `/Names << /JavaScript << /Names [(a) << ${SCRIPT} >>] >> >>`),
  ],
  'a script in a branch of the names': [
    'pdf.script The document',
    all(
      (objects) => objects.set(FREE, `<< /Limits [(a) (a)] /Names [(a) << ${SCRIPT} >>] >>`),
      adds(CATALOG, `/Names << /JavaScript << /Kids [${FREE} 0 R] >> >>`),
    ),
  ],
  'a script when it is opened': ['pdf.script The document', adds(CATALOG, `/OpenAction << ${SCRIPT} >>`)],
  'a script after another action': [
    'pdf.script The document',
    adds(CATALOG, `/OpenAction << /S /GoTo /D [10 0 R /Fit] /Next [<< ${SCRIPT} >>] >>`),
  ],
  'a script before printing': ['pdf.script The document', adds(CATALOG, `/AA << /WP << ${SCRIPT} >> >>`)],
  'a script of a page': ['pdf.script The page 1', adds(PAGE, `/AA << /O << ${SCRIPT} >> >>`)],
  'a script of a field': ['pdf.script The field Name', adds(TEXT_FIELD, `/A << ${SCRIPT} >>`)],
  'a script in a stream': [
    'pdf.script The field Name',
    all(
      (objects) => objects.set(FREE, stream('', 'app.alert(1)')),
      adds(TEXT_FIELD, `/AA << /Fo << /S /JavaScript /JS ${FREE} 0 R >> >>`),
    ),
  ],
  'another script that formats': [
    'pdf.script The field Name',
    adds(TEXT_FIELD, '/AA << /F << /S /JavaScript /JS (AFNumber_Format\\(2\\); event.value = 1) >> >>'),
  ],
  'a computed value': [
    'pdf.script The field Name',
    adds(TEXT_FIELD, '/AA << /C << /S /JavaScript /JS (AFSimple_Calculate\\("SUM", "a"\\)) >> >>'),
  ],
  'a script of a bookmark': [
    'pdf.script The bookmark Terms',
    all(
      (objects) => objects.set(FREE, `<< /Title (Terms) /Parent ${FREE + 1} 0 R /A << ${SCRIPT} >> >>`),
      (objects) => objects.set(FREE + 1, `<< /First ${FREE} 0 R /Last ${FREE} 0 R /Count 1 >>`),
      adds(CATALOG, `/Outlines ${FREE + 1} 0 R`),
    ),
  ],
  'a form that is described twice': [
    'pdf.xfa The form',
    all(
      (objects) => objects.set(FREE, stream('', '<template/>')),
      adds(FORM, `/XFA [(template) ${FREE} 0 R]`),
    ),
  ],
  'a layer that is off': ['pdf.layer Notes', layers('/OFF [151 0 R]')],
  'layers that are off unless named': ['pdf.layer Notes', layers('/BaseState /OFF')],
  'a layer that is not printed': [
    'pdf.layer Notes',
    layers('', '/Usage << /Print << /PrintState /OFF >> >>'),
  ],
  'a layer that is only printed': ['pdf.layer Notes', layers('', '/Usage << /View << /ViewState /OFF >> >>')],
  'contents in another file': ['pdf.elsewhere page 1', adds(CONTENT, '/F (other.bin)')],
  'a reference to a page of another file': [
    'pdf.elsewhere page 1',
    all(
      (objects) => objects.set(FREE, appearance('').replace('<<', '<< /Ref << /F (other.pdf) /Page 0 >>')),
      replaces(PAGE, '/Resources <<', `/Resources << /XObject << /X ${FREE} 0 R >>`),
    ),
  ],
  'a look with a picture for a print shop': [
    'pdf.elsewhere page 1',
    replaces(LOOK, '<<', '<< /OPI << /2.0 << /F (big.tif) >> >>'),
  ],
  'usage rights of a reader': [
    'pdf.usage-rights The document',
    all(
      (objects) =>
        objects.set(FREE, '<< /Type /Sig /Filter /Adobe.PPKLite /Contents <00> /ByteRange [0 1 2 1] >>'),
      adds(CATALOG, `/Perms << /UR3 ${FREE} 0 R >>`),
    ),
  ],
  'a page that stands in the tree twice': [
    'pdf.pages page 3',
    (objects) => objects.set(2, '<< /Type /Pages /Count 3 /Kids [10 0 R 12 0 R 10 0 R] >>'),
  ],
  'more actions than are looked at': [
    'pdf.not-examined The file',
    adds(CATALOG, `/OpenAction << /S /GoTo /Next [${'<< >> '.repeat(20_000)}] >>`),
  ],
};

function warningsOf(change: Change): readonly string[] {
  const signed = signPades({
    format: 'Pades',
    input: put(contract(change)),
    output: freshPath('signed.pdf'),
    signer: pki().signer('p-256'),
    at: Date.now(),
  });
  return (signed.warnings ?? []).map(({ code, object }) => `${code} ${object}`);
}

for (const [name, [found, change]] of Object.entries(WARNED).filter(([, [one]]) => /elsewhere/.test(one)))
  test(`validation warns as signing does: ${found}, ${name}`, (t) => {
    const { indication, results } = reportOn(signed(contract(change)));
    t.is(indication, 'TOTAL-PASSED');
    t.deepEqual(
      results.warnings.map(({ type }) => type),
      ['pdf.elsewhere'],
    );
  });

for (const [name, change] of Object.entries(HONEST))
  test(`signing is silent about ${name}`, (t) => t.deepEqual(warningsOf(change), []));

test('signing warns of cross-references of both kinds, which some programs repair', (t) => {
  const mixed = appendRevision(streamPdf(documentObjects()), new Map([[CONTENT, stream('', 'BT ET')]]));
  const request = { input: put(mixed), output: freshPath('mixed.pdf') };
  const { warnings } = signPades({
    ...request,
    format: 'Pades',
    signer: pki().signer('p-256'),
    at: Date.now(),
  });
  t.deepEqual(
    warnings?.map(({ code, object }) => [code, object]),
    [['pdf.repair', 'The file']],
  );
});

for (const [name, [expected, change]] of Object.entries(WARNED))
  test(`signing warns of ${name}`, (t) => t.deepEqual(warningsOf(change), [expected]));

test('a trial gives the same warnings, in words, and at most five of a kind', (t) => {
  const names = Array.from({ length: 9 }, (_, index) => FREE + index);
  const input = put(
    contract(
      all(
        ...names.map(
          (number): Change =>
            (objects) =>
              objects.set(number, `<< /FT /Tx /T (Sum${number}) /AA << /C << ${SCRIPT} >> >> >>`),
        ),
        replaces(FORM, '7 0 R', `7 0 R ${names.map((number) => `${number} 0 R`).join(' ')}`),
      ),
    ),
  );
  const warnings = trySigning({ format: 'Pades', input, signer: pki().signer('p-256'), at: Date.now() });
  t.is(warnings.length, 5);
  t.is(warnings[0]?.message, 'The field Sum150 has JavaScript, which can change what is shown.');
});

test('letters that no font has are named with the package of fonts that has them', (t) => {
  const signed = (lines: readonly string[]) => {
    const form = {
      appearance: { page: 1, rectangle: { left: 20, bottom: 20, width: 100, height: 60 }, lines },
    };
    const request = { input: put(contract(() => {})), output: freshPath('letters.pdf'), pades: form };
    return signPades({ ...request, format: 'Pades', signer: pki().signer('p-256'), at: Date.now() }).warnings;
  };
  t.is(signed(['Zoë 张伟 محمد', 'e\u0301 \u{1f600}']), undefined);
  for (const [letter, code, name, font] of [
    ['த', 'U+0BA4', 'fonts-noto-core', 'noto/NotoSansTamil-Regular.ttf'],
    ['𠮷', 'U+20BB7', 'fonts-hanazono', 'hanazono/HanaMinB.ttf'],
    ['🦄', 'U+1F984', 'fonts-symbola', 'ancient-scripts/Symbola_hint.ttf'],
  ] as const) {
    const [warning] = signed([`Ana ${letter}`]) ?? [];
    // What a machine has installed is drawn.
    if (existsSync(`/usr/share/fonts/truetype/${font}`)) t.is(warning, undefined, letter);
    else t.like(warning, { code: 'pdf.no-glyph', object: `${letter} (${code})` }, letter);
    if (warning !== undefined) t.true(warning.message.includes(`The Debian package ${name} has them`));
  }
  const many = Array.from({ length: 40 }, (_, index) => String.fromCodePoint(0x10330 + index)).join('');
  t.deepEqual(
    (signed([many]) ?? []).map(({ object, message }) => [object.split(', ').length, /Debian/.test(message)]),
    [[10, false]],
  );
});
