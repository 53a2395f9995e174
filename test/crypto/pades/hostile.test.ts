import { constants, deflateRawSync, deflateSync } from 'node:zlib';
import test from 'ava';
import { CryptoError, MemoryOutput } from '#crypto/core/types.js';
import { preparePades, signPades } from '#crypto/pades/sign.js';
import { bufferSource } from '#crypto/pdf/index.js';
import { pki } from '../../pki/pki.ts';
import { appendRevision, classicPdf, documentObjects, hybridPdf, stream, streamPdf } from '../pdf/build.ts';
import { encrypted } from '../pdf/encrypt.ts';
import { failedChecks, judge, put, sign } from './validation/verdicts.ts';

/** Bytes that a signature adds to a PDF. */
function addedTo(pdf: Buffer): string {
  const output = new MemoryOutput();
  signPades({ format: 'Pades', input: pdf, output, signer: pki().signer('p-256'), at: 0 });
  return output.bytes.subarray(pdf.length).toString('latin1');
}

/** The code a PDF is refused with; undefined when it could be signed. Anything but a CryptoError is thrown on. */
function refusal(pdf: Buffer): string | undefined {
  try {
    preparePades(bufferSource(pdf), { signer: pki().signer('p-256'), at: 0, digest: 'sha256' });
    return undefined;
  } catch (error) {
    if (error instanceof CryptoError) return error.code;
    throw error;
  }
}

/** Numbers that look random and are the same in every run. */
function* noise(seed: number): Generator<number, never> {
  let state = seed;
  for (;;) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    yield state >>> 8;
  }
}

const changed = (pdf: Buffer, from: string | RegExp, to: string): Buffer =>
  Buffer.from(pdf.toString('latin1').replace(from, to), 'latin1');

test('a PDF cut at any byte before its last trailer is refused with a code', (t) => {
  const rich = documentObjects({ form: 'indirect', annots: 'indirect', pages: 2 });
  const classic = classicPdf(rich);
  for (const [name, pdf, complete] of [
    ['table', classic, classic.lastIndexOf('>>')],
    ['stream', streamPdf(rich), streamPdf(rich).lastIndexOf('/Type /XRef')],
    ['hybrid', hybridPdf(rich, [4, 7]), hybridPdf(rich, [4, 7]).lastIndexOf('trailer')],
  ] as const) {
    for (let length = 0; length < pdf.length; length++) {
      const code = refusal(pdf.subarray(0, length));
      if (length < complete) t.true(code?.startsWith('pdf.'), `${name} cut at ${length}: ${code}`);
    }
  }
});

test('a second revision cut after its first object is refused, not signed as the first', (t) => {
  const pdf = classicPdf(documentObjects());
  const second = appendRevision(pdf, documentObjects({ text: 'second' }));
  const from = second.indexOf(' obj', pdf.length) + 4;
  const to = second.lastIndexOf('trailer');
  for (let length = from; length < to; length += 7)
    t.is(refusal(second.subarray(0, length)), 'pdf.malformed');
});

test('random bytes, with and without a header, are refused with a code', (t) => {
  const source = noise(7);
  for (let round = 0; round < 50; round++) {
    const bytes = Buffer.from(Array.from({ length: 2000 }, () => source.next().value & 0xff));
    t.is(refusal(bytes), 'pdf.malformed');
    t.is(refusal(Buffer.concat([Buffer.from('%PDF-1.7\n'), bytes])), 'pdf.malformed');
    t.deepEqual(failedChecks(bytes), ['pdf']);
  }
});

test('flipped bytes lead to a refusal with a code or a readable document', (t) => {
  const source = noise(3);
  const files = [
    classicPdf(documentObjects({ form: 'direct', annots: 'direct' })),
    streamPdf(documentObjects({ form: 'indirect', annots: 'indirect' })),
    hybridPdf(documentObjects({ form: 'indirect' }), [4, 7]),
  ];
  for (const pdf of files) {
    for (let round = 0; round < 600; round++) {
      const bad = Buffer.from(pdf);
      for (let count = 1 + (source.next().value % 4); count > 0; count--) {
        bad[source.next().value % bad.length] = source.next().value & 0xff;
      }
      const code = refusal(bad);
      t.true(code === undefined || code.startsWith('pdf.'), code);
    }
  }
});

const OBJECTS = documentObjects({ form: 'indirect', fields: 'indirect', annots: 'indirect' });
const with_ = (number: number, body: string) => classicPdf(new Map([...OBJECTS, [number, body]]));

