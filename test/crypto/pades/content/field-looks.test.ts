/** Values in fields of a form look as its author wrote, in viewers of others. */
import { readFileSync } from 'node:fs';
import test from 'ava';
import type { FormFieldContent, PadesFormat, PageContent } from '#crypto/core/types.js';
import { signPades } from '#crypto/pades/sign.js';
import { pki } from '../../../pki/pki.ts';
import { runTool, withTools } from '../../../verifiers/index.ts';
import { classicPdf, documentObjects, stream } from '../../pdf/build.ts';
import { type Picture, picture, type Viewer } from '../appearance/appearance-pictures.ts';
import { reportOn, verdicts } from '../validation/attack-files.ts';
import { freshPath, put } from '../validation/verdicts.ts';

const VIEWERS: readonly Viewer[] = ['mutool', 'pdftoppm'];

const toolTest = withTools(test, 'pdftotext', ...VIEWERS, 'qpdf');
const WIDGET = '/Type /Annot /Subtype /Widget /F 4 /P 10 0 R';

/** A page of 400 points with these fields. */
function form(
  fields: readonly string[],
  entries = '',
  more: readonly (readonly [number, string])[] = [],
  further = '',
): string {
  const objects = documentObjects({ text: 'Form' });
  const list = fields.map((_, index) => `${50 + index} 0 R`).join(' ');
  const acroForm = `/AcroForm << /Fields [${list}] /DA (/Helv 0 Tf 0 g) ${entries} >>`;
  objects.set(1, (objects.get(1) ?? '').replace('/Type /Catalog', `/Type /Catalog ${acroForm}`));
  objects.set(
    10,
    (objects.get(10) ?? '').replace('[0 0 200 200]', `[0 0 400 400] /Annots [${list} ${further}]`),
  );
  for (const [index, field] of fields.entries()) objects.set(50 + index, `<< ${WIDGET} ${field} >>`);
  for (const [number, body] of more) objects.set(number, body);
  return put(classicPdf(objects));
}

const value = (name: string, text: string): FormFieldContent => ({
  name,
  kind: 'text',
  label: name,
  place: null,
  value: text,
});

function filled(input: string, values: readonly FormFieldContent[], more: PadesFormat = {}): string {
  const output = freshPath('filled.pdf');
  const content: PageContent = { stamps: [], fields: values };
  const pades = { content, ...more };
  signPades({ format: 'Pades', input, output, signer: pki().signer('p-256'), at: Date.now(), pades });
  return output;
}

interface Word {
  readonly text: string;
  readonly left: number;
  readonly right: number;
}

/** The words of the first page, with their places in points. */
async function words(path: string): Promise<readonly Word[]> {
  const { stdout } = await runTool('pdftotext', ['-bbox', '-enc', 'UTF-8', path, '-']);
  const word = /<word xMin="([\d.]+)" yMin="[\d.]+" xMax="([\d.]+)" yMax="[\d.]+">([^<]*)</g;
  return [...stdout.matchAll(word)].map(([, left, right, text = '']) => ({
    text,
    left: Number(left),
    right: Number(right),
  }));
}

/** True when any pixel of the rectangle has the colour, nearly. */
function has(
  page: Picture,
  [left, bottom, right, top]: readonly number[],
  wanted: readonly number[],
): boolean {
  for (let x = left ?? 0; x < (right ?? 0); x++)
    for (let y = bottom ?? 0; y < (top ?? 0); y++)
      if (page.at(x, y).every((part, index) => Math.abs(part - (wanted[index] ?? 0)) < 60)) return true;
  return false;
}

toolTest(
  'text stands in its cells, at its edge or in the middle, as the field or the form says',
  async (t) => {
    const comb = '/FT /Tx /Ff 16777216 /MaxLen 5 /DA (/Helv 12 Tf 0 g)';
    const path = filled(
      form(
        [
          `${comb} /T (cells) /Rect [100 300 200 320]`,
          `${comb} /T (last) /Q 2 /Rect [100 270 200 290]`,
          '/FT /Tx /T (right) /Q 2 /Rect [100 240 200 260]',
          '/FT /Tx /T (middle) /Rect [100 210 200 230]',
          '/FT /Tx /T (left) /Q 0 /Rect [100 180 200 200]',
        ],
        '/Q 1',
      ),
      [
        value('cells', 'AB'),
        value('last', 'Z'),
        value('right', 'R'),
        value('middle', 'M'),
        value('left', 'L'),
      ],
    );
    const found = new Map((await words(path)).map((word) => [word.text, (word.left + word.right) / 2]));
    // pdftotext joins letters of neighbouring cells into words or not, by their distance.
    const first = found.get('A') ?? found.get('AB');
    t.true(first !== undefined && first < 140);
    t.true(Math.abs((found.get('Z') ?? 0) - 190) < 1);
    t.true((found.get('R') ?? 0) > 190);
    t.true(Math.abs((found.get('M') ?? 0) - 150) < 1);
    t.true((found.get('L') ?? 0) < 110);
  },
);

