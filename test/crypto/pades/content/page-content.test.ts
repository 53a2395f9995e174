import { readFileSync } from 'node:fs';
import { signPadesSeries, validateFile } from '@sealwright/signatures';
import test from 'ava';
import type { FormFieldContent, PageContent } from '#crypto/core/types.js';
import { signPades } from '#crypto/pades/sign.js';
import { pki } from '../../../pki/pki.ts';
import { pdfsig, runTool, withTools } from '../../../verifiers/index.ts';
import { classicPdf, documentObjects } from '../../pdf/build.ts';
import { freshPath, put } from '../validation/verdicts.ts';

const toolTest = withTools(test, 'pdftotext', 'pdfsig', 'certutil', 'qpdf', 'mutool');

const PAGE = { page: 1, width: 120, height: 20 };

function page(entries = '', catalog = ''): Buffer {
  const objects = documentObjects({ text: 'Contract' });
  objects.set(10, (objects.get(10) ?? '').replace('[0 0 200 200]', `[0 0 400 400] ${entries}`));
  if (catalog !== '')
    objects.set(1, (objects.get(1) ?? '').replace('/Type /Catalog', `/Type /Catalog ${catalog}`));
  return classicPdf(objects);
}

function field(
  name: string,
  top: number,
  value: string | null,
  more: Partial<FormFieldContent> = {},
): FormFieldContent {
  return { name, kind: 'text', label: name, place: { ...PAGE, left: 20, top }, value, ...more };
}

async function textOf(path: string): Promise<string> {
  return (await runTool('pdftotext', ['-enc', 'UTF-8', '-layout', path, '-'])).stdout;
}

async function series(input: string, contents: readonly (PageContent | undefined)[]): Promise<string> {
  const output = freshPath('series.pdf');
  const steps = contents.map((content, index) => ({
    at: Date.now(),
    pades: { fieldName: `S${index}-${contents.length}`, ...(content !== undefined && { content }) },
  }));
  await signPadesSeries({ input, output, signer: pki().signer('rsa-2048') }, steps);
  return output;
}

async function verdict(path: string) {
  const trust = { anchors: [pki().root.certificate], intermediates: [], revocation: 'none' } as const;
  return (await validateFile({ format: 'Pades', path, trust, at: Date.now() })).signatures;
}

for (const rotation of [0, 90]) {
  toolTest(
    `values and stamps are added before the first signature, on a page turned by ${rotation} degrees`,
    async (t) => {
      const content = {
        stamps: [
          {
            place: { page: 1, left: 200, top: 20, width: 150, height: 40 },
            lines: ['Signed by Ana', '张伟'],
          },
        ],
        fields: [
          field('city', 40, 'Łódź محمد'),
          field('agree', 70, 'true', { kind: 'checkbox', place: { ...PAGE, left: 20, top: 70, width: 20 } }),
          field('later', 100, null),
        ],
      };
      const path = await series(put(page(`/Rotate ${rotation}`)), [content, undefined, undefined]);
      const text = (await textOf(path)).replace(/[\u202a-\u202e]/g, '');
      for (const word of ['Łódź', 'محمد', '☑', 'Signed by Ana', '张伟', 'Contract'])
        t.true(text.includes(word), text);
      const found = await pdfsig(path, pki());
      t.is(found.length, 3);
      // The tool reports the certificate of the second signature with one key as unknown, whoever made them.
      for (const one of found) t.is(one.signature, 'Signature is Valid.');
      t.true(found[0]?.okEarlier);
      const { stdout } = await runTool('qpdf', ['--check', path]);
      t.true(stdout.includes('No syntax'), stdout);
    },
  );
}

