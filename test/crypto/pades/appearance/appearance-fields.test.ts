import test, { type ExecutionContext } from 'ava';
import { openSource } from '#crypto/core/files.js';
import { beginPades, finishPades } from '#crypto/pades/two-step.js';
import { inspectPades } from '#crypto/pades/validate.js';
import { pki } from '../../../pki/pki.ts';
import { withTools } from '../../../verifiers/index.ts';
import { classicPdf, documentObjects } from '../../pdf/build.ts';
import { inspect } from '../inspect.ts';
import { accepted, freshPath, judge, put, sign } from '../validation/verdicts.ts';
import { difference, FOUR_COLOURS, isNear, picture, refusalOf, signVisibly } from './appearance-pictures.ts';

const TOOLS = ['pdfsig', 'certutil', 'mutool', 'qpdf', 'openssl', 'pdftoppm'] as const;

const toolTest = withTools(test, ...TOOLS);
/** pdfsig trusts a certificate only the first time it sees it in a document, so a second signature has another. */
const second = () => pki().signer('p-384');

/** Two pages, the first turned and cropped, with a form of these objects; `fields` and `annots` name those listed. */
function formWith(
  objects: { readonly [number: number]: string },
  fields: string = Object.keys(objects)
    .map((number) => `${number} 0 R`)
    .join(' '),
  annots: string = fields,
): string {
  const all = documentObjects({ pages: 2, catalog: `/AcroForm << /Fields [${fields}] >>` });
  const first = (all.get(10) ?? '').replace('/MediaBox [0 0 200 200]', `${TURNED} /Annots [${annots}]`);
  all.set(10, first);
  for (const [number, body] of Object.entries(objects)) all.set(Number(number), body);
  return put(classicPdf(all));
}

/** Shown 200 wide and 160 high. */
const TURNED = '/MediaBox [0 0 260 300] /CropBox [50 20 210 220] /Rotate 90';

const WIDGET = '/Type /Annot /Subtype /Widget /P 10 0 R';
/** As the page is shown: 40 from the left, 60 from below, 84 wide and 44 high. */
const PLACE = '/Rect [106 60 150 144]';
const SHOWN = [42, 62, 122, 102] as const;
const field = (more: string): string => `<< ${WIDGET} /FT /Sig /T (Place) ${more} >>`;
const IN_PLACE = { fieldName: 'Place' };
const image = FOUR_COLOURS;

/** Box of what the signature changed on the first page. */
async function changed(signed: { readonly input: string; readonly output: string }) {
  // Not by mutool, which paints marks on fields that wait to be signed.
  return difference(await picture('pdftoppm', signed.input), await picture('pdftoppm', signed.output));
}

/** One program rounds outwards where another does not. */
function isAbout(
  t: ExecutionContext,
  found: readonly number[] | undefined,
  wanted: readonly number[],
  name?: string,
): void {
  const isNear = found?.every((value, index) => Math.abs(value - (wanted[index] ?? 0)) <= 1);
  t.true(isNear, `${name ?? ''} ${found} should be ${wanted}`);
}

/** Returns the findings of full validation for the signatures of a file and for later changes. */
function objections(path: string): readonly string[] {
  const source = openSource(path);
  try {
    const { findings, signatures } = inspectPades(source);
    const all = [...findings, ...signatures.flatMap((signature) => signature.findings)];
    return all.filter(({ status }) => status === 'failed').map(({ message }) => message);
  } finally {
    source.close();
  }
}

toolTest('an empty field shows the signature in its own rectangle, upright', async (t) => {
  const forms = {
    itself: formWith({ 40: field(`/F 4 ${PLACE}`) }),
    'its kid': formWith(
      { 40: '<< /FT /Sig /T (Place) /Kids [41 0 R] >>', 41: `<< ${WIDGET} /Parent 40 0 R /F 4 ${PLACE} >>` },
      '40 0 R',
      '41 0 R',
    ),
    'hidden until now': formWith({ 40: field(`/F 2 ${PLACE}`) }),
    'without its page': formWith({ 40: field(`/F 4 ${PLACE}`).replace('/P 10 0 R', '') }),
  };
  for (const [name, input] of Object.entries(forms)) {
    const signed = signVisibly(input, { image }, { form: IN_PLACE });
    isAbout(t, await changed(signed), SHOWN, name);
    const after = await picture('pdftoppm', signed.output);
    t.true(isNear(after.at(52, 92), [255, 0, 0]), name);
    await accepted(t, signed);
  }
});

toolTest(
  'an unsigned document lets a field move to the requested rectangle, but not off its page',
  async (t) => {
    const rectangle = { left: 10, bottom: 10, width: 84, height: 44 };
    const input = formWith({ 40: field(`/F 4 ${PLACE}`) });
    const moved = signVisibly(input, { page: 1, rectangle, image }, { form: IN_PLACE });
    isAbout(t, await changed(moved), [12, 12, 92, 52]);
    await accepted(t, moved);
    const elsewhere = signVisibly(input, { page: 2, rectangle, image }, { form: IN_PLACE });
    isAbout(t, await changed(elsewhere), SHOWN);
    const outside = { ...rectangle, left: 150 };
    isAbout(
      t,
      await changed(signVisibly(input, { page: 1, rectangle: outside, image }, { form: IN_PLACE })),
      SHOWN,
    );
    t.regex(
      refusalOf(input, { page: 3, rectangle, image }, IN_PLACE),
      /^request\.invalid: There is no page 3/,
    );
  },
);

