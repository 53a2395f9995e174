/**
 * Revisions after signing that readers take differently: one reading is the signed document, another a forged one. Each
 * way is combined with each order, and has an honest twin.
 */
import test from 'ava';
import { runTool, withTools } from '../../../verifiers/index.ts';
import { appendRevision, objectStream, stream } from '../../pdf/build.ts';
import {
  bodyOf,
  CATALOG,
  CONTENT,
  contract,
  FREE,
  objections,
  PAGE,
  signed,
  verdicts,
} from './attack-files.ts';
import { put } from './verdicts.ts';

const toolTest = withTools(test, 'pdftotext');

const PASSED = 'TOTAL-PASSED';
const EVIL = stream('', 'BT /F1 12 Tf 20 100 Td (Pay 900) Tj ET');

const text = (pdf: Buffer): string => pdf.toString('latin1');
const startOf = (pdf: Buffer): number =>
  Number(/startxref\s+(\d+)\s+%%EOF\s*$/.exec(text(pdf).slice(-64))?.[1]);
const more = (pdf: Buffer, tail: string): Buffer => Buffer.concat([pdf, Buffer.from(tail, 'latin1')]);
const offsetOf = (pdf: Buffer, number: number): number => text(pdf).lastIndexOf(`\n${number} 0 obj\n`) + 1;
const entry = (offset: number): string => `${String(offset).padStart(10, '0')} 00000 n \n`;

/** Writes objects after a file; returns their text and offsets. */
function written(
  pdf: Buffer,
  objects: readonly (readonly [number, string])[],
): { readonly body: string; readonly at: ReadonlyMap<number, number>; readonly end: number } {
  const at = new Map<number, number>();
  let body = '\n';
  for (const [number, value] of objects) {
    at.set(number, pdf.length + body.length);
    body += `${number} 0 obj\n${value}\nendobj\n`;
  }
  return { body, at, end: pdf.length + body.length };
}

type Row = readonly [kind: number, first: number, second: number];

function xrefStream(rows: readonly (readonly [number, Row])[], dict: string): string {
  const bytes = rows.map(([, [kind, first, second]]) => {
    const row = Buffer.alloc(6);
    row[0] = kind;
    row.writeUInt32BE(first, 1);
    row[5] = second;
    return row.toString('latin1');
  });
  const index = rows.map(([number]) => `${number} 1`).join(' ');
  return stream(`/Type /XRef /Size 200 /W [1 4 1] /Index [${index}] ${dict}`, bytes.join(''));
}

const evilPage = (pdf: Buffer): string =>
  bodyOf(pdf, PAGE).replace(`/Contents ${CONTENT} 0 R`, `/Contents ${FREE} 0 R`);

test('a hybrid revision whose table and stream contradict each other is refused', (t) => {
  const pdf = signed(contract());
  const hybrid = (table: number | undefined, row: Row): Buffer => {
    const { body, at, end } = written(pdf, [
      [FREE, EVIL],
      [FREE + 1, objectStream(new Map(row[0] === 2 ? [[PAGE, evilPage(pdf)]] : []))],
    ]);
    const rows = [
      [PAGE, row],
      [FREE, [1, at.get(FREE) ?? 0, 0]],
      [FREE + 1, [1, at.get(FREE + 1) ?? 0, 0]],
    ] as const;
    const stm = `${FREE + 2} 0 obj\n${xrefStream(rows, `/Root ${CATALOG} 0 R`)}\nendobj\n`;
    const lines = table === undefined ? '0 0\n' : `${PAGE} 1\n${entry(table)}`;
    return more(
      pdf,
      `${body}${stm}xref\n${lines}${FREE + 2} 1\n${entry(end)}trailer\n<< /Size 200 /Root ${CATALOG} 0 R /Prev ${startOf(pdf)} /XRefStm ${end} >>\nstartxref\n${end + stm.length}\n%%EOF\n`,
    );
  };
  const old = offsetOf(pdf, PAGE);
  t.deepEqual(verdicts(hybrid(old, [1, old, 0])), [PASSED], 'the honest twin');
  t.deepEqual(verdicts(hybrid(undefined, [1, old, 0])), [PASSED], 'the honest twin with an empty table');
  for (const table of [old, undefined]) {
    const forged = hybrid(table, [2, FREE + 1, 0]);
    t.false(verdicts(forged).includes(PASSED), String(table));
  }
});

