/** Signed files under the policies of ICP-Brasil, made and judged. */
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  augmentFile,
  MemoryOutput,
  type SignatureFormat,
  signFileAtLevel,
  validateFile,
} from '@sealwright/signatures';
import test from 'ava';
import { octetString, oid, sequence } from '#crypto/asn1/write.js';
import { parseSignedData } from '#crypto/cms/parse.js';
import type { SignatureRecord } from '#crypto/core/validation-report.js';
import { STORED } from '#crypto/pades/validation/embedded-evidence.js';
import { ICP_BRASIL, type PolicyRequest, policyToSign, RULES } from '#crypto/validation/icp-brasil.js';
import { isIntact } from '#crypto/validation/signature-comparison.js';
import { certificatePem, fingerprintOf } from '#crypto/x509/certificate.js';
import { samplePdf } from '../../../bench/samples.ts';
import { verifyIndependently } from '../../../independent/index.ts';
import { startAuthority } from '../../pki/authority.ts';
import { type KeyKind, pki } from '../../pki/pki.ts';
import { opensslCms, pdfsig, withTools, xmlsec1 } from '../../verifiers/index.ts';
import { appendRevision, stream } from '../pdf/build.ts';
import { enveloped, goodProperties, reportOn } from '../xades/forging.ts';
import { attributeOf, forge } from './forge.ts';
import { issue, judged as judgedOf, parties, SIGNED, tokenOver } from './judging.ts';

const toolTest = withTools(test, 'pdfsig', 'certutil', 'openssl', 'xmlsec1');

const ARC = '2.16.76.1.7.1.';
const XML = ['CompleteCertificateRefs', 'CompleteRevocationRefs'];

const CONTENT: { readonly [format in SignatureFormat]: Buffer } = {
  Pades: samplePdf(),
  Cades: Buffer.from('any file'),
  Xades: Buffer.from('<?xml version="1.0"?>\n<order><item>1</item></order>\n'),
};

const FORMATS = ['Pades', 'Cades', 'Xades'] as const;

const authority = startAuthority();
test.after.always(async () => (await authority).close());

interface Signing {
  readonly format?: SignatureFormat;
  readonly kind?: KeyKind;
  readonly number?: string;
  readonly hash?: Buffer;
  readonly digest?: 'sha384';
  readonly padding?: 'pss';
  readonly level?: 'T' | 'LT' | 'LTA';
  /** Raised to this level afterwards. */
  readonly extended?: 'T';
}

/** Signs under a policy, with a certificate of the own root. */
async function recordOf(signing: Signing): Promise<SignatureRecord | undefined> {
  const { format = 'Cades', kind = 'rsa-2048', number = '1.2.4', hash, extended, ...choices } = signing;
  const { services, trust } = await authority;
  const signer = (await authority).pki.signer(kind);
  const row = ICP_BRASIL.find(([one]) => one === number);
  const named = hash ?? Buffer.from(row?.[4] ?? Buffer.alloc(32).toString('base64'), 'base64');
  const output = new MemoryOutput();
  const at = Date.now();
  const policy = { oid: ARC + number, digest: 'sha256', hash: named } as const;
  await signFileAtLevel({ format, input: CONTENT[format], output, signer, at, policy, ...choices }, services);
  const raised = new MemoryOutput();
  if (extended !== undefined)
    await augmentFile({ format, input: output.bytes, output: raised, to: extended, at }, services);
  const { bytes: path } = extended === undefined ? output : raised;
  return (await validateFile({ format, path, trust, at: at + 60_000 })).signatures[0];
}

/** Types of policy rules that the signature does not keep, and of all that fails beside them. */
function judged(record: SignatureRecord | undefined): string[] {
  const { errors = [], warnings = [] } = record?.results ?? {};
  return [
    ...errors.map(({ type }) => type),
    ...warnings.filter(({ type }) => type.startsWith('policy.')).map(({ type }) => `${type} (warning)`),
  ];
}

