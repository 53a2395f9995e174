import { readFileSync } from 'node:fs';
import test from 'ava';
import type { CryptoError, PadesFormat, Signer } from '#crypto/core/types.js';
import { validateFile } from '#crypto/files/validate-file.js';
import { signPades } from '#crypto/pades/sign.js';
import { pki } from '../../pki/pki.ts';
import { withTools } from '../../verifiers/index.ts';
import { classicPdf, documentObjects, streamPdf } from '../pdf/build.ts';
import { inspect } from './inspect.ts';
import { accepted, freshPath, judge, put, type Signed, sign } from './validation/verdicts.ts';

const TOOLS = ['pdfsig', 'certutil', 'mutool', 'qpdf', 'openssl'] as const;

const toolTest = withTools(test, ...TOOLS);
const signer = () => pki().signer('p-256');
/** pdfsig trusts a certificate only the first time it sees it in a document, so a second signature has another. */
const second = () => pki().signer('p-384');

function signWith(
  input: string,
  pades: PadesFormat,
  more: { readonly digest?: 'sha512'; readonly signer?: Signer } = {},
): Signed {
  const output = freshPath('signed.pdf');
  const request = { format: 'Pades', input, output, signer: signer(), at: Date.now(), pades } as const;
  return { input, output, result: signPades({ ...request, ...more }) };
}

/** Code and message of the refusal; empty when it was signed. */
function refusal(
  input: string,
  pades: PadesFormat,
  more: { readonly digest?: 'sha512' } = {},
): { readonly code: string; readonly message: string } {
  try {
    signWith(input, pades, more);
    return { code: '', message: '' };
  } catch (error) {
    const { code, message } = error as CryptoError;
    return { code, message };
  }
}

/** A form with these fields, numbered from 40 on; those on the page are listed there too. */
function formWith(
  fields: readonly string[],
  listed: readonly number[],
  options: { readonly packed?: boolean; readonly formText?: string } = {},
): Buffer {
  const objects = documentObjects({
    form: 'indirect',
    annots: 'direct',
    ...(options.formText === undefined ? {} : { formText: options.formText }),
  });
  const references = listed.map((number) => `${number} 0 R`).join(' ');
  objects.set(4, (objects.get(4) ?? '').replace('[7 0 R]', `[7 0 R ${references}]`));
  for (const [index, body] of fields.entries()) objects.set(40 + index, body);
  const widgets = fields.flatMap((body, index) => (body.includes('/Widget') ? [`${40 + index} 0 R`] : []));
  objects.set(10, (objects.get(10) ?? '').replace('/Annots [', `/Annots [ ${widgets.join(' ')} `));
  return options.packed === true ? streamPdf(objects) : classicPdf(objects);
}

const WIDGET = '/Type /Annot /Subtype /Widget /Rect [100 100 180 140] /F 4 /P 10 0 R';
const emptyField = (name: string, more = ''): string => `<< ${WIDGET} /FT /Sig /T (${name}) ${more} >>`;

toolTest('reason, location and contact are signed as given, in any script', async (t) => {
  const words: readonly PadesFormat[] = [
    { reason: 'I agree (twice) \\ or not', location: 'Here', contactInfo: 'me@example.org' },
    { reason: 'Überprüft ✓ 契約 🖋', location: 'Zürich', contactInfo: '' },
  ];
  for (const pades of words) {
    const signed = signWith(put(classicPdf(documentObjects())), pades);
    t.true(judge(signed, signer()).ok);
    await accepted(t, signed);
    const file = await inspect(signed.output);
    const [field] = file.fields;
    const value = file.dict(file.dict(field?.object)['/V']);
    t.is(value['/Reason'], `u:${pades.reason}`);
    t.is(value['/Location'], `u:${pades.location}`);
    t.is(value['/ContactInfo'], `u:${pades.contactInfo}`);
  }
  const plain = signWith(put(classicPdf(documentObjects())), {});
  t.notRegex(readFileSync(plain.output, 'latin1'), /\/Reason|\/Location|\/ContactInfo/);
});

test('the byte range and the signature precede every string of the signature dictionary', (t) => {
  const signed = signWith(put(classicPdf(documentObjects())), { reason: 'x', location: 'y' });
  const text = readFileSync(signed.output, 'latin1');
  const start = text.lastIndexOf('/Type/Sig/');
  const place = (key: string) => text.indexOf(key, start);
  t.true(place('/ByteRange[') > start);
  t.true(place('/ByteRange[') < place('/Contents <'));
  for (const key of ['/M(', '/Reason(', '/Location(']) t.true(place('/Contents <') < place(key), key);
});

