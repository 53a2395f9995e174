import { readFileSync } from 'node:fs';
import test from 'ava';
import { pki } from '../../pki/pki.ts';
import { withTools } from '../../verifiers/index.ts';
import { classicPdf, documentObjects, stream, streamPdf } from '../pdf/build.ts';
import { hugePdf } from './huge.ts';
import { accepted, judge, put, sign } from './validation/verdicts.ts';

const TOOLS = ['pdfsig', 'certutil', 'mutool', 'qpdf', 'openssl'] as const;

const toolTest = withTools(test, ...TOOLS);
const MIB = 1 << 20;

/** A document that is read in chunks: three megabytes of content before all other objects. */
function heavyObjects(pages: number): Map<number, string> {
  const objects = documentObjects({ pages, annots: 'indirect', form: 'indirect', fields: 'indirect' });
  const filler = stream('', 'x'.repeat(3 * MIB));
  return new Map([[9, filler], ...objects]);
}

/** As above, with lists that are longer than any first look at an object. */
function heavyLists(): Map<number, string> {
  const objects = heavyObjects(2);
  objects.set(6, `[ ${'8 0 R '.repeat(40_000)}]`);
  objects.set(5, `[ 7 0 R ${Array.from({ length: 3000 }, (_, index) => `${5000 + index} 0 R`).join(' ')} ]`);
  for (let index = 0; index < 3000; index++) objects.set(5000 + index, `<< /FT /Tx /T (field ${index}) >>`);
  return objects;
}

const files: Readonly<Record<string, () => Buffer>> = {
  'with a table and eight hundred pages': () => classicPdf(heavyObjects(800)),
  'with packed objects and eight hundred pages': () => streamPdf(heavyObjects(800)),
  'with long lists of fields and annotations': () => classicPdf(heavyLists()),
  'with a startxref far off': () => classicPdf(heavyObjects(500), { startxrefOff: -5000 }),
  'with packed objects and a startxref far off': () => streamPdf(heavyObjects(500), { startxrefOff: 1e8 }),
};

for (const [name, make] of Object.entries(files)) {
  toolTest(`a PDF of several megabytes ${name} is signed twice, and every verifier agrees`, async (t) => {
    const once = sign(put(make()), pki().signer('p-256'));
    const twice = sign(once.output);
    const report = judge(twice);
    t.true(report.ok, JSON.stringify(report.checks.filter(({ ok }) => !ok)));
    await accepted(t, twice, 2);
  });
}

test('a rebuilt cross-reference lists every object, at any chunk border', (t) => {
  // The end of the first read moves over an object one byte at a time.
  const objects = documentObjects({ pages: 3 });
  const text = classicPdf(objects, { startxrefOff: 1e6 }).toString('latin1');
  const at = text.indexOf('10 0 obj');
  for (let shift = -40; shift < 200; shift += 3) {
    const filler = 'y'.repeat(MIB - at - shift - 44);
    const pdf = `${text.slice(0, at)}40 0 obj\n(${filler})\nendobj\n${text.slice(at)}`;
    const report = judge(sign(put(Buffer.from(pdf, 'latin1'))));
    t.true(report.ok, `${shift}`);
  }
});

toolTest('objects inside an attached PDF are not read as objects of the outer file', async (t) => {
  const inner = classicPdf(documentObjects({ text: 'inner' })).toString('latin1');
  const objects = documentObjects({ text: 'outer' });
  objects.set(40, stream('/Type /EmbeddedFile', inner));
  const signed = sign(put(classicPdf(objects, { startxrefOff: 1e6 })));
  t.true(judge(signed).ok);
  const text = readFileSync(signed.output, 'latin1');
  const table = text.slice(text.lastIndexOf('\nxref\n'));
  const offsets = Array.from(table.matchAll(/^(\d{10}) 00000 n /gm), ([, offset]) => Number(offset));
  const from = text.indexOf(inner);
  const to = text.indexOf(inner) + inner.length;
  t.true(offsets.length > objects.size);
  t.deepEqual(
    offsets.filter((offset) => offset >= from && offset < to),
    [],
  );
  await accepted(t, signed);
});

test('a PDF of three hundred megabytes is signed in a few megabytes of memory', (t) => {
  const size = 300 * MIB;
  const path = hugePdf(size);
  const before = process.memoryUsage().rss;
  const signed = sign(path);
  const report = judge(signed);
  t.true(report.ok, JSON.stringify(report.checks.filter(({ ok }) => !ok)));
  t.true(signed.result.output.length > size);
  t.true(process.memoryUsage().rss - before < 64 * MIB);
});
