import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import type { SignatureRecord, ValidationReport } from '#crypto/core/validation-report.js';
import { certificateRecord } from '#crypto/validation/chain.js';
import { readCertificate } from '#crypto/x509/certificate.js';
import { describedFile } from '../../../../actors/shared/signing/signature-records.ts';
import { honestFillings } from '../../../crypto/pades/field-overlays.ts';
import { reportOn as reportOnPdf } from '../../../crypto/pades/validation/attack-files.ts';
import { DS, forge, reportOn as reportOnXml } from '../../../crypto/xades/forging.ts';
import { runTool, withTools } from '../../../verifiers/index.ts';

const toolTest = withTools(test, 'openssl');

/** A self-signed certificate with this subject and these further names. */
async function certificate(t: ExecutionContext, subject: string, names: readonly string[]): Promise<Buffer> {
  const folder = mkdtempSync(join(tmpdir(), 'sealwright-holder-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const config = join(folder, 'config');
  const alternatives = names.length === 0 ? '' : `subjectAltName=${names.join(',')}\n`;
  writeFileSync(
    config,
    `[req]\ndistinguished_name=dn\nx509_extensions=ext\nprompt=no\n[dn]\n${subject}\n[ext]\n${alternatives}keyUsage=digitalSignature\n`,
  );
  const out = join(folder, 'out.der');
  const key = [
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:prime256v1',
    '-nodes',
    '-keyout',
    join(folder, 'key'),
  ];
  const { exit, stderr } = await runTool('openssl', [
    'req',
    '-x509',
    ...key,
    '-config',
    config,
    '-outform',
    'DER',
    '-out',
    out,
  ]);
  if (exit !== 0) throw new Error(stderr);
  return readFileSync(out);
}

const GOOD = { isValid: true, passedChecks: [], errors: [], warnings: [] };

function reportOf(der: Buffer, more: Partial<SignatureRecord> = {}): ValidationReport {
  const record: SignatureRecord = {
    format: 'Pades',
    level: 'B',
    indication: 'TOTAL-PASSED',
    certificate: certificateRecord(readCertificate(der)),
    signingTime: 1_000,
    bestTime: 2_000,
    isTimestamp: false,
    name: 'Signature1',
    scope: { kind: 'document', description: 'the whole file' },
    timestamps: [],
    changes: [],
    counterSignatures: [],
    policy: undefined,
    results: GOOD,
    ...more,
  };
  return { format: 'Pades', indication: 'TOTAL-PASSED', signatures: [record], results: GOOD };
}

const viewOf = (report: ValidationReport) => {
  const [signature] = describedFile(report).signatures;
  if (signature === undefined) throw new Error('no signature');
  return signature.view;
};

toolTest(
  'a person is identified by the national number in the certificate, and the name excludes it',
  async (t) => {
    const der = await certificate(t, 'CN=ANA MULLER:39053344705', [
      'otherName:2.16.76.1.3.1;PRINTABLESTRING:010119803905334470500000000000000000000000000000000',
      'email:ana@example.org',
    ]);
    t.like(viewOf(reportOf(der)), {
      subjectName: 'ANA MULLER',
      identifier: '39053344705',
      emailAddress: 'ana@example.org',
      companyName: null,
      companyIdentifier: null,
    });
  },
);

toolTest(
  'the infrastructure that signs the certificate of a person is not the company of the person',
  async (t) => {
    const person = [
      'otherName:2.16.76.1.3.1;PRINTABLESTRING:010119803905334470500000000000000000000000000000000',
    ];
    // The certificates of this test name themselves as their issuers.
    const names = 'O=National Keys\nCN=ANA MULLER:39053344705';
    t.is(viewOf(reportOf(await certificate(t, names, person))).companyName, null);
    t.is(
      viewOf(reportOf(await certificate(t, names, ['email:ana@example.org']))).companyName,
      'National Keys',
    );
  },
);

toolTest(
  'a company is identified by its national number, and the responsible person by theirs',
  async (t) => {
    const der = await certificate(t, 'CN=WORKS LTD:11222333000181', [
      'otherName:2.16.76.1.3.3;OCTETSTRING:11222333000181',
      'otherName:2.16.76.1.3.4;OCTETSTRING:010119803905334470500000000000000000000000000000000',
    ]);
    t.like(viewOf(reportOf(der)), {
      subjectName: 'WORKS LTD',
      companyName: 'WORKS LTD',
      companyIdentifier: '11222333000181',
      identifier: '39053344705',
    });
  },
);

toolTest(
  'people and companies elsewhere are identified by the numbers in their names, without kind and country',
  async (t) => {
    const subject =
      'CN=Ana Muller\nO=Works GmbH\norganizationIdentifier=VATDE-123456789\nserialNumber=PNODE-12345';
    const der = await certificate(t, subject, []);
    t.like(viewOf(reportOf(der)), {
      subjectName: 'Ana Muller',
      identifier: '12345',
      companyName: 'Works GmbH',
      companyIdentifier: '123456789',
      emailAddress: null,
    });
  },
);

toolTest('a national number of zeros identifies no person', async (t) => {
  const der = await certificate(t, 'CN=Nobody', [
    `otherName:2.16.76.1.3.1;PRINTABLESTRING:${'0'.repeat(51)}`,
  ]);
  t.is(viewOf(reportOf(der)).identifier, null);
});

toolTest('time-stamps are reported by their purpose, and nested checks stay nested', async (t) => {
  const der = await certificate(t, 'CN=Stamps', []);
  const own = certificateRecord(readCertificate(der));
  const stamp = (kind: 'signature' | 'archive' | 'document' | 'content', genTime: number) =>
    ({
      kind,
      displayName: 'Stamps',
      genTime,
      certificate: own,
      indication: 'TOTAL-PASSED',
      results: GOOD,
    }) as const;
  const inner = { ...GOOD, passedChecks: [{ type: 'inner', message: 'Inner.', detail: 'seen' }] };
  const view = viewOf(
    reportOf(der, {
      timestamps: [stamp('content', 1), stamp('signature', 2), stamp('archive', 3), stamp('document', 4)],
      results: { ...GOOD, passedChecks: [{ type: 'chain', message: 'Trusted.', inner }] },
    }),
  );
  t.deepEqual(
    view.signatureTimestamps.map(({ genTime }) => genTime),
    [2],
  );
  t.deepEqual(
    view.archiveTimestamps.map(({ genTime }) => genTime),
    [3, 4],
  );
  t.is(view.signatureTimestamps[0]?.validityEnd, own.validityEnd);
  t.deepEqual(view.validationResults.passedChecks, [
    {
      type: 'chain',
      message: 'Trusted.',
      detail: null,
      innerValidationResults: {
        isValid: true,
        passedChecks: [{ type: 'inner', message: 'Inner.', detail: 'seen', innerValidationResults: null }],
        errors: [],
        warnings: [],
      },
    },
  ]);
});

toolTest('a finding about a file is reported for each of its signatures', async (t) => {
  const der = await certificate(t, 'CN=Ana', []);
  const wrong = { ...GOOD, isValid: false, errors: [{ type: 'pdf.structure', message: 'Two roots.' }] };
  const view = viewOf({ ...reportOf(der), results: wrong });
  t.false(view.validationResults.isValid);
  t.deepEqual(
    view.validationResults.errors.map(({ type }) => type),
    ['pdf.structure'],
  );
});

test('a moved element of an XML signature is reported as a warning with its path', (t) => {
  const pay = '<pay Id="p">100</pay>';
  const signature = forge({ references: [{ uri: '#p', data: pay }] });
  const beside = viewOf(reportOnXml(`<r><note/><hidden>${pay}</hidden>${signature}</r>`));
  const object = `<ds:Object xmlns:ds="${DS}"><wrapper>${pay}</wrapper><pay>999</pay></ds:Object>`;
  const inside = viewOf(reportOnXml(forge({ references: [{ uri: '#p', data: pay }], objects: object })));
  for (const [view, path] of [
    [beside, '/r/hidden/pay'],
    [inside, '/ds:Signature/ds:Object/wrapper/pay'],
  ] as const) {
    t.true(view.validationResults.isValid);
    const scope = view.validationResults.warnings.find(({ type }) => type.startsWith('scope.'));
    t.true(scope?.detail?.includes(path), `${scope?.detail}`);
  }
});

test('changes of a PDF after signing are in the results of its signature', (t) => {
  const [filling] = honestFillings();
  const { validationResults } = viewOf(reportOnPdf(filling?.pdf ?? Buffer.alloc(0)));
  const changes = validationResults.passedChecks.find(({ type }) => type === 'pdf.changes');
  t.regex(changes?.detail ?? '', /filled in the field Name/);
});
