import { readFileSync } from 'node:fs';
import test, { type ExecutionContext } from 'ava';
import { pki } from '../../../pki/pki.ts';
import { pdfsig, withTools } from '../../../verifiers/index.ts';
import { classicPdf, documentObjects, streamPdf } from '../../pdf/build.ts';
import { inspect } from '../inspect.ts';
import { accepted, failedChecks, judge, put } from '../validation/verdicts.ts';
import {
  difference,
  FOUR_COLOURS,
  isNear,
  type Picture,
  picture,
  QUARTERS,
  refusalOf,
  signVisibly,
  type Viewer,
} from './appearance-pictures.ts';

const TOOLS = ['pdfsig', 'certutil', 'mutool', 'qpdf', 'openssl', 'pdftoppm'] as const;

const toolTest = withTools(test, ...TOOLS);
const VIEWERS: readonly Viewer[] = ['mutool', 'pdftoppm'];
const signer = () => pki().signer('p-256');

/** As wide and high that the image fills it but for a margin of two points. */
const RECTANGLE = { left: 30, bottom: 50, width: 84, height: 44 };

/** A page with these entries instead of its usual box. */
function paged(entries: string, above = ''): Buffer {
  const objects = documentObjects();
  objects.set(10, (objects.get(10) ?? '').replace('/MediaBox [0 0 200 200]', entries));
  objects.set(2, (objects.get(2) ?? '').replace('/Type /Pages', `/Type /Pages ${above}`));
  return classicPdf(objects);
}

/** The image is where it has to be, upright, and nothing else has changed. */
function assertShown(t: ExecutionContext, before: Picture, after: Picture, scale = 1): void {
  const { left, bottom, width, height } = RECTANGLE;
  const box = difference(before, after) ?? [0, 0, 0, 0];
  const wanted = [left + 2, bottom + 2, left + width - 2, bottom + height - 2];
  for (const [index, value] of box.entries()) {
    t.true(Math.abs(value - scale * (wanted[index] ?? 0)) <= scale, `${box} should be ${wanted}`);
  }
  for (const [index, colour] of QUARTERS.entries()) {
    const x = scale * (left + 2 + 20 + 40 * (index % 2));
    const y = scale * (bottom + 2 + 10 + 20 * (index >> 1));
    t.true(isNear(after.at(x, y), colour), `${after.at(x, y)} should be ${colour} at ${x}, ${y}`);
  }
}

const PAGES: readonly { readonly name: string; readonly entries: string; readonly above?: string }[] = [
  { name: 'whose box begins at its origin', entries: '/MediaBox [0 0 200 160]' },
  { name: 'whose box begins elsewhere', entries: '/MediaBox [-40 70 160 230]' },
  { name: 'that is cropped', entries: '/MediaBox [0 0 400 300] /CropBox [50 20 250 180]' },
  {
    name: 'whose crop box is larger than the page',
    entries: '/MediaBox [10 10 210 170] /CropBox [-90 -90 900 900]',
  },
  { name: 'whose boxes name other corners', entries: '/MediaBox [400 0 0 300] /CropBox [50 180 250 20]' },
  {
    name: 'that inherits its boxes',
    entries: '',
    above: '/MediaBox [0 0 900 900] /CropBox [100.0 +100. 300 260]',
  },
];

for (const { name, entries, above = '' } of PAGES) {
  toolTest(`on a page ${name}, a signature has its requested place at any rotation`, async (t) => {
    for (const rotation of [0, 90, 180, 270]) {
      const turned = `/Rotate ${rotation}`;
      const pdf = above === '' ? paged(`${entries} ${turned}`) : paged(entries, `${above} ${turned}`);
      const signed = signVisibly(put(pdf), { page: 1, rectangle: RECTANGLE, image: FOUR_COLOURS });
      for (const viewer of VIEWERS) {
        const before = await picture(viewer, signed.input);
        const after = await picture(viewer, signed.output);
        t.deepEqual([after.width, after.height], rotation % 180 === 0 ? [200, 160] : [160, 200]);
        assertShown(t, before, after);
      }
      t.true(judge(signed, signer()).ok);
      if (rotation === 90) await accepted(t, signed);
    }
  });
}

toolTest('rotations below zero or beyond a full turn are normalized', async (t) => {
  for (const rotation of ['-90', '450', '-270', '0', '720']) {
    const pdf = paged(`/MediaBox [0 0 200 160] /Rotate ${rotation}`);
    const signed = signVisibly(put(pdf), { page: 1, rectangle: RECTANGLE, image: FOUR_COLOURS });
    for (const viewer of VIEWERS) {
      assertShown(t, await picture(viewer, signed.input), await picture(viewer, signed.output));
    }
  }
});

toolTest('coordinates are points for any UserUnit of the page', async (t) => {
  for (const rotation of [0, 90]) {
    const pdf = paged(`/MediaBox [10 10 110 90] /UserUnit 2 /Rotate ${rotation}`);
    const signed = signVisibly(put(pdf), { page: 1, rectangle: RECTANGLE, image: FOUR_COLOURS });
    const before = await picture('mutool', signed.input);
    const after = await picture('mutool', signed.output);
    t.deepEqual([after.width, after.height], rotation === 0 ? [200, 160] : [160, 200]);
    assertShown(t, before, after);
  }
});

