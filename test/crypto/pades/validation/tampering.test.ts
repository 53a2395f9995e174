import { readFileSync } from 'node:fs';
import test from 'ava';
import { pki } from '../../../pki/pki.ts';
import { mutool, opensslCms, pdfsig, withTools } from '../../../verifiers/index.ts';
import { appendRevision, classicPdf, documentObjects, streamPdf } from '../../pdf/build.ts';
import { failedChecks, put, sign, takeApart } from './verdicts.ts';

const toolTest = withTools(test, 'pdfsig', 'certutil', 'mutool', 'openssl');

const signedFile = (): Buffer => readFileSync(sign(put(classicPdf(documentObjects()))).output);

/** Replaces one substring, found once from the end, by another of the same length. */
function replaced(pdf: Buffer, from: string, to: string): Buffer {
  const at = pdf.lastIndexOf(from, pdf.length, 'latin1');
  if (at < 0 || from.length !== to.length) throw new Error(`${from} can't be replaced`);
  const copy = Buffer.from(pdf);
  copy.write(to, at, 'latin1');
  return copy;
}

function withByteRange(pdf: Buffer, change: (range: readonly number[]) => readonly number[]): Buffer {
  const text = pdf.toString('latin1');
  const [written = '', ...numbers] = /\/ByteRange\[(\d+) (\d+) (\d+) (\d+)\] */.exec(text) ?? [];
  const range = `/ByteRange[${change(numbers.map(Number)).join(' ')}]`;
  return replaced(pdf, written, range.padEnd(written.length));
}

test('the untouched file passes every check, as the control', (t) => {
  t.deepEqual(failedChecks(signedFile()), []);
});

toolTest('every verifier detects one changed byte of the page', async (t) => {
  const bad = replaced(signedFile(), '(Hello 1)', '(Hallo 1)');
  t.deepEqual(failedChecks(bad), ['message-digest']);
  const path = put(bad);
  t.is((await pdfsig(path, pki()))[0]?.signature, 'Digest Mismatch.');
  t.not((await mutool(path))[0]?.digestError, '');
  const { content, cms } = takeApart(bad);
  const verdict = await opensslCms({ signature: put(cms), content: put(content), ca: pki().rootFile });
  t.false(verdict.ok);
  t.is(verdict.exit, 4);
});

test('one changed byte anywhere outside the signature value is detected', (t) => {
  const pdf = signedFile();
  const from = pdf.indexOf('/Contents <') + 11;
  const to = pdf.indexOf('>', from);
  for (let at = 0; at < pdf.length; at += at >= from && at < to ? to - at : 3) {
    const bad = Buffer.from(pdf);
    bad[at] = (bad[at] ?? 0) ^ 1;
    if (at < from || at >= to) t.not(failedChecks(bad).length, 0, `the byte at ${at} may be changed`);
  }
});

toolTest('after a later revision replaces a page, no signature covers the whole file', async (t) => {
  const pdf = signedFile();
  const page = documentObjects({ text: 'Other' });
  const bad = appendRevision(pdf, new Map([[11, page.get(11) ?? '']]), '');
  t.deepEqual(failedChecks(bad), ['byte-range']);
  const path = put(bad);
  t.is((await pdfsig(path, pki()))[0]?.coversWholeFile, false);
  t.false((await mutool(path))[0]?.unchanged);
});

toolTest('bytes added at the end are detected', async (t) => {
  const bad = Buffer.concat([signedFile(), Buffer.from('\n% more\n')]);
  t.deepEqual(failedChecks(bad), ['byte-range']);
  t.false((await pdfsig(put(bad), pki()))[0]?.coversWholeFile);
});

toolTest('a byte range that leaves out more than the signature is refused', async (t) => {
  const pdf = signedFile();
  const narrowed = [
    withByteRange(pdf, ([a = 0, b = 0, c = 0, d = 0]) => [a, b, c, d - 8]),
    withByteRange(pdf, ([a = 0, b = 0, c = 0, d = 0]) => [a, b - 8, c, d]),
    withByteRange(pdf, ([a = 0, b = 0, c = 0, d = 0]) => [a, b, c + 8, d - 8]),
    withByteRange(pdf, ([, b = 0, c = 0, d = 0]) => [9, b - 9, c, d]),
  ];
  for (const bad of narrowed) t.true(failedChecks(bad).includes('byte-range'));
  for (const bad of narrowed) {
    const [verdict] = await pdfsig(put(bad), pki());
    t.not(verdict?.ok, true);
  }
});

