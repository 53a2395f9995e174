/**
 * The rule of verdicts over every algorithm and content type: TOTAL-FAILED only for a reason of the closed table, what is not
 * supported is INDETERMINATE with its name, and nothing of it passes.
 */
import { sign } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { signAsic, signFile, validateFile } from '@sealwright/signatures';
import test from 'ava';
import { DIGEST_ID } from '#crypto/asn1/oids.js';
import { Cursor, childrenOf, encoded, readWhole, TAG } from '#crypto/asn1/read.js';
import { bitString, NULL, octetString, oid, sequence, small, tlv } from '#crypto/asn1/write.js';
import type { SignatureFormat } from '#crypto/core/types.js';
import type { SignatureRecord } from '#crypto/core/validation-report.js';
import { PROVEN_FAILURES, proofOf } from '#crypto/validation/proven-failures.js';
import { ResultsBuilder } from '#crypto/validation/signature-info.js';
import { algorithmName, CONTENT_TYPES, UNSUPPORTED_ALGORITHMS } from '#crypto/x509/algorithm-names.js';
import { HASH_BY_OID, signatureMethod } from '#crypto/x509/signature-algorithms.js';
import { samplePdf } from '../../../bench/samples.ts';
import { pki } from '../../pki/pki.ts';
import { file, handMade, NOW, ORDER, REPORT, twoInputs, unpacked } from '../asic/container-harness.ts';
import { forge } from './forge.ts';
import { CONTENT, DAY, issue, judged, parties, SIGNED, tokenOver, verdictOf } from './judging.ts';

/** Identifiers of no algorithm, and every one that is named. */
const UNKNOWN = ['1.2.3.4.5', '2.16.840.1.101.3.4.3.99', ...UNSUPPORTED_ALGORITHMS.keys()];
const DIGESTS = [...HASH_BY_OID.keys(), ...UNKNOWN];
const SIGNATURES = [
  ...['1', '4', '5', '10', '11', '12', '13', '14'].map((last) => `1.2.840.113549.1.1.${last}`),
  ...['1', '3.1', '3.2', '3.3', '3.4'].map((last) => `1.2.840.10045.4.${last}`),
  ...Array.from({ length: 7 }, (_, index) => `2.16.840.1.101.3.4.3.${index + 10}`),
  '1.2.840.10045.2.1',
  '1.3.101.112',
  ...UNKNOWN,
];

const errorsOf = ({ results }: SignatureRecord): string =>
  results.errors.map(({ message }) => message).join(' ');

/** True when a failed record has a reason of the table. */
function isProven({ subIndication, results }: SignatureRecord): boolean {
  return results.errors.some(
    ({ type }) => subIndication !== undefined && proofOf(type, subIndication) !== undefined,
  );
}

test('every digest with every signature algorithm gets a verdict by the rule', (t) => {
  const { signer } = parties();
  let cases = 0;
  for (const [row, digestId] of DIGESTS.entries()) {
    const hash = HASH_BY_OID.get(digestId);
    for (const [column, signatureId] of SIGNATURES.entries()) {
      // Each with every sixth of the other kind, to which SHA-256 and ECDSA belong.
      if (row % 6 !== 0 && column % 6 !== 0) continue;
      cases++;
      const record = judged(
        forge({
          signer,
          content: CONTENT,
          at: SIGNED,
          digestAlgorithm: sequence(oid(digestId)),
          signatureAlgorithm: sequence(oid(signatureId)),
        }),
      );
      const name = `${digestId} with ${signatureId}: ${verdictOf(record)} ${errorsOf(record)}`;
      const unknown = [
        ...(hash === undefined ? [digestId] : []),
        ...(signatureMethod(signatureId) ? [] : [signatureId]),
      ];
      const isHonest =
        hash === 'sha256' && ['1.2.840.10045.4.3.2', '1.2.840.10045.2.1'].includes(signatureId);
      if (record.indication === 'TOTAL-PASSED') t.true(isHonest, name);
      if (record.indication === 'TOTAL-FAILED') t.true(isProven(record), name);
      if (unknown.length > 0) t.not(record.indication, 'TOTAL-PASSED', name);
      for (const id of unknown) t.true(errorsOf(record).includes(algorithmName(id)), name);
      if (hash === undefined) t.is(record.subIndication, 'CRYPTO_CONSTRAINTS_FAILURE', name);
    }
  }
  t.true(cases > 1000, `${cases}`);
  t.log(`${cases} cases`);
});

