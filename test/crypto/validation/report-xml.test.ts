import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import {
  counterSignCades,
  signFileAtLevel,
  type ValidationReport,
  validateFile,
  validationReportXml,
} from '@sealwright/signatures';
import test from 'ava';
import { samplePdf } from '../../../bench/samples.ts';
import { authority, file, NOW } from '../asic/container-harness.ts';
import { schemaFaults } from './published-schema.ts';
import { structureFaults } from './report-structure.ts';

const CONTENT = { Pades: samplePdf(), Cades: Buffer.from('x'), Xades: Buffer.from('<a/>') };

async function xmlOf(report: ValidationReport, path: string): Promise<string> {
  const sha256 = createHash('sha256').update(readFileSync(path)).digest('hex');
  return validationReportXml(report, { name: 'a', sha256, at: NOW });
}

for (const level of ['B', 'T', 'LTA'] as const) {
  test(`reports of every format at level ${level} conform to ETSI TS 119 102-2 with any verdict`, async (t) => {
    const { pki, services } = await authority();
    for (const format of ['Pades', 'Cades', 'Xades'] as const) {
      const input = file(CONTENT[format]);
      const output = file();
      const pades = { reason: 'a < b & "c" \u0001', location: 'Köln' };
      const signer = pki.signer('p-256');
      await signFileAtLevel(
        { format, input, output, signer, at: NOW, level, pades, claimedRole: 'for <Ana>' },
        services,
      );
      for (const [anchors, indication] of [
        [[pki.root.certificate], 'total-passed'],
        [[], 'indeterminate'],
      ] as const) {
        const trust = { anchors, intermediates: [], revocation: 'soft' } as const;
        const report = await validateFile({ format, path: output, at: NOW + 60_000, trust });
        const xml = await xmlOf(report, output);
        t.deepEqual(structureFaults(xml), [], `${format} ${level}`);
        t.deepEqual(await schemaFaults(xml), [], `${format} ${level}`);
        t.true(xml.includes('<Role>for &lt;Ana&gt;</Role><EndorsementType>claimed</EndorsementType>'), xml);
        t.true(xml.includes(`mainindication:${indication}<`), xml);
        t.is(xml.includes('NO_CERTIFICATE_CHAIN_FOUND'), indication === 'indeterminate');
        t.is(/<SignatureTimeStamp>/.test(xml), level !== 'B');
        t.regex(xml, new RegExp(`validationprocess:${{ B: 'Basic', T: 'LTVM', LTA: 'LTA' }[level]}<`));
      }
    }
  });
}

test('a counter-signature and every finding are in the report, and the checker detects misplaced elements', async (t) => {
  const { pki, services } = await authority();
  const input = file('x');
  const output = file();
  const counter = file();
  const signer = pki.signer('p-256');
  await signFileAtLevel({ format: 'Cades', input, output, signer, at: NOW }, services);
  counterSignCades({ input: output, output: counter, signer: pki.signer('rsa-2048'), at: NOW });
  const trust = { anchors: [pki.root.certificate], intermediates: [], revocation: 'none' } as const;
  const report = await validateFile({ format: 'Cades', path: counter, at: NOW + 60_000, trust });
  const xml = await xmlOf(report, counter);
  t.deepEqual(structureFaults(xml), []);
  t.deepEqual(await schemaFaults(xml), []);
  t.is(xml.match(/<SignatureIdentifier /g)?.length, 2);
  for (const { type } of report.signatures[0]?.results.passedChecks ?? [])
    t.true(xml.includes(`<ValidationConstraintIdentifier>urn:sealwright:check:${type}<`), type);
  t.not(structureFaults(xml.replace(/<DocHashOnly>false<\/DocHashOnly>/, '')).length, 0);
  t.not(structureFaults(xml.replace(/VOReference="object-1"/, 'VOReference="object-99"')).length, 0);
  t.not(structureFaults(xml.replace(/<MainIndication>urn/, '<MainIndication>')).length, 0);
  t.not(structureFaults(xml.replace('<ObjectType>', '<Other/><ObjectType>')).length, 0);
});
