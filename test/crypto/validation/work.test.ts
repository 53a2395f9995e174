import { readFileSync } from 'node:fs';
import { deflateSync } from 'node:zlib';
import test from 'ava';
import { openSource } from '#crypto/core/files.js';
import type { ValidationReport } from '#crypto/core/validation-report.js';
import { imprintOf } from '#crypto/evidence/timestamp-reader.js';
import { IncrementalFile } from '#crypto/pades/incremental-file.js';
import { appendDocumentTimestamp } from '#crypto/pades/time-stamping.js';
import { type SignatureInfo, timestampInfo } from '#crypto/validation/signature-info.js';
import { inspectCms } from '#crypto/validation/signed-data/signed-data-report.js';
import { validateSignatures } from '#crypto/validation/validate-signature.js';
import { readableCertificates as readable } from '#crypto/x509/certificate.js';
import { patientAuthority } from '../pades/levels-harness.ts';
import { bodyOf, CATALOG, contract, FREE, reportOn, signed } from '../pades/validation/attack-files.ts';
import { freshPath, put } from '../pades/validation/verdicts.ts';
import { appendRevision, classicPdf, documentObjects, stream } from '../pdf/build.ts';
import { forge } from './forge.ts';
import { CONTENT, DAY, issue, parties, SIGNED, tokenOver } from './judging.ts';

const isLeftOpen = ({ signatures }: ValidationReport): boolean =>
  signatures.some(({ results }) => results.errors.some(({ type }) => type === 'file.work'));

/** Appends many small revisions, each of which replaces the document information. */
function withRevisions(pdf: Buffer, count: number): Buffer {
  const parts = [pdf];
  let size = pdf.length;
  let previous = Number(/startxref\s+(\d+)\s+%%EOF\s*$/.exec(pdf.toString('latin1', pdf.length - 64))?.[1]);
  for (let round = 0; round < count; round++) {
    const body = `20000 0 obj\n<< /Producer (${round}) >>\nendobj\n`;
    const at = size + body.length;
    const table = `xref\n20000 1\n${String(size).padStart(10, '0')} 00000 n \n`;
    const trailer = `trailer\n<< /Size 20001 /Root 1 0 R /Info 20000 0 R /Prev ${previous} >>\n`;
    parts.push(Buffer.from(`${body}${table}${trailer}startxref\n${at}\n%%EOF\n`, 'latin1'));
    previous = at;
    size += body.length + table.length + trailer.length + `startxref\n${at}\n%%EOF\n`.length;
  }
  return Buffer.concat(parts);
}

test('a file of thousands of pages and revisions is left open when its work budget is used up, with the reason', (t) => {
  const pdf = signed(classicPdf(documentObjects({ pages: 2000, form: 'indirect' })));
  const report = reportOn(withRevisions(pdf, 1200));
  t.is(report.indication, 'INDETERMINATE');
  const [record] = report.signatures;
  t.is(record?.subIndication, 'GENERIC');
  t.regex(record?.results.errors[0]?.message ?? '', /more work than is done for one file/);
  t.true(record?.results.passedChecks.some(({ type }) => type === 'digest.content'));
});

test('a file with an unusual number of revisions is still compared completely', (t) => {
  const pdf = withRevisions(signed(contract()), 300);
  const { indication, signatures } = reportOn(pdf);
  t.is(indication, 'TOTAL-PASSED');
  t.is(signatures[0]?.changes.length, 300);
  const changed = appendRevision(pdf, new Map([[11, bodyOf(pdf, 11).replace('Pay 100', 'Pay 900')]]));
  t.is(reportOn(changed).signatures[0]?.subIndication, 'FORMAT_FAILURE');
});

test('signatures with hundreds of time-stamps each share the work budget of one file', (t) => {
  const { ca, tsaCa, root } = parties();
  const [one] = inspectCms(forge({ signer: parties().signer, content: CONTENT, at: SIGNED }), {
    format: 'Cades',
    scope: { kind: 'content', description: 'the content' },
    contentDigest: () => undefined,
  });
  if (one === undefined) return t.fail();
  // Authorities with the same name and other keys: each is tried before the path fails.
  const others = Array.from({ length: 60 }, () => issue('Judging TSA CA', root, { use: { kind: 'ca' } }));
  const stamp = timestampInfo('document', tokenOver(CONTENT, SIGNED), imprintOf(CONTENT));
  const facts: SignatureInfo = {
    ...one,
    certificates: [ca, tsaCa, ...others].flatMap(({ certificate }) => readable(certificate)),
    timestamps: Array.from({ length: 400 }, () => stamp),
  };
  const trust = { anchors: [root.certificate], intermediates: [], revocation: 'soft' } as const;
  const alone = validateSignatures(
    'Pades',
    { signatures: [facts], findings: [] },
    { trust, at: SIGNED + DAY },
  );
  t.false(isLeftOpen(alone));
  const many = { signatures: Array.from({ length: 300 }, () => facts), findings: [] };
  const report = validateSignatures('Pades', many, { trust, at: SIGNED + DAY });
  t.is(report.signatures.length, 300);
  t.true(isLeftOpen(report));
  t.false(report.signatures[0]?.results.errors.some(({ type }) => type === 'file.work'));
});

test('compressed evidence is decompressed once for any number of time-stamps', async (t) => {
  const authority = await patientAuthority();
  try {
    const { timestamps } = authority.services;
    if (timestamps === undefined) return t.fail();
    const bomb = deflateSync(Buffer.alloc(40 << 20)).toString('latin1');
    const pdf = signed(contract());
    const catalog = bodyOf(pdf, CATALOG).replace('/Pages', `/DSS ${FREE} 0 R /Pages`);
    const objects = new Map([
      [CATALOG, catalog],
      [FREE, `<< /OCSPs [${FREE + 1} 0 R] >>`],
      [FREE + 1, stream('/Filter /FlateDecode', bomb)],
    ]);
    const source = openSource(put(appendRevision(pdf, objects)));
    const output = freshPath('stamped.pdf');
    try {
      const file = new IncrementalFile(source, output, ['sha256']);
      for (let round = 0; round < 30; round++) {
        await appendDocumentTimestamp(file, timestamps, 'sha256', Date.now() + round);
      }
      file.finish(false);
    } finally {
      source.close();
    }
    const report = reportOn(readFileSync(output), 'present');
    t.is(report.signatures.length, 31);
    t.false(isLeftOpen(report));
    t.is(report.signatures[0]?.level, 'T', 'nothing in the store is an answer');
  } finally {
    await authority.close();
  }
});