test('every form of the parameters of RSA-PSS gets a verdict by the rule', (t) => {
  const rsa = issue('Rosa PSS', parties().ca, { kind: 'rsa-2048' });
  const hashes = [...HASH_BY_OID.keys(), '1.2.643.7.1.1.2.2', '1.2.3'];
  const masks = ['1.2.840.113549.1.1.8', '2.16.840.1.101.3.4.2.11', '1.2.3'];
  for (const hash of hashes) {
    for (const mask of masks) {
      for (const maskHash of hashes) {
        const parameters = sequence(
          tlv(0xa0, sequence(oid(hash), NULL)),
          tlv(0xa1, sequence(oid(mask), sequence(oid(maskHash), NULL))),
          tlv(0xa2, small(32)),
        );
        const signatureAlgorithm = sequence(oid('1.2.840.113549.1.1.10'), parameters);
        const value = () => Buffer.alloc(256, 1);
        const record = judged(
          forge({ signer: rsa, content: CONTENT, at: SIGNED, signatureAlgorithm, value }),
        );
        const name = `${hash} ${mask} ${maskHash}: ${verdictOf(record)}`;
        const isKnown = HASH_BY_OID.has(hash) && mask === masks[0] && HASH_BY_OID.has(maskHash);
        t.is(
          verdictOf(record),
          isKnown ? 'TOTAL-FAILED: SIG_CRYPTO_FAILURE' : 'INDETERMINATE: CRYPTO_CONSTRAINTS_FAILURE',
          name,
        );
        t.is(record.indication === 'TOTAL-FAILED', isProven(record), name);
      }
    }
  }
});

test('RSA-PSS with the hash of its mask passes whatever that is, and without the right one fails', (t) => {
  const rsa = issue('Rosa Mask', parties().ca, { kind: 'rsa-2048' });
  const identifier = sequence(DIGEST_ID.sha256, NULL);
  const parameters = sequence(
    tlv(0xa0, identifier),
    tlv(0xa1, sequence(oid('1.2.840.113549.1.1.8'), identifier)),
    tlv(0xa2, small(32)),
  );
  const signatureAlgorithm = sequence(oid('1.2.840.113549.1.1.10'), parameters);
  const value = (signed: Buffer) => sign('sha256', signed, { key: rsa.key, padding: 6, saltLength: 32 });
  t.is(
    verdictOf(judged(forge({ signer: rsa, content: CONTENT, at: SIGNED, signatureAlgorithm, value }))),
    'TOTAL-PASSED',
  );
});

/** Returns the certificate with another public key; its own signature does not fit any more. */
function withKey(certificate: Buffer, keyInfo: Buffer): Buffer {
  const [body, algorithm, value] = childrenOf(readWhole(certificate));
  if (body === undefined || algorithm === undefined || value === undefined) throw new Error('no certificate');
  const fields = childrenOf(body).map(encoded);
  const isKey = (field: Buffer) => {
    const cursor = new Cursor(readWhole(field));
    return (
      field[0] === TAG.sequence && cursor.peek() === TAG.sequence && field.includes(oid('1.2.840.10045.2.1'))
    );
  };
  return sequence(
    sequence(...fields.map((field) => (isKey(field) ? keyInfo : field))),
    encoded(algorithm),
    encoded(value),
  );
}

