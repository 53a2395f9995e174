import { readFileSync } from 'node:fs';
import test from 'ava';
import { childrenOf, type Element, encoded, octets, readWhole } from '#crypto/asn1/read.js';
import { octetString, oid } from '#crypto/asn1/write.js';
import { addCadesSigner } from '#crypto/cades/add-signer.js';
import { augmentCades } from '#crypto/cades/augment.js';
import { counterSignCades } from '#crypto/cades/counter-sign.js';
import { signCadesAtLevel } from '#crypto/cades/sign.js';
import { verifyCades } from '#crypto/cades/verify.js';
import { amendSignedData } from '#crypto/cms/amend.js';
import { parseSignedData } from '#crypto/cms/parse.js';
import { formatOfHeader } from '#crypto/core/header-format.js';
import type { SignatureLevel, SignFileRequest } from '#crypto/core/types.js';
import type { ValidationReport } from '#crypto/core/validation-report.js';
import { validateFile } from '#crypto/files/validate-file.js';
import type { TrustSettings } from '#crypto/validation/trust.js';
import { startAuthority, type TestAuthority } from '../../pki/authority.ts';
import { bytes, file } from '../cades/cades-harness.ts';
import { DAY, failedTypes, verdictOf, YEAR } from './judging.ts';

const NOW = Date.now();
const HOUR = 3_600_000;
const COUNTER_SIGNATURE = '1.2.840.113549.1.9.6';
const ARCHIVE_TIMESTAMP = oid('0.4.0.1733.2.4');

let authority: TestAuthority;
test.before(async () => {
  authority = await startAuthority({ now: NOW });
});
test.after.always(() => authority.close());

interface SignedSample {
  readonly path: string;
  readonly content: string;
}

async function signed(
  level: SignatureLevel,
  more: Partial<SignFileRequest> = {},
  by = authority,
): Promise<SignedSample> {
  const request: SignFileRequest = {
    format: 'Cades',
    input: file(bytes(3000)),
    output: file(),
    signer: by.pki.signer('p-256'),
    at: NOW,
    level,
    ...more,
  };
  await signCadesAtLevel(request, by.services);
  return { path: request.output, content: request.input };
}

function validated(
  path: string,
  options: { readonly at?: number; readonly content?: string; readonly trust?: Partial<TrustSettings> } = {},
): Promise<ValidationReport> {
  const { at = NOW + HOUR, content, trust } = options;
  return validateFile({
    format: 'Cades',
    path,
    at,
    ...(content === undefined ? {} : { content }),
    trust: {
      anchors: [authority.pki.root.certificate],
      intermediates: [],
      revocation: 'none',
      ...trust,
    },
  });
}

function said(report: ValidationReport): string {
  const [first] = report.signatures;
  return first === undefined ? report.indication : verdictOf(first);
}

test('an enveloping signature passes, and one with a changed byte of content fails, in DER and in PEM', async (t) => {
  const { path } = await signed('B');
  const report = await validated(path);
  t.is(report.indication, 'TOTAL-PASSED');
  t.is(report.signatures[0]?.level, 'B');
  t.regex(report.signatures[0]?.scope.description ?? '', /3000 bytes/);
  const changed = Buffer.from(readFileSync(path));
  changed[1000] = (changed[1000] ?? 0) ^ 1;
  t.is(said(await validated(file(changed))), 'TOTAL-FAILED: HASH_FAILURE');

  const pem = await signed('B', { cades: { armor: 'pem' } });
  t.is((await validated(pem.path)).indication, 'TOTAL-PASSED');
  const text = readFileSync(pem.path, 'latin1');
  for (const broken of [
    text.replace('-----END', '----END'),
    text.replace(/\n[A-Za-z0-9]/, '\n*'),
    text.slice(0, 900),
  ]) {
    const refused = await validated(file(Buffer.from(broken, 'latin1')));
    t.is(refused.indication, 'TOTAL-FAILED');
    t.deepEqual(failedTypes(refused.results), ['structure.cms']);
  }
});

test('a detached signature passes with its content alone', async (t) => {
  const { path, content } = await signed('B', { cades: { detached: true } });
  t.is((await validated(path, { content })).indication, 'TOTAL-PASSED');
  t.is(said(await validated(path)), 'INDETERMINATE: SIGNED_DATA_NOT_FOUND');
  t.is(said(await validated(path, { content: file(bytes(3001)) })), 'TOTAL-FAILED: HASH_FAILURE');
});

