import test from 'ava';
import { CryptoError } from '#crypto/core/types.js';
import { textWidth, wrapText } from '#crypto/pdf/pages/drawing.js';
import type { ShownPage } from '#crypto/pdf/pages/page-copy.js';
import { runTool, withTools } from '../../../verifiers/index.ts';
import { FOUR_COLOURS } from '../../pades/appearance/appearance-pictures.ts';
import { inspect } from '../../pades/inspect.ts';
import { classicPdf, documentObjects, stream } from '../build.ts';
import { complaints, compose, pictures, put, seenText } from './pages-harness.ts';

const toolTest = withTools(test, 'mutool', 'qpdf', 'pdftotext');

/** One page with these keys. */
const page = (keys: string, content?: string): string => {
  const objects = documentObjects({ text: 'Below' });
  const body = (objects.get(10) ?? '').replace('/MediaBox [0 0 200 200]', keys);
  objects.set(10, body);
  if (content !== undefined) objects.set(11, stream('', content));
  return put(classicPdf(objects));
};

const NEAR = 1.5;

/** Returns the page that `draw` receives, and the position of a word drawn at (30, 40) from the top left corner. */
async function placed(keys: string, content?: string) {
  let said: ShownPage | undefined;
  const { path } = compose([
    {
      path: page(keys, content),
      draw: (shown) => {
        said = shown;
        return [{ shape: 'text', x: 30, y: 40, size: 10, text: 'Здесь' }];
      },
    },
  ]);
  const word = (await seenText(path)).find(({ text }) => text === 'Здесь');
  return { said, word, path };
}

for (const [what, keys, width, height] of [
  ['as it is', '/MediaBox [0 0 200 300]', 200, 300],
  ['turned by 90 degrees', '/MediaBox [0 0 200 300] /Rotate 90', 300, 200],
  ['turned by 180 degrees', '/MediaBox [0 0 200 300] /Rotate 180', 200, 300],
  ['turned by 270 degrees', '/MediaBox [0 0 200 300] /Rotate 270', 300, 200],
  ['turned backwards', '/MediaBox [0 0 200 300] /Rotate -90', 300, 200],
  ['cut off', '/MediaBox [0 0 200 300] /CropBox [20 50 180 290]', 160, 240],
  ['cut off and turned', '/MediaBox [-50 -50 200 300] /CropBox [20 50 180 290] /Rotate 90', 240, 160],
  ['with its origin elsewhere', '/MediaBox [100 100 300 400]', 200, 300],
] as const) {
  toolTest(`a drawing has its place from the top left corner of a page ${what}`, async (t) => {
    const { said, word, path } = await placed(keys);
    t.deepEqual([said?.width, said?.height], [width, height]);
    t.true(
      word !== undefined && Math.abs(word.left - 30) < NEAR && Math.abs(word.bottom - 42) < 4,
      JSON.stringify(word),
    );
    t.is(await complaints(path), '');
  });
}

toolTest('page content that changes the coordinate system does not move the drawing', async (t) => {
  const careless = [
    '2 0 0 2 50 50 cm',
    'q 2 0 0 2 50 50 cm q 0 1 -1 0 0 0 cm',
    'Q Q q 3 0 0 3 9 9 cm (q ) pop /q gs % q',
    'q BI /W 1 /H 1 /BPC 8 /CS /G ID q EI q .5 0 0 .5 0 0 cm',
    'q Q Q Q .5 0 0 .5 99 99 cm',
    'Q .5 0 0 .5 99 99 cm q',
    '.5 0 0 .5 50 50 cm BT /F1 12 Tf 20 100 Td (Below) Tj',
    '.5 0 0 .5 50 50 cm (a text that does not end',
    'q Q /OC /Hidden BDC .5 0 0 .5 50 50 cm',
  ];
  for (const content of careless) {
    const { word } = await placed('/MediaBox [0 0 200 300]', content);
    t.true(word !== undefined && Math.abs(word.left - 30) < NEAR && Math.abs(word.bottom - 42) < 4, content);
  }
});

toolTest('page content that is not balanced looks as before below a drawing', async (t) => {
  const shown = '.5 0 0 .5 50 50 cm BT /F1 24 Tf 20 100 Td (Below) Tj ET';
  for (const content of [`Q ${shown} q`, `Q Q q 9 0 0 9 0 0 cm Q ${shown}`, `q ${shown}`]) {
    const path = page('/MediaBox [0 0 200 300] /Rotate 90', content);
    const drawn = compose([{ path, draw: () => [{ shape: 'text', x: 5, y: 195, size: 6, text: 'ж' }] }]);
    const before = await seenText(path);
    const after = await seenText(drawn.path);
    const word = (list: typeof before) => list.find(({ text }) => text === 'Below');
    t.deepEqual(word(after), word(before), content);
    t.is(after.length, before.length + 1, content);
  }
});

