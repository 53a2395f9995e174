/** A signature that stands several times in a file counts once, in every format, and the report says so. */
import { readFileSync } from 'node:fs';
import { validateFile } from '@sealwright/signatures';
import test from 'ava';
import { OID } from '#crypto/asn1/oids.js';
import { readWhole, TAG } from '#crypto/asn1/read.js';
import { oid, sequence, tlv } from '#crypto/asn1/write.js';
import { parseSignerInfo } from '#crypto/cms/parse.js';
import type { SignatureFormat } from '#crypto/core/types.js';
import type { ValidationReport } from '#crypto/core/validation-report.js';
import { pki } from '../../pki/pki.ts';
import { type HandMade, made, memberOf, remade, replacing, validated } from '../asic/container-harness.ts';
import { contract, edited, FORM, FREE, signed } from '../pades/validation/attack-files.ts';
import { put } from '../pades/validation/verdicts.ts';
import { appendRevision } from '../pdf/build.ts';
import { EXC, forge as forgeXml, transform } from '../xades/forging.ts';
import { forge, forgeSigner } from './forge.ts';
import { CONTENT, DAY, issue, parties, SIGNED } from './judging.ts';

/** Returns the indication of the file, the number of its signatures and the copies that it names. */
function summary({ indication, signatures, results }: ValidationReport): string {
  const copies = results.warnings.find(({ type }) => type === 'file.copies');
  return [indication, signatures.length, ...(copies === undefined ? [] : [copies.detail])].join(' ');
}

function validate(format: SignatureFormat, bytes: Buffer | string, at: number): Promise<ValidationReport> {
  const anchors = [pki().root.certificate, parties().root.certificate];
  const trust = { anchors, intermediates: [parties().ca.certificate], revocation: 'none' } as const;
  return validateFile({ format, path: put(Buffer.from(bytes)), at, trust });
}

const added = (member: HandMade) => (members: HandMade[]) => [...members, member];

test('a signature file of a container that was copied under another name', async (t) => {
  const path = await made('E', 'Xades');
  const name = 'META-INF/signatures001.xml';
  const bytes = memberOf(path, name);
  t.is(summary(await validated(path)), 'TOTAL-PASSED 1');
  for (const other of ['META-INF/signatures002.xml', 'META-INF/a-signatures.xml']) {
    const report = await validated(remade(path, added({ name: other, bytes })));
    t.regex(
      summary(report),
      /^TOTAL-PASSED 1 META-INF\/signatures002\.xml|^TOTAL-PASSED 1 META-INF\/a-s/,
      other,
    );
  }
  // With another proof of the same signature, the one that proves most counts.
  const stamped = memberOf(await made('E', 'Xades', { level: 'LT' }), name);
  const more = remade(path, added({ name: 'META-INF/signatures002.xml', bytes: stamped }));
  t.regex(summary(await validated(more)), /^TOTAL-PASSED [12]/);
});

test('a copy of a signature over other data is no copy, and fails', async (t) => {
  const path = await made('E', 'Xades');
  const name = 'META-INF/signatures001.xml';
  const bytes = Buffer.from(memberOf(path, name).toString().replace('report%20', 'other%20'));
  const report = await validated(remade(path, added({ name: 'META-INF/signatures002.xml', bytes })));
  t.is(report.signatures.length, 2);
  t.is(report.indication, 'TOTAL-FAILED');
});

test('a time-stamp of a container of one file that was copied', async (t) => {
  const { pki: own, services } = await (await import('../asic/container-harness.ts')).authority();
  t.truthy(own);
  const path = await made('S', 'Cades');
  const { createHash } = await import('node:crypto');
  const content = memberOf(path, 'report.txt');
  const token = await services.timestamps?.stamp(createHash('sha256').update(content).digest(), 'sha256');
  if (token === undefined) return t.fail();
  const stamps = (count: number) =>
    remade(path, (members) => [
      ...members.filter(({ name }) => !name.endsWith('.p7s')),
      ...Array.from({ length: count }, (_, index) => ({
        name: `META-INF/timestamp${index === 0 ? '' : index}.tst`,
        bytes: token,
      })),
    ]);
  t.is(summary(await validated(stamps(1))), 'TOTAL-PASSED 1');
  t.regex(summary(await validated(stamps(3))), /^TOTAL-PASSED 1 .*timestamp1\.tst.*timestamp2\.tst/);
  const misplaced = remade(
    path,
    replacing('META-INF/signature.p7s', () => token),
  );
  t.regex(summary(await validated(misplaced)), /^INDETERMINATE/);
});

