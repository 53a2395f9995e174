import { createHash, X509Certificate } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import test from 'ava';
import { buildSignedData } from '#crypto/cms/build.js';
import { preparePades } from '#crypto/pades/sign.js';
import { bufferSource } from '#crypto/pdf/index.js';
import { keyPemOf, pki } from '../../pki/pki.ts';
import { pdfsig, runTool, withTools } from '../../verifiers/index.ts';
import { appendRevision, classicPdf, documentObjects } from '../pdf/build.ts';
import { bodyOf, contract, FORM, PAGE, reportOn } from './validation/attack-files.ts';
import { failedChecks, freshPath, judge, put, sign } from './validation/verdicts.ts';

const toolTest = withTools(test, 'openssl', 'pdfsig', 'certutil');

/** A PDF with a signature as older programs make it: the CMS is openssl's, with a signing time and no PAdES attributes. */
async function signedByOpenssl(pdf: Buffer): Promise<string> {
  const signer = pki().signer('rsa-2048');
  const prepared = preparePades(bufferSource(pdf), { signer, at: Date.now(), digest: 'sha256' });
  const { update, placeholderStart, placeholderEnd } = prepared;
  // Both names have nineteen letters, so no offset moves.
  const at = update.indexOf('ETSI.CAdES.detached');
  update.write('adbe.pkcs7.detached', at, 'latin1');
  const content = put(
    Buffer.concat([pdf, update.subarray(0, placeholderStart), update.subarray(placeholderEnd)]),
    'tbs.bin',
  );
  const key = freshPath('key.pem');
  const certificate = freshPath('cert.pem');
  const cms = freshPath('cms.der');
  writeFileSync(key, keyPemOf(signer.key.keyObject), { mode: 0o600 });
  writeFileSync(certificate, new X509Certificate(signer.certificate).toString());
  const args = ['cms', '-sign', '-binary', '-nosmimecap', '-md', 'sha256', '-outform', 'DER', '-in', content];
  const { exit, stderr } = await runTool('openssl', [
    ...args,
    '-signer',
    certificate,
    '-inkey',
    key,
    '-out',
    cms,
  ]);
  if (exit !== 0) throw new Error(stderr);
  update.write(readFileSync(cms).toString('hex'), placeholderStart + 1, 'latin1');
  return put(Buffer.concat([pdf, update]), 'foreign.pdf');
}

toolTest('a signature of another program stays valid below a new one', async (t) => {
  const foreign = await signedByOpenssl(classicPdf(documentObjects()));
  t.true(failedChecks(readFileSync(foreign)).includes('sub-filter'));
  const twice = sign(foreign, pki().signer('p-256'));
  const report = judge(twice, pki().signer('p-256'));
  t.true(report.ok, JSON.stringify(report.checks.filter(({ ok }) => !ok)));
  t.true(report.checks.some(({ name }) => name === 'earlier-1.signature-value'));
  const verdicts = await pdfsig(twice.output, pki());
  t.deepEqual(
    verdicts.map(({ signature }) => signature),
    ['Signature is Valid.', 'Signature is Valid.'],
  );
});

toolTest('a signature of the form before PAdES is validated and has no level', async (t) => {
  const pdf = readFileSync(await signedByOpenssl(classicPdf(documentObjects())));
  const [record] = reportOn(pdf).signatures;
  t.is(record?.indication, 'TOTAL-PASSED', JSON.stringify(record?.results.errors));
  t.is(record?.level, undefined);
  t.true(record?.results.warnings.some(({ type }) => type === 'pdf.sub-filter'));
  const changed = Buffer.from(pdf);
  changed.write('(Hallo', changed.indexOf('(Hello'), 'latin1');
  t.is(reportOn(changed).signatures[0]?.subIndication, 'HASH_FAILURE');
});

/** Signs with the update, or the bytes before it, changed by another text of the same length. */
function resigned(
  pdf: Buffer,
  change: (text: string, ranges: readonly string[]) => string,
  before: (text: string, ranges: readonly string[]) => string = (text) => text,
): Buffer {
  const options = { signer: pki().signer('p-256'), at: Date.now(), digest: 'sha256' } as const;
  const { update, placeholderStart, placeholderEnd } = preparePades(bufferSource(pdf), options);
  const ranges = [pdf.length + placeholderStart, pdf.length + placeholderEnd, update.length - placeholderEnd];
  const texts = ranges.map((one) => String(one).padStart(10, '0'));
  const first = Buffer.from(before(pdf.toString('latin1'), texts), 'latin1');
  const second = Buffer.from(change(update.toString('latin1'), texts), 'latin1');
  const content = Buffer.concat([
    first,
    second.subarray(0, placeholderStart),
    second.subarray(placeholderEnd),
  ]);
  const messageDigest = createHash('sha256').update(content).digest();
  second.write(
    buildSignedData({ ...options, messageDigest }).toString('hex'),
    placeholderStart + 1,
    'latin1',
  );
  return Buffer.concat([first, second]);
}

