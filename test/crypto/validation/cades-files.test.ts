import { readFileSync } from 'node:fs';
import test from 'ava';
import { encoded } from '../../../crypto/asn1/read.ts';
import { oid } from '../../../crypto/asn1/write.ts';
import { addCadesSigner } from '../../../crypto/cades/add-signer.ts';
import { augmentCades } from '../../../crypto/cades/augment.ts';
import { counterSignCades } from '../../../crypto/cades/counter-sign.ts';
import { signCadesAtLevel } from '../../../crypto/cades/levels.ts';
import { verifyCades } from '../../../crypto/cades/verify.ts';
import { amendSignedData } from '../../../crypto/cms/amend.ts';
import { parseSignedData } from '../../../crypto/cms/parse.ts';
import type { SignatureLevel, SignFileRequest } from '../../../crypto/core/types.ts';
import type { ValidationReport } from '../../../crypto/core/validation-report.ts';
import { validateFile } from '../../../crypto/validate.ts';
import type { TrustSettings } from '../../../crypto/validation/trust.ts';
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

interface Made {
  readonly path: string;
  readonly content: string;
}

async function signed(
  level: SignatureLevel,
  more: Partial<SignFileRequest> = {},
  by = authority,
): Promise<Made> {
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
  for (const junk of [Buffer.from('hello'), Buffer.alloc(5000), Buffer.from('3080'.repeat(3000), 'hex')]) {
    const report = await validated(file(junk));
    t.is(report.indication, 'TOTAL-FAILED');
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