test('a section that lists an object twice, with different places, is refused', (t) => {
  const pdf = signed(contract());
  const old = offsetOf(pdf, PAGE);
  for (const isStream of [false, true]) {
    const twice = (order: (honest: number, evil: number) => readonly number[]): Buffer => {
      const { body, at, end } = written(pdf, [
        [FREE, EVIL],
        [PAGE, evilPage(pdf)],
      ]);
      const places = order(old, at.get(PAGE) ?? 0);
      const free = at.get(FREE) ?? 0;
      if (isStream) {
        const rows = [
          ...places.map((place): readonly [number, Row] => [PAGE, [1, place, 0]]),
          [FREE, [1, free, 0]] as const,
          [FREE + 2, [1, end, 0]] as const,
        ];
        const dict = `/Root ${CATALOG} 0 R /Prev ${startOf(pdf)}`;
        return more(
          pdf,
          `${body}${FREE + 2} 0 obj\n${xrefStream(rows, dict)}\nendobj\nstartxref\n${end}\n%%EOF\n`,
        );
      }
      const lines = places.map((place) => `${PAGE} 1\n${entry(place)}`).join('');
      return more(
        pdf,
        `${body}xref\n${lines}${FREE} 1\n${entry(free)}trailer\n<< /Size 200 /Root ${CATALOG} 0 R /Prev ${startOf(pdf)} >>\nstartxref\n${end}\n%%EOF\n`,
      );
    };
    for (const order of [
      (honest: number, evil: number) => [honest, evil],
      (honest: number, evil: number) => [evil, honest],
      (honest: number, evil: number) => [honest, evil, honest],
    ]) {
      t.false(verdicts(twice(order)).includes(PASSED));
    }
  }
});

test('a document whose object stream has two values for one page is not signed', (t) => {
  const evil = (content: number): string =>
    `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 200 200] /Resources << >> /Contents ${content} 0 R >>`;
  const packed = (members: readonly (readonly [number, string])[]): string => {
    let head = '';
    let body = '';
    for (const [number, value] of members) {
      head += `${number} ${body.length} `;
      body += `${value} `;
    }
    return stream(`/Type /ObjStm /N ${members.length} /First ${head.length}`, head + body);
  };
  const file = (members: readonly (readonly [number, string])[]): Buffer => {
    const start = Buffer.from('%PDF-1.7', 'latin1');
    const { body, at, end } = written(start, [
      [1, '<< /Type /Catalog /Pages 2 0 R >>'],
      [2, '<< /Type /Pages /Kids [3 0 R] /Count 1 >>'],
      [4, stream('', 'BT (Pay 100) Tj ET')],
      [5, EVIL],
      [8, packed(members)],
    ]);
    const rows: (readonly [number, Row])[] = [...at].map(([number, place]) => [number, [1, place, 0]]);
    rows.push([3, [2, 8, 0]], [9, [1, end, 0]], [0, [0, 0, 0]]);
    return more(
      start,
      `${body}9 0 obj\n${xrefStream(rows, '/Root 1 0 R')}\nendobj\nstartxref\n${end}\n%%EOF\n`,
    );
  };
  t.deepEqual(verdicts(signed(file([[3, evil(4)]]))), [PASSED]);
  t.deepEqual(
    verdicts(
      signed(
        file([
          [3, evil(4)],
          [7, '(unused)'],
          [7, '(unused too)'],
        ]),
      ),
    ),
    [PASSED],
  );
  for (const contents of [
    [4, 5],
    [5, 4],
  ]) {
    const twice = file(contents.map((content) => [3, evil(content)]));
    t.throws(() => signed(twice), { message: /several values for object 3/ });
  }
});