test('a signature under the name of a national profile is a PAdES signature', (t) => {
  const named = (name: string): Buffer =>
    resigned(contract(), (text) => text.replace('ETSI.CAdES.detached', name.padEnd(19)));
  const [record] = reportOn(named('PBAD.PAdES')).signatures;
  t.is(record?.indication, 'TOTAL-PASSED', JSON.stringify(record?.results.errors));
  t.is(record?.level, 'B');
  t.true(record?.results.warnings.some(({ type }) => type === 'pdf.sub-filter'));
  const changed = named('PBAD.PAdES');
  changed.write('(Pax', changed.indexOf('(Pay'), 'latin1');
  t.is(reportOn(changed).signatures[0]?.subIndication, 'HASH_FAILURE');
  for (const other of [
    'PBAD.Other',
    'pbad.pades',
    'PBAD.PAdES.detached',
    'adbe.pkcs7.sha1',
    'adbe.x509.rsa_sha1',
  ])
    t.not(reportOn(named(other)).signatures[0]?.indication, 'TOTAL-PASSED', other);
});

test('/ByteRange may be an object of its own that the signature covers', (t) => {
  const place = '[0 0000000000 0000000000 0000000000]';
  const made = (list: (ranges: readonly string[]) => string, reference = '38 0 R'): Buffer =>
    resigned(
      contract((objects) => objects.set(38, place)),
      (text) => text.replace(/\/ByteRange\[[^\]]*\]/, (all) => `/ByteRange ${reference}`.padEnd(all.length)),
      (text, ranges) => text.replace(place, list(ranges).padEnd(place.length)),
    );
  const whole = ([start, end, rest]: readonly string[]): string => `[0 ${start} ${end} ${rest}]`;
  const pdf = made(whole);
  const [record] = reportOn(pdf).signatures;
  t.is(record?.indication, 'TOTAL-PASSED', JSON.stringify(record?.results.errors));
  t.true(record?.results.warnings.some(({ type }) => type === 'pdf.byte-range'));
  const fails = (file: Buffer, name: string) =>
    t.not(reportOn(file).signatures[0]?.indication, 'TOTAL-PASSED', name);
  fails(
    made(([start, end]) => `[0 ${start} ${end} 0000000009]`),
    'another end',
  );
  fails(
    made(([start, , rest]) => `[0 0000000009 ${start} ${rest}]`),
    'another place',
  );
  fails(
    made(([start, end, rest]) => `[1 ${start} ${end} ${rest}]`),
    'another beginning',
  );
  fails(
    made(([start, end]) => `[0 ${start} ${end}]`),
    'three numbers',
  );
  fails(
    made(() => '<< /A 1 >>'),
    'no list',
  );
  fails(
    made(() => '40 0 R'),
    'a reference to nothing',
  );
  const isNoticed = (file: Buffer): boolean =>
    reportOn(file).results.warnings.some(({ type }) => type === 'pdf.removed-signature');
  t.false(isNoticed(pdf));
  const empty = [FORM, PAGE].map((number) => [number, bodyOf(contract(), number)] as const);
  t.true(isNoticed(appendRevision(pdf, new Map(empty))), 'a signature that was taken out');
  fails(made(whole, '39 0 R'), 'an object that is missing');
  const numbers = /0 (\d+) (\d+) (\d+)\]/.exec(pdf.toString('latin1').slice(pdf.indexOf('\n38 0 obj'))) ?? [];
  const same = `[0 ${numbers.slice(1).join(' ')}]`;
  const more = `[0 ${numbers[1]} ${numbers[2]} ${Number(numbers[3]) + 400}]`;
  for (const list of [same, more, '[0 1 2 3]', 'null'])
    fails(appendRevision(pdf, new Map([[38, list]])), `written again as ${list}`);
  const changed = Buffer.from(pdf);
  changed.write('(Pax', changed.indexOf('(Pay'), 'latin1');
  fails(changed, 'another content');
});

test('the time of signing is the requested one, in UTC', (t) => {
  const options = { signer: pki().signer('rsa-2048'), digest: 'sha256' } as const;
  const source = bufferSource(classicPdf(documentObjects()));
  const { update } = preparePades(source, { ...options, at: Date.UTC(2026, 1, 3, 4, 5, 6, 789) });
  t.true(update.includes('/M(D:20260203040506Z)'));
});

test('the same original, signer and time give the same update, and another time gives another file identifier', (t) => {
  const options = { signer: pki().signer('rsa-2048'), digest: 'sha256' } as const;
  const source = bufferSource(classicPdf(documentObjects()));
  const [one, same, other] = [1000, 1000, 2000].map((at) => preparePades(source, { ...options, at }).update);
  const digest = (update: Buffer | undefined) =>
    createHash('sha256')
      .update(update ?? '')
      .digest('hex');
  t.is(digest(one), digest(same));
  const id = (update: Buffer | undefined) => /\/ID\[<(\w+)><(\w+)>\]/.exec(String(update))?.slice(1) ?? [];
  t.is(id(one)[0], id(other)[0]);
  t.not(id(one)[1], id(other)[1]);
});