test('content supplied beside an enveloping signature must equal the embedded content', async (t) => {
  const { path, content } = await signed('B');
  t.is((await validated(path, { content })).indication, 'TOTAL-PASSED');
  const report = await validated(path, { content: file(bytes(3001)) });
  t.is(report.indication, 'TOTAL-FAILED');
  t.deepEqual(failedTypes(report.results), ['content.given']);
});

test('files without a signature get a report, and missing files are refused', async (t) => {
  const deep = Buffer.from('3080'.repeat(3000), 'hex');
  for (const junk of [Buffer.from('hello'), Buffer.alloc(5000), deep]) {
    const report = await validated(file(junk));
    t.is(
      report.indication,
      junk === deep ? 'INDETERMINATE' : 'TOTAL-FAILED',
      'beyond a limit nothing is proven',
    );
    t.is(report.signatures.length, 0);
  }
  await t.throwsAsync(validated('/nowhere/at/all.p7m'), { code: 'input.unreadable' });
});

test('each level is recognized, and from LT on no authority is asked', async (t) => {
  for (const level of ['B', 'T', 'LT', 'LTA'] as const) {
    const { path } = await signed(level);
    const report = await validated(path);
    t.is(report.indication, 'TOTAL-PASSED', level);
    t.is(report.signatures[0]?.level, level);
    t.is(report.signatures[0]?.timestamps.length, { B: 0, T: 1, LT: 1, LTA: 2 }[level]);
    // Nothing inside the file proves the newest time-stamp.
    const hard = await validated(path, { trust: { revocation: 'hard' } });
    const expected = {
      B: 'INDETERMINATE: TRY_LATER',
      T: 'INDETERMINATE: TRY_LATER',
      LT: 'TOTAL-PASSED',
      LTA: 'TOTAL-PASSED',
    };
    t.is(said(hard), expected[level], level);
    const online = await validated(path, { trust: authority.trust });
    t.is(said(online), 'TOTAL-PASSED', level);
  }
});

test('missing evidence is requested once, and an unavailable authority leaves the signature open', async (t) => {
  const own = await startAuthority({ now: NOW });
  try {
    const { path } = await signed('B', {}, own);
    const trust = { ...own.trust, online: own.freshServices().evidence };
    const before = own.requests.ocsp;
    t.is(said(await validated(path, { trust })), 'TOTAL-PASSED');
    t.is(own.requests.ocsp, before + 1);
    own.break('ocsp', 'down');
    own.break('crl', 'down');
    const down = await validated(path, { trust: { ...own.trust, online: own.freshServices().evidence } });
    t.is(said(down), 'INDETERMINATE: TRY_LATER');
    t.true(down.signatures[0]?.results.warnings.some(({ type }) => type === 'revocation.online'));
    own.mend('ocsp');
    own.mend('crl');
    own.revoke(own.pki.signer('p-256').certificate, NOW - HOUR, 1);
    const revoked = await validated(path, { trust: { ...own.trust, online: own.freshServices().evidence } });
    t.is(said(revoked), 'INDETERMINATE: REVOKED_NO_POE');
  } finally {
    await own.close();
  }
});

test('a missing answer of an authority is reported at the signature that needs it', async (t) => {
  const own = await startAuthority({ now: NOW });
  try {
    const { path: first } = await signed('LT', {}, own);
    const path = file();
    addCadesSigner({ input: first, output: path, signer: own.pki.signer('rsa-2048'), at: NOW });
    own.break('ocsp', 'down');
    own.break('crl', 'down');
    const trust = { ...own.trust, online: own.freshServices().evidence };
    // Right after signing: later, the answers in the file are too old for the time-stamp.
    const { signatures, results } = await validated(path, { trust, at: Date.now() });
    const reported = signatures.map(({ level, results: { warnings } }) => [
      level,
      warnings.some(({ type }) => type === 'revocation.online'),
    ]);
    t.deepEqual(reported.sort(), [
      ['B', true],
      ['LT', false],
    ]);
    t.false(results.warnings.some(({ type }) => type === 'revocation.online'));
  } finally {
    await own.close();
  }
});