test('a certificate with a key of an unknown kind leaves its signature open, and the kind is named', (t) => {
  const { signer } = parties();
  for (const id of UNKNOWN) {
    const strange = withKey(signer.certificate, sequence(sequence(oid(id)), bitString(Buffer.alloc(64, 5))));
    const record = judged(forge({ signer, content: CONTENT, at: SIGNED, certificates: [strange] }));
    const name = `${id}: ${verdictOf(record)}`;
    t.is(record.indication, 'INDETERMINATE', name);
    const warnings = record.results.warnings.map(({ detail = '' }) => detail).join(' ');
    // OpenSSL knows some of them; their certificate is then read, and is not the one that the signature names.
    if (record.subIndication === 'NO_SIGNING_CERTIFICATE_FOUND' && record.certificate === undefined) {
      t.true(warnings.includes(algorithmName(id)), `${name} ${warnings}`);
    }
  }
});

test('every content type of CMS but signed data is named and left open', async (t) => {
  const types = [...CONTENT_TYPES.keys(), '1.2.840.113549.1.7.99', '1.3.6.1.4.1.99999.1'];
  for (const type of types) {
    const bytes = sequence(oid(type), tlv(0xa0, sequence(small(0), octetString(CONTENT))));
    const report = await validateFile({
      format: 'Cades',
      path: bytes,
      at: SIGNED + DAY,
      trust: { anchors: [], revocation: 'none' },
    });
    const [error] = report.results.errors;
    // Time-stamped data is opened, and this one is malformed.
    const isOpened = type === '1.2.840.113549.1.9.16.1.31';
    t.is(report.indication, isOpened ? 'TOTAL-FAILED' : 'INDETERMINATE', type);
    t.is(error?.type, isOpened ? 'structure.cms' : 'file.unsupported', type);
    t.true(
      error?.message.includes(CONTENT_TYPES.get(type) ?? type) === true || isOpened,
      `${type} ${error?.message}`,
    );
    t.is(report.signatures.length, 0);
  }
  const bag = sequence(
    oid('1.2.840.113549.1.7.2'),
    tlv(0xa0, sequence(small(1), tlv(0x31), sequence(oid('1.2.840.113549.1.7.1')), tlv(0x31))),
  );
  const report = await validateFile({
    format: 'Cades',
    path: bag,
    at: SIGNED,
    trust: { anchors: [], revocation: 'none' },
  });
  t.is(report.indication, 'INDETERMINATE');
  t.regex(report.results.errors[0]?.message ?? '', /without a signer/);
});

interface TypedFile {
  readonly type: string;
  readonly format: SignatureFormat | 'Asic';
  readonly parts: readonly { readonly name: string; readonly bytes: Buffer }[];
}

/** Makes a file of every type, in parts: the members of a container, or the file alone. */
async function everyType(): Promise<readonly TypedFile[]> {
  const signer = pki().signer('p-256');
  const at = NOW;
  const made: TypedFile[] = [];
  const contents = { Pades: samplePdf(), Cades: CONTENT, Xades: ORDER };
  for (const format of ['Pades', 'Cades', 'Xades'] as const) {
    const output = file();
    signFile({ format, input: file(contents[format]), output, signer, at });
    made.push({ type: format, format, parts: [{ name: '', bytes: readFileSync(output) }] });
  }
  for (const kind of ['S', 'E'] as const)
    for (const format of ['Cades', 'Xades'] as const) {
      const output = file();
      const inputs = kind === 'S' ? [{ path: file(REPORT), name: 'a.txt' }] : twoInputs();
      await signAsic({ kind, format, inputs, output, signer, at });
      made.push({ type: `ASiC-${kind} with ${format}`, format: 'Asic', parts: unpacked(output) });
    }
  const token = { name: '', bytes: tokenOver(CONTENT, SIGNED) };
  return [...made, { type: 'time-stamp', format: 'Cades', parts: [token] }];
}

