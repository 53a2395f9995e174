/** Judging by the policies of ICP-Brasil: each row of the table with each rule kept and broken, then signed files. */
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
import {
  ICP_BRASIL,
  POLICY_RULES,
  type PolicyCase,
  type PolicyRequest,
  type PolicyUse,
  policyFindings,
  policyName,
  policyToSign,
  RULES,
} from '#crypto/validation/icp-brasil.js';
import { isIntact } from '#crypto/validation/signature-comparison.js';
import { certificatePem, fingerprintOf, readCertificate } from '#crypto/x509/certificate.js';
import { samplePdf } from '../../../bench/samples.ts';
import { verifyIndependently } from '../../../independent/index.ts';
import { startAuthority } from '../../pki/authority.ts';
import { type KeyKind, pki } from '../../pki/pki.ts';
import { opensslCms, pdfsig, withTools, xmlsec1 } from '../../verifiers/index.ts';
import { enveloped, goodProperties, reportOn } from '../xades/forging.ts';
import { attributeOf, forge } from './forge.ts';
import { issue, judged as judgedOf, parties, SIGNED, tokenOver } from './judging.ts';

const toolTest = withTools(test, 'pdfsig', 'certutil', 'openssl', 'xmlsec1');

const ARC = '2.16.76.1.7.1.';
const DAY = 86_400_000;

type Row = (typeof ICP_BRASIL)[number];
type Good = PolicyCase & { readonly use: PolicyUse };

const formOf = (number: string): SignatureFormat => {
  const first = Number.parseInt(number, 10);
  return first < 6 ? 'Cades' : first < 11 ? 'Xades' : 'Pades';
};

/** A signature that keeps every rule of its policy. */
function good([number, from, , rules, digest]: Row): Good {
  const root = RULES[rules].roots[0];
  const certificate = readCertificate(pki().signer('rsa-2048').certificate);
  const format = formOf(number);
  return {
    policy: ARC + number,
    format,
    certificate,
    claimed: Date.parse(from),
    proven: Date.parse(from),
    root,
    stampRoots: [undefined, root],
    use: {
      digest: { hash: 'sha256', value: Buffer.from(digest, 'base64') },
      method: 'rsa-pkcs1 sha256',
      naming: format === 'Xades' ? 1 : 2,
      inside: [certificate],
      pdfNames: 'PBAD_PAdES PBAD.PAdES',
    },
  };
}

const used = (found: Good, use: Partial<PolicyUse>): Good => ({ ...found, use: { ...found.use, ...use } });
const bytes = (found: Good): Buffer => Buffer.from(found.use.digest?.value ?? []);

/** Ways to break each rule and none beside it; undefined where a policy has no such way. */
const BREAKS: {
  readonly [rule: string]: readonly ((found: Good, row: Row) => Good | undefined)[];
} = {
  'policy.digest': [
    (found) => used(found, { digest: undefined }),
    (found) => used(found, { digest: { hash: 'sha512', value: bytes(found) } }),
    (found) => used(found, { digest: { hash: undefined, value: bytes(found) } }),
    (found) => used(found, { digest: { hash: 'sha256', value: bytes(found).reverse() } }),
    (found) => used(found, { digest: { hash: 'sha256', value: bytes(found).subarray(1) } }),
  ],
  'policy.form': [
    (found) => ({ ...found, format: found.format === 'Xades' ? 'Cades' : 'Xades' }),
    (found) => (found.format === 'Pades' ? { ...found, format: 'Cades' } : undefined),
  ],
  'policy.certificate': [
    (found) => used(found, { inside: [] }),
    (found) => used(found, { inside: [readCertificate(pki().root.certificate)] }),
    (found) => used(found, { naming: undefined }),
    (found) => used(found, { naming: found.format === 'Xades' ? 2 : 1 }),
  ],
  'policy.method': [
    (found) => used(found, { method: 'rsa-pkcs1 sha384' }),
    (found) => used(found, { method: 'rsa-pkcs1 sha1' }),
    (found) => used(found, { method: 'rsa-pss sha256' }),
    (found) => used(found, { method: 'undefined undefined' }),
    (found) => used(found, { method: 'toString' }),
    (found, row) => (row[3] === 'a' ? used(found, { method: 'rsa-pkcs1 sha512' }) : undefined),
    (found, row) => ('ab'.includes(row[3]) ? keyed(found, 'p-256', 'ecdsa sha256') : undefined),
    (found, row) => (row[3] === 'c' ? undefined : keyed(found, 'ed25519', 'ed25519 sha512')),
    // A key of 256 bits for a method that asks for more.
    (found) => keyed(found, 'p-256', 'rsa-pkcs1 sha256'),
  ],
  'policy.period': [
    (found) => ({ ...found, claimed: undefined, proven: found.proven - 1 }),
    (found) => ({ ...found, claimed: found.proven - 1 }),
    (found, row) => ({ ...found, proven: Date.parse(row[2]) + DAY }),
  ],
  'policy.root': [
    (found) => ({ ...found, root: undefined }),
    (found) => ({ ...found, root: fingerprintOf(pki().root.certificate) }),
    (found, row) => ({
      ...found,
      root: [...RULES.b.roots, ...RULES.c.roots].find((one) => !RULES[row[3]].roots.includes(one)),
    }),
  ],
  'policy.timestamp': [
    (found, row) => (isTimed(row) ? { ...found, stampRoots: [] } : undefined),
    (found, row) => (isTimed(row) ? { ...found, stampRoots: [undefined, 'ff'] } : undefined),
  ],
  'policy.pdf-names': [
    (found) =>
      found.format === 'Pades' ? used(found, { pdfNames: 'Adobe.PPKLite ETSI.CAdES.detached' }) : undefined,
    (found) => (found.format === 'Cades' ? { ...found, format: 'Pades' } : undefined),
  ],
};