test('a revocation of the signing CA that is found online leaves the signature open', async (t) => {
  const own = await startAuthority({ now: NOW });
  try {
    const { path } = await signed('B', {}, own);
    own.revoke(own.pki.issuing.certificate, NOW - HOUR, 1);
    const report = await validated(path, { trust: own.trust });
    t.is(said(report), 'INDETERMINATE: REVOKED_CA_NO_POE');
  } finally {
    await own.close();
  }
});

test('an archived signature stays valid after its signer and its first time-stamp expire', async (t) => {
  const first = await startAuthority({ now: NOW });
  const signer = first.pki.freshSigner({ notAfter: NOW + 30 * DAY });
  const { path } = await signed('LTA', { signer }, first);
  const soft = { revocation: 'soft', anchors: [first.pki.root.certificate] } as const;
  t.is(
    said(await validated(path, { at: NOW + 5 * YEAR, trust: soft })),
    'TOTAL-PASSED',
    'the time-stamps still hold',
  );
  const late = await validated(path, { at: NOW + 12 * YEAR, trust: soft });
  t.is(said(late).split(':')[0], 'INDETERMINATE', 'and no longer');

  const then = NOW + 9 * YEAR;
  const next = await startAuthority({ now: then });
  try {
    first.setTime(then);
    next.setTime(then);
    const renewed = file();
    await augmentCades(
      { format: 'Cades', input: path, output: renewed, to: 'LTA', at: then },
      { timestamps: next.services.timestamps, evidence: first.freshServices().evidence },
    );
    const anchors = [first.pki.root.certificate, next.pki.root.certificate];
    const trust = { ...soft, anchors, intermediates: [next.pki.stamping.certificate] };
    const report = await validated(renewed, { at: NOW + 12 * YEAR, trust });
    t.is(said(report), 'TOTAL-PASSED');
    t.deepEqual(
      report.signatures[0]?.timestamps.map(({ kind }) => kind),
      ['signature', 'archive', 'archive'],
    );
    t.true((report.signatures[0]?.bestTime ?? Number.POSITIVE_INFINITY) < NOW + DAY);
    t.is(said(await validated(renewed, { at: NOW + 12 * YEAR, trust: soft })).split(':')[0], 'INDETERMINATE');
  } finally {
    await first.close();
    await next.close();
  }
});

test('a revocation after the archive time-stamp keeps the signature valid, and without time-stamps it does not', async (t) => {
  const own = await startAuthority({ now: NOW });
  try {
    const archived = await signed('LTA', {}, own);
    const bare = await signed('B', {}, own);
    own.revoke(own.pki.signer('p-256').certificate, NOW + DAY, 1);
    const at = NOW + 3 * DAY;
    own.setTime(at);
    const trust = () => ({ ...own.trust, online: own.freshServices().evidence });
    t.is(said(await validated(archived.path, { at, trust: trust() })), 'TOTAL-PASSED');
    t.is(said(await validated(bare.path, { at, trust: trust() })), 'INDETERMINATE: REVOKED_NO_POE');
  } finally {
    await own.close();
  }
});

test('an archive time-stamp fails after covered data is removed, and stays valid after an addition', async (t) => {
  const { path } = await signed('LTA', { signer: authority.pki.freshSigner({ notAfter: NOW + 30 * DAY }) });
  const der = readFileSync(path);
  const { certificates, signers } = parseSignedData(der);
  const last = certificates.at(-1) ?? Buffer.alloc(0);
  const at = der.indexOf(last) + 40;
  const damaged = Buffer.from(der);
  damaged[at] = (damaged[at] ?? 0) ^ 1;
  const report = await validated(file(damaged));
  const archive = report.signatures[0]?.timestamps.find(({ kind }) => kind === 'archive');
  t.is(archive && verdictOf(archive), 'TOTAL-FAILED: HASH_FAILURE');

  const attributes = signers[0]?.unsignedAttributes?.encodings ?? [];
  const added = amendSignedData(der, { certificates: [authority.pki.timestampSigner.certificate] });
  t.is(attributes.length, 2);
  const longer = await validated(file(added));
  t.is(verdictOf(longer.signatures[0]?.timestamps[1] ?? { indication: 'TOTAL-FAILED' }), 'TOTAL-PASSED');

  const archives = attributes.filter((one) => one.includes(ARCHIVE_TIMESTAMP));
  const robbed = amendSignedData(der, { unsigned: new Map([[0, archives]]) });
  t.is(archives.length, 1);
  const gone = await validated(file(robbed));
  t.is(
    gone.signatures[0]?.timestamps[0]?.subIndication,
    'HASH_FAILURE',
    'the signature time-stamp was covered',
  );
});

