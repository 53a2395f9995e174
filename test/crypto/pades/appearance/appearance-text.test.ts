import test, { type ExecutionContext } from 'ava';
import { visualGlyphs } from '#crypto/pdf/fonts/shaping.js';
import { pki } from '../../../pki/pki.ts';
import { runTool, withTools } from '../../../verifiers/index.ts';
import { classicPdf, documentObjects } from '../../pdf/build.ts';
import { encrypted } from '../../pdf/encrypt.ts';
import { inspect } from '../inspect.ts';
import { accepted, judge, put } from '../validation/verdicts.ts';
import { difference, FOUR_COLOURS, isNear, picture, refusalOf, signVisibly } from './appearance-pictures.ts';

const TOOLS = ['pdfsig', 'certutil', 'mutool', 'qpdf', 'openssl', 'pdftoppm', 'pdftotext'] as const;

const toolTest = withTools(test, ...TOOLS);

/** A large page without text of its own. */
function empty(entries = ''): Buffer {
  const objects = documentObjects({ text: '' });
  objects.set(11, '<< /Length 0 >>\nstream\n\nendstream');
  objects.set(10, (objects.get(10) ?? '').replace('[0 0 200 200]', `[0 0 600 400] ${entries}`));
  return classicPdf(objects);
}

/** The letters of a line as they are drawn. */
function leftToRight(line: string): string {
  const texts = visualGlyphs(line).map((glyph) =>
    'text' in glyph ? glyph.text : String.fromCodePoint(glyph.codePoint),
  );
  return texts.join('');
}

async function textOf(pdf: string): Promise<readonly string[]> {
  const { stdout } = await runTool('pdftotext', ['-enc', 'UTF-8', pdf, '-']);
  return stdout
    .split(/[\n\f]/)
    .map((line) => line.trim())
    .filter((line) => line !== '');
}

const RECTANGLE = { left: 50, bottom: 100, width: 400, height: 120 };

toolTest('Latin, Greek, Cyrillic and many other letters are shown and can be copied', async (t) => {
  const lines = [
    'Signed by Jörg Müller-Łukasiewicz',
    'Ďáblův čaroděj, Ærøskøbing, İstanbul, Þingvellir',
    'Подписано: Анна Ёлкина, Її підпис',
    'Υπογραφή: Ωμέγα Άλφα',
    'Tiếng Việt: Nguyễn Ưu',
    'ϒ and Y, K and K, 5 µm — “quoted” … €100 ✓',
  ];
  for (const rotation of [0, 270]) {
    const rectangle = { left: 20, bottom: 30, width: 340, height: 120 };
    const signed = signVisibly(put(empty(`/Rotate ${rotation}`)), { page: 1, rectangle, lines });
    // NFC makes a K of the sign for kelvin; the page says what is shown.
    t.deepEqual(
      await textOf(signed.output),
      lines.map((line) => line.normalize('NFC')),
    );
    await accepted(t, signed);
  }
});

toolTest(
  'a letter without a glyph is drawn as a box and copied as the letter, and invisible characters are omitted',
  async (t) => {
    const lines = [
      'Name: 契約 😀 ok',
      'tab\there\nand there',
      'zero\u200bwidth\u202e\u00ad',
      'lone \ud800 half',
      'e\u0301',
    ];
    const signed = signVisibly(put(empty()), { page: 1, rectangle: RECTANGLE, lines });
    const shown = (await textOf(signed.output)).join('\n');
    t.true(shown.startsWith('Name: 契約 😀 ok'), shown);
    t.true(shown.includes('tab here and there'), shown);
    t.true(shown.includes('zerowidth\n'), shown);
    t.true(shown.includes('lone □ half'), shown);
    t.true(shown.endsWith('é'), shown);
    await accepted(t, signed);
  },
);