const ROOT_ALONE: readonly (readonly [title: string, signing: Signing, more: readonly string[]])[] = [
  ['CAdES', {}, []],
  ['PAdES', { format: 'Pades', number: '11.1.3' }, ['policy.pdf-names (warning)']],
  ['PAdES under a policy of CAdES', { format: 'Pades' }, ['policy.pdf-names (warning)']],
  ['XAdES', { format: 'Xades', number: '6.2.5' }, []],
  ['digest of the file of the policy', { hash: Buffer.alloc(32, 7) }, ['policy.digest']],
  ['CAdES under a policy of XAdES', { number: '6.2.5' }, ['policy.form', 'policy.certificate']],
  ['CAdES under a policy of PAdES', { number: '11.1.3' }, ['policy.form']],
  ['another hash', { digest: 'sha384' }, ['policy.method']],
  ['another padding', { padding: 'pss' }, ['policy.method']],
  ['a policy of before', { kind: 'p-256', number: '1.2.3' }, ['policy.method']],
  ['a curve of today', { kind: 'p-256' }, []],
  ['a policy that ended', { number: '1.2.1' }, ['policy.period']],
  [
    'a policy that was revoked',
    { format: 'Pades', number: '11.1.2' },
    ['policy.period', 'policy.pdf-names (warning)'],
  ],
  ['no time-stamp', { number: '2.2.4' }, ['policy.timestamp']],
  [
    'no references',
    { number: '3.2.4', level: 'LT' },
    ['policy.timestamp', 'policy.attributes', 'policy.references (warning)'],
  ],
  [
    'no archive of the older form',
    { number: '5.2.5', level: 'LTA' },
    ['policy.attributes', 'policy.archive (warning)', 'policy.references (warning)'],
  ],
  ['a time-stamp of another root', { number: '2.2.4', level: 'T' }, ['policy.timestamp']],
];

test.serial('files of an own root fail what they break, and the root', async (t) => {
  for (const [title, signing, more] of ROOT_ALONE) {
    const record = await recordOf(signing);
    const expected = ['policy.root', ...more].sort();
    t.deepEqual(judged(record).sort(), expected, title);
    t.is(record?.indication, 'INDETERMINATE', title);
    t.true(record && isIntact(record), title);
  }
});

test.serial('a file under a policy that is not known passes with a warning', async (t) => {
  const record = await recordOf({ number: '3.2.9' });
  t.deepEqual(judged(record), ['policy.known (warning)']);
  t.is(record?.indication, 'TOTAL-PASSED');
});

test.serial('files that lead to a root of their policy pass', async (t) => {
  const own = fingerprintOf((await authority).pki.root.certificate);
  const { roots } = RULES.c;
  // The tables hold roots whose keys nobody here has.
  (roots as string[]).push(own);
  t.teardown(() => (roots as string[]).pop());
  const passing: readonly Signing[] = [
    {},
    { number: '2.2.4', level: 'T' },
    { kind: 'p-256' },
    { kind: 'ed25519' },
    { format: 'Pades', number: '11.1.3' },
    { format: 'Pades', number: '12.1.3', level: 'T' },
  ];
  for (const signing of passing) {
    const record = await recordOf(signing);
    const names = signing.format === 'Pades' ? ['policy.pdf-names (warning)'] : [];
    t.deepEqual(judged(record), names, JSON.stringify(signing));
    t.is(record?.indication, 'TOTAL-PASSED', JSON.stringify(signing));
  }
  t.deepEqual(judged(await recordOf({ number: '2.2.4' })), ['policy.timestamp']);
});

function policyAttribute(number: string): Buffer {
  const digest = octetString(Buffer.from(ICP_BRASIL.find(([one]) => one === number)?.[4] ?? '', 'base64'));
  const named = sequence(oid(ARC + number), sequence(sequence(oid('2.16.840.1.101.3.4.2.1')), digest));
  return attributeOf(oid('1.2.840.113549.1.9.16.2.15'), named);
}

test.serial('only a valid time-stamp over the signature is one that the policy demands', (t) => {
  const { root } = parties();
  const { roots } = RULES.c;
  (roots as string[]).push(fingerprintOf(root.certificate));
  t.teardown(() => (roots as string[]).pop());
  const signer = issue('Timed', parties().ca, { kind: 'rsa-2048' });
  const policy = policyAttribute('2.2.4');
  const failedWith = (
    type: string,
    tokens: (value: Buffer) => Buffer,
    signed: readonly Buffer[] = [],
  ): string[] => {
    const forgery = {
      signer,
      content: CONTENT.Cades,
      at: SIGNED,
      attributes: (honest: readonly Buffer[]) => [...honest, policy, ...signed],
    };
    const value = parseSignedData(forge(forgery)).signers[0]?.signature ?? Buffer.alloc(0);
    const unsigned = type === '' ? [] : [attributeOf(oid(type), tokens(value))];
    const der = forge({ ...forgery, value: () => value, unsigned });
    return judged(judgedOf(der, { content: CONTENT.Cades }));
  };
  const signatureTimestamp = '1.2.840.113549.1.9.16.2.14';
  const other = (): Buffer => tokenOver(Buffer.from('other'), SIGNED);
  t.deepEqual(
    failedWith(signatureTimestamp, (value) => tokenOver(value, SIGNED)),
    [],
  );
  t.deepEqual(failedWith(signatureTimestamp, other), ['policy.timestamp']);
  const over = attributeOf(oid('1.2.840.113549.1.9.16.2.20'), tokenOver(CONTENT.Cades, SIGNED));
  t.deepEqual(failedWith('', other, [over]), ['policy.timestamp']);
});