const emptyFields: Readonly<Record<string, Buffer>> = {
  'that is its own widget': formWith([emptyField('Sign here')], [40]),
  'in an object stream': formWith([emptyField('Sign here')], [40], { packed: true }),
  'whose value is null': formWith([emptyField('Sign here', '/V null')], [40]),
  'with a widget as its kid': formWith(
    ['<< /FT /Sig /T (Sign here) /Kids [41 0 R] >>', `<< ${WIDGET} /Parent 40 0 R >>`],
    [40],
  ),
  'named in UTF-16': formWith(
    [`<< ${WIDGET} /FT /Sig /T <feff005300690067006e00200068006500720065> >>`],
    [40],
  ),
};

for (const [kind, pdf] of Object.entries(emptyFields)) {
  toolTest(
    `an empty signature field ${kind} is signed in its place, and every verifier agrees`,
    async (t) => {
      const signed = signWith(put(pdf), { fieldName: 'Sign here' });
      const report = judge(signed, signer());
      t.true(report.ok, JSON.stringify(report.checks.filter(({ ok }) => !ok)));
      await accepted(t, signed);
      const before = await inspect(signed.input);
      const after = await inspect(signed.output);
      t.deepEqual(
        after.fields.map(({ name }) => name),
        before.fields.map(({ name }) => name),
      );
      const annotations = (file: typeof before) => file.array(file.dict(file.pages[0])['/Annots']);
      t.deepEqual(annotations(after), annotations(before));
      const widget = annotations(after).find((one) => after.dict(one)['/Subtype'] === '/Widget');
      t.deepEqual(after.dict(widget)['/Rect'], [100, 100, 180, 140]);
      t.is(after.dict(after.catalog['/AcroForm'])['/SigFlags'], 3);
    },
  );
}

toolTest('an empty signature field without a widget gets one without extent', async (t) => {
  const signed = signWith(put(formWith(['<< /FT /Sig /T (bare) >>'], [40])), { fieldName: 'bare' });
  t.true(judge(signed, signer()).ok);
  await accepted(t, signed);
  const file = await inspect(signed.output);
  const field = file.dict('40 0 R');
  t.deepEqual(field['/Rect'], [0, 0, 0, 0]);
  t.is(field['/P'], file.pages[0]);
  t.true(file.array(file.dict(file.pages[0])['/Annots']).includes('40 0 R'));
  t.is(field['/AP'], undefined);
});

/** Returns our validation of each signature, oldest first. */
async function indications(path: string): Promise<readonly string[]> {
  const trust = { anchors: [pki().root.certificate], intermediates: [], revocation: 'none' } as const;
  const { signatures } = await validateFile({ format: 'Pades', path, trust, at: Date.now() });
  return signatures.map(({ indication }) => indication);
}

toolTest('a signature field without a widget stays without one below an earlier signature', async (t) => {
  const once = signWith(put(formWith(['<< /FT /Sig /T (bare) >>'], [40])), { certification: 2 });
  const twice = signWith(once.output, { fieldName: 'bare' }, { signer: second() });
  t.true(judge(twice, second()).ok);
  t.deepEqual(await indications(twice.output), ['TOTAL-PASSED', 'TOTAL-PASSED']);
  await accepted(t, twice, 2, { mutool: false });
});

test('new fields of every form leave an earlier certification valid', async (t) => {
  const kid = ['<< /FT /Sig /T (kid) /Kids [41 0 R] >>', `<< ${WIDGET} /Parent 40 0 R >>`];
  const group = ['<< /T (group) /Kids [43 0 R] >>', emptyField('one', '/Parent 42 0 R')];
  let path = signWith(put(formWith([...kid, ...group], [40, 42])), { certification: 2 }).output;
  const names = ['kid', 'group.one', 'group.two', 'group.deep.er', 'a.b.c'];
  for (const fieldName of names) path = signWith(path, { fieldName }).output;
  t.deepEqual(
    await indications(path),
    ['', ...names].map(() => 'TOTAL-PASSED'),
  );
});

toolTest('a field below others is found by its full name and signed', async (t) => {
  const fields = [
    '<< /T (contract) /Kids [41 0 R 42 0 R] >>',
    `<< ${WIDGET} /FT /Sig /T (buyer) /Parent 40 0 R >>`,
    `<< ${WIDGET} /FT /Sig /T (seller) /Parent 40 0 R >>`,
  ];
  const once = signWith(put(formWith(fields, [40])), { fieldName: 'contract.seller' });
  const twice = signWith(once.output, { fieldName: 'contract.buyer' }, { signer: second() });
  const report = judge(twice, second());
  t.true(report.ok, JSON.stringify(report.checks.filter(({ ok }) => !ok)));
  t.is(report.signatures, 2);
  await accepted(t, twice, 2);
  const file = await inspect(once.output);
  t.not(file.dict('42 0 R')['/V'], undefined);
  t.is(file.dict('41 0 R')['/V'], undefined);
});