toolTest(
  'a choice shows the words of its option and stores the exported value; a list marks its option',
  async (t) => {
    const path = filled(
      form([
        '/FT /Ch /Ff 131072 /T (combo) /Opt [[(v1) (First)] [(v2) (Second)]] /Rect [100 300 200 320]',
        '/FT /Ch /T (list) /Opt [(Red) (Green) (Blue) (Black)] /DA (/Helv 12 Tf 0 g) /Rect [100 200 200 240]',
      ]),
      [value('combo', 'v2'), value('list', 'Blue')],
    );
    const shown = (await words(path)).map(({ text }) => text);
    t.true(shown.includes('Second') && !shown.includes('v2'), shown.join());
    // Two rows fit.
    t.deepEqual(
      shown.filter((text) => ['Red', 'Green', 'Blue', 'Black'].includes(text)),
      ['Green', 'Blue'],
    );
    t.regex(readFileSync(path, 'latin1'), /\/V *\(v2\)/);
    for (const viewer of VIEWERS) {
      const page = await picture(viewer, path);
      t.true(has(page, [150, 212, 199, 222], [153, 193, 218]), viewer);
      t.false(has(page, [150, 230, 199, 238], [153, 193, 218]), viewer);
    }
  },
);

toolTest('colours and frames of a field are kept', async (t) => {
  const path = filled(
    form([
      '/FT /Tx /T (red) /DA (/Nope 14 Tf 1 0 0 rg) /MK << /BC [0 0 1] /BG [1 1 0] >> /BS << /W 3 >> /Rect [100 300 200 330]',
      '/FT /Tx /T (bare) /DA (/Helv 14 Tf 0 1 0 rg) /Rect [100 240 200 270]',
    ]),
    [value('red', 'MMMMM'), value('bare', 'MMMMM')],
  );
  for (const viewer of VIEWERS) {
    const page = await picture(viewer, path);
    t.true(has(page, [100, 300, 103, 330], [0, 0, 255]), viewer);
    t.true(has(page, [104, 304, 196, 326], [255, 0, 0]), viewer);
    t.true(has(page, [104, 304, 196, 326], [255, 255, 0]), viewer);
    t.true(has(page, [100, 240, 200, 270], [0, 255, 0]), viewer);
    t.false(has(page, [100, 240, 200, 270], [0, 0, 255]), viewer);
  }
});

toolTest('fields of one name have one value', async (t) => {
  const twins = ['/FT /Tx /T (twin) /Rect [100 300 200 320]', '/FT /Tx /T (twin) /Rect [100 260 200 280]'];
  const path = filled(form(twins), [value('twin', 'Both')]);
  t.is((await words(path)).filter(({ text }) => text === 'Both').length, 2);
  t.is(readFileSync(path, 'latin1').match(/\/V *\(Both\)/g)?.length, 2);
});

test('a list and cells that are filled after a signature leave it valid', (t) => {
  const options =
    '/FT /Ch /T (list) /Opt [(Red) (Green) (Blue)] /MK << /BC [0 0 0] >> /Rect [100 200 200 250]';
  const cells =
    '/FT /Tx /Ff 16777216 /MaxLen 5 /T (cells) /MK << /BC [0 0 0] /BG [1 1 0] >> /Rect [100 300 200 320]';
  const first = filled(form([options, cells]), []);
  const second = filled(first, [value('list', 'Green'), value('cells', '12345')]);
  t.deepEqual(verdicts(readFileSync(second)), ['TOTAL-PASSED', 'TOTAL-PASSED']);
  t.deepEqual(
    reportOn(readFileSync(second)).signatures[0]?.results.warnings.filter(({ type }) =>
      type.startsWith('pdf.'),
    ),
    [],
  );
  const other = filled(form([options.replace('/FT /Ch', '/FT /Ch /V (Other)')]), []);
  t.deepEqual(verdicts(readFileSync(filled(other, [value('list', 'Other words')]))), [
    'TOTAL-PASSED',
    'TOTAL-PASSED',
  ]);
});