function isTimed([number]: Row): boolean {
  return ['2', '7', '12'].includes(number.split('.')[0] ?? '');
}

function keyed(found: Good, kind: KeyKind, method: string): Good {
  const certificate = readCertificate(pki().signer(kind).certificate);
  return { ...used(found, { method, inside: [certificate] }), certificate };
}

const notPassed = (found: PolicyCase): string[] =>
  policyFindings(found)
    .filter(({ status }) => status !== 'passed')
    .map(({ status, type }) => (status === 'failed' ? type : `${type} (${status})`));

test('every policy of the table passes as it is, and fails each rule alone', (t) => {
  t.deepEqual(
    Object.keys(BREAKS),
    POLICY_RULES.map(({ type }) => type),
  );
  let tried = 0;
  for (const row of ICP_BRASIL) {
    const found = good(row);
    t.deepEqual(notPassed(found), [], row[0]);
    t.is(policyFindings(found).length, POLICY_RULES.length + 1);
    for (const { type, subIndication } of POLICY_RULES) {
      const expected = subIndication === undefined ? `${type} (warning)` : type;
      for (const [index, broken] of (BREAKS[type] ?? []).entries()) {
        const made = broken(found, row);
        if (made === undefined) continue;
        tried++;
        t.deepEqual(notPassed(made), [expected], `${row[0]}, ${type} ${index}`);
      }
    }
  }
  t.true(tried > ICP_BRASIL.length * 20, `${tried} cases`);
});

test('every method, root and day of a policy is accepted', (t) => {
  const kinds: { readonly [scheme: string]: KeyKind } = {
    'rsa-pkcs1': 'rsa-2048',
    ecdsa: 'p-256',
    ed25519: 'ed25519',
  };
  for (const row of ICP_BRASIL) {
    const found = good(row);
    const { roots, methods } = RULES[row[3]];
    for (const method of Object.keys(methods))
      t.deepEqual(notPassed(keyed(found, kinds[method.split(' ')[0] ?? ''] ?? 'p-521', method)), [], method);
    for (const root of roots) t.deepEqual(notPassed({ ...found, root, stampRoots: [root] }), []);
    const last = Date.parse(row[2]) + DAY - 1;
    t.deepEqual(notPassed({ ...found, claimed: last, proven: last }), []);
    t.deepEqual(notPassed({ ...found, claimed: undefined }), []);
  }
});

test('a policy that the table does not name is said to be unknown, and one of others is left alone', (t) => {
  const [row] = ICP_BRASIL;
  if (row === undefined) return t.fail();
  const found = good(row);
  for (const number of ['1.2.9', '1.2', '3.2.4', '4.2.4', '5.2.5', '13.1.4', '14.1.4', '1', '1.2.4.1'])
    t.deepEqual(notPassed({ ...found, policy: ARC + number }), ['policy.known (warning)'], number);
  t.deepEqual(notPassed({ ...found, use: undefined }), ['policy.known (warning)']);
  for (const policy of [
    '1.3.6.1.4.1.4146.1.40',
    '2.16.76.1.7.2.1.2.4',
    `${ARC}15.1`,
    `${ARC}0.1`,
    ARC,
    'urn:x',
  ])
    t.deepEqual(policyFindings({ ...found, policy }), [], policy);
  t.is(policyName(`${ARC}11.1.3`), 'ICP-Brasil AD-RB 1.3');
  t.is(policyName(`${ARC}9.2.5`), 'ICP-Brasil AD-RC 2.5');
  t.is(policyName('1.2.3'), undefined);
});

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
  readonly level?: 'T';
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
  const record = await recordOf({ number: '3.2.4' });
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