test('the quick check accepts detached and PEM-armored signatures, and refuses other content beside them', async (t) => {
  const anchors = [authority.pki.root.certificate];
  const quick = (path: string, contentPath?: string) =>
    verifyCades({
      format: 'Cades',
      path,
      at: NOW,
      anchors,
      ...(contentPath === undefined ? {} : { contentPath }),
    });
  const detached = await signed('B', { cades: { detached: true, armor: 'pem' } });
  t.true(quick(detached.path, detached.content).ok);
  t.false(quick(detached.path).ok);
  t.false(quick(detached.path, file(bytes(3001))).ok);
  const inside = await signed('B', { cades: { armor: 'pem' } });
  t.true(quick(inside.path).ok);
  t.false(quick(inside.path, inside.content).ok, 'what was to be detached holds its content');
});

test('a counter-signature is reported below the signature it covers, and an invalid one affects the file alone', async (t) => {
  const { path } = await signed('B');
  const output = file();
  const counterSigner = authority.pki.freshSigner();
  await counterSignCades({ input: path, output, signer: counterSigner, at: NOW + 1000 });
  const report = await validated(output);
  t.is(report.indication, 'TOTAL-PASSED');
  const [counter] = report.signatures[0]?.counterSignatures ?? [];
  t.is(counter && verdictOf(counter), 'TOTAL-PASSED');
  t.is(counter?.scope.kind, 'signature');
  t.is(counter?.level, 'B');

  const der = readFileSync(output);
  const value = parseSignedData(der).signers[0]?.unsignedAttributes?.values.get(COUNTER_SIGNATURE)?.[0];
  const damaged = Buffer.from(der);
  if (value === undefined) throw new Error('no counter-signature');
  const last = der.indexOf(encoded(value)) + encoded(value).length - 1;
  damaged[last] = (damaged[last] ?? 0) ^ 1;
  const wrong = await validated(file(damaged));
  t.is(wrong.indication, 'TOTAL-FAILED');
  const [outer] = wrong.signatures;
  t.is(outer && verdictOf(outer), 'TOTAL-PASSED');
  t.is(wrong.signatures[0]?.counterSignatures[0]?.subIndication, 'SIG_CRYPTO_FAILURE');
  t.true(wrong.signatures[0]?.results.warnings.some(({ type }) => type === 'counter-signature'));
});

const PDF = Buffer.from('%PDF-1.7\nOne hundred barrels.\n%%EOF\n');

/** The ways in which mail programs and portals write a signature as text. */
const TEXTS: { readonly [name: string]: (der: Buffer) => string } = {
  'one line': (der) => der.toString('base64'),
  'lines with CRLF': (der) => der.toString('base64').replace(/.{76}/g, '$&\r\n'),
  'with a byte order mark and an end of line': (der) => `\u00ef\u00bb\u00bf${der.toString('base64')}\n`,
  twice: (der) => Buffer.from(der.toString('base64')).toString('base64'),
  'PEM in Base64': (der) => Buffer.from(pemOf(der)).toString('base64'),
  'PEM after other text': (der) => `signed by Ana\n\n${pemOf(der)}`,
  'a MIME entity': (der) =>
    `MIME-Version: 1.0\nContent-Type: application/pkcs7-mime; smime-type=signed-data;\n name="smime.p7m"\nContent-Transfer-Encoding: base64\n\n${der.toString('base64').replace(/.{64}/g, '$&\n')}\n`,
};

function pemOf(der: Buffer): string {
  return `-----BEGIN PKCS7-----\n${der.toString('base64').replace(/.{64}/g, '$&\n')}\n-----END PKCS7-----\n`;
}