const MARK = { place: { page: 1, left: 100, top: 350, width: 80, height: 30 }, lines: ['MMMM'] };
const MARKED = [100, 20, 180, 50] as const;
const STALE = stream(
  '/Type /XObject /Subtype /Form /BBox [0 0 100 20] /Resources << /Font << /F1 3 0 R >> >>',
  'BT /F1 12 Tf 2 5 Td (Stale) Tj ET',
);

toolTest('a form that asks viewers to draw its fields hides no signature and loses no value', async (t) => {
  const fields = [
    '/FT /Tx /T (name) /V (Prefilled) /Rect [100 300 200 320]',
    '/FT /Tx /T (stale) /V (Fresh) /Rect [100 270 200 290] /AP << /N 80 0 R >>',
    '/FT /Tx /T (kept) /V (Stale) /Rect [100 240 200 260] /AP << /N 80 0 R >>',
    '/FT /Btn /T (box) /V /On /AS /On /MK << /CA (4) >> /Rect [100 210 120 230]',
    '/FT /Ch /Ff 131072 /T (choice) /V (v2) /Opt [[(v1) (First)] [(v2) (Second)]] /Rect [100 180 200 200]',
  ];
  const input = form(fields, '/NeedAppearances true', [[80, STALE]]);
  const path = filled(input, [], { appearance: MARK });
  const shown = (await words(path)).map(({ text }) => text);
  for (const word of ['MMMM', 'Prefilled', 'Fresh', 'Stale', 'Second']) t.true(shown.includes(word), word);
  for (const viewer of VIEWERS) {
    const page = await picture(viewer, path);
    t.true(has(page, MARKED, [0, 0, 0]), viewer);
    t.true(has(page, [100, 210, 120, 230], [0, 0, 0]), viewer);
  }
  const update = readFileSync(path).subarray(readFileSync(input).length).toString('latin1');
  t.regex(update, /\/NeedAppearances *false/);
  // The one that shows its value is not drawn anew.
  t.notRegex(update, /\/T *\(kept\)/);
  const { stdout } = await runTool('qpdf', ['--check', path]);
  t.true(stdout.includes('No syntax'), stdout);
  // An invisible signature changes no form, and a form that is signed keeps its flag.
  const bare = freshPath('bare.pdf');
  const options = { format: 'Pades', signer: pki().signer('p-256'), at: Date.now() } as const;
  signPades({ ...options, input, output: bare, pades: {} });
  t.notRegex(readFileSync(bare, 'latin1').slice(readFileSync(input).length), /NeedAppearances *false/);
  const later = filled(bare, [], { appearance: MARK });
  t.deepEqual(verdicts(readFileSync(later)), ['TOTAL-PASSED', 'TOTAL-PASSED']);
});

toolTest(
  'a mark in a signed file is seen where the fields show their values, and no value is lost for it elsewhere',
  async (t) => {
    const options = { format: 'Pades', signer: pki().signer('p-256'), at: Date.now() } as const;
    const second = async (...fields: readonly string[]) => {
      const input = form(fields, '/NeedAppearances true', [[80, STALE]]);
      const first = freshPath('first.pdf');
      signPades({ ...options, input, output: first, pades: {} });
      const path = filled(first, [], { appearance: MARK });
      t.deepEqual(verdicts(readFileSync(path)), ['TOTAL-PASSED', 'TOTAL-PASSED']);
      const update = readFileSync(path, 'latin1').slice(readFileSync(first).length);
      const shown = (await words(path)).map(({ text }) => text);
      const pages = await Promise.all(VIEWERS.map((viewer) => picture(viewer, path)));
      const isOff = /\/NeedAppearances *false/.test(update);
      return { isOff, shown, isSeen: pages.every((page) => has(page, MARKED, [0, 0, 0])) };
    };
    const faithful = '/FT /Tx /T (kept) /V (Stale) /Rect [100 240 200 260] /AP << /N 80 0 R >>';
    const empty = '/FT /Tx /T (empty) /Rect [100 300 200 320]';
    t.like(await second(faithful, empty), { isOff: true, isSeen: true });
    const withOther = await second(faithful, '/FT /Tx /T (name) /V (Prefilled) /Rect [100 300 200 320]');
    t.false(withOther.isOff);
    t.true(withOther.shown.includes('Prefilled'));
  },
);

const SQUARE = stream('/Type /XObject /Subtype /Form /BBox [0 0 20 20]', '4 4 12 12 re f');
const NOTHING = stream('/Type /XObject /Subtype /Form /BBox [0 0 20 20]', '');