test('a second document in a revision, for readers that repair, is refused', (t) => {
  const pdf = signed(contract());
  const CATALOG_2 = `<< /Type /Catalog /Pages ${FREE + 1} 0 R >>`;
  const second = [
    [FREE, CATALOG_2],
    [FREE + 1, `<< /Type /Pages /Kids [${FREE + 2} 0 R] /Count 1 >>`],
    [FREE + 2, `<< /Type /Page /Parent ${FREE + 1} 0 R /MediaBox [0 0 200 200] /Contents ${FREE + 3} 0 R >>`],
    [FREE + 3, EVIL],
  ] as const;
  const trailer = `trailer\n<< /Size 200 /Root ${FREE} 0 R >>\n`;
  const honest = (before: string, after = ''): Buffer => {
    const start = more(pdf, before);
    const whole = text(appendRevision(pdf, new Map([[CATALOG, bodyOf(pdf, CATALOG)]]))).slice(pdf.length);
    const moved = whole
      .replace(/(\d{10}) 00000 n/g, (_, at: string) => entry(Number(at) + before.length).slice(0, 18))
      .replace(/startxref\n(\d+)/, (_, at: string) => `startxref\n${Number(at) + before.length}`);
    return more(start, moved + after);
  };
  t.deepEqual(verdicts(honest('')), [PASSED]);
  t.deepEqual(verdicts(honest('', '\n\n')), [PASSED]);
  // Some readers no longer find the newest cross-reference.
  t.deepEqual(verdicts(honest('', ' \n'.repeat(1000))), ['INDETERMINATE GENERIC']);
  const { body } = written(pdf, second);
  const { body: alone } = written(pdf, second.slice(3));
  const table = `xref\n0 1\n0000000000 65535 f \n${trailer}`;
  const hidden: readonly (readonly [string, Buffer])[] = [
    ['objects and a trailer', honest(body + trailer)],
    ['objects alone', honest(body)],
    ['a catalogue with escaped names', honest(body.replaceAll('/Catalog', '/#43atalog'))],
    ['a section and a trailer', honest(body + table)],
    ['a trailer to an older catalogue', honest(trailer.replace(`${FREE} 0 R`, '1 0 R'))],
    ['content and a trailer', honest(alone + trailer)],
    [
      'a text with an end mark before the type',
      honest(body.replace('/Type /Catalog', '/X (endobj) /Type /Catalog')),
    ],
    [
      'a long text before the type',
      honest(body.replace('/Type /Catalog', `/X (${'x'.repeat(9000)}) /Type /Catalog`)),
    ],
    ...[
      '150 0 %\nobj',
      '150%\n 0 obj',
      '00000000150 0 obj',
      '150 0000000 obj',
      `150${' '.repeat(90)}0 obj`,
    ].map((header) => [JSON.stringify(header), honest(body.replace('150 0 obj', header))] as const),
    [
      'an object of the signed page, behind a comment',
      honest(`${PAGE} 0 %\nobj\n${evilPage(pdf)}\nendobj\n`),
    ],
    ['the same, with many zeros', honest(`0000000000${PAGE} 0 obj\n${evilPage(pdf)}\nendobj\n`)],
  ];
  for (const [what, forged] of hidden) {
    t.false(verdicts(forged).includes(PASSED), what);
    t.true(objections(forged).length > 0, what);
  }
});

/** A revision with a stream that contains a forged content of the page, which readers find when they rebuild. */
function withForgedText(
  pdf: Buffer,
  {
    catalog = '/Metadata 151 0 R',
    header = '',
    entries = '',
    first = '0000000000 65535 f',
    forged = true,
    root = '1 0 R',
    info = '',
    size = 200,
    fraction = '',
  }: {
    readonly catalog?: string;
    readonly header?: string;
    readonly entries?: string;
    readonly first?: string;
    readonly forged?: boolean;
    readonly root?: string;
    readonly info?: string;
    readonly size?: number;
    readonly fraction?: string;
  } = {},
): Buffer {
  const inner = forged ? `x\nendstream\nendobj\n${CONTENT} 0 obj\n${EVIL}\nendobj\n` : 'x';
  const { body, at, end } = written(pdf, [
    [CATALOG, bodyOf(pdf, CATALOG).replace('/Type /Catalog', `/Type /Catalog ${catalog}`)],
    [FREE + 1, stream('/Type /Metadata /Subtype /XML', inner)],
    [FREE + 2, header === '' ? '<< /Title (A) >>' : '/1.7'],
  ]);
  const lines = [...at].map(([number, place]) => `${number} 1\n${entry(place)}`).join('');
  const objects = header === '' ? body : body.replace(`\n${FREE + 2} 0 obj`, `\n${header} obj`);
  const trailer = `<< /Size ${size} /Root ${root} ${info} /Prev ${startOf(pdf)}${fraction} >>`;
  return more(
    pdf,
    `${objects}xref\n0 1\n${first} \n${lines}${entries}trailer\n${trailer}\nstartxref\n${end}\n%%EOF\n`,
  );
}