test('a certificate that CMS names in the older form alone is not named as the policies demand', (t) => {
  const signer = issue('Named by SHA-1', parties().ca, { kind: 'rsa-2048' });
  const hash = octetString(createHash('sha1').update(signer.certificate).digest());
  const older = attributeOf(oid('1.2.840.113549.1.9.16.2.12'), sequence(sequence(sequence(hash))));
  const attributes = (honest: readonly Buffer[]) => [...honest, older, policyAttribute('1.2.4')];
  const der = forge({ signer, content: CONTENT.Cades, at: SIGNED, bound: null, attributes });
  t.true(judged(judgedOf(der, { content: CONTENT.Cades })).includes('policy.certificate'));
});

test('a certificate that XML names in the newer form is not named as the policies demand', (t) => {
  const id = `<xades:SigPolicyId><xades:Identifier>urn:oid:${ARC}6.2.5</xades:Identifier></xades:SigPolicyId>`;
  const end = '</xades:SigningCertificateV2>';
  const properties = goodProperties('sig', ['sig-r0']).replace(
    end,
    `${end}<xades:SignaturePolicyIdentifier><xades:SignaturePolicyId>${id}</xades:SignaturePolicyId></xades:SignaturePolicyIdentifier>`,
  );
  const [record] = reportOn(enveloped('<x></x>', { properties })).signatures;
  t.deepEqual(judged(record), ['policy.digest', 'policy.certificate', 'policy.root']);
});

test('unsigned properties of XML are told by name and version, and the older archive time-stamp is not supported', (t) => {
  const id = `<xades:SigPolicyId><xades:Identifier>urn:oid:${ARC}10.2.5</xades:Identifier></xades:SigPolicyId>`;
  const end = '</xades:SigningCertificateV2>';
  const properties = goodProperties('sig', ['sig-r0']).replace(
    end,
    `${end}<xades:SignaturePolicyIdentifier><xades:SignaturePolicyId>${id}</xades:SignaturePolicyId></xades:SignaturePolicyIdentifier>`,
  );
  const found = (unsigned: string): string[] => {
    const [record] = reportOn(enveloped('<x></x>', { properties, unsigned })).signatures;
    return judged(record).filter((type) => /attributes|archive/.test(type));
  };
  const most = [...XML, 'CertificateValues', 'RevocationValues'].map((name) => `<xades:${name}/>`).join('');
  const older = '<xades:ArchiveTimeStamp/>';
  const newer = '<a:ArchiveTimeStamp xmlns:a="http://uri.etsi.org/01903/v1.4.1#"/>';
  t.deepEqual(found(most + older), ['policy.archive (warning)']);
  t.deepEqual(found(most + newer), ['policy.archive']);
  t.deepEqual(found(older), ['policy.attributes', 'policy.archive (warning)']);
  t.deepEqual(found(most), ['policy.attributes', 'policy.archive']);
  const other = '<a:ArchiveTimeStamp xmlns:a="urn:other"/>';
  t.deepEqual(found(most + other), ['policy.attributes', 'policy.archive']);
});

test.serial('a document time-stamp is not one that the policy demands', async (t) => {
  const own = fingerprintOf((await authority).pki.root.certificate);
  const { roots } = RULES.c;
  (roots as string[]).push(own);
  t.teardown(() => (roots as string[]).pop());
  const names = 'policy.pdf-names (warning)';
  const record = await recordOf({ format: 'Pades', number: '12.1.3', extended: 'T' });
  t.deepEqual(
    record?.timestamps.map(({ kind, indication }) => [kind, indication]),
    [['document', 'TOTAL-PASSED']],
  );
  t.deepEqual(judged(record), ['policy.timestamp', names]);
});

const PDF_NAMES = 'policy.pdf-names (warning)';

