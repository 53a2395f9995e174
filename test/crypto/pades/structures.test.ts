import { readFileSync } from 'node:fs';
import ava from 'ava';
import { pki } from '../../pki/pki.ts';
import { runTool, withTools } from '../../verifiers/index.ts';
import { appendRevision, classicPdf, type DocumentShape, documentObjects, streamPdf } from '../pdf/build.ts';
import { accepted, freshPath, judge, put, sign } from './validation/verdicts.ts';

const TOOLS = ['pdfsig', 'certutil', 'mutool', 'qpdf', 'openssl'] as const;

const test = withTools(ava, ...TOOLS, 'qpdf', 'mutool', 'openssl');

/** Those that the corpus (`../pdf/corpus.ts`) has not: its files take two signatures in `corpus/`. */
const files: Readonly<Record<string, () => Buffer>> = {
  'with an unpredicted cross-reference stream': () => streamPdf(documentObjects(), { predictor: 1 }),
  'with a cross-reference stream under the TIFF predictor': () =>
    streamPdf(documentObjects(), { predictor: 2 }),
  'with a cross-reference stream under changing PNG filters': () =>
    streamPdf(documentObjects(), { predictor: 15 }),
  'with three revisions': () => {
    const first = classicPdf(documentObjects({ text: 'first' }));
    const second = appendRevision(
      first,
      new Map([[3, '<< /Type /Font /Subtype /Type1 /BaseFont /Courier >>']]),
    );
    return appendRevision(
      second,
      new Map([
        [10, documentObjects({ annots: 'direct' }).get(10) ?? ''],
        [8, 'null'],
      ]),
    );
  },
  'that ends without a line end': () => {
    const pdf = classicPdf(documentObjects());
    return pdf.subarray(0, pdf.length - 1);
  },
  'with a comment at the end of its dictionaries': () => {
    const objects = documentObjects({ annots: 'direct' });
    for (const number of [1, 10])
      objects.set(number, (objects.get(number) ?? '').replace(/>>$/, '% remark >>\n>>'));
    return classicPdf(objects);
  },
  'with names written in hexadecimal': () => {
    const objects = documentObjects({ annots: 'direct', form: 'direct' });
    objects.set(10, (objects.get(10) ?? '').replace('/Annots', '/Ann#6fts'));
    objects.set(1, (objects.get(1) ?? '').replace('/AcroForm', '/Acro#46orm'));
    return classicPdf(objects);
  },
  'with a page tree of several levels and empty branches': () => {
    const objects = documentObjects();
    objects.set(2, '<< /Type /Pages /Count 1 /Kids [90 0 R 91 0 R] >>');
    objects.set(90, '<< /Type /Pages /Parent 2 0 R /Count 0 /Kids [] >>');
    objects.set(91, '<< /Type /Pages /Parent 2 0 R /Count 1 /Kids [10 0 R] >>');
    objects.set(10, (objects.get(10) ?? '').replace('/Parent 2 0 R', '/Parent 91 0 R'));
    return classicPdf(objects);
  },
};

for (const [name, make] of Object.entries(files)) {
  test(`a PDF ${name} is signed, and every verifier agrees`, async (t) => {
    const signed = sign(put(make()));
    const report = judge(signed);
    t.true(report.ok, JSON.stringify(report.checks.filter(({ ok }) => !ok)));
    await accepted(t, signed);
  });
}

const annots = ['none', 'direct', 'indirect', 'shared'] as const;
const forms: readonly DocumentShape[] = [
  { form: 'none' },
  ...(['direct', 'indirect'] as const).flatMap((form) =>
    (['missing', 'direct', 'indirect'] as const).map((fields) => ({ form, fields })),
  ),
];

for (const [at, kind] of annots.entries()) {
  test(`two signatures are valid on a page with annotations ${kind}, with any form`, async (t) => {
    for (const [index, form] of forms.entries()) {
      const objects = documentObjects({ ...form, annots: kind, pages: 2 });
      const packed = form.form === 'indirect' && form.fields === 'direct';
      const once = sign(put(packed ? streamPdf(objects) : classicPdf(objects)));
      const twice = sign(once.output, pki().signer('p-256'));
      const report = judge(twice, pki().signer('p-256'));
      t.true(report.ok, JSON.stringify(report.checks.filter(({ ok }) => !ok)));
      t.is(report.signatures, 2);
      // Other programs judge each form with one kind, which is another one for the next form.
      if (index % annots.length === at) await accepted(t, twice, 2);
    }
  });
}

test('annotations shared by two pages get the widget on the first page only', async (t) => {
  const signed = sign(put(classicPdf(documentObjects({ annots: 'shared', pages: 2 }))));
  const { stdout } = await runTool('qpdf', ['--json', signed.output]);
  const { pages, objects } = qpdfObjects(stdout);
  const count = (page: string) => {
    const value = objects(page)['/Annots'];
    return ((typeof value === 'string' ? objects(value) : value) as unknown[]).length;
  };
  t.deepEqual(pages.map(count), [2, 1]);
});

/** Pages and a look-up of objects in the output of `qpdf --json`, version 2. */
function qpdfObjects(json: string): {
  readonly pages: readonly string[];
  readonly objects: (reference: string) => Record<string, unknown>;
} {
  const parsed = JSON.parse(json) as {
    readonly pages: readonly { readonly object: string }[];
    readonly qpdf: readonly [unknown, Record<string, { readonly value: Record<string, unknown> }>];
  };
  return {
    pages: parsed.pages.map(({ object }) => object),
    objects: (reference) => parsed.qpdf[1][`obj:${reference}`]?.value ?? {},
  };
}

test('a linearized PDF is signed, and every verifier agrees', async (t) => {
  for (const packing of ['disable', 'generate'] as const) {
    const path = freshPath('linear.pdf');
    const plain = put(classicPdf(documentObjects({ pages: 5, annots: 'direct', form: 'indirect' })));
    await runTool('qpdf', ['--linearize', `--object-streams=${packing}`, plain, path]);
    const signed = sign(path);
    t.true(judge(signed).ok);
    await accepted(t, signed);
  }
});

test('each kind of key gives a signature that every verifier accepts', async (t) => {
  for (const kind of ['rsa-3072', 'p-256', 'p-384', 'p-521'] as const) {
    const signer = pki().signer(kind);
    const signed = sign(put(classicPdf(documentObjects())), signer);
    t.true(judge(signed, signer).ok);
    await accepted(t, signed);
  }
});

test('a signed page is rendered as before', async (t) => {
  const signed = sign(put(streamPdf(documentObjects({ annots: 'direct', form: 'direct' }))));
  const pictures = [];
  for (const path of [signed.input, signed.output]) {
    const picture = freshPath('page.png');
    await runTool('mutool', ['draw', '-q', '-r', '50', '-o', picture, path]);
    pictures.push(readFileSync(picture));
  }
  t.true(pictures[0]?.equals(pictures[1] ?? Buffer.alloc(0)));
});

test('the reported digests of input and output equal those of the files on disk', async (t) => {
  const signed = sign(put(classicPdf(documentObjects())));
  for (const [path, reported] of [
    [signed.input, signed.result.input],
    [signed.output, signed.result.output],
  ] as const) {
    const { stdout } = await runTool('openssl', ['dgst', '-sha256', '-r', path]);
    t.is(stdout.slice(0, 64), reported.sha256);
    t.is(readFileSync(path).length, reported.length);
  }
});