toolTest('a missing field is created under its name, with its parent fields', async (t) => {
  const fields = ['<< /T (contract) /Kids [41 0 R] >>', '<< /FT /Tx /T (text) /Parent 40 0 R >>'];
  const input = put(formWith(fields, [40]));
  for (const name of ['Genehmigt – Ärztin', 'a.b.c', 'contract.deep.er', 'contract.seller']) {
    const signed = signWith(input, { fieldName: name });
    t.true(judge(signed, signer()).ok, name);
    await accepted(t, signed);
    const file = await inspect(signed.output);
    t.deepEqual(
      file.fields.filter(({ type }) => type === '/Sig').map((field) => field.name),
      [name],
    );
    const twice = signWith(signed.output, { fieldName: `${name}2` }, { signer: second() });
    t.true(judge(twice, second()).ok, name);
    await accepted(t, twice, 2);
  }
});

test('existing and invalid names are refused', (t) => {
  const fields = [
    emptyField('done', '/V 41 0 R'),
    '<< /Type /Sig /SubFilter /ETSI.RFC3161 >>',
    '<< /T (group) /Kids [43 0 R] >>',
    '<< /FT /Tx /T (text) /Parent 42 0 R >>',
    '<< /FT /Tx /T (line) >>',
    '<< /FT /Sig /T (parent) /Kids [46 0 R] >>',
    '<< /FT /Sig /T (kid) /Parent 45 0 R >>',
  ];
  const input = put(formWith(fields, [40, 42, 44, 45]));
  const names = [
    'done',
    'group',
    'group.text',
    'line',
    'line.below',
    'parent',
    'done.below',
    '',
    '.',
    'a..b',
  ];
  for (const name of names) t.is(refusal(input, { fieldName: name }).code, 'request.invalid', name);
  const direct = formWith([], []).toString('latin1').replace('[7 0 R ]', '[<</FT/Sig/T(d)>>]');
  t.regex(refusal(put(Buffer.from(direct, 'latin1')), { fieldName: 'd' }).message, /not an object/);
  t.is(refusal(input, { fieldName: 'parent.kid' }).code, '');
});

test('a field is signed beside fields whose names begin with its name', async (t) => {
  const names = ['Sig1', 'Sig10', 'Sig1x', 'a.b', 'a.bc'];
  const input = put(formWith([emptyField('Sig1'), emptyField('Sig10'), emptyField('Sig1x')], [40, 41, 42]));
  for (const fieldName of names) {
    const signed = signWith(input, { fieldName });
    const [field] = (await inspect(signed.output)).fields.filter(({ name }) => name === fieldName);
    t.not(field, undefined, fieldName);
    t.true(judge(signed, signer()).ok, fieldName);
  }
  t.regex(refusal(input, { fieldName: 'Sig1.below' }).message, /has no fields below it/);
});

test('the requirements of a seed value are met, or the field is not signed', (t) => {
  const seeds: readonly (readonly [
    seed: string,
    kept: boolean,
    pades?: PadesFormat,
    more?: { readonly digest?: 'sha512' },
  ])[] = [
    ['/Ff 1 /Filter /Adobe.PPKLite', true],
    ['/Ff 1 /Filter /Other.Handler', false],
    ['/Filter /Other.Handler', true],
    ['/Ff 2 /SubFilter [/adbe.pkcs7.detached /ETSI.CAdES.detached]', true],
    ['/Ff 2 /SubFilter [/adbe.pkcs7.detached]', false],
    ['/SubFilter [/adbe.pkcs7.detached]', true],
    ['/Ff 4 /V 2.0', true],
    ['/Ff 4 /V 9', false],
    ['/Ff 64 /DigestMethod [(SHA256) (SHA512)]', true],
    ['/Ff 64 /DigestMethod [(SHA512)]', false],
    ['/Ff 64 /DigestMethod [/SHA-512]', true, {}, { digest: 'sha512' }],
    ['/Ff 8 /Reasons [(I agree) (I wrote it)]', true, { reason: 'I wrote it' }],
    ['/Ff 8 /Reasons [(I agree)]', false, { reason: 'I wrote it' }],
    ['/Ff 8 /Reasons [(I agree)]', false],
    ['/Reasons [(I agree)]', true, { reason: 'I wrote it' }],
    ['/Ff 8 /Reasons [(.)]', true],
    ['/Ff 8 /Reasons [(.)]', false, { reason: 'I agree' }],
    ['/Ff 8', false, { reason: 'I agree' }],
    ['/Ff 16 /LegalAttestation [(Fine)]', false],
    ['/Ff 32 /AddRevInfo true', false],
    ['/Ff 32 /AddRevInfo false', true],
    ['/Ff 128 /LockDocument /true', false],
    ['/Ff 128 /LockDocument /auto', true],
    ['/Ff 256 /AppearanceFilter (Corporate)', false],
    ['/MDP << /P 0 >>', true],
    ['/MDP << /P 0 >>', false, { certification: 2 }],
    ['/MDP << /P 2 >>', true, { certification: 2 }],
    ['/MDP << /P 2 >>', false, { certification: 3 }],
    ['/MDP << /P 2 >>', false],
    ['/TimeStamp << /URL (http://x) /Ff 1 >>', false],
    ['/TimeStamp << /URL (http://x) >>', true],
    [`/Cert << /Ff 1 /Subject [<${signer().certificate.toString('hex')}>] >>`, true],
    [`/Cert << /Ff 1 /Subject [<${pki().issuing.certificate.toString('hex')}>] >>`, false],
    [`/Cert << /Ff 2 /Issuer [<${pki().issuing.certificate.toString('hex')}>] >>`, true],
    [`/Cert << /Ff 2 /Issuer [<${pki().otherRoot.certificate.toString('hex')}>] >>`, false],
    ['/Cert << /Ff 64 /URL (http://x) >>', true],
    ['/Cert << /Ff 32 /KeyUsage [(1)] >>', false],
  ];
  for (const [seed, kept, pades = {}, more] of seeds) {
    const input = put(formWith([emptyField('s', `/SV << /Type /SV ${seed} >>`)], [40]));
    const { code, message } = refusal(input, { ...pades, fieldName: 's' }, more);
    t.is(code, kept ? '' : 'request.invalid', `${seed} ${JSON.stringify(pades)}: ${message}`);
  }
});

