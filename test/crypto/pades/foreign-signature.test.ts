import { createHash, X509Certificate } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import test from 'ava';
import { preparePades } from '#crypto/pades/sign.js';
import { bufferSource } from '#crypto/pdf/index.js';
import { keyPemOf, pki } from '../../pki/pki.ts';
import { pdfsig, requireTool, runTool } from '../../verifiers/index.ts';
import { classicPdf, documentObjects } from '../pdf/build.ts';
import { reportOn } from './validation/attack-files.ts';
import { failedChecks, freshPath, judge, put, sign } from './validation/verdicts.ts';

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
  const [key, certificate, cms] = [freshPath('key.pem'), freshPath('cert.pem'), freshPath('cms.der')];
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

test('a signature of another program stays valid below a new one', async (t) => {
  if (!requireTool(t, 'openssl', 'pdfsig', 'certutil')) return;
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

test('a signature of the form before PAdES is validated and has no level', async (t) => {
  if (!requireTool(t, 'openssl')) return;
  const pdf = readFileSync(await signedByOpenssl(classicPdf(documentObjects())));
  const [record] = reportOn(pdf).signatures;
  t.is(record?.indication, 'TOTAL-PASSED', JSON.stringify(record?.results.errors));
  t.is(record?.level, undefined);
  t.true(record?.results.warnings.some(({ type }) => type === 'pdf.sub-filter'));
  const changed = Buffer.from(pdf);
  changed.write('(Hallo', changed.indexOf('(Hello'), 'latin1');
  t.is(reportOn(changed).signatures[0]?.subIndication, 'HASH_FAILURE');
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