toolTest(
  'buttons are switched by states of any name, and radio buttons by the text of their options',
  async (t) => {
    const appearance = (state: string) => `/AS /Off /AP << /N << /${state} 80 0 R /Off 81 0 R >> >>`;
    const path = filled(
      form(
        [
          `/FT /Btn /T (box) /Rect [100 300 120 320] ${appearance('S#ed#20ou#23')}`,
          '/FT /Btn /Ff 49152 /T (radio) /Opt [(Red) (Blue)] /Kids [82 0 R 83 0 R]',
        ],
        '',
        [
          [80, SQUARE],
          [81, NOTHING],
          [82, `<< ${WIDGET} /Parent 51 0 R /Rect [100 260 120 280] ${appearance('0')} >>`],
          [83, `<< ${WIDGET} /Parent 51 0 R /Rect [140 260 160 280] ${appearance('1')} >>`],
        ],
        '82 0 R 83 0 R',
      ),
      [value('box', 'true'), value('radio', 'Blue')],
    );
    for (const viewer of VIEWERS) {
      const page = await picture(viewer, path);
      t.true(has(page, [104, 304, 116, 316], [0, 0, 0]), viewer);
      t.false(has(page, [100, 260, 120, 280], [0, 0, 0]), viewer);
      t.true(has(page, [144, 264, 156, 276], [0, 0, 0]), viewer);
    }
  },
);

toolTest('a value that a field has already is shown, whatever its look showed', async (t) => {
  const stale = '/AP << /N 80 0 R >>';
  const state = '/AP << /N << /Yes 81 0 R /Off 82 0 R >> >>';
  const fields = [
    `/FT /Tx /T (stale) /V (Agreed) /Rect [100 340 200 360] ${stale}`,
    '/FT /Tx /T (bare) /V (Present) /Rect [100 300 200 320]',
    `/FT /Btn /T (box) /V /Yes /AS /Off /Rect [100 260 120 280] ${state}`,
    `/FT /Btn /T (bare box) /V /Yes /Rect [100 220 120 240] ${state}`,
  ];
  const values = [
    value('stale', 'Agreed'),
    value('bare', 'Present'),
    value('box', 'true'),
    value('bare box', 'true'),
  ];
  const parts: readonly (readonly [number, string])[] = [
    [80, STALE],
    [81, SQUARE],
    [82, NOTHING],
  ];
  for (const entries of ['', '/NeedAppearances true']) {
    const path = filled(form(fields, entries, parts), values);
    const shown = (await words(path)).map(({ text }) => text);
    t.true(shown.includes('Agreed') && shown.includes('Present'), shown.join());
    t.false(shown.includes('Stale'));
    for (const viewer of VIEWERS) {
      const page = await picture(viewer, path);
      t.true(has(page, [104, 264, 116, 276], [0, 0, 0]), viewer);
      t.true(has(page, [104, 224, 116, 236], [0, 0, 0]), viewer);
    }
  }
});

toolTest('a cell holds a letter with its marks, and a list marks all options of its value', async (t) => {
  const path = filled(
    form(
      [
        '/FT /Tx /Ff 16777216 /MaxLen 5 /T (cells) /Rect [100 300 200 320]',
        '/FT /Ch /Ff 2097152 /T (list) /V [(Red) (Blue)] /Opt [(Red) (Green) (Blue)] /DA (/Helv 12 Tf 0 g) /Rect [100 200 200 250]',
      ],
      '/NeedAppearances true',
    ),
    [value('cells', 'e\u0301x')],
  );
  const found = (await words(path)).find(({ text }) => text === 'x' || text.endsWith('x'));
  t.true(found !== undefined && Math.abs(found.right - 134) < 3, JSON.stringify(found));
  const page = await picture('pdftoppm', path);
  const isMarked = (row: number) =>
    has(page, [150, 250 - 14.4 * row + 3, 199, 250 - 14.4 * row + 11], [153, 193, 218]);
  t.deepEqual([1, 2, 3].map(isMarked), [true, false, true]);
});

test('a filled form has no second set of values for viewers of XFA, and one that is not filled keeps it', (t) => {
  const xfa = () =>
    form(['/FT /Tx /T (name) /Rect [100 300 200 320]'], '/XFA 80 0 R', [[80, stream('', '<xdp/>')]]);
  t.regex(readFileSync(filled(xfa(), [value('name', 'Ana')]), 'latin1'), /\/XFA *null/);
  t.notRegex(readFileSync(filled(xfa(), []), 'latin1'), /\/XFA *null/);
});