toolTest('a field of a signed document is filled in at its place', async (t) => {
  const rectangle = { left: 10, bottom: 10, width: 84, height: 44 };
  const once = sign(formWith({ 40: field(`/F 4 ${PLACE}`) }));
  const twice = signVisibly(once.output, { page: 1, rectangle, image }, { form: IN_PLACE, signer: second() });
  isAbout(t, await changed(twice), SHOWN);
  t.deepEqual(objections(twice.output), []);
  await accepted(t, twice, 2);
});

test('a field that cannot be shown is refused', (t) => {
  const rectangle = { left: 10, bottom: 10, width: 84, height: 44 };
  const refused = (input: string, appearance: Parameters<typeof refusalOf>[1]): string =>
    refusalOf(input, { image, ...appearance }, IN_PLACE);
  const flat = formWith({ 40: field('/F 4 /Rect [0 0 0 0]') });
  t.regex(refused(flat, {}), /^request\.invalid: .* needs a rectangle/);
  t.regex(refused(flat, { page: 2, rectangle }), /^request\.invalid: .* needs a rectangle/);
  t.is(refused(flat, { page: 1, rectangle }), '');
  t.regex(
    refused(sign(flat).output, { page: 1, rectangle }),
    /^request\.invalid: .* after somebody has signed/,
  );
  const lost = formWith({ 40: field(`/F 4 ${PLACE}`).replace('/P 10 0 R', '') }, '40 0 R', '');
  t.regex(refused(lost, { page: 1, rectangle }), /^request\.invalid: .* on no page/);
  const bare = formWith({ 40: '<< /FT /Sig /T (Place) >>' }, '40 0 R', '');
  t.regex(refused(bare, {}), /^request\.invalid: .* needs a page and a rectangle/);
  t.is(refused(bare, { page: 2, rectangle }), '');
  t.regex(refused(sign(bare).output, { page: 2, rectangle }), /^request\.invalid: .* no widget/);
});

toolTest('two visible signatures on one page leave each other valid', async (t) => {
  const left = { left: 10, bottom: 20, width: 84, height: 44 };
  const right = { left: 104, bottom: 20, width: 84, height: 44 };
  const input = put(classicPdf(documentObjects()));
  const once = signVisibly(input, { page: 1, rectangle: left, image });
  const twice = signVisibly(
    once.output,
    { page: 1, rectangle: right, lines: ['Анна'] },
    { signer: second() },
  );
  const box = (await changed(twice)) ?? [0, 0, 0, 0];
  t.true(box[0] >= 104 && box[1] >= 20 && box[2] <= 188 && box[3] <= 64, String(box));
  t.deepEqual(objections(twice.output), []);
  t.true(judge(twice, second()).ok);
  await accepted(t, twice, 2);
  const { fields } = await inspect(twice.output);
  t.deepEqual(
    fields.map(({ name }) => name),
    ['Signature1', 'Signature2'],
  );
});

toolTest('a certified document takes further visible signatures in existing fields alone', async (t) => {
  const rectangle = { left: 10, bottom: 10, width: 84, height: 44 };
  const input = formWith({ 40: field(`/F 4 ${PLACE}`) });
  for (const certification of [2, 3] as const) {
    const once = signVisibly(input, { page: 2, rectangle, image }, { form: { certification } });
    t.regex(refusalOf(once.output, { page: 1, rectangle, image }), /^pdf\.change-forbidden: .* certified/);
    const twice = signVisibly(once.output, { lines: ['Анна'] }, { form: IN_PLACE, signer: second() });
    t.deepEqual(objections(twice.output), []);
    await accepted(t, twice, 2);
  }
});

test('a visible signature over another one is reported', (t) => {
  const rectangle = { left: 10, bottom: 20, width: 84, height: 44 };
  const input = put(classicPdf(documentObjects()));
  const once = signVisibly(input, { page: 1, rectangle, image });
  const twice = signVisibly(once.output, { page: 1, rectangle, lines: ['Eve'] }, { signer: second() });
  const source = openSource(twice.output);
  try {
    const { findings, signatures } = inspectPades(source);
    const all = [...findings, ...signatures.flatMap((signature) => signature.findings)];
    t.true(all.some(({ status }) => status !== 'passed'));
  } finally {
    source.close();
  }
});

toolTest('a signature in two steps has the appearance of one made in one step', async (t) => {
  const appearance = {
    page: 1,
    rectangle: { left: 10, bottom: 20, width: 84, height: 44 },
    image,
    lines: ['Ω'],
  };
  const input = put(classicPdf(documentObjects()));
  const signer = pki().signer('p-256');
  const begun = beginPades({ format: 'Pades', input, signer, at: Date.now(), pades: { appearance } });
  const value = signer.key.sign(begun.toBeSigned, begun.algorithm);
  const output = freshPath('apart.pdf');
  const apart = { input, output, result: await finishPades({ input, output, state: begun.state, value }) };
  const atOnce = signVisibly(input, appearance);
  t.deepEqual(
    difference(await picture('mutool', atOnce.output), await picture('mutool', apart.output)),
    undefined,
  );
  await accepted(t, apart);
});