test('a signature as text of any usual form is that of its DER, and keeps its form when it is raised', async (t) => {
  const { path } = await signed('B', { input: file(PDF) });
  const der = readFileSync(path);
  const changed = Buffer.from(der);
  changed[der.indexOf('barrels')] = 0x42;
  for (const [name, write] of Object.entries(TEXTS)) {
    const text = Buffer.from(write(der), 'latin1');
    t.is(formatOfHeader(text.subarray(0, 1024)), 'Cades', name);
    t.is((await validated(file(text))).indication, 'TOTAL-PASSED', name);
    const wrong = Buffer.from(write(changed), 'latin1');
    t.is(said(await validated(file(wrong))), 'TOTAL-FAILED: HASH_FAILURE', name);
    const raised = file();
    await augmentCades(
      { format: 'Cades', input: file(text), output: raised, to: 'T', at: NOW },
      authority.services,
    );
    const report = await validated(raised);
    t.is(report.signatures[0]?.level, 'T', name);
    t.is(report.indication, 'TOTAL-PASSED', name);
  }
  const raised = file();
  const oneLine = file(der.toString('base64'));
  await augmentCades(
    { format: 'Cades', input: oneLine, output: raised, to: 'T', at: NOW },
    authority.services,
  );
  t.regex(readFileSync(raised, 'latin1'), /^MII[A-Za-z0-9+/=\n]+$/);
  const large = await signed('B', { input: file(bytes(4_000_000)) });
  const text = readFileSync(large.path).toString('base64');
  t.is((await validated(file(text))).indication, 'TOTAL-PASSED', 'a single line of five megabytes');
});

test('the structure at the first byte decides on the format, then the header of a PDF further behind', async (t) => {
  const { path } = await signed('B', { input: file(PDF) });
  const der = readFileSync(path);
  t.true(der.subarray(0, 1024).includes('%PDF-'));
  const formats = {
    Cades: [der, Buffer.from(pemOf(der)), Buffer.from('3080', 'hex')],
    Asic: [Buffer.from(`PK\u0003\u0004 contract.pdf ${PDF}`, 'latin1')],
    Xades: [`<a>${PDF}</a>`, `\u00ef\u00bb\u00bf <!-- ${PDF} --><a/>`, `<a>\n${pemOf(der)}</a>`],
    Pades: [
      PDF,
      `\r\n${PDF}`,
      `0123456789${PDF}`,
      `MIIB${PDF}`,
      `${'%PDF-1.4\n% '}\n-----BEGIN PKCS7-----\n`,
    ],
    none: ['\u00ff\u00feM\u0000I\u0000', 'hello', 'MIIB', '', Buffer.alloc(40)],
  } as const;
  for (const [format, heads] of Object.entries(formats)) {
    for (const head of heads)
      t.is(formatOfHeader(Buffer.from(head.toString('latin1'), 'latin1')) ?? 'none', format, head.toString());
  }
});

test('text before the label of a signature is a warning', async (t) => {
  const { path } = await signed('B');
  const pem = pemOf(readFileSync(path));
  for (const [before, warnings] of [
    ['', []],
    ['\ufeff \n\n', []],
    ['I agree to all of it.\n', ['structure.leading']],
  ] as const) {
    const report = await validated(file(before + pem));
    t.is(report.indication, 'TOTAL-PASSED', before);
    t.deepEqual(
      report.results.warnings.map(({ type }) => type),
      [...warnings],
    );
  }
});

test('bytes after the end of a signature are a warning, and go when it is raised', async (t) => {
  const { path } = await signed('B');
  const der = readFileSync(path);
  const warnings = (report: ValidationReport) => report.results.warnings.map(({ type }) => type);
  t.deepEqual(warnings(await validated(path)), []);
  for (const after of ['\r\n', '\0\0\0', 'other text']) {
    const longer = file(Buffer.concat([der, Buffer.from(after)]));
    const report = await validated(longer);
    t.is(report.indication, 'TOTAL-PASSED', after);
    t.deepEqual(warnings(report), ['structure.trailing']);
    const raised = file();
    await augmentCades(
      { format: 'Cades', input: longer, output: raised, to: 'T', at: NOW },
      authority.services,
    );
    t.deepEqual(warnings(await validated(raised)), []);
  }
  t.is((await validated(file(der.subarray(0, -1)))).indication, 'TOTAL-FAILED');
});