/** Algorithms, each with one of the same length that nobody knows: in DER, in hexadecimal, in XML. */
const SWAPS: readonly (readonly [known: Buffer, unknown: Buffer, name: string])[] = [
  ['2.16.840.1.101.3.4.2.1', '2.16.840.1.101.3.4.2.99'],
  ['1.2.840.10045.4.3.2', '1.2.840.10045.4.3.99'],
]
  .flatMap(([known = '', unknown = '']) => {
    const pair = [oid(known), oid(unknown)] as const;
    const hex = pair.map((der) => Buffer.from(der.toString('hex')));
    return [[...pair, unknown] as const, [hex[0] ?? pair[0], hex[1] ?? pair[1], unknown] as const];
  })
  .concat(
    [
      ['xmlenc#sha256', 'xmlenc#sha999'],
      ['#ecdsa-sha256', '#ecdsa-sha999'],
      ['xml-exc-c14n#', 'xml-exc-c99n#'],
    ].map(([known = '', unknown = '']) => [Buffer.from(known), Buffer.from(unknown), unknown] as const),
  );

test('an unknown algorithm in any place of any type of file is never passed, and never broken without a proof', async (t) => {
  const trust = { anchors: [pki().root.certificate], revocation: 'none' } as const;
  let cases = 0;
  const passed: string[] = [];
  for (const { type, format, parts } of await everyType()) {
    const judge = (members: TypedFile['parts']) =>
      validateFile({
        format,
        path: format === 'Asic' ? handMade(members) : (members[0]?.bytes ?? CONTENT),
        trust,
        at: NOW,
        ...(type === 'time-stamp' && { content: CONTENT }),
      });
    if (type !== 'time-stamp') t.is((await judge(parts)).indication, 'TOTAL-PASSED', type);
    let named = 0;
    for (const { members, name, place } of swapped(parts)) {
      cases++;
      const report = await judge(members);
      const says = `${type}: ${place}: ${report.indication}`;
      const records = report.signatures.flatMap((record) => [record, ...record.counterSignatures]);
      if (report.indication === 'TOTAL-PASSED') passed.push(type);
      const isOfFile = report.results.errors.some((error) => Object.hasOwn(PROVEN_FAILURES, error.type));
      if (report.indication === 'TOTAL-FAILED')
        t.true(isOfFile || records.some((one) => one.indication === 'TOTAL-FAILED' && isProven(one)), says);
      if (report.indication === 'INDETERMINATE' && JSON.stringify(report).includes(name)) named++;
    }
    t.true(named > 0, `${type}: nothing names what is not supported`);
  }
  t.log(`${cases} cases`);
  t.true(cases > 40, `${cases}`);
  // The list before the content, which is not signed and which the signers need not follow (RFC 5652 §5.1).
  t.deepEqual(passed, ['Pades', 'Cades', 'ASiC-S with Cades', 'ASiC-E with Cades']);
});

/** Returns the parts with one algorithm exchanged, in each place of each part. */
function swapped(parts: TypedFile['parts']) {
  return parts.flatMap(({ bytes }, index) =>
    SWAPS.flatMap(([known, unknown, name]) =>
      positionsOf(bytes, known).map((from) => {
        const copy = Buffer.from(bytes);
        unknown.copy(copy, from);
        const members = parts.map((part, at) => (at === index ? { ...part, bytes: copy } : part));
        return { members, name, place: `${name} at ${from} of ${parts[index]?.name}` };
      }),
    ),
  );
}

function positionsOf(bytes: Buffer, wanted: Buffer): readonly number[] {
  const found: number[] = [];
  for (let at = bytes.indexOf(wanted); at >= 0; at = bytes.indexOf(wanted, at + 1)) found.push(at);
  return found;
}