test('a byte range with overlaps, signs, references or too many numbers is refused', (t) => {
  const pdf = signedFile();
  const ranges = [
    [0, 10, 5, 20],
    [0, -1, 20, 30],
    [0, 1e9, 2e9, 5],
    [0, 0, 0, 0],
    [0, 1, 2],
  ];
  for (const range of ranges) t.true(failedChecks(withByteRange(pdf, () => range)).includes('byte-range'));
  const written = /\/ByteRange\[[^\]]*\] */.exec(pdf.toString('latin1'))?.[0] ?? '';
  for (const text of [
    '/ByteRange 1 0 R',
    '/ByteRange[0 1 0 R 2 3]',
    '/ByteRange[0 1 2 3 4]',
    '/ByteRange[0 1 2 3.5]',
  ]) {
    t.true(failedChecks(replaced(pdf, written, text.padEnd(written.length))).includes('byte-range'), text);
  }
});

test('bytes in the gap of the signature are refused', (t) => {
  const pdf = signedFile();
  const text = pdf.toString('latin1');
  const end = text.indexOf('>/M(', text.indexOf('/Contents <'));
  const inFill = Buffer.from(pdf);
  inFill.write(text.startsWith('41', end - 2) ? '42' : '41', end - 2, 'latin1');
  // RSA fills its space exactly, so these two bytes are the end of the signature value itself.
  t.not(failedChecks(inFill).length, 0);
  const cut = Buffer.from(pdf);
  cut.write('>/X <', end - 8, 'latin1');
  t.true(failedChecks(cut).includes('byte-range'));
});

test('bytes other than zeros after a shorter signature are refused', (t) => {
  for (let tries = 0; tries < 20; tries++) {
    const pdf = readFileSync(sign(put(classicPdf(documentObjects())), pki().signer('p-256')).output);
    const end = pdf.indexOf('>/M(', pdf.indexOf('/Contents <'));
    if (pdf.toString('latin1', end - 2, end) !== '00') continue;
    pdf.write('01', end - 2, 'latin1');
    t.deepEqual(failedChecks(pdf), ['contents']);
    return;
  }
  t.fail('no signature was shorter than its space in twenty tries');
});

test('a signature moved to another document fails', (t) => {
  const one = signedFile();
  const other = readFileSync(sign(put(classicPdf(documentObjects({ text: 'HELLO' })))).output);
  t.is(one.length, other.length);
  const from = one.indexOf('/Contents <') + 11;
  const to = one.indexOf('>', from);
  const mixed = Buffer.from(one);
  other.copy(mixed, from, from, to);
  t.true(failedChecks(mixed).includes('message-digest'));
});

test('duplicate keys in a signature dictionary are refused', (t) => {
  const pdf = signedFile();
  const bad = replaced(pdf, '/Filter/Adobe.PPKLite', '/SubFilter/A/Filter/B');
  t.true(failedChecks(bad).includes('byte-range'));
});

test('damage to the first of two signatures is attributed to the first', (t) => {
  const once = sign(put(streamPdf(documentObjects())));
  const first = readFileSync(once.output);
  // An RSA signature fills its space, so this is the last byte of the value.
  const at = first.indexOf('>', first.indexOf('/Contents <')) - 1;
  const bad = Buffer.from(first);
  bad.write(bad[at] === 0x30 ? '1' : '0', at, 'latin1');
  const twice = readFileSync(sign(put(bad), pki().signer('p-256')).output);
  const failed = failedChecks(twice);
  t.not(failed.length, 0);
  t.true(
    failed.every((name) => name.startsWith('earlier-1.')),
    failed.join(),
  );
});

test('an unsigned file, and one that is not a PDF, fail with a named check', (t) => {
  t.deepEqual(failedChecks(classicPdf(documentObjects())), ['signature']);
  t.deepEqual(failedChecks(Buffer.from('plain text')), ['pdf']);
  t.deepEqual(failedChecks(Buffer.alloc(0)), ['pdf']);
});