/** Returns a copy with indefinite lengths and the content in segments, as writers of streams make it. */
function segmented(der: Buffer): Buffer {
  const [type, wrapped] = childrenOf(readWhole(der)) as [Element, Element];
  const [signedData] = childrenOf(wrapped) as [Element];
  const [version, digests, encapsulated, ...rest] = childrenOf(signedData) as [Element, Element, Element];
  const [contentType, explicit] = childrenOf(encapsulated) as [Element, Element];
  const content = octets(childrenOf(explicit)[0] as Element);
  const open = (tag: number) => Buffer.from([tag, 0x80]);
  const end = Buffer.alloc(6);
  return Buffer.concat([
    open(0x30),
    encoded(type),
    open(0xa0),
    open(0x30),
    encoded(version),
    encoded(digests),
    open(0x30),
    encoded(contentType),
    open(0xa0),
    open(0x24),
    octetString(content.subarray(0, 1000)),
    octetString(content.subarray(1000)),
    end,
    ...rest.map(encoded),
    end,
  ]);
}

test('a signature over a signature lists and judges both, to a limited depth', async (t) => {
  const over = async (content: string | Buffer, more: Partial<SignFileRequest> = {}): Promise<string> => {
    const input = typeof content === 'string' ? content : file(content);
    return (await signed('B', { input, ...more })).path;
  };
  const listed = ({ signatures }: ValidationReport): string[] =>
    signatures.map((one) => `${one.name} ${verdictOf(one)}`);
  const inner = await over(PDF);
  const report = await validated(await over(inner));
  t.is(report.indication, 'TOTAL-PASSED');
  t.deepEqual(listed(report), ['signer 1 TOTAL-PASSED', 'content: signer 1 TOTAL-PASSED']);

  const broken = readFileSync(inner);
  broken[broken.indexOf('barrels')] = 0x42;
  const bad = ['signer 1 TOTAL-PASSED', 'content: signer 1 TOTAL-FAILED: HASH_FAILURE'];
  for (const content of [broken, Buffer.from(broken.toString('base64')), Buffer.from(pemOf(broken))]) {
    const found = await validated(await over(content));
    t.is(found.indication, 'TOTAL-FAILED');
    t.deepEqual(listed(found), bad);
  }
  t.deepEqual(listed(await validated(file(segmented(readFileSync(await over(broken)))))), bad);

  const warned = async (content: Buffer): Promise<string[]> => {
    const found = await validated(await over(content));
    t.is(found.indication, 'TOTAL-PASSED');
    t.is(found.signatures.length, 1);
    return found.results.warnings.map(({ type }) => type);
  };
  const beside = await over(PDF, { cades: { detached: true } });
  t.deepEqual(await warned(readFileSync(beside)), ['content.signed'], 'a detached signature');
  t.deepEqual(await warned(readFileSync(inner).subarray(0, 300)), ['content.signed'], 'one that is cut');
  t.deepEqual(await warned(PDF), []);

  let deep = inner;
  for (let depth = 2; depth <= 6; depth++) deep = await over(deep);
  const found = await validated(deep);
  t.is(found.signatures.length, 4);
  t.is(found.signatures.at(-1)?.name, 'content: content: content: signer 1');
  t.deepEqual(
    found.results.warnings.map(({ type }) => type),
    ['content.signed'],
  );
});

test('a JSON signature or an evidence record is not supported, and other bytes are no signature', async (t) => {
  const verdict = async (content: string | Buffer): Promise<string> => {
    const report = await validated(file(Buffer.from(content)));
    return `${report.indication} ${report.results.errors[0]?.type}`;
  };
  const record = Buffer.from('3017020101300b3009060560865e0304020500a0053003020101', 'hex');
  for (const content of [
    'eyJhbGciOiJSUzI1NiJ9.eyJhIjoxfQ.AAAA',
    'eyJhbGciOiJSUzI1NiIsImI2NCI6ZmFsc2V9..AAAA',
    '{"payload":"eyJhIjoxfQ","signatures":[{"protected":"eyJhIjoxfQ","signature":"AAAA"}]}',
    ' {\n "protected" : "eyJhIjoxfQ", "signature": "AAAA"}',
    record,
  ])
    t.is(await verdict(content), 'INDETERMINATE file.unsupported', content.toString());
  for (const content of ['{"a":1}', 'eyJhbGciOiJSUzI1NiJ9', '[]', record.subarray(4)])
    t.is(await verdict(content), 'TOTAL-FAILED structure.cms', content.toString());
});