test('signed content of every type passes with its attributes, and without them is judged by RFC 5652 §5.3', (t) => {
  for (const contentType of [...CONTENT_TYPES.keys(), '1.3.6.1.4.1.311.2.1.4', '1.2.3.4']) {
    const { signer } = parties();
    const base = { signer, content: CONTENT, at: SIGNED, contentType };
    t.is(verdictOf(judged(forge(base))), 'TOTAL-PASSED', contentType);
    const isData = contentType === '1.2.840.113549.1.7.1';
    const plain = verdictOf(judged(forge({ ...base, attributes: null })));
    t.is(
      plain,
      isData ? 'INDETERMINATE: SIG_CONSTRAINTS_FAILURE' : 'TOTAL-FAILED: FORMAT_FAILURE',
      contentType,
    );
  }
});

test('a failed check that the table does not name leaves the signature INDETERMINATE', (t) => {
  const results = new ResultsBuilder();
  results.failed('FORMAT_FAILURE', { type: 'no.such-check', message: 'x' });
  t.deepEqual(results.verdict(), { indication: 'INDETERMINATE', subIndication: 'GENERIC' });
  results.failed('HASH_FAILURE', { type: 'digest.content', message: 'x' });
  t.deepEqual(results.verdict(), { indication: 'TOTAL-FAILED', subIndication: 'HASH_FAILURE' });
  for (const reasons of Object.values(PROVEN_FAILURES)) {
    for (const reason of Object.values(reasons))
      t.regex(reason, /^computed$|(RFC|ISO|EN|X\.690|XML|APPNOTE) ?[^ ]/);
  }
});

/** Types whose FORMAT_FAILURE is no proof: they are limits, and unsupported forms of ZIP. */
const NO_PROOF: ReadonlySet<string> = new Set(['timestamp.count']);

test('every failed check in the source that claims a proof is a row of the table', (t) => {
  const claims = sourcesIn('crypto').flatMap((path) =>
    claimsIn(readFileSync(path, 'utf8')).map((claim) => [path, ...claim] as const),
  );
  t.true(claims.length > 35, `${claims.length}`);
  for (const [path, type, subIndication] of claims) {
    const isRow = proofOf(type, subIndication) !== undefined;
    t.true(
      isRow !== NO_PROOF.has(type),
      `${path}: ${type} ${subIndication} needs a row in proven-failures.ts`,
    );
  }
});

function sourcesIn(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return ['dist', 'node_modules'].includes(entry.name) ? [] : sourcesIn(path);
    return entry.name.endsWith('.ts') && !entry.name.endsWith('.d.ts') ? [path] : [];
  });
}

type Claim = readonly [string, 'FORMAT_FAILURE' | 'HASH_FAILURE' | 'SIG_CRYPTO_FAILURE'];

/** Calls of `failed` with a literal type; without a sub-indication they mean FORMAT_FAILURE. */
function claimsIn(source: string): Claim[] {
  return [...source.matchAll(/(?<!\.)\bfailed\(/g)].flatMap(({ index }): Claim[] => {
    const call = argumentsAt(source, index + 'failed('.length);
    const type = /^\s*'([a-z-]+\.[a-z-]+)'/.exec(call)?.[1];
    if (type === undefined) return [];
    const named = /'(FORMAT_FAILURE|HASH_FAILURE|SIG_CRYPTO_FAILURE)'/.exec(call)?.[1];
    const isOther = /'[A-Z_]{5,}'|ubIndication|\bopen\b/.test(call);
    if (named === 'HASH_FAILURE' || named === 'SIG_CRYPTO_FAILURE') return [[type, named]];
    return named === undefined && isOther ? [] : [[type, 'FORMAT_FAILURE']];
  });
}

function argumentsAt(source: string, from: number): string {
  let depth = 1;
  let at = from;
  for (; depth > 0 && at < source.length; at++) depth += source[at] === '(' ? 1 : source[at] === ')' ? -1 : 0;
  return source.slice(from, at - 1);
}
