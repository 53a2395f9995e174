import { readFileSync as bytesOf, existsSync } from 'node:fs';
import { deflateSync } from 'node:zlib';
import test from 'ava';
import type { CryptoError } from '#crypto/core/types.js';
import { runTool, withTools } from '../../../verifiers/index.ts';
import { classicPdf, documentObjects, stream } from '../build.ts';
import { compose, freshPath, pictures, put } from './pages-harness.ts';

const toolTest = withTools(test, 'mutool', 'qpdf');

const other = () => put(classicPdf(documentObjects({ text: 'The other file' })));

toolTest('the comparison detects a page that changed in the merge', async (t) => {
  const [one] = await pictures(put(classicPdf(documentObjects({ text: 'Ten' }))));
  const [another] = await pictures(put(classicPdf(documentObjects({ text: 'Two' }))));
  t.not(one, another);
});

toolTest(
  'an envelope has all pages of its files in their order, and reports their number for each file',
  async (t) => {
    const files = [3, 1, 2].map((pages) => put(classicPdf(documentObjects({ pages, text: `Of ${pages}` }))));
    const merged = compose(files.map((path) => ({ path })));
    t.is(merged.pages, 6);
    t.deepEqual(merged.pagesOfParts, [3, 1, 2]);
    const expected = (await Promise.all(files.map((path) => pictures(path)))).flat();
    t.deepEqual(await pictures(merged.path), expected);
  },
);

test('the same files give the same bytes', (t) => {
  const path = put(classicPdf(documentObjects({ pages: 2, annots: 'indirect', form: 'indirect' })));
  const one = compose([{ path }, { path }]);
  const another = compose([{ path }, { path }]);
  t.is(one.length, another.length);
  t.deepEqual(bytesOf(one.path), bytesOf(another.path));
});

toolTest('a file that needs a password is refused by its number, and leaves no output', async (t) => {
  const clear = put(classicPdf(documentObjects()));
  const locked = freshPath('locked.pdf');
  await runTool('qpdf', ['--encrypt', 'user', 'owner', '256', '--', clear, locked]);
  const output = freshPath();
  const error = t.throws<CryptoError>(() => compose([{ path: clear }, { path: locked }], { output }));
  t.is(error?.code, 'pdf.encrypted');
  t.regex(error?.message ?? '', /^File 2 of 2: /);
  t.false(existsSync(output));
});

test('a file that is not a PDF, and a PDF without pages, are refused', (t) => {
  const clear = put(classicPdf(documentObjects()));
  const none = documentObjects();
  none.set(2, '<< /Type /Pages /Count 0 /Kids [] >>');
  const refusal = (bytes: Buffer) =>
    t.throws<CryptoError>(() => compose([{ path: clear }, { path: put(bytes) }]))?.code;
  t.is(refusal(Buffer.from('hello')), 'pdf.malformed');
  t.is(refusal(Buffer.from('%PDF-1.7\nnothing')), 'pdf.malformed');
  t.is(refusal(classicPdf(none)), 'pdf.no-pages');
});

test('an envelope over the size limit is refused, and leaves no output', (t) => {
  const path = put(classicPdf(documentObjects({ pages: 50 })));
  const output = freshPath();
  const error = t.throws<CryptoError>(() => compose([{ path }], { output, maxBytes: 4_000 }));
  t.is(error?.code, 'input.too-large');
  t.false(existsSync(output));
  t.notThrows(() => compose([{ path }], { maxBytes: 100_000 }));
});

test('every strict beginning of a PDF is merged or refused with a code', (t) => {
  const whole = classicPdf(documentObjects({ annots: 'indirect', form: 'indirect' }));
  const codes = new Set<string>();
  for (let length = 0; length < whole.length; length += 7) {
    try {
      compose([{ path: put(whole.subarray(0, length)) }]);
    } catch (error) {
      codes.add((error as CryptoError).code ?? String(error));
    }
  }
  t.deepEqual([...codes].sort(), ['pdf.malformed']);
});

test('3,000 pages are merged in bounded time and keep their order', (t) => {
  const path = put(classicPdf(documentObjects({ pages: 3000 })));
  const merged = compose([{ path }, { path: other() }]);
  t.is(merged.pages, 3001);
  t.is(
    bytesOf(merged.path)
      .toString('latin1')
      .match(/\/Type \/Page(?![a-z])/g)?.length,
    3001,
  );
});

test('objects that many pages share are refused when their copies exceed the limit', (t) => {
  const objects = documentObjects({ pages: 1 });
  const kids = '10 0 R '.repeat(8_000);
  const shared = `/Shared <</Long (${'x'.repeat(60_000)})>>`;
  objects.set(2, `<< /Type /Pages /Count 8000 /Kids [${kids}] /Resources << ${shared} >> >>`);
  objects.set(10, (objects.get(10) ?? '').replace(/\/Resources << .*? >> >>/, ''));
  const error = t.throws<CryptoError>(() => compose([{ path: put(classicPdf(objects)) }]));
  t.is(error?.code, 'input.too-large');
});

test('long texts that inflate to much more than the file are still drawn', (t) => {
  const objects = documentObjects({ pages: 20 });
  const text = 'BT /F1 9 Tf 20 100 Td (the same again) Tj ET\n'.repeat(60_000);
  const packed = deflateSync(Buffer.from(text)).toString('latin1');
  for (let page = 0; page < 20; page++) objects.set(11 + 2 * page, stream('/Filter /FlateDecode', packed));
  const path = put(classicPdf(objects));
  t.is(compose([{ path, draw: () => [{ shape: 'text', x: 5, y: 5, size: 5, text: 'x' }] }]).pages, 20);
});