toolTest(
  'the lock of a field becomes a FieldMDP transform, and the locked fields are not signed later',
  async (t) => {
    const locks = {
      All: { text: '', open: [] as string[], newFields: true },
      Include: { text: '/Fields [(two) (group)]', open: ['three'], newFields: true },
      Exclude: { text: '/Fields [(two) (group)]', open: ['two', 'group.four'], newFields: true },
    } as const;
    for (const [action, { text, open, newFields }] of Object.entries(locks)) {
      const lock = `/Lock << /Type /SigFieldLock /Action /${action} ${text} >>`;
      const fields = [
        emptyField('one', lock),
        emptyField('two'),
        emptyField('three'),
        '<< /T (group) /Kids [44 0 R] >>',
        emptyField('four', '/Parent 43 0 R'),
      ];
      const once = signWith(put(formWith(fields, [40, 41, 42, 43])), { fieldName: 'one' });
      t.true(judge(once, signer()).ok);
      for (const name of ['two', 'three', 'group.four']) {
        const expected = (open as readonly string[]).includes(name) ? '' : 'pdf.change-forbidden';
        t.is(refusal(once.output, { fieldName: name }).code, expected, `${action} ${name}`);
      }
      t.is(refusal(once.output, {}).code, newFields ? '' : 'pdf.change-forbidden');
      if (action === 'Include') {
        t.is(refusal(once.output, { fieldName: 'group.five' }).code, 'pdf.change-forbidden');
      }
      await accepted(t, once);
      const file = await inspect(once.output);
      const [reference] = file.array(file.dict(file.dict('40 0 R')['/V'])['/Reference']);
      t.is(file.dict(reference)['/TransformMethod'], '/FieldMDP');
      t.like(file.dict(file.dict(reference)['/TransformParams']), {
        '/Action': `/${action}`,
        '/V': '/1.2',
        ...(action === 'All' ? {} : { '/Fields': ['u:two', 'u:group'] }),
      });
      if (open[0] !== undefined) {
        await accepted(t, signWith(once.output, { fieldName: open[0] }, { signer: second() }), 2);
      }
    }
  },
);

test('a signed field whose lock allows no change closes the document', (t) => {
  const lock = (permission: number) => `/Lock << /Type /SigFieldLock /Action /All /P ${permission} >>`;
  const closed = signWith(put(formWith([emptyField('one', lock(1)), emptyField('two')], [40, 41])), {
    fieldName: 'one',
  });
  t.is(refusal(closed.output, {}).code, 'pdf.change-forbidden');
  t.is(refusal(closed.output, { fieldName: 'two' }).code, 'pdf.change-forbidden');
  const open = signWith(put(formWith([emptyField('one', lock(2)), emptyField('two')], [40, 41])), {
    fieldName: 'one',
  });
  t.is(refusal(open.output, {}).code, '');
});

toolTest('a signed field keeps its signature when another field is signed', async (t) => {
  const input = put(formWith([emptyField('one'), emptyField('two'), emptyField('three')], [40, 41, 42]));
  const first = signWith(input, { fieldName: 'two' });
  const then = signWith(first.output, { fieldName: 'one' }, { signer: second() });
  const third = sign(then.output);
  t.true(judge(third).ok);
  await accepted(t, third, 3);
  t.is(refusal(third.output, { fieldName: 'two' }).code, 'request.invalid');
});
