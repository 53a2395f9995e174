/** Entries that a signature dictionary has twice: programs take the first or the last one. */
import { createHash } from 'node:crypto';
import test from 'ava';
import { buildSignedData } from '#crypto/cms/build.js';
import { preparePades } from '#crypto/pades/sign.js';
import { bufferSource } from '#crypto/pdf/index.js';
import { pki } from '../../pki/pki.ts';
import { appendRevision, documentObjects, stream, streamPdf } from '../pdf/build.ts';
import { CONTENT, contract, reportOn, signed } from './validation/attack-files.ts';

const REASON = 'A'.repeat(40);

/** Signs with an entry of the dictionary written as this text, which takes the place of a long reason. */
function signedWith(entries: string, certification?: 2): Buffer {
  const pdf = contract();
  const options = { signer: pki().signer('rsa-2048'), digest: 'sha256', at: Date.now() } as const;
  const form = { fieldName: 'Own', reason: REASON, ...(certification && { certification }) };
  const prepared = preparePades(bufferSource(pdf), { ...options, form });
  const { update, placeholderStart, placeholderEnd } = prepared;
  const written = `/Reason(${REASON})`;
  update.write(entries.padEnd(written.length), update.indexOf(written), 'latin1');
  const digest = createHash('sha256').update(pdf).update(update.subarray(0, placeholderStart));
  const messageDigest = digest.update(update.subarray(placeholderEnd)).digest();
  const cms = buildSignedData({ ...options, messageDigest }).toString('hex');
  update.write(cms, placeholderStart + 1, 'latin1');
  return Buffer.concat([pdf, update]);
}

/** Returns the indication, and what failed or is warned of. */
function outcome(pdf: Buffer): string {
  const [record] = reportOn(pdf).signatures;
  const { errors = [], warnings = [] } = record?.results ?? {};
  return [record?.indication, ...[...errors, ...warnings].map(({ type }) => type)].join(' ');
}

test('a text that is there twice is a warning, and an entry that decides fails', (t) => {
  t.is(outcome(signedWith('/Reason(yes)')), 'TOTAL-PASSED');
  t.is(outcome(signedWith('/Reason(yes)/Reason(no)')), 'TOTAL-PASSED pdf.entries');
  t.is(outcome(signedWith('/Location(here)/Location(there)')), 'TOTAL-PASSED pdf.entries');
  t.is(outcome(signedWith('/Reason(yes)', 2)), 'TOTAL-PASSED');
  t.regex(outcome(signedWith('/Reference[]', 2)), /^TOTAL-FAILED pdf\.byte-range/);
  t.regex(outcome(signedWith('/M(D:20260101)')), /^TOTAL-FAILED pdf\.byte-range/);
});

test('cross-references of both kinds are a warning of the file, also when a revision brought them', (t) => {
  const empty = new Map([[CONTENT + 100, stream('', '')]]);
  for (const [pdf, expected] of [
    [signed(contract()), []],
    [appendRevision(signed(contract()), empty), []],
    [signed(streamPdf(documentObjects())), []],
    [signed(appendRevision(streamPdf(documentObjects()), empty)), ['pdf.repair']],
    [appendRevision(signed(streamPdf(documentObjects())), empty), ['pdf.repair']],
  ] as const) {
    const { results } = reportOn(pdf);
    t.deepEqual(
      results.warnings.map(({ type }) => type),
      expected,
    );
  }
});
