/** The quick check of a file with one signature finds each fault that full validation finds. */
import { readFileSync } from 'node:fs';
import test from 'ava';
import { CryptoError } from '#crypto/core/types.js';
import { signPades } from '#crypto/pades/sign.js';
import { verifyPades } from '#crypto/pades/verify.js';
import { pki } from '../../pki/pki.ts';
import { appendRevision, classicPdf, documentObjects, hybridPdf, streamPdf } from '../pdf/build.ts';
import { reportOn } from './validation/attack-files.ts';
import { freshPath, put } from './validation/verdicts.ts';

const FIELD = 'Ana';

function signed(pdf: Buffer, fieldName = FIELD): Buffer {
  const output = freshPath();
  const signer = pki().signer('p-256');
  signPades({
    format: 'Pades',
    input: put(pdf),
    output,
    signer,
    at: Date.now(),
    pades: { fieldName, reason: 'I agree' },
  });
  return readFileSync(output);
}

/** Names of the failed checks. */
function quickly(pdf: Buffer, only = FIELD): readonly string[] {
  const { fingerprint: signer } = pki().signer('p-256');
  const report = verifyPades({ format: 'Pades', path: put(pdf), signer, only, at: Date.now() });
  return report.checks.filter(({ ok }) => !ok).map(({ name }) => name);
}

/** Faults that full validation finds, but for those of trust. */
function faults(pdf: Buffer): readonly string[] {
  const { signatures, results } = reportOn(pdf);
  return [results, ...signatures.map((one) => one.results)]
    .flatMap(({ errors }) => errors.map(({ type }) => type))
    .filter((type) => !type.startsWith('chain'));
}

test('one signature in its field passes, in each structure of a file', (t) => {
  const files = [
    classicPdf(documentObjects({ annots: 'direct', form: 'indirect' })),
    streamPdf(documentObjects()),
    hybridPdf(documentObjects({ form: 'indirect' }), [4, 7]),
    appendRevision(classicPdf(documentObjects()), new Map([[8, 'null']])),
    classicPdf(documentObjects(), { startxrefOff: 900_000 }),
  ];
  for (const [at, file] of files.entries()) {
    const pdf = signed(file);
    t.deepEqual([quickly(pdf), faults(pdf)], [[], []], `file ${at}`);
  }
});

test('another field, a second signature, a second field and validation material are told', (t) => {
  const once = signed(classicPdf(documentObjects({ form: 'indirect' })));
  t.deepEqual(quickly(once, 'Bo'), ['only']);
  t.true(quickly(signed(once, 'Bo'), 'Bo').includes('only'));
  const catalog = /\/Type \/Catalog/;
  const withStore = documentObjects();
  withStore.set(1, (withStore.get(1) ?? '').replace(catalog, '$& /DSS 77 0 R'));
  withStore.set(77, '<< >>');
  t.deepEqual(quickly(signed(classicPdf(withStore))), ['only']);
});

test('a file that only a repair can read is refused, as full validation does', (t) => {
  const damaged = signed(classicPdf(documentObjects()));
  damaged.write('startxref\n9', damaged.lastIndexOf('startxref'), 'latin1');
  t.deepEqual([quickly(damaged), faults(damaged).includes('pdf.structure')], [['pdf'], true]);
});

test('no changed byte passes that full validation finds', (t) => {
  const pdf = signed(streamPdf(documentObjects({ annots: 'direct' })));
  const unseen: number[] = [];
  for (let at = 0; at < pdf.length; at += 61) {
    const bad = Buffer.from(pdf);
    bad[at] = (bad[at] ?? 0) ^ 1;
    if (quickly(bad).length === 0 && !isFaultless(bad)) unseen.push(at);
  }
  t.deepEqual(unseen, []);
});

function isFaultless(pdf: Buffer): boolean {
  try {
    return faults(pdf).length === 0;
  } catch (error) {
    if (error instanceof CryptoError) return false;
    throw error;
  }
}
