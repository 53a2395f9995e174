/** Judging by the policies of ICP-Brasil: each row of the table with each rule kept and broken. */
import type { SignatureFormat } from '@sealwright/signatures';
import test from 'ava';
import {
  ICP_BRASIL,
  POLICY_RULES,
  type PolicyCase,
  type PolicyUse,
  policyFindings,
  policyName,
  RULES,
} from '#crypto/validation/icp-brasil.js';
import { fingerprintOf, readCertificate } from '#crypto/x509/certificate.js';
import { type KeyKind, pki } from '../../pki/pki.ts';

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
    archiveRoots: [undefined, root],
    use: {
      digest: { hash: 'sha256', value: Buffer.from(digest, 'base64') },
      method: 'rsa-pkcs1 sha256',
      naming: format === 'Xades' ? 1 : 2,
      inside: [certificate],
      unsigned: new Set(DEMANDED[number.split('.')[0] ?? '']),
      pdfNames: 'PBAD_PAdES PBAD.PAdES',
    },
  };
}

const ESS = '1.2.840.113549.1.9.16.2.';
const PDF = ['DSS Certs', 'DSS OCSPs', 'VRI Cert', 'VRI CRL'];
const XML = ['CompleteCertificateRefs', 'CompleteRevocationRefs'];

/** Attributes that the policies demand beside a signature time-stamp, by the first number. */
const DEMANDED: { readonly [first: string]: readonly string[] } = {
  3: ['21', '22', '25'].map((type) => ESS + type),
  4: ['21', '22', '23', '24', '25'].map((type) => ESS + type),
  5: ['21', '22', '23', '24', '48'].map((type) => ESS + type),
  8: [...XML, 'SigAndRefsTimeStamp'],
  9: [...XML, 'SigAndRefsTimeStamp', 'CertificateValues', 'RevocationValues'],
  10: [...XML, 'CertificateValues', 'RevocationValues', 'ArchiveTimeStamp'],
  13: PDF,
  14: [
    ...PDF,
    'DSS PBAD_PolicyArtifacts',
    'DSS PBAD_LpaArtifacts',
    'DSS PBAD_LpaSignatures',
    'VRI PBAD_PolicyArtifact',
    'VRI PBAD_LpaArtifact',
    'VRI PBAD_LpaSignature',
  ],
};

/** Takes away one of what the policy demands. */
const without =
  (index: number) =>
  (found: Good, [number]: Row): Good | undefined => {
    const name = DEMANDED[number.split('.')[0] ?? '']?.[index];
    if (name === undefined) return undefined;
    return used(found, { unsigned: new Set([...found.use.unsigned].filter((one) => one !== name)) });
  };

/** Warnings of a signature that keeps its policy. */
function openOf([number]: Row): string[] {
  const first = Number.parseInt(number, 10);
  return [
    ...(first === 5 ? ['policy.archive (warning)'] : []),
    ...([3, 4, 5, 8, 9, 10, 14].includes(first) ? ['policy.references (warning)'] : []),
  ];
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
  'policy.attributes': Array.from({ length: 10 }, (_, index) => without(index)),
  'policy.archive': [
    (found, row) => (isArchived(row) ? { ...found, archiveRoots: [] } : undefined),
    (found, row) => (isArchived(row) ? { ...found, archiveRoots: [undefined, 'ff'] } : undefined),
  ],
  // Always a warning, where there is something to compare.
  'policy.references': [],
  'policy.pdf-names': [
    (found) =>
      found.format === 'Pades' ? used(found, { pdfNames: 'Adobe.PPKLite ETSI.CAdES.detached' }) : undefined,
    (found) => (found.format === 'Cades' ? { ...found, format: 'Pades' } : undefined),
  ],
};

function isTimed([number]: Row): boolean {
  return !['1', '5', '6', '10', '11'].includes(number.split('.')[0] ?? '');
}

function isArchived([number]: Row): boolean {
  return ['10', '13', '14'].includes(number.split('.')[0] ?? '');
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
    const open = openOf(row);
    t.deepEqual(notPassed(found), open, row[0]);
    t.is(policyFindings(found).length, POLICY_RULES.length + 1);
    for (const { type, subIndication } of POLICY_RULES) {
      const expected = subIndication === undefined ? `${type} (warning)` : type;
      for (const [index, broken] of (BREAKS[type] ?? []).entries()) {
        const made = broken(found, row);
        if (made === undefined) continue;
        tried++;
        t.deepEqual(notPassed(made).sort(), [...open, expected].sort(), `${row[0]}, ${type} ${index}`);
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
    const open = openOf(row);
    const { roots, methods } = RULES[row[3]];
    for (const method of Object.keys(methods))
      t.deepEqual(
        notPassed(keyed(found, kinds[method.split(' ')[0] ?? ''] ?? 'p-521', method)),
        open,
        method,
      );
    for (const root of roots)
      t.deepEqual(notPassed({ ...found, root, stampRoots: [root], archiveRoots: [root] }), open);
    const last = Date.parse(row[2]) + DAY - 1;
    t.deepEqual(notPassed({ ...found, claimed: last, proven: last }), open);
    t.deepEqual(notPassed({ ...found, claimed: undefined }), open);
  }
});

test('a policy that the table does not name is said to be unknown, and one of others is left alone', (t) => {
  const [row] = ICP_BRASIL;
  if (row === undefined) return t.fail();
  const found = good(row);
  for (const number of ['1.2.9', '1.2', '3.2.5', '4.2', '5.2.1', '8.2.2', '13.1.5', '14', '1', '1.2.4.1'])
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