toolTest('a page without a size has the size that viewers use', async (t) => {
  const signed = signVisibly(put(paged('')), { page: 1, rectangle: RECTANGLE, image: FOUR_COLOURS });
  const before = await picture('mutool', signed.input);
  const after = await picture('mutool', signed.output);
  t.deepEqual([after.width, after.height], [612, 792]);
  assertShown(t, before, after);
});

toolTest('the requested page gets the signature, and no other page changes', async (t) => {
  for (const build of [classicPdf, streamPdf]) {
    const objects = documentObjects({ pages: 5 });
    // A tree of two levels, with a page that is shown twice.
    objects.set(2, '<< /Type /Pages /Count 6 /Kids [40 0 R 41 0 R] >>');
    objects.set(40, '<< /Type /Pages /Parent 2 0 R /Count 3 /Kids [10 0 R 12 0 R 10 0 R] >>');
    objects.set(41, '<< /Type /Pages /Parent 2 0 R /Count 3 /Kids [14 0 R 16 0 R 18 0 R] >>');
    const signed = signVisibly(put(build(objects)), { page: 5, rectangle: RECTANGLE, image: FOUR_COLOURS });
    for (const page of [1, 2, 3, 4, 6]) {
      const before = await picture('mutool', signed.input, page);
      const after = await picture('mutool', signed.output, page);
      t.is(difference(before, after), undefined);
    }
    assertShown(t, await picture('mutool', signed.input, 5), await picture('mutool', signed.output, 5));
    const file = await inspect(signed.output);
    t.is(file.dict(file.fields[0]?.object)['/P'], '16 0 R');
    await accepted(t, signed);
  }
});

test('a missing page, and a rectangle outside the page, are refused', (t) => {
  const input = put(classicPdf(documentObjects({ pages: 2 })));
  const shown = { rectangle: RECTANGLE, image: FOUR_COLOURS };
  for (const page of [0, 3, -1, 1.5, Number.NaN, 1e9]) {
    t.regex(refusalOf(input, { page, ...shown }), /^request\.invalid: There is no page /);
  }
  t.regex(refusalOf(input, { page: 3, ...shown }), /The document has 2\.$/);
  const wrong = [
    { left: 150 },
    { bottom: 170 },
    { left: -20 },
    { bottom: -20 },
    { width: 0 },
    { height: -5 },
    { left: Number.NaN },
    { width: Number.POSITIVE_INFINITY },
  ];
  for (const change of wrong) {
    const rectangle = { ...RECTANGLE, ...change };
    t.regex(
      refusalOf(input, { page: 1, rectangle, image: FOUR_COLOURS }),
      /^request\.invalid: The rectangle/,
    );
  }
  t.regex(
    refusalOf(input, { page: 1, image: FOUR_COLOURS }),
    /^request\.invalid: .*needs a page and a rectangle/,
  );
  t.regex(refusalOf(input, { rectangle: RECTANGLE, image: FOUR_COLOURS }), /^request\.invalid/);
  t.regex(
    refusalOf(input, { page: 1, rectangle: RECTANGLE }),
    /^request\.invalid: .*needs an image or a line/,
  );
  t.regex(refusalOf(input, { page: 1, rectangle: RECTANGLE, lines: ['', ' '] }), /^request\.invalid/);
  t.is(refusalOf(input, { page: 2, ...shown }), '');
});

test('a signature embeds a font only when it shows text', (t) => {
  const input = put(classicPdf(documentObjects()));
  const text = signVisibly(input, { page: 1, rectangle: RECTANGLE, lines: ['Anna'] });
  t.true(readFileSync(text.output, 'latin1').includes('/FontFile2'));
  const image = signVisibly(input, { page: 1, rectangle: RECTANGLE, image: FOUR_COLOURS });
  t.false(readFileSync(image.output, 'latin1').includes('/FontFile2'));
});

toolTest('a changed appearance makes the signature invalid', async (t) => {
  const input = put(classicPdf(documentObjects()));
  const signed = signVisibly(input, { page: 1, rectangle: RECTANGLE, image: FOUR_COLOURS, lines: ['Anna'] });
  t.deepEqual(failedChecks(readFileSync(signed.output)), []);
  for (const part of ['/BBox[0 0 84 44]', '/ToUnicode', '/FontFile2', '/Width 4', '/Rect [']) {
    const forged = readFileSync(signed.output);
    const at = forged.indexOf(part, signed.result.input.length, 'latin1');
    t.true(at > 0, part);
    forged[at + part.length - 1] = 0x39;
    t.not(failedChecks(forged).length, 0, part);
    const path = put(forged);
    t.false(
      (await pdfsig(path, pki())).some(({ okEarlier }) => okEarlier),
      part,
    );
  }
});