toolTest('a revision that some readers answer by rebuilding the document is refused', async (t) => {
  const pdf = signed(contract());
  const again = (number: number) =>
    `${number} 1\n${entry(offsetOf(pdf, number)).replace(' 00000 n', ' 00001 n')}`;
  const reasons: readonly (readonly [string, Parameters<typeof withForgedText>[1]])[] = [
    ['another generation for the content', { entries: again(CONTENT) }],
    ['another generation for the page', { entries: again(PAGE) }],
    ['a reference to another generation', { info: `/Info ${FREE + 2} 1 R` }],
    ['a reference of the catalogue', { catalog: `/Metadata ${FREE + 1} 1 R` }],
    ['a root of another generation', { root: '1 1 R' }],
    ['an object of another generation', { header: `${FREE + 2} 1`, catalog: `/Version ${FREE + 2} 0 R` }],
    ['an object 0 in use', { first: '0000000000 00000 n' }],
    ['information that is missing', { info: '/Info 190 0 R' }],
    ['a claimed size', { size: 2_147_483_647 }],
    ['a previous section with a fraction', { fraction: '.0' }],
    ['two roots', { root: `${FREE + 2} 0 R /Root 1 0 R` }],
    ['two previous sections', { info: '/Prev 9' }],
    [
      'a number that no reader uses',
      { entries: `9000000 1\n${entry(offsetOf(pdf, CONTENT))}`, size: 9_000_001 },
    ],
  ];
  const plain = { forged: false } as const;
  t.deepEqual(verdicts(withForgedText(pdf, plain)), [PASSED], 'the honest twin');
  const titled = { ...plain, info: `/Info ${FREE + 2} 0 R` };
  t.deepEqual(verdicts(withForgedText(pdf, titled)), [PASSED], 'the honest twin with a title');
  t.false(verdicts(withForgedText(pdf)).includes(PASSED), 'the text alone');
  for (const [what, reason] of reasons) {
    t.false(verdicts(withForgedText(pdf, { ...reason, forged: false })).includes(PASSED), what);
    t.false(verdicts(withForgedText(pdf, reason)).includes(PASSED), `${what}, with the text`);
  }
  const shown = put(withForgedText(pdf, { entries: again(PAGE) }));
  t.regex((await runTool('pdftotext', ['-enc', 'UTF-8', shown, '-'])).stdout, /Pay 900/);
});

test('objects that a rebuilt document could begin with are refused, also where the cross-reference lists them', (t) => {
  const pdf = signed(contract());
  const second = [
    [FREE, `<< /Type /Catalog /Pages ${FREE + 1} 0 R >>`],
    [FREE + 1, `<< /Type /Pages /Kids [${FREE + 2} 0 R] /Count 1 >>`],
    [FREE + 2, `<< /Type /Page /Parent ${FREE + 1} 0 R /MediaBox [0 0 200 200] /Contents ${FREE + 3} 0 R >>`],
    [FREE + 3, EVIL],
  ] as const;
  const trailer = `trailer\n<< /Size 200 /Root ${FREE} 0 R >>\n`;
  const ending = (body: string): Buffer =>
    appendRevision(pdf, new Map([[CATALOG, bodyOf(pdf, CATALOG)], ...second, [FREE + 4, body]]));
  const row: Row = [1, 0, 0];
  for (const [what, body] of [
    ['a trailer in a text', `(\nendobj\n${trailer})`],
    ['a trailer in a stream', stream('', `endstream\nendobj\n${trailer}`)],
    ['a trailer behind a comment', `(\nendobj\n${trailer.replace('\n', ' %\n')})`],
    ['a trailer behind much white space', `(\nendobj\n${trailer.replace('\n', ' '.repeat(80))})`],
    ['a cross-reference stream', xrefStream([[FREE, row]], `/Root ${FREE} 0 R`)],
    ['one with an escaped name', xrefStream([[FREE, row]], `/Root ${FREE} 0 R`).replace('/XRef', '/X#52ef')],
  ] as const)
    t.false(verdicts(ending(body)).includes(PASSED), what);
  t.deepEqual(verdicts(ending('(a trailer of an old xref)')), [PASSED]);
});