test('a signer who stands in a CMS structure twice', async (t) => {
  const signer = issue('Twice Signer', parties().ca, { kind: 'rsa-2048' });
  const forgery = { signer, content: CONTENT, at: SIGNED, inside: CONTENT };
  const own = forgeSigner(forgery);
  const at = SIGNED + DAY;
  t.is(summary(await validate('Cades', forge(forgery), at)), 'TOTAL-PASSED 1');
  t.is(
    summary(await validate('Cades', forge({ ...forgery, signers: [own] }), at)),
    'TOTAL-PASSED 1 signer 2',
  );
  const again = forgeSigner({ ...forgery, at: SIGNED + 1000 });
  t.is(summary(await validate('Cades', forge({ ...forgery, signers: [again] }), at)), 'TOTAL-PASSED 2');
  const counter = forgeSigner({
    ...forgery,
    content: parseSignerInfo(readWhole(own)).signature,
    attributes: (honest) => honest.slice(1),
  });
  const countered = (...counters: readonly Buffer[]) =>
    validate(
      'Cades',
      forge({ ...forgery, unsigned: [sequence(oid(OID.counterSignature), tlv(TAG.set, ...counters))] }),
      at,
    );
  const report = await countered(counter, counter);
  t.is(summary(report), 'TOTAL-PASSED 1 signer 1, counter-signature 2');
  t.is(report.signatures[0]?.counterSignatures.length, 1);
  const bad = forgeSigner({ ...forgery, attributes: (honest) => honest.slice(1) });
  t.is((await countered(counter, bad)).indication, 'TOTAL-FAILED');
  // A copy with a counter-signature: that is not lost.
  const unsigned = [sequence(oid(OID.counterSignature), tlv(TAG.set, bad))];
  const hidden = forge({ ...forgery, signers: [forgeSigner({ ...forgery, unsigned })] });
  t.is((await validate('Cades', hidden, at)).indication, 'TOTAL-FAILED');
});

test('a signature that stands in an XML document twice', async (t) => {
  const data = '<a Id="x">Pay 100</a>';
  const one = forgeXml({ references: [{ uri: '#x', data, transforms: transform(EXC) }], properties: false });
  const document = (...signatures: readonly string[]) => `<r>${data}${signatures.join('')}</r>`;
  t.is(summary(await validate('Xades', document(one), Date.now())), 'TOTAL-PASSED 1');
  t.is(summary(await validate('Xades', document(one, one), Date.now())), 'TOTAL-PASSED 1 sig');
});

test('a signature of a PDF that two fields reach by different objects', async (t) => {
  const pdf = signed(contract(), { fieldName: 'First' });
  const number = /\/V (\d+) 0 R/.exec(pdf.toString('latin1', contract().length))?.[1] ?? '';
  const field = (name: string, value: string) =>
    `<< /Type /Annot /Subtype /Widget /FT /Sig /T (${name}) /V ${value} /Rect [0 0 0 0] /P 10 0 R >>`;
  const twice = appendRevision(
    pdf,
    new Map([
      edited(pdf, FORM, /(\/Fields *\[[^\]]*)\]/, `$1 ${FREE} 0 R]`),
      [FREE, field('Second', `${FREE + 1} 0 R`)] as const,
      [FREE + 1, `${number} 0 R`] as const,
    ]),
  );
  const report = await validate('Pades', twice, Date.now());
  t.is(report.indication, 'TOTAL-FAILED');
  t.is(report.signatures.length, 1);
  t.true(report.signatures[0]?.results.errors.some(({ type }) => type === 'pdf.field'));
  t.is(summary(await validate('Pades', readFileSync(put(pdf)), Date.now())), 'TOTAL-PASSED 1');
});