test('right-to-left text is drawn in its order, with numbers and brackets', (t) => {
  const orders = [
    ['plain (text) 12', 'plain (text) 12'],
    ['\u05d0\u05d1\u05d2', '\u05d2\u05d1\u05d0'],
    ['By \u05d0\u05d1 \u05d2\u05d3, today', 'By \u05d3\u05d2 \u05d1\u05d0, today'],
    ['\u05d0 (\u05d1) 2026-11 12.5 \u05d2 end', '\u05d2 12.5 2026-11 (\u05d1) \u05d0 end'],
    ['\u05d0\u05b8\u05d1', '\u05d1\u05d0\u05b8'],
    ['\u05d0 Anna \u05d1\u05d2', '\u05d0 Anna \u05d2\u05d1'],
  ] as const;
  for (const [given, wanted] of orders) t.is(leftToRight(given), wanted);
});

toolTest('a Hebrew name is rendered readably and can be copied', async (t) => {
  const name = '\u05e9\u05dc\u05d5\u05dd';
  const signed = signVisibly(put(empty()), { page: 1, rectangle: RECTANGLE, lines: [`By ${name} today`] });
  // The tool takes the reading order from the letters, and is unsure of the spaces around them.
  t.true((await textOf(signed.output)).join(' ').includes(name));
});

/** Checks that all marks are inside the rectangle; returns the covered fraction. */
async function drawnIn(
  t: ExecutionContext,
  lines: readonly string[],
  rectangle: typeof RECTANGLE,
): Promise<{ readonly width: number; readonly height: number }> {
  const signed = signVisibly(put(empty()), { page: 1, rectangle, lines });
  const before = await picture('mutool', signed.input, 1, 144);
  const after = await picture('mutool', signed.output, 1, 144);
  const box = (difference(before, after) ?? [0, 0, 0, 0]).map((value) => value / 2);
  const [left = 0, bottom = 0, right = 0, top = 0] = box;
  t.true(
    left >= rectangle.left && right <= rectangle.left + rectangle.width,
    JSON.stringify([box, rectangle]),
  );
  t.true(
    bottom >= rectangle.bottom && top <= rectangle.bottom + rectangle.height,
    JSON.stringify([box, rectangle]),
  );
  return { width: right - left, height: top - bottom };
}

toolTest('text is 12 points high, and shrinks together until every line fits', async (t) => {
  const one = await drawnIn(t, ['HHHH'], RECTANGLE);
  // Capitals of this font are 0.729 of its size high.
  t.true(Math.abs(one.height - 12 * 0.729) <= 1, String(one.height));
  const long = await drawnIn(t, ['H', 'H'.repeat(120)], RECTANGLE);
  t.true(long.width > 380, String(long.width));
  const many = await drawnIn(t, Array(60).fill('HÁgy'), RECTANGLE);
  t.true(many.height > 100, String(many.height));
  const tiny = await drawnIn(t, ['A name that is long', 'and another'], {
    left: 50,
    bottom: 100,
    width: 30,
    height: 9,
  });
  t.true(tiny.width > 20, String(tiny.width));
});