test.serial('levels of PDFs have what AD-RC demands from LTA on, and AD-RA its lists too', async (t) => {
  const own = fingerprintOf((await authority).pki.root.certificate);
  const { roots } = RULES.c;
  (roots as string[]).push(own);
  t.teardown(() => (roots as string[]).pop());
  const of = async (number: string, level: 'T' | 'LT' | 'LTA') =>
    judged(await recordOf({ format: 'Pades', number, level }));
  t.deepEqual(await of('13.1.4', 'LTA'), [PDF_NAMES]);
  t.deepEqual(await of('13.1.4', 'LT'), ['policy.archive', PDF_NAMES]);
  t.deepEqual(await of('13.1.4', 'T'), ['policy.attributes', 'policy.archive', PDF_NAMES]);
  const lists = ['policy.attributes', 'policy.references (warning)', PDF_NAMES];
  t.deepEqual(await of('14.1.4', 'LTA'), lists);
});

test.serial('lists in the store of a PDF are evidence, and what AD-RA demands', async (t) => {
  const { services, trust, pki: made } = await authority;
  const own = fingerprintOf(made.root.certificate);
  const { roots } = RULES.c;
  (roots as string[]).push(own);
  t.teardown(() => (roots as string[]).pop());
  const digest = ICP_BRASIL.find(([number]) => number === '14.1.4')?.[4] ?? '';
  const policy = { oid: `${ARC}14.1.4`, digest: 'sha256', hash: Buffer.from(digest, 'base64') } as const;
  const at = Date.now();
  const signed = new MemoryOutput();
  const request = { format: 'Pades', at, signer: made.signer('rsa-2048'), policy, level: 'LT' } as const;
  await signFileAtLevel({ ...request, input: CONTENT.Pades, output: signed }, services);
  for (const [lists, missing] of [
    [(name: string) => `/${name}`, []],
    [(name: string) => `/${name}X`, ['pdf.changes', 'policy.attributes']],
    [(name: string) => (name.endsWith('s') ? `/${name}` : ''), ['policy.attributes']],
  ] as const) {
    const listed = withLists(signed.bytes, lists);
    const archived = new MemoryOutput();
    const raised = { format: 'Pades', input: listed, output: archived, to: 'LTA', at } as const;
    await augmentFile(raised, services);
    const { signatures } = await validateFile({
      format: 'Pades',
      path: archived.bytes,
      trust,
      at: at + 60_000,
    });
    const [record] = signatures;
    t.deepEqual(judged(record), [...missing, 'policy.references (warning)', PDF_NAMES]);
  }
});

/** Writes the store again with streams of the policy and its list. */
function withLists(pdf: Buffer, name: (key: string) => string): Buffer {
  const text = pdf.toString('latin1');
  const number = Number(/\/DSS (\d+) 0 R/.exec(text)?.[1]);
  const store = new RegExp(`\\n${number} 0 obj\\s*([^]*?)\\s*endobj`).exec(text)?.[1] ?? '';
  const value = (key: string, list: string) => (name(key) === '' ? '' : `${name(key)} ${list}`);
  const all = STORED.DSS.slice(3).map((key) => value(key, '[190 0 R]'));
  const each = STORED.VRI.slice(3).map((key) => value(key, '190 0 R'));
  const body = store
    .replace('<<', `<<${all.join('')}`)
    .replaceAll('/Type/VRI', () => `/Type/VRI${each.join('')}`);
  return appendRevision(
    pdf,
    new Map([
      [number, body],
      [190, stream('', 'list')],
    ]),
  );
}

const MADE = [
  ['ICP-Brasil:AD-RB', undefined],
  ['ICP-Brasil:AD-RT', 'T'],
] as const;

/** Versions that are made, at a day in which each had come. */
const NEWEST: readonly (readonly [day: string, format: SignatureFormat, rb: string, rt: string])[] = [
  ['2012-03-07', 'Cades', '1.2.1', '2.2.1'],
  ['2017-01-01', 'Xades', '6.2.3', '7.2.3'],
  ['2019-01-01', 'Cades', '1.2.3', '2.2.3'],
  ['2025-07-01', 'Pades', '11.1.2', '12.1.2'],
  ['2026-12-01', 'Cades', '1.2.4', '2.2.4'],
  ['2026-12-01', 'Xades', '6.2.5', '7.2.5'],
  ['2026-12-01', 'Pades', '11.1.3', '12.1.3'],
  ['2037-10-22', 'Pades', '11.1.3', '12.1.3'],
];

