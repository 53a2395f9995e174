/** Good and bad chains, each judged by us and by openssl. */

import { type KeyObject, randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { oid, sequence, small, tlv } from '#crypto/asn1/write.js';
import { type Certificate, certificatePem, readCertificate } from '#crypto/x509/certificate.js';
import type { GeneralName } from '#crypto/x509/names.js';
import { type PathDefectKind, pathDefects } from '#crypto/x509/path-defects.js';
import { findPath, findPaths } from '#crypto/x509/path-search.js';
import {
  type CertificateRequest,
  type DistinguishedName,
  DOCUMENT_SIGNING,
  encodeName,
  issueCertificate,
} from '../../pki/issuing.ts';
import { type KeyKind, keyOf } from '../../pki/pki.ts';
import { runTool, withTools } from '../../verifiers/index.ts';

const toolTest = withTools(test, 'openssl');

const AT = Date.now();
const DAY = 86_400_000;
const folder = mkdtempSync(join(tmpdir(), 'sealwright-paths-'));
test.after.always(() => rmSync(folder, { recursive: true, force: true }));

interface Issued {
  readonly name: DistinguishedName;
  readonly key: KeyObject;
  readonly certificate: Certificate;
}

type Differences = Partial<CertificateRequest> & { readonly days?: readonly [number, number] };

function make(
  name: string,
  issuer: Issued | undefined,
  differences: Differences = {},
  kind: KeyKind = 'p-256',
): Issued {
  const pair = keyOf(kind);
  const { days = [-10, 10], ...others } = differences;
  const subject = others.subject ?? { country: 'XX', organization: 'Paths', commonName: name };
  const der = issueCertificate({
    subject,
    issuer: issuer?.name ?? subject,
    publicKey: pair.publicKey,
    issuerKey: issuer?.key ?? pair.privateKey,
    serial: randomBytes(12),
    notBefore: AT + days[0] * DAY,
    notAfter: AT + days[1] * DAY,
    use: { kind: 'ca' },
    ...others,
  });
  return { name: subject, key: pair.privateKey, certificate: readCertificate(der) };
}

const signer = (issuer: Issued, differences: Differences = {}, kind?: KeyKind) =>
  make('Signer', issuer, { use: { kind: 'signer', purposes: DOCUMENT_SIGNING }, ...differences }, kind);

interface Chain {
  readonly leaf: Issued;
  readonly others: readonly Issued[];
  readonly at?: number;
}

interface Case {
  readonly title: string;
  /** Undefined: the chain is good. */
  readonly flaw?: PathDefectKind;
  build(root: Issued): Chain;
}

const root = make('Root', undefined);

/** A CA below the root with these differences, and a signer below it with those. */
function twoLevels(ca: Differences, end: Differences = {}): (root: Issued) => Chain {
  return (top) => {
    const issuing = make('Issuing', top, ca);
    return { leaf: signer(issuing, end), others: [issuing] };
  };
}

const critical = (id: string, value: Buffer) => ({ id, critical: true, value });
const names = (...texts: GeneralName[]) => ({ permitted: texts, excluded: [] });
const without = (...texts: GeneralName[]) => ({ permitted: [], excluded: texts });
const dns = (text: string): GeneralName => ({ kind: 'dns', text });
const email = (text: string): GeneralName => ({ kind: 'email', text });
const uri = (text: string): GeneralName => ({ kind: 'uri', text });
const ip = (...octets: number[]): GeneralName => ({ kind: 'ip', octets: Buffer.from(octets) });
const directory = (name: Buffer): GeneralName => ({ kind: 'directory', name });
/** The first two parts of every name here. */
const PATHS = sequence(...splitName({ country: 'XX', organization: 'Paths', commonName: 'x' }, 2));
const OTHERS = sequence(...splitName({ country: 'XX', organization: 'Others', commonName: 'x' }, 2));

function splitName(name: DistinguishedName, count: number): Buffer[] {
  const der = encodeName(name);
  const parts: Buffer[] = [];
  for (let at = 2; parts.length < count; ) {
    const length = 2 + (der[at + 1] ?? 0);
    parts.push(der.subarray(at, at + length));
    at += length;
  }
  return parts;
}

const explicitAfter = (certificates: number) =>
  critical('2.5.29.36', sequence(tlv(0x80, Buffer.from([certificates]))));
const noMappingAfter = (certificates: number) =>
  critical('2.5.29.36', sequence(tlv(0x80, Buffer.from([0])), tlv(0x81, Buffer.from([certificates]))));
const noAnyAfter = (certificates: number) => critical('2.5.29.54', small(certificates));
const mapping = (from: string, to: string) => critical('2.5.29.33', sequence(sequence(oid(from), oid(to))));
const POLICY = '1.2.3.4.5';
const OTHER = '1.2.3.4.6';
const ANY = '2.5.29.32.0';

const CASES: readonly Case[] = [
  { title: 'two levels', build: twoLevels({}) },
  ...(['rsa-2048', 'p-384', 'p-521', 'ed25519'] as const).map(
    (kind): Case => ({
      title: `an issuer with a key of ${kind}`,
      build(top) {
        const issuing = make('Issuing', top, {}, kind);
        return { leaf: signer(issuing), others: [issuing] };
      },
    }),
  ),
  {
    title: 'an issuer that signs by RSA-PSS',
    build(top) {
      const issuing = make('Issuing', top, {}, 'rsa-2048');
      return { leaf: signer(issuing, { issuerPadding: 'pss' }), others: [issuing] };
    },
  },
  { title: 'an intermediate that expired', flaw: 'expired', build: twoLevels({ days: [-10, -1] }) },
  {
    title: 'an intermediate that is not valid yet',
    flaw: 'not-yet-valid',
    build: twoLevels({ days: [1, 10] }),
  },
  { title: 'a signer that expired', flaw: 'expired', build: twoLevels({}, { days: [-10, -1] }) },
  {
    title: 'a signer that expired, at a time when it was valid',
    build: (top) => ({ ...twoLevels({}, { days: [-10, -1] })(top), at: AT - 2 * DAY }),
  },
  {
    title: 'a signer as issuer',
    flaw: 'not-a-ca',
    build(top) {
      const end = signer(top);
      return { leaf: signer(end), others: [end] };
    },
  },
  {
    title: 'more CAs than an issuer allows',
    flaw: 'path-length',
    build(top) {
      const first = make('First', top, { use: { kind: 'ca', pathLength: 0 } });
      const second = make('Second', first);
      return { leaf: signer(second), others: [first, second] };
    },
  },
  {
    title: 'as many CAs as an issuer allows',
    build(top) {
      const first = make('First', top, { use: { kind: 'ca', pathLength: 1 } });
      const second = make('Second', first);
      return { leaf: signer(second), others: [first, second] };
    },
  },
  {
    title: 'an unknown critical extension',
    flaw: 'critical-extension',
    build: twoLevels({}, { furtherExtensions: [critical('1.2.3.4.5.6', small(1))] }),
  },
  {
    title: 'an unknown extension that is not critical',
    build: twoLevels({}, { furtherExtensions: [{ id: '1.2.3.4.5.6', critical: false, value: small(1) }] }),
  },
  { title: 'a permitted directory name', build: twoLevels({ nameConstraints: names(directory(PATHS)) }) },
  {
    title: 'a directory name that is not permitted',
    flaw: 'name-constraints',
    build: twoLevels({ nameConstraints: names(directory(OTHERS)) }),
  },
  {
    title: 'an excluded directory name',
    flaw: 'name-constraints',
    build: twoLevels({ nameConstraints: without(directory(PATHS)) }),
  },
  {
    title: 'a constraint written in capitals',
    flaw: 'name-constraints',
    build: twoLevels({
      nameConstraints: without(
        directory(sequence(...splitName({ country: 'XX', organization: 'PATHS', commonName: 'x' }, 2))),
      ),
    }),
  },
  ...constraintCases('DNS name', [
    [dns('example.com'), dns('www.example.com'), true],
    [dns('example.com'), dns('example.com'), true],
    [dns('example.com'), dns('notexample.com'), false],
    [dns('example.com'), dns('EXAMPLE.com'), true],
  ]),
  ...constraintCases('e-mail address', [
    [email('example.com'), email('me@example.com'), true],
    [email('example.com'), email('me@www.example.com'), false],
    [email('.example.com'), email('me@www.example.com'), true],
    [email('.example.com'), email('me@example.com'), false],
    [email('me@example.com'), email('me@example.com'), true],
    [email('me@example.com'), email('you@example.com'), false],
  ]),
  ...constraintCases('URI', [
    [uri('example.com'), uri('https://example.com/path'), true],
    [uri('.example.com'), uri('https://www.example.com:8080/path'), true],
    [uri('example.com'), uri('https://example.com.evil.org/'), false],
    [uri('example.com'), uri('https://evil.org/example.com'), false],
  ]),
  ...constraintCases('IP address', [
    [ip(10, 0, 0, 0, 255, 0, 0, 0), ip(10, 1, 2, 3), true],
    [ip(10, 0, 0, 0, 255, 0, 0, 0), ip(11, 1, 2, 3), false],
    [ip(10, 0, 0, 0, 255, 0, 0, 0), ip(10, ...Buffer.alloc(15)), false],
  ]),
  {
    title: 'an e-mail address in the subject that is not permitted',
    flaw: 'name-constraints',
    build: twoLevels(
      { nameConstraints: names(email('example.com')) },
      { subject: { commonName: 'Signer', emailAddress: 'me@evil.org' } },
    ),
  },
  {
    title: 'a constraint on the anchor itself',
    flaw: 'name-constraints',
    build() {
      const narrow = make('Narrow root', undefined, { nameConstraints: names(directory(OTHERS)) });
      return { leaf: signer(narrow), others: [narrow] };
    },
  },
  {
    title: 'a required policy that all have',
    build: twoLevels({ policies: [POLICY], furtherExtensions: [explicitAfter(0)] }, { policies: [POLICY] }),
  },
  {
    title: 'a required policy that the signer lacks',
    flaw: 'policy',
    build: twoLevels({ policies: [POLICY], furtherExtensions: [explicitAfter(0)] }),
  },
  {
    title: 'a required policy where the signer has another',
    flaw: 'policy',
    build: twoLevels({ policies: [POLICY], furtherExtensions: [explicitAfter(0)] }, { policies: [OTHER] }),
  },
  {
    title: 'a policy that is required too far down to matter',
    build: twoLevels({ policies: [POLICY], furtherExtensions: [explicitAfter(3)] }),
  },
  {
    title: 'any policy above, a certain one below',
    build: twoLevels({ policies: [ANY], furtherExtensions: [explicitAfter(0)] }, { policies: [OTHER] }),
  },
  {
    title: 'any policy where it counts no more',
    flaw: 'policy',
    build: twoLevels(
      { policies: [POLICY], furtherExtensions: [explicitAfter(0), noAnyAfter(0)] },
      { policies: [ANY] },
    ),
  },
  {
    title: 'a mapped policy',
    build: twoLevels(
      { policies: [POLICY], furtherExtensions: [explicitAfter(0), mapping(POLICY, OTHER)] },
      { policies: [OTHER] },
    ),
  },
  {
    title: 'a mapped policy under its old name',
    flaw: 'policy',
    build: twoLevels(
      { policies: [POLICY], furtherExtensions: [explicitAfter(0), mapping(POLICY, OTHER)] },
      { policies: [POLICY] },
    ),
  },
  {
    title: 'a mapped policy where mapping is inhibited',
    flaw: 'policy',
    build(top) {
      const first = make('First', top, { policies: [POLICY], furtherExtensions: [noMappingAfter(0)] });
      const second = make('Second', first, {
        policies: [POLICY],
        furtherExtensions: [mapping(POLICY, OTHER)],
      });
      return { leaf: signer(second, { policies: [OTHER] }), others: [first, second] };
    },
  },
  {
    title: 'a mapping from the policy that stands for all',
    flaw: 'policy',
    build: twoLevels(
      { policies: [POLICY], furtherExtensions: [explicitAfter(0), mapping(ANY, OTHER)] },
      { policies: [POLICY] },
    ),
  },
];

/** Each as permitted and as excluded. */
function constraintCases(
  what: string,
  rows: readonly (readonly [GeneralName, GeneralName, boolean])[],
): Case[] {
  const text = (name: GeneralName) =>
    'text' in name ? name.text : 'octets' in name ? name.octets.join('.') : '';
  return rows.flatMap(([constraint, name, within]): Case[] => {
    const flawed = (bad: boolean) => (bad ? { flaw: 'name-constraints' as const } : {});
    const end = { alternativeNames: [name] };
    const title = `${what} ${text(name)}, ${text(constraint)}`;
    return [
      {
        title: `${title} permitted`,
        ...flawed(!within),
        build: twoLevels({ nameConstraints: names(constraint) }, end),
      },
      {
        title: `${title} excluded`,
        ...flawed(within),
        build: twoLevels({ nameConstraints: without(constraint) }, end),
      },
    ];
  });
}

async function opensslVerify(
  { leaf, others, at = AT }: Chain,
  index: number,
): Promise<{ ok: boolean; text: string }> {
  const file = (name: string, made: readonly Issued[]) => {
    const path = join(folder, `${index}-${name}.pem`);
    writeFileSync(path, made.map(({ certificate }) => certificatePem(certificate.der)).join(''));
    return path;
  };
  const anchors = others.filter((made) => made.certificate.issuerKey === made.certificate.subjectKey);
  const { exit, stdout, stderr } = await runTool('openssl', [
    'verify',
    '-attime',
    String(Math.floor(at / 1000)),
    '-policy',
    '2.5.29.32.0',
    '-policy_check',
    '-purpose',
    'any',
    '-CAfile',
    file('root', [root, ...anchors]),
    '-untrusted',
    file('others', others),
    file('leaf', [leaf]),
  ]);
  return { ok: exit === 0, text: `${stdout}${stderr}` };
}

for (const [index, { title, flaw, build }] of CASES.entries()) {
  toolTest(
    `a path with ${title} is ${flaw === undefined ? 'good' : 'refused'}, by the engine and by openssl`,
    async (t) => {
      const chain = build(root);
      const certificates = chain.others.map(({ certificate }) => certificate);
      const request = {
        certificate: chain.leaf.certificate,
        others: certificates,
        anchors: [root.certificate, ...certificates.filter((one) => one.issuerKey === one.subjectKey)],
      };
      const { paths } = findPaths(request);
      t.is(paths.length, 1);
      const flaws = pathDefects(paths[0] ?? [], chain.at ?? AT);
      t.is(flaws[0]?.kind, flaw);
      t.is(findPath({ ...request, at: chain.at ?? AT }).ok, flaw === undefined);
      const verdict = await opensslVerify(chain, index);
      t.is(verdict.ok, flaw === undefined, verdict.text);
    },
  );
}

/**
 * Names that stand for several, or lack the form in which their kind is compared: good under a constraint that permits them, and
 * under one that excludes them. openssl judges some of these otherwise (CVE-2025-61727).
 */
const UNUSUAL_NAMES: readonly (readonly [GeneralName, GeneralName, permitted: boolean, excluded: boolean])[] =
  [
    [dns('example.com'), dns('*.example.com'), true, false],
    [dns('bar.example.com'), dns('*.example.com'), false, false],
    [dns('example.org'), dns('*.example.com'), false, true],
    [dns('example.com'), dns('.example.com'), false, false],
    [dns('example.org'), dns('a..example.com'), false, false],
    [dns('example.org'), dns('a b.example.com'), false, false],
    [email('example.com'), email('a@b@example.com'), false, false],
    [email('example.org'), email('example.com'), false, false],
    [email('example.com'), email('"a@b"@example.com'), true, false],
    [email('example.org'), email('"a b"@example.com'), false, true],
    [uri('example.org'), uri('urn:example'), false, false],
    [ip(11, 0, 0, 0, 255, 0, 0, 0), ip(10, 1), false, false],
  ];

for (const [constraint, name, permitted, excluded] of UNUSUAL_NAMES)
  test(`an unusual name under a constraint: ${JSON.stringify([name, constraint])}`, (t) => {
    const isGood = (nameConstraints: NonNullable<CertificateRequest['nameConstraints']>): boolean => {
      const { leaf, others } = twoLevels({ nameConstraints }, { alternativeNames: [name] })(root);
      const path = [leaf, ...others, root].map(({ certificate }) => certificate);
      return pathDefects(path, AT).length === 0;
    };
    t.is(isGood(names(constraint)), permitted, 'permitted');
    t.is(isGood(without(constraint)), excluded, 'excluded');
  });

test('a path forged with the name of an issuer is refused', (t) => {
  const forger = make('Issuing', undefined, {}, 'p-256');
  const forged = signer(forger);
  const issuing = make('Issuing', root);
  const { paths } = findPaths({
    certificate: forged.certificate,
    others: [issuing.certificate, forger.certificate],
    anchors: [root.certificate],
  });
  t.deepEqual(paths, []);
});