toolTest(
  'a long line wraps and stays readable, and the lines of ordinary names stay as they are',
  async (t) => {
    const rectangle = { left: 50, bottom: 100, width: 200, height: 60 };
    const shownOf = async (lines: readonly string[], place = rectangle) => {
      const { output } = signVisibly(put(empty()), { page: 1, rectangle: place, lines });
      const { stdout } = await runTool('mutool', ['trace', output]);
      const sizes = [...stdout.matchAll(/trm="([\d.]+) /g)].map(([, size]) => Number(size));
      return { size: Math.min(...sizes), text: await textOf(output) };
    };
    const name = Array.from({ length: 25 }, (_, index) => `Santos${index}`).join(' ');
    const long = await shownOf([`Signed by ${name}`, 'Reason: agreed']);
    t.true(long.size >= 4.8, String(long.size));
    t.is(long.text.join(' '), `Signed by ${name} Reason: agreed`);
    const word = await shownOf(['H'.repeat(150)]);
    t.true(word.size >= 4.8, String(word.size));
    t.is(word.text.join(''), 'H'.repeat(150));
    const ordinary = ['Signed by Ana Maria dos Santos Prieto', 'Reason: agreed'];
    t.deepEqual((await shownOf(ordinary)).text, ordinary);
  },
);

toolTest('an image beside text is on the left and keeps its proportions', async (t) => {
  const rectangle = { left: 100, bottom: 100, width: 200, height: 60 };
  const signed = signVisibly(put(empty()), {
    page: 1,
    rectangle,
    lines: ['HHHHHHHHHHHH'],
    image: FOUR_COLOURS,
  });
  const after = await picture('mutool', signed.output);
  // 40 % of 196 points wide, half as high, in the middle of the height.
  const width = 78.4;
  const height = 39.2;
  const bottom = 100 + (60 - height) / 2;
  t.true(isNear(after.at(102 + width / 4, bottom + (3 * height) / 4), [255, 0, 0]));
  t.true(isNear(after.at(102 + (3 * width) / 4, bottom + height / 4), [0, 0, 0]));
  t.true(isNear(after.at(102 + width / 4, bottom - 4), [255, 255, 255]));
  const [left = 0, , right = 0] = difference(await picture('mutool', signed.input), after) ?? [];
  t.true(left >= 101 && right <= 300);
  t.true(right > 102 + width + 60, 'text is right of it');
  t.deepEqual(await textOf(signed.output), ['HHHHHHHHHHHH']);
});

toolTest('the font is embedded with the used glyphs alone', async (t) => {
  const signed = signVisibly(put(empty()), { page: 1, rectangle: RECTANGLE, lines: ['Jörg ÅÅÅ'] });
  const file = await inspect(signed.output);
  const widget = file.dict(file.fields[0]?.object);
  const form = file.dict(file.dict(widget['/AP'])['/N']);
  const font = file.dict(file.dict(file.dict(form['/Resources'])['/Font'])['/F']);
  t.is(font['/Subtype'], '/Type0');
  t.regex(String(font['/BaseFont']), /^\/[A-Z]{6}\+DejaVuSans$/);
  t.truthy(font['/ToUnicode']);
  const inner = file.dict(file.array(font['/DescendantFonts'])[0]);
  t.is(inner['/BaseFont'], font['/BaseFont']);
  t.is(inner['/CIDToGIDMap'], '/Identity');
  // J, o with dots, r, g, space and A with ring, after the glyph for what is missing.
  t.is(file.array(file.array(inner['/W'])[1]).length, 7);
  const descriptor = file.dict(inner['/FontDescriptor']);
  t.is(descriptor['/FontName'], font['/BaseFont']);
  t.true(Number(file.dict(descriptor['/FontFile2'])['/Length1']) < 4000);
  t.true(signed.result.output.length - signed.result.input.length < 16_000);
});

toolTest('an encrypted file shows its visible signature', async (t) => {
  for (const shape of [
    { version: 2 } as const,
    { version: 4, streams: 'AESV2', strings: 'AESV2' } as const,
  ]) {
    const pdf = classicPdf(documentObjects(), encrypted(shape));
    const rectangle = { left: 20, bottom: 20, width: 150, height: 40 };
    const signed = signVisibly(put(pdf), { page: 1, rectangle, lines: ['Подпись'], image: FOUR_COLOURS });
    t.deepEqual(await textOf(signed.output), ['Hello 1', 'Подпись']);
    t.true(judge(signed, pki().signer('p-256')).ok);
    await accepted(t, signed);
  }
});

test('text over the length limit is refused', (t) => {
  const input = put(empty());
  const refused = (lines: readonly string[]) => refusalOf(input, { page: 1, rectangle: RECTANGLE, lines });
  t.regex(refused(Array(201).fill('x')), /^request\.invalid/);
  t.regex(refused(['x'.repeat(10_001)]), /^request\.invalid/);
  t.is(refused(Array(200).fill('x')), '');
});