test('circular references are refused or skipped', (t) => {
  const circles: readonly (readonly [Buffer, string | undefined])[] = [
    [with_(2, '2 0 R'), 'pdf.no-pages'],
    [with_(2, '<< /Type /Pages /Kids [2 0 R 2 0 R] >>'), 'pdf.no-pages'],
    [with_(10, '<< /Type /Page /Parent 10 0 R /Annots 10 0 R >>'), undefined],
    [with_(4, '<< /Fields 4 0 R >>'), undefined],
    [with_(5, '[ 5 0 R 4 0 R 1 0 R ]'), undefined],
    [with_(7, '<< /Kids [7 0 R 4 0 R] /T (a) /FT /Sig /V 7 0 R >>'), undefined],
    [with_(1, '1 0 R'), 'pdf.malformed'],
  ];
  for (const [pdf, code] of circles) t.is(refusal(pdf), code, pdf.toString('latin1').slice(0, 80));
});

test('a stream in place of a dictionary is never rewritten without its data', (t) => {
  const page = stream('/Type /Page /Parent 2 0 R /MediaBox [0 0 200 200]', 'others need this');
  const odd = with_(10, page);
  const added = addedTo(odd);
  t.notRegex(added, /^10 0 obj/m, 'a page that is a stream stays as it is');
  t.is(refusal(with_(4, stream('/Fields [7 0 R]', 'others need this'))), 'pdf.malformed');
});

test('a new signature reuses no number of a lost object of a damaged file', (t) => {
  const lost = changed(with_(4, '<< /Fields [7 0 R 20 0 R 23 0 R] >>'), /startxref\n\d+/, 'startxref\n9');
  const added = addedTo(lost);
  const numbers = [...added.matchAll(/^(\d+) 0 obj/gm)].map(([, number]) => Number(number));
  t.deepEqual(numbers.filter((number) => number > 12).sort(), [24, 25]);
});

test('the new cross-reference of a damaged file lists no unreadable object', (t) => {
  const lost = changed(with_(7, '<< /FT /Sig /Parent -2 0 R /T (a) >>'), /startxref\n\d+/, 'startxref\n9');
  const signed = sign(put(lost));
  t.true(judge(signed).ok);
});

test('an encryption that was written and is lost, or ends in a damaged file, does not count as none', (t) => {
  const shape = encrypted({ version: 2, number: 60 });
  const objects = new Map([...OBJECTS, [60, 'null']]);
  const pdf = classicPdf(objects, shape);
  t.is(refusal(changed(pdf, /60 0 obj\n<</, '60 0 obj\n<(')), 'pdf.malformed', 'unreadable');
  const damaged = classicPdf(objects, { ...shape, startxrefOff: 1e6 });
  const ended = (entry: string) =>
    Buffer.concat([damaged, Buffer.from(`trailer\n<< /Size 200 /Root 1 0 R ${entry} >>\n`)]);
  for (const entry of ['', '/Encrypt null']) t.regex(addedTo(ended(entry)), /\/Encrypt 60 0 R/, entry);
  t.is(refusal(ended('/Encrypt 999 0 R')), 'pdf.malformed');
  const lost = classicPdf(OBJECTS, { trailer: '/Encrypt 999 0 R', startxrefOff: 1e6 });
  t.is(refusal(lost), 'pdf.malformed', 'nobody knows what is lost');
});

test('a damaged file whose trailers name different catalogues is refused, for programs show different ones', (t) => {
  const objects = new Map([...OBJECTS, [9, '<< /Type /Catalog /Pages 2 0 R >>']]);
  for (const first of ['', '/Encrypt null', '/Encrypt 999 0 R']) {
    const damaged = classicPdf(objects, { trailer: first, startxrefOff: 1e6 });
    for (const id of ['', '/ID [<00> <00>]']) {
      const more = Buffer.from(`trailer\n<< /Size 200 /Root 9 0 R ${id} >>\n`);
      t.is(refusal(Buffer.concat([damaged, more])), 'pdf.malformed', `${first} ${id}`);
    }
  }
});

test('a file with an encryption that its cross-reference does not list shows what that lists', (t) => {
  const other = `11 0 obj\n${stream('', 'BT /F1 12 Tf 20 100 Td (Other) Tj ET')}\nendobj\n`;
  const pdf = classicPdf(OBJECTS, { trailer: '/Encrypt 12 0 R', startxrefOff: other.length });
  const shadowed = changed(pdf, 'xref\n0 1', `${other}xref\n0 1`);
  const added = addedTo(shadowed);
  t.regex(added, /\/Prev \d+/);
  t.notRegex(added, /\/Encrypt|^12 0 obj/m);
});

