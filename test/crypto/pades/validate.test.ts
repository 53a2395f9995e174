import { readFileSync } from 'node:fs';
import test from 'ava';
import type { SignatureLevel } from '#crypto/core/types.js';
import type { ValidationReport } from '#crypto/core/validation-report.js';
import { signPadesAtLevel } from '#crypto/pades/levels.js';
import type { TrustSettings } from '#crypto/validation/trust.js';
import { validateSignatures } from '#crypto/validation/validate-signature.js';
import { startAuthority, type TestAuthority } from '../../pki/authority.ts';
import type { TestSigner } from '../../pki/pki.ts';
import { appendRevision, stream } from '../pdf/build.ts';
import { CONTENT, contract, factsOf, signed, verdicts } from './validation/attack-files.ts';
import { freshPath, put } from './validation/verdicts.ts';

const DAY = 86_400_000;
const NOW = Date.now();
/** After the time-stamps, which have the time of the machine: this file may wait for others. */
const AFTERWARDS = NOW + 3_600_000;
let authority: TestAuthority;

test.before(async () => {
  authority = await startAuthority();
});
test.after.always(() => authority.close());

/** Whatever the file does not hold itself is not asked for. */
const embeddedOnly = (revocation: TrustSettings['revocation']): TrustSettings => ({
  anchors: [authority.pki.root.certificate],
  intermediates: [],
  revocation,
});

async function signedAt(level: SignatureLevel, signer: TestSigner): Promise<Buffer> {
  const output = freshPath(`${level}.pdf`);
  const pades = { reason: 'I agree', location: 'Here' };
  await signPadesAtLevel(
    { format: 'Pades', input: put(contract()), output, signer, at: NOW, level, pades },
    authority.services,
  );
  return readFileSync(output);
}

function report(
  bytes: Buffer,
  at: number,
  revocation: TrustSettings['revocation'] = 'soft',
): ValidationReport {
  return validateSignatures('Pades', factsOf(bytes), { trust: embeddedOnly(revocation), at });
}

test('each level is recognized and passes', async (t) => {
  const signer = authority.pki.signer('p-256');
  for (const level of ['B', 'T', 'LT', 'LTA'] as const) {
    const bytes = await signedAt(level, signer);
    const hard = level === 'LT' || level === 'LTA' ? 'hard' : 'none';
    const { indication, signatures } = report(bytes, AFTERWARDS, hard);
    const [record, stamp, ...more] = signatures;
    t.is(indication, 'TOTAL-PASSED', JSON.stringify(signatures.map(({ results }) => results.errors)));
    t.is(record?.level, level);
    t.is(record?.reason, 'I agree');
    t.is(record?.location, 'Here');
    t.is(record?.signingTime, Math.floor(NOW / 1000) * 1000);
    t.is(record?.isTimestamp, false);
    t.is(stamp?.isTimestamp, level === 'LTA' ? true : undefined);
    t.is(more.length, 0);
    t.deepEqual(
      record?.timestamps.map(({ kind }) => kind),
      { B: [], T: ['signature'], LT: ['signature'], LTA: ['signature', 'document'] }[level],
    );
  }
});

test('after the expiry of the certificate only time-stamps and stored evidence keep the signature valid', async (t) => {
  const later = NOW + 3 * DAY;
  const expected = {
    B: 'INDETERMINATE',
    T: 'TOTAL-PASSED',
    LT: 'TOTAL-PASSED',
    LTA: 'TOTAL-PASSED',
  } as const;
  for (const level of ['B', 'T', 'LT', 'LTA'] as const) {
    const signer = authority.pki.freshSigner({ notBefore: NOW - DAY, notAfter: NOW + DAY });
    const bytes = await signedAt(level, signer);
    const [record] = report(bytes, later, level === 'B' || level === 'T' ? 'none' : 'hard').signatures;
    t.is(record?.indication, expected[level], JSON.stringify(record?.results.errors));
    if (level === 'B') t.is(record?.subIndication, 'OUT_OF_BOUNDS_NO_POE');
  }
});

test('a hard revocation check without stored evidence leaves the signature open', async (t) => {
  const bytes = await signedAt('T', authority.pki.signer('p-256'));
  const [record] = report(bytes, AFTERWARDS, 'hard').signatures;
  t.is(record?.indication, 'INDETERMINATE');
  t.is(record?.subIndication, 'TRY_LATER');
});

test('a document time-stamp over a page that is exchanged later fails like the signature', async (t) => {
  const bytes = await signedAt('LTA', authority.pki.signer('p-256'));
  const forged = appendRevision(bytes, new Map([[CONTENT, stream('', 'BT (Pay 900) Tj ET')]]));
  const records = report(forged, AFTERWARDS).signatures;
  t.deepEqual(
    records.map(({ indication, subIndication }) => `${indication} ${subIndication}`),
    ['TOTAL-FAILED FORMAT_FAILURE', 'TOTAL-FAILED FORMAT_FAILURE'],
  );
  // It still proves when the signature was there: the bytes it covers are as they were.
  t.is(records[0]?.timestamps.at(-1)?.indication, 'TOTAL-PASSED');
});

test('a document time-stamp over other bytes proves nothing', async (t) => {
  const bytes = await signedAt('LTA', authority.pki.signer('p-256'));
  const changed = Buffer.from(bytes);
  const place = changed.lastIndexOf('/DSS', changed.lastIndexOf('/DocTimeStamp'));
  changed.write('/DSX', place, 'latin1');
  const [, stamp] = report(changed, AFTERWARDS).signatures;
  t.is(stamp?.indication, 'TOTAL-FAILED');
  t.is(stamp?.subIndication, 'HASH_FAILURE');
});

test('the report names the revision that a signature covers, and each later change', async (t) => {
  const bytes = await signedAt('LTA', authority.pki.signer('p-256'));
  const again = signed(bytes);
  const [first, stamp, last] = report(again, AFTERWARDS, 'none').signatures;
  t.is(first?.scope.description, 'revision 2 of 5');
  t.is(stamp?.scope.description, 'revision 4 of 5');
  t.is(last?.scope.description, 'the whole file');
  t.deepEqual(
    first?.changes.map(({ revision, permitted, description }) => [revision, permitted, description]),
    [
      [3, true, 'revision 3 added evidence (DSS)'],
      [4, true, `revision 4 added a document time-stamp in the field ${stamp?.name}`],
      [5, true, `revision 5 added the signature in the field ${last?.name}`],
    ],
  );
});

test('an entry that PAdES forbids removes the level and not the validity', (t) => {
  const plain = signed(contract());
  t.is(factsOf(plain).signatures[0]?.level, 'B');
  const facts = factsOf(signed(contract(), { reason: 'r' }));
  t.is(facts.signatures[0]?.level, 'B');
  t.deepEqual(verdicts(plain), ['TOTAL-PASSED']);
});
