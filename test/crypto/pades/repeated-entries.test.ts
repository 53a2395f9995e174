/** Entries of a signature dictionary: those that the table does not name, of another kind or there twice are named. */
import { createHash } from 'node:crypto';
import test from 'ava';
import { buildSignedData } from '#crypto/cms/build.js';
import { ENTRY_RULES, TRANSFORMS } from '#crypto/pades/fields/signature-entries.js';
import { preparePades } from '#crypto/pades/sign.js';
import { bufferSource } from '#crypto/pdf/index.js';
import { pki } from '../../pki/pki.ts';
import { appendRevision, documentObjects, stream, streamPdf } from '../pdf/build.ts';
import { CONTENT, contract, FREE, reportOn, signed } from './validation/attack-files.ts';

const REASON = 'A'.repeat(40);

/** Signs with an entry of the dictionary written as this text, which takes the place of a long reason. */
function signedWith(entries: string, certification?: 2, pdf = contract()): Buffer {
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

/** A value of each kind. */
const VALUES = { name: '/A', text: '(a)', number: '1', list: '[1]', dictionary: '<<>>' };
/** Entries whose other values have findings of their own. */
const JUDGED: readonly string[] = ['Type', 'Filter', 'SubFilter', 'Contents', 'ByteRange', 'Cert', 'M'];

test('each entry of the table passes with a value of its kind, and is named with another', (t) => {
  for (const [key, kind] of ENTRY_RULES) {
    if (JUDGED.includes(key)) continue;
    t.is(outcome(signedWith(`/${key} null`)), 'TOTAL-PASSED', key);
    for (const [other, value] of Object.entries(VALUES)) {
      const expected = other === kind ? 'TOTAL-PASSED' : 'TOTAL-PASSED pdf.entries';
      t.is(outcome(signedWith(`/${key} ${value}`)), expected, `${key} ${value}`);
    }
  }
  t.is(outcome(signedWith('/Stamp(a)')), 'TOTAL-PASSED pdf.entries');
  t.is(outcome(signedWith('/R#65ason(a)')), 'TOTAL-PASSED');
});

/** Changes later, in a way that a signature without restrictions permits. */
function extendedWith(reference: string): string {
  const pdf = signedWith(`/Reference[${reference}]`);
  return `${outcome(pdf)}, ${outcome(signed(pdf, { fieldName: 'Second' }))}`;
}

test('a transform that the table does not name leaves later changes undecided', (t) => {
  t.is(extendedWith(''), 'TOTAL-PASSED, TOTAL-PASSED');
  for (const [method, restricts] of TRANSFORMS)
    if (restricts === 'nothing')
      t.is(extendedWith(`<</TransformMethod/${method}>>`), 'TOTAL-PASSED, TOTAL-PASSED', method);
  for (const reference of ['<</TransformMethod/Own>>', '<<>>', 'null', '140 0 R'])
    t.is(extendedWith(reference), 'TOTAL-PASSED, INDETERMINATE pdf.changes', reference);
});

test('restrictions that stand in objects of their own are those that were signed', (t) => {
  const level = (number: 1 | 3): string => `[<</TransformMethod/DocMDP/TransformParams<</P ${number}>>>>]`;
  const pdf = signedWith(
    `/Reference ${FREE} 0 R`,
    undefined,
    contract((objects) => objects.set(FREE, level(1))),
  );
  t.is(outcome(pdf), 'TOTAL-PASSED');
  t.regex(outcome(appendRevision(pdf, new Map([[FREE, level(3)]]))), /^TOTAL-FAILED/);
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