toolTest(
  'long names in stamps and one-line fields wrap, and keep a size of at least six points',
  async (t) => {
    const name = Array.from({ length: 25 }, (_, index) => `Santos${index}`).join(' ');
    const place = { page: 1, left: 20, top: 20, width: 200, height: 60 };
    for (const content of [
      { stamps: [{ place, lines: [`Signed by ${name}`, 'Agreed'] }], fields: [] },
      { stamps: [], fields: [field('name', 20, `Signed by ${name}`, { place: { ...place, height: 56 } })] },
    ]) {
      const path = await series(put(page()), [content]);
      const { stdout } = await runTool('mutool', ['trace', path]);
      const sizes = [...stdout.matchAll(/trm="([\d.]+) /g)].map(([, size]) => Number(size));
      t.true(Math.min(...sizes) >= 6 * 0.9 ** 2, String(Math.min(...sizes)));
      t.true((await textOf(path)).replace(/\s+/g, ' ').includes(`Signed by ${name}`));
    }
  },
);

toolTest(
  'a field made before the first signature is filled after it, and every signature stays valid',
  async (t) => {
    const empty = {
      stamps: [],
      fields: [field('city', 40, null), field('agree', 70, null, { kind: 'checkbox' })],
    };
    const first = await series(put(page()), [empty]);
    const filled = {
      stamps: [],
      fields: [field('city', 40, 'Lisboa'), field('agree', 70, 'true', { kind: 'checkbox' })],
    };
    const output = freshPath('filled.pdf');
    const pades = { fieldName: 'Second', content: filled };
    signPades({
      format: 'Pades',
      input: first,
      output,
      signer: pki().signer('p-256'),
      at: Date.now(),
      pades,
    });
    const text = await textOf(output);
    t.true(text.includes('Lisboa') && text.includes('☑'), text);
    for (const one of await pdfsig(output, pki())) t.true(one.okEarlier, JSON.stringify(one));
    for (const { results } of await verdict(output))
      t.true(results.isValid, JSON.stringify(results, null, 1));
    // The same value again changes nothing.
    const again = freshPath('again.pdf');
    const third = { ...pades, fieldName: 'Third' };
    signPades({
      format: 'Pades',
      input: output,
      output: again,
      signer: pki().signer('p-256'),
      at: Date.now(),
      pades: third,
    });
    t.false(readFileSync(again).subarray(readFileSync(output).length).includes('Lisboa'));
  },
);

test('a value that a signed document has already keeps its look, also one too small to be read', async (t) => {
  const content = { stamps: [], fields: [field('notes', 40, 'word '.repeat(60).trim())] };
  const first = await series(put(page()), [content]);
  const signatures = await verdict(await series(first, [undefined, content]));
  t.is(signatures.length, 3);
  for (const { results } of signatures) t.true(results.isValid, JSON.stringify(results, null, 1));
});

test('a signed document gets no new form field', async (t) => {
  const first = await series(put(page()), [undefined, undefined]);
  const content = { stamps: [], fields: [field('city', 40, 'x')] };
  await t.throwsAsync(series(first, [content]), { message: /signed already.*fields of its own form/ });
});

toolTest('text fields, checkboxes and radio buttons of the existing form are filled', async (t) => {
  const objects = documentObjects({ text: 'Form' });
  objects.set(
    1,
    (objects.get(1) ?? '').replace(
      '/Type /Catalog',
      '/Type /Catalog /AcroForm << /Fields [50 0 R 51 0 R 52 0 R] >>',
    ),
  );
  objects.set(
    10,
    (objects.get(10) ?? '').replace('[0 0 200 200]', '[0 0 400 400] /Annots [50 0 R 51 0 R 53 0 R 54 0 R]'),
  );
  const widget = '/Type /Annot /Subtype /Widget /F 4 /P 10 0 R';
  const state = '<< /Type /XObject /Subtype /Form /BBox [0 0 9 9] /Length 0 >>\nstream\n\nendstream';
  objects.set(50, `<< ${widget} /FT /Tx /T (town) /Rect [20 300 220 320] >>`);
  objects.set(
    51,
    `<< ${widget} /FT /Btn /T (ok) /Rect [20 260 30 270] /AS /Off /AP << /N << /On 60 0 R /Off 60 0 R >> >> >>`,
  );
  objects.set(52, '<< /FT /Btn /Ff 32768 /T (size) /Kids [53 0 R 54 0 R] >>');
  objects.set(
    53,
    `<< ${widget} /Parent 52 0 R /Rect [20 200 30 210] /AS /Off /AP << /N << /small 60 0 R /Off 60 0 R >> >> >>`,
  );
  objects.set(
    54,
    `<< ${widget} /Parent 52 0 R /Rect [40 200 50 210] /AS /Off /AP << /N << /large 60 0 R /Off 60 0 R >> >> >>`,
  );
  objects.set(60, state);
  const own = (name: string, value: string) =>
    ({ name, kind: 'text', label: name, place: null, value }) as const;
  const input = put(classicPdf(objects));
  const content = { stamps: [], fields: [own('town', 'Braga'), own('ok', 'true'), own('size', 'large')] };
  const path = await series(input, [content]);
  t.true((await textOf(path)).includes('Braga'));
  const update = readFileSync(path).subarray(readFileSync(input).length).toString('latin1');
  t.regex(update, /\/V \/On [^\n]*\/AS +\/On/);
  t.regex(update, /\/V \/large/);
  t.regex(update, /\/AS +\/large/);
  await t.throwsAsync(series(input, [{ stamps: [], fields: [own('size', 'huge')] }]), {
    message: /no state for the value/,
  });
});