test('circular cross-references are rebuilt from the objects', (t) => {
  const pdf = classicPdf(documentObjects());
  const start = pdf.lastIndexOf('xref\n0 1');
  t.is(refusal(changed(pdf, '/Root 1 0 R', `/Root 1 0 R /Prev ${start}`)), undefined);
  t.is(refusal(changed(pdf, '/Root 1 0 R', '/Root 1 0 R /Prev 99999999999')), undefined);
  t.is(refusal(changed(pdf, '/Root 1 0 R', '/Root 1 0 R /Prev -1')), undefined);
  t.is(refusal(changed(pdf, '/Root 1 0 R', '/Root 1 0 R /XRefStm 9')), undefined);
});

test('object streams that depend on each other are refused', (t) => {
  const head = '%PDF-1.5\n';
  const one = `20 0 obj\n<< /Type /ObjStm /N 1 /First 5 /Length 21 0 R >>\nstream\n1 0  << /Pages 2 0 R >>\nendstream\nendobj\n`;
  const rows = Buffer.alloc(23 * 4);
  const put = (number: number, type: number, second: number, third: number) =>
    rows.set([type, second >> 8, second & 255, third], number * 4);
  put(1, 2, 20, 0);
  put(20, 1, head.length, 0);
  put(21, 2, 20, 0);
  put(22, 1, head.length + one.length, 0);
  const xref = stream('/Type /XRef /W [1 2 1] /Size 23 /Root 1 0 R', rows.toString('latin1'));
  const pdf = `${head}${one}22 0 obj\n${xref}\nendobj\nstartxref\n${head.length + one.length}\n%%EOF\n`;
  t.true(refusal(Buffer.from(pdf, 'latin1'))?.startsWith('pdf.'));
  put(20, 2, 20, 0);
  const itself = stream('/Type /XRef /W [1 2 1] /Size 23 /Root 1 0 R', rows.toString('latin1'));
  t.true(refusal(Buffer.from(pdf.replace(xref, itself), 'latin1'))?.startsWith('pdf.'));
});

test('numbers out of range are refused with a code', (t) => {
  const pdf = classicPdf(documentObjects());
  const huge = '9'.repeat(400);
  for (const bad of [
    changed(pdf, /startxref\n\d+/, `startxref\n${huge}`),
    changed(pdf, 'xref\n0 1\n', 'xref\n0 2147483648\n'),
    changed(pdf, 'xref\n0 1\n', `xref\n0 ${huge}\n`),
    changed(pdf, 'xref\n0 1\n', `xref\n${huge} 1\n`),
    changed(pdf, /\/Size \d+/, `/Size ${huge}`),
    changed(pdf, /\/Size \d+/, '/Size 4294967296'),
    changed(pdf, /\/Size \d+/, '/Size -5'),
    changed(pdf, '/Count 1', `/Count ${huge}`),
    changed(pdf, '/Kids [10 0 R]', `/Kids [${huge} 0 R]`),
  ]) {
    const code = refusal(bad);
    t.true(code === undefined || code.startsWith('pdf.'), code);
  }
  t.is(refusal(streamPdf(documentObjects(), { size: 60_000 })), undefined);
});

test('a generation out of range is ignored and not copied into a new table', (t) => {
  const pdf = classicPdf(documentObjects({ form: 'indirect' }), { startxrefOff: 1e6 });
  for (const generation of ['65536', '100000000000000020000']) {
    const bad = changed(pdf, '4 0 obj', `4 ${generation} obj`);
    t.true(judge(sign(put(bad))).ok, generation);
    const named = changed(pdf, '/AcroForm 4 0 R', `/AcroForm 4 ${generation} R`);
    t.not(named.indexOf(generation), -1);
    t.true(judge(sign(put(named))).ok, generation);
  }
});

test('a cross-reference stream that claims 2^31 objects is refused without allocating memory for them', (t) => {
  const pdf = streamPdf(documentObjects());
  for (const index of [
    '/Index [0 2147483648]',
    '/Index [2147483647 1]',
    '/Index [0 -1]',
    '/W [1 9 9]',
    '/W [0 0 0]',
  ]) {
    const bad = changed(pdf, '/Type /XRef', `/Type /XRef ${index}`);
    const before = process.memoryUsage().rss;
    const code = refusal(bad);
    t.true(code === undefined || code.startsWith('pdf.'), code);
    t.true(process.memoryUsage().rss - before < 200 << 20);
  }
});