test('a policy is signed under its newest version of the time, with its own digest and address', (t) => {
  const signer = pki().signer('rsa-2048');
  for (const [day, format, rb, rt] of NEWEST) {
    const at = Date.parse(day);
    t.is(policyToSign('ICP-Brasil:AD-RB', { format, signer, at }).oid, ARC + rb, day);
    const timed = policyToSign('ICP-Brasil:AD-RT', { format, signer, at, level: 'LTA' });
    t.is(timed.oid, ARC + rt, day);
    t.true(
      ICP_BRASIL.some(([number, , , , digest]) => number === rt && digest === timed.hash.toString('base64')),
    );
  }
  const at = Date.parse('2026-12-01');
  const uris = FORMATS.map((format) => policyToSign('ICP-Brasil:AD-RB', { format, signer, at }).uri);
  t.deepEqual(uris, [
    'http://politicas.icpbrasil.gov.br/PA_PAdES_AD_RB_v1_3.der',
    'http://politicas.icpbrasil.gov.br/PA_AD_RB_v2_4.der',
    'http://politicas.icpbrasil.gov.br/PA_AD_RB_v2_5.xml',
  ]);
});

test('what would break its policy is not signed under it', (t) => {
  const at = Date.parse('2026-12-01');
  const good: PolicyRequest = { format: 'Cades', signer: pki().signer('rsa-2048'), at };
  const refused: readonly (readonly [what: string, request: Partial<PolicyRequest>])[] = [
    ['before the first', { at: Date.parse('2012-03-07') - 1 }],
    ['after the last', { at: Date.parse('2037-10-23') }],
    ['no policy for PDFs yet', { format: 'Pades', at: Date.parse('2014-01-01') }],
    ['SHA-384', { digest: 'sha384' }],
    ['PSS', { padding: 'pss' }],
    ['a curve of before', { signer: pki().signer('p-256'), at: Date.parse('2024-01-01') }],
    ['Ed25519 in XML', { format: 'Xades', signer: pki().signer('ed25519') }],
  ];
  for (const [what, request] of refused)
    t.throws(
      () => policyToSign('ICP-Brasil:AD-RB', { ...good, ...request }),
      { code: 'request.invalid' },
      what,
    );
  t.throws(() => policyToSign('ICP-Brasil:AD-RT', good), { code: 'request.invalid' });
  t.notThrows(() => policyToSign('ICP-Brasil:AD-RB', { ...good, signer: pki().signer('ed25519') }));
});

toolTest('what is made under a policy keeps it, and other programs verify it', async (t) => {
  const { services, trust, pki: made } = await authority;
  const folder = mkdtempSync(join(tmpdir(), 'sealwright-policies-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const ca = join(folder, 'root.pem');
  writeFileSync(ca, certificatePem(made.root.certificate));
  const own = fingerprintOf(made.root.certificate);
  for (const { roots } of [RULES.c, RULES.d]) {
    (roots as string[]).push(own);
    t.teardown(() => (roots as string[]).pop());
  }
  const others: { readonly [format in SignatureFormat]: (path: string) => Promise<boolean> } = {
    Pades: async (path) => (await pdfsig(path, made)).every(({ ok }) => ok),
    Cades: async (signature) => (await opensslCms({ signature, ca })).ok,
    Xades: async (file) => (await xmlsec1({ file, ca })).ok,
  };
  for (const format of FORMATS)
    for (const kind of ['rsa-2048', 'p-256'] as const)
      for (const [name, level] of MADE) {
        const title = `${format} ${kind} ${name}`;
        const at = Date.now();
        const request = { format, signer: made.signer(kind), at, ...(level && { level }) };
        const output = join(folder, `${format}-${kind}-${name.slice(-5)}`);
        const policy = policyToSign(name, request);
        await signFileAtLevel({ ...request, input: CONTENT[format], output, policy }, services);
        const { signatures } = await validateFile({ format, path: output, trust, at: at + 60_000 });
        const names = format === 'Pades' ? ['policy.pdf-names (warning)'] : [];
        t.deepEqual(judged(signatures[0]), names, title);
        t.false(
          signatures[0]?.results.warnings.some(({ type }) => type === 'certificate.issuer-name'),
          title,
        );
        t.is(signatures[0]?.indication, 'TOTAL-PASSED', title);
        t.is(signatures[0]?.level, level ?? 'B', title);
        t.true(await others[format](output), title);
        const second = await verifyIndependently({ format, bytes: readFileSync(output), at });
        t.true(
          second.signatures.length > 0 && second.signatures.every(({ verdict }) => verdict === 'valid'),
          title,
        );
        if (format === 'Xades')
          t.regex(readFileSync(output, 'utf8'), /<xades:SigningCertificate><.*<ds:X509IssuerName>/);
      }
});