toolTest('a drawing leaves the rest of the page unchanged', async (t) => {
  const path = page('/MediaBox [0 0 200 300]');
  const drawn = compose([{ path, draw: () => [{ shape: 'text', x: 5, y: 295, size: 6, text: 'ж' }] }]);
  t.deepEqual(
    (await seenText(drawn.path)).map(({ text }) => text),
    ['Below 1', 'ж'],
  );
  const untouched = compose([{ path, draw: () => [] }]);
  t.deepEqual(await pictures(untouched.path, 72), await pictures(path, 72));
});

toolTest('a blank page has the size of the page and contains the drawing alone', async (t) => {
  const objects = documentObjects({ annots: 'indirect', form: 'indirect', text: 'Secret' });
  const { path } = compose([
    {
      path: put(classicPdf(objects)),
      blank: true,
      draw: () => [
        { shape: 'stamp', x: 10, y: 10, width: 100, height: 30, lines: ['Ana'], image: FOUR_COLOURS },
      ],
    },
  ]);
  t.deepEqual(
    (await seenText(path)).map(({ text }) => text),
    ['Ana'],
  );
  const pdf = await inspect(path);
  t.is(pdf.catalog['/AcroForm'], undefined);
  t.deepEqual(pdf.array(pdf.dict(pdf.pages[0])['/MediaBox']), [0, 0, 200, 200]);
  const { stdout } = await runTool('qpdf', ['--qdf', path, '-']);
  t.false(stdout.includes('Secret'));
});

toolTest('a stamp on a page wraps a long name at six points', async (t) => {
  const name = Array.from({ length: 12 }, (_, index) => `Santos${index}`).join(' ');
  const lines = [name, 'Agreed'];
  const stamp = { shape: 'stamp', x: 10, y: 10, width: 150, height: 40 } as const;
  const { path } = compose([
    { path: page('/MediaBox [0 0 200 300]', ''), draw: () => [{ ...stamp, lines }] },
  ]);
  const { stdout } = await runTool('mutool', ['trace', path]);
  const sizes = [...stdout.matchAll(/trm="([\d.]+) /g)].map(([, size]) => Number(size));
  t.true(Math.min(...sizes) >= 6, String(sizes[0]));
  t.is((await seenText(path)).map(({ text }) => text).join(' '), `${name} Agreed`);
  // An image alone has no line.
  const image = { ...stamp, lines: [], image: FOUR_COLOURS };
  t.notThrows(() => compose([{ path: page('/MediaBox [0 0 200 300]', ''), draw: () => [image] }]));
});

toolTest('text of any language can be copied from a drawing', async (t) => {
  const lines = ['Ação e coração', 'Übergröße', 'Здравствуй', 'Ωμέγα', 'a\u0301'];
  const items = lines.map(
    (text, index) => ({ shape: 'text', x: 20, y: 30 * (index + 1), size: 12, text }) as const,
  );
  const { path } = compose([{ pages: [{ width: 300, height: 300, items }] }]);
  const { stdout } = await runTool('pdftotext', ['-layout', path, '-']);
  for (const line of lines) t.true(stdout.normalize('NFC').includes(line.normalize('NFC')), line);
});

toolTest('a drawn address is a link on a page turned by 90 degrees', async (t) => {
  const { path } = compose([
    {
      path: page('/MediaBox [0 0 200 300] /Rotate 90'),
      draw: () => [{ shape: 'link', x: 10, y: 20, width: 50, height: 10, uri: 'https://example.test/ä b' }],
    },
  ]);
  const pdf = await inspect(path);
  const [link] = pdf.array(pdf.dict(pdf.pages[0])['/Annots']).map((one) => pdf.dict(one));
  t.is(pdf.dict(link?.['/A'])['/URI'], 'u:https://example.test/%C3%A4%20b');
  t.deepEqual(pdf.array(link?.['/Rect']), [20, 10, 30, 60]);
});

test('a file that is not a picture is refused with a code', (t) => {
  const error = t.throws(
    () =>
      compose([
        {
          pages: [
            {
              width: 100,
              height: 100,
              items: [
                {
                  shape: 'stamp',
                  x: 0,
                  y: 0,
                  width: 50,
                  height: 50,
                  lines: [],
                  image: Buffer.from('GIF89a'),
                },
              ],
            },
          ],
        },
      ]),
    { instanceOf: CryptoError },
  );
  t.is(error?.code, 'request.invalid');
});

test('wrapped lines fit their width, hold every letter and break words only when they must', (t) => {
  const texts = [
    'A short one',
    'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0 Safari/537.36',
    'f'.repeat(400),
    'Ação, coração e manhã: Здравствуй, мир',
    'two\nparagraphs',
    '',
  ];
  for (const text of texts) {
    for (const width of [30, 120, 400]) {
      const lines = wrapText(text, 9, width);
      for (const line of lines) t.true(textWidth(line, 9) <= width || [...line].length === 1, line);
      t.is(lines.join('').replace(/\s/g, ''), text.replace(/\s/g, ''));
    }
  }
  t.deepEqual(wrapText('one two', 9, 400), ['one two']);
});
