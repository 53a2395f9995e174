import { existsSync } from 'node:fs';
import test from 'ava';
import type { CryptoError, PadesFormat, Signer } from '#crypto/core/types.js';
import { signPades } from '#crypto/pades/sign.js';
import { pki } from '../../pki/pki.ts';
import { withTools } from '../../verifiers/index.ts';
import { classicPdf, documentObjects, streamPdf } from '../pdf/build.ts';
import { inspect } from './inspect.ts';
import { accepted, freshPath, judge, put, type Signed } from './validation/verdicts.ts';

const TOOLS = ['pdfsig', 'certutil', 'mutool', 'qpdf', 'openssl'] as const;

const toolTest = withTools(test, ...TOOLS);
const signer = () => pki().signer('p-256');

function signWith(input: string, pades: PadesFormat, by: Signer = signer()): Signed {
  const output = freshPath('signed.pdf');
  const request = { format: 'Pades', input, output, signer: by, at: Date.now(), pades } as const;
  return { input, output, result: signPades(request) };
}

function codeOf(input: string, pades: PadesFormat): string {
  const output = freshPath('refused.pdf');
  try {
    signPades({ format: 'Pades', input, output, signer: signer(), at: Date.now(), pades });
    return '';
  } catch (error) {
    if (existsSync(output)) throw new Error('a refused signing left its output');
    return (error as CryptoError).code;
  }
}

for (const permission of [1, 2, 3] as const) {
  toolTest(
    `a certification with permission ${permission} is recorded in signature and catalogue`,
    async (t) => {
      for (const pdf of [classicPdf(documentObjects()), streamPdf(documentObjects({ form: 'direct' }))]) {
        const signed = signWith(put(pdf), { certification: permission });
        t.true(judge(signed, signer()).ok);
        await accepted(t, signed);
        const file = await inspect(signed.output);
        const named = file.dict(file.catalog['/Perms'])['/DocMDP'];
        const field = file.fields.find(({ type }) => type === '/Sig');
        t.is(named, file.dict(field?.object)['/V']);
        const [reference, ...more] = file.array(file.dict(named)['/Reference']);
        t.is(more.length, 0);
        t.is(file.dict(reference)['/TransformMethod'], '/DocMDP');
        t.like(file.dict(file.dict(reference)['/TransformParams']), { '/P': permission, '/V': '/1.2' });
      }
    },
  );
}

toolTest('a certified document that forbids changes is not signed again, and others are', async (t) => {
  for (const [permission, code] of [
    [1, 'pdf.change-forbidden'],
    [2, ''],
    [3, ''],
  ] as const) {
    const certified = signWith(put(classicPdf(documentObjects())), { certification: permission });
    t.is(codeOf(certified.output, {}), code);
    if (code !== '') continue;
    const other = pki().signer('p-384');
    const twice = signWith(certified.output, { reason: 'also me' }, other);
    t.true(judge(twice, other).ok);
    await accepted(t, twice, 2);
  }
});

test('only the first signature can certify', (t) => {
  const signed = signWith(put(classicPdf(documentObjects())), {});
  t.is(codeOf(signed.output, { certification: 2 }), 'pdf.change-forbidden');
  const certified = signWith(put(classicPdf(documentObjects())), { certification: 2 });
  t.is(codeOf(certified.output, { certification: 2 }), 'pdf.change-forbidden');
  const objects = documentObjects({ form: 'indirect', fields: 'indirect' });
  objects.set(7, '<< /FT /Sig /T (quiet) /V 40 0 R >>');
  objects.set(40, '<< /Type /Sig /SubFilter /ETSI.RFC3161 >>');
  // No /SigFlags say that there is a signature here.
  t.is(codeOf(put(classicPdf(objects)), { certification: 2 }), 'pdf.change-forbidden');
});

toolTest('a certification in a field with a lock carries both transforms', async (t) => {
  const objects = documentObjects({ form: 'indirect', fields: 'indirect', annots: 'direct' });
  const lock = '/Lock << /Type /SigFieldLock /Action /Include /Fields [(x)] >>';
  const widget = '/Type /Annot /Subtype /Widget /Rect [10 10 60 40] /F 4 /P 10 0 R';
  objects.set(7, `<< ${widget} /FT /Sig /T (author) ${lock} >>`);
  const signed = signWith(put(classicPdf(objects)), { fieldName: 'author', certification: 2 });
  await accepted(t, signed);
  const file = await inspect(signed.output);
  const references = file.array(file.dict(file.dict('7 0 R')['/V'])['/Reference']);
  t.deepEqual(
    references.map((one) => file.dict(one)['/TransformMethod']),
    ['/DocMDP', '/FieldMDP'],
  );
});

toolTest('other permissions in the catalogue are kept beside the certification', async (t) => {
  for (const [catalog, more] of [
    ['/Perms << /UR3 40 0 R >>', undefined],
    ['/Perms 41 0 R', '<< /UR3 40 0 R >>'],
  ] as const) {
    const objects = documentObjects({ catalog });
    objects.set(40, '<< /Type /Other >>');
    if (more !== undefined) objects.set(41, more);
    const signed = signWith(put(classicPdf(objects)), { certification: 3 });
    await accepted(t, signed);
    const file = await inspect(signed.output);
    t.deepEqual(Object.keys(file.dict(file.catalog['/Perms'])).sort(), ['/DocMDP', '/UR3']);
  }
});