test('an object header of an unusual form is refused behind an end mark inside a stream', (t) => {
  const pdf = signed(contract());
  // Without a cross-reference, programs do not know this length, and look for the end of the stream.
  const holding = (inner: string): Buffer =>
    appendRevision(
      pdf,
      new Map([
        [CATALOG, bodyOf(pdf, CATALOG).replace('/Type /Catalog', `/Type /Catalog /Metadata ${FREE} 0 R`)],
        [FREE, `<< /Type /Metadata /Subtype /XML /Length ${FREE + 1} 0 R >>\nstream\n${inner}\nendstream`],
        [FREE + 1, String(inner.length)],
      ]),
    );
  for (const words of ['x', 'let\nobj = 5 obj', 'endobj of an obj'])
    t.deepEqual(verdicts(holding(words)), [PASSED], words);
  for (const end of ['endstream', 'endobj'])
    for (const header of [`${CONTENT} 0 %\nobj`, `${CONTENT}%\n0 obj`, `${CONTENT} 0% a comment\r\n\tobj`])
      t.false(verdicts(holding(`x\n${end}\n${header}\n${EVIL}\nendobj\n`)).includes(PASSED), header);
});

test('forged text inside a stream is refused wherever its bytes are divided for reading', (t) => {
  // Offset at which the first piece ends.
  const edge = 1 << 20;
  const pdf = signed(contract());
  const revision = (length: number, forged: string): Buffer =>
    appendRevision(
      pdf,
      new Map([
        [CATALOG, bodyOf(pdf, CATALOG)],
        [FREE, stream('/Type /Metadata /Subtype /XML', `${' '.repeat(length)}x\n${forged}\n`)],
      ]),
    );
  const length = edge - 1000;
  const start = text(revision(length, 'here')).indexOf('x\nhere', pdf.length) + 2 - pdf.length;
  for (const [forged, before] of [
    ['trailer\n<< /Root 1 0 R >>', 7],
    ['trailer\n<< /Root 1 0 R >>', 8],
    ['trailer\n<< /Root 1 0 R >>', 9],
    [`${CONTENT}${' '.repeat(80)}0 obj\n${EVIL}`, 70],
    [`${CONTENT}${' '.repeat(80)}0 obj\n${EVIL}`, 60],
    [`${CONTENT}${' '.repeat(80)}0 obj\n${EVIL}`, 50],
  ] as const)
    t.false(
      verdicts(revision(length + edge - before - start, forged)).includes(PASSED),
      `${forged} ${before}`,
    );
});

test('words of an honest revision pass wherever its bytes are divided for reading', (t) => {
  // Offset at which the second piece begins.
  const edge = (1 << 20) - 64;
  const pdf = signed(contract());
  const revision = (length: number): Buffer =>
    appendRevision(
      pdf,
      new Map([
        [CATALOG, bodyOf(pdf, CATALOG)],
        [FREE, stream('/Type /Metadata /Subtype /XML', ' '.repeat(length))],
      ]),
    );
  for (const [word, before] of [
    ['startxref', 'start'],
    ['endobj', 'end'],
  ] as const) {
    let length = edge;
    for (let tries = 0; tries < 3; tries += 1)
      length += edge - before.length - (text(revision(length)).lastIndexOf(word) - pdf.length);
    const honest = revision(length);
    t.is(
      text(honest)
        .slice(pdf.length + edge - before.length)
        .indexOf(word),
      0,
    );
    t.deepEqual(verdicts(honest), [PASSED], word);
  }
});

test('blank bytes after the signed revision may not hide its end from other readers', (t) => {
  const pdf = signed(contract());
  t.deepEqual(verdicts(more(pdf, '\n'.repeat(200))), [PASSED]);
  t.false(verdicts(more(pdf, '\n'.repeat(2000))).includes(PASSED));
});

test('a later startxref that points only near its cross-reference is refused', (t) => {
  const pdf = signed(contract());
  const honest = text(appendRevision(pdf, new Map([[CATALOG, bodyOf(pdf, CATALOG)]])));
  const moved = (by: number): Buffer =>
    Buffer.from(
      honest.replace(
        /startxref\n(\d+)(\n%%EOF\s*)$/,
        (_, at: string, end: string) => `startxref\n${Number(at) + by}${end}`,
      ),
      'latin1',
    );
  t.deepEqual(verdicts(moved(0)), [PASSED]);
  for (const by of [-20, -3, 2, 9]) t.false(verdicts(moved(by)).includes(PASSED), String(by));
});