test('deep nesting is refused with a code at any depth', (t) => {
  for (const depth of [400, 600, 100_000]) {
    for (const [open, close] of [
      ['[', ']'],
      ['<</A', '>>'],
      ['[<</A', '>>]'],
      ['(', ')'],
    ] as const) {
      const deep = `<< /Type /Page /X ${open.repeat(depth)} ${close.repeat(depth)} >>`;
      const code = refusal(with_(10, deep));
      const nests = open !== '(' && depth * open.replace('/A', '').replace('<<', '<').length > 499;
      t.is(code, nests ? 'pdf.no-pages' : undefined, `${open} × ${depth}`);
      t.true(refusal(with_(10, `<< /X ${open.repeat(depth)}`))?.startsWith('pdf.'));
    }
  }
});

test('unterminated strings and wrong lengths are refused or corrected', (t) => {
  t.true(refusal(with_(10, '<< /Type /Page /X (((a) >>'))?.startsWith('pdf.'));
  t.true(refusal(with_(10, '<< /Type /Page /X <41 >>'))?.startsWith('pdf.'));
  for (const length of ['0', '5', '99999999', '-1', '20 0 R', '(x)', '']) {
    const pdf = streamPdf(OBJECTS)
      .toString('latin1')
      .replaceAll(/\/Length \d+ >>/g, `/Length ${length} >>`);
    const code = refusal(Buffer.from(pdf, 'latin1'));
    t.true(code === undefined || code.startsWith('pdf.'), `${length}: ${code}`);
  }
});

/** Deflate data of some kilobytes that unpacks to `size` zeros. */
function bomb(size: number): string {
  const block = Buffer.alloc(16 << 20);
  const packed = deflateRawSync(block, { finishFlush: constants.Z_FULL_FLUSH });
  const times = Math.ceil(size / block.length);
  return Buffer.concat([Buffer.from([0x78, 0x9c]), ...Array.from({ length: times }, () => packed)]).toString(
    'latin1',
  );
}

test('a stream that inflates to gigabytes is refused within bounded memory', (t) => {
  const head = '%PDF-1.5\n';
  for (const filter of ['/FlateDecode', '[/FlateDecode /FlateDecode]']) {
    const data =
      filter === '/FlateDecode'
        ? bomb(2 ** 31)
        : deflateSync(Buffer.from(bomb(2 ** 31), 'latin1')).toString('latin1');
    const xref = stream(`/Type /XRef /W [1 2 1] /Size 23 /Root 1 0 R /Filter ${filter}`, data);
    const before = process.memoryUsage().rss;
    const code = refusal(
      Buffer.from(`${head}22 0 obj\n${xref}\nendobj\nstartxref\n${head.length}\n%%EOF\n`, 'latin1'),
    );
    t.true(code?.startsWith('pdf.'), code);
    t.true(process.memoryUsage().rss - before < 400 << 20);
  }
});

test('many small crafted objects cost time in proportion to their size', (t) => {
  const trailer = 'trailer << /Root 1 0 R >>';
  for (const unit of [
    '1 0 obj<<',
    '1 0 obj<</A(',
    '1 0 obj 1 0 obj[',
    '1 0 obj(',
    'trailer<</A[',
    '1 0 obj<<>>stream\n',
  ]) {
    const pdf = `%PDF-1.4\n${unit.repeat(Math.floor(200_000 / unit.length))}${trailer}`;
    t.true(refusal(Buffer.from(pdf, 'latin1'))?.startsWith('pdf.'), unit);
  }
});

test('dictionaries with very many keys are read or refused in time proportional to their length', (t) => {
  const keys = (count: number) => Array.from({ length: count }, (_, index) => `/K${index} ${index}`).join('');
  t.is(refusal(classicPdf(documentObjects(), { trailer: keys(50_000) })), undefined);
  t.is(refusal(classicPdf(documentObjects(), { trailer: keys(150_000) })), 'pdf.malformed');
  t.is(refusal(with_(10, `<< /Type /Page ${keys(50_000)} >>`)), undefined);
  t.true(refusal(with_(10, `<< /Type /Page ${keys(150_000)} >>`))?.startsWith('pdf.'));
});

test('a signature that many fields share is validated once', (t) => {
  const objects = documentObjects({ form: 'indirect', fields: 'indirect' });
  const numbers = Array.from({ length: 3000 }, (_, index) => 100 + index);
  objects.set(5, `[ ${numbers.map((number) => `${number} 0 R`).join(' ')} ]`);
  for (const number of numbers) objects.set(number, `<< /FT /Sig /T (f${number}) /V 40 0 R >>`);
  objects.set(40, `<< /Type /Sig /ByteRange [0 1 2 3] /Contents <${'00'.repeat(100_000)}> >>`);
  t.true(failedChecks(classicPdf(objects)).includes('byte-range'));
});

test('a form with a hundred thousand references to few fields reads each field once', (t) => {
  t.is(refusal(with_(5, `[ ${'7 0 R '.repeat(100_000)}]`)), undefined);
});
