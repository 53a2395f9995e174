/** An archive time-stamp proves exactly the older time-stamps and responses that it covers. */
import { createHash, randomBytes } from 'node:crypto';
import test from 'ava';
import { DIGEST_ID, OID } from '#crypto/asn1/oids.js';
import { octetString, oid, sequence } from '#crypto/asn1/write.js';
import { amendSignedData } from '#crypto/cms/amend.js';
import { archiveImprintData, indexedAttributes } from '#crypto/cms/archive-imprint.js';
import { signatureTimestampAttribute, unsignedAttribute } from '#crypto/cms/attributes-template.js';
import { parseSignedData } from '#crypto/cms/parse.js';
import { makeToken } from '../../pki/tokens.ts';
import { forge } from './forge.ts';
import {
  CONTENT,
  crlOf,
  crlsOf,
  DAY,
  evidenceOf,
  issue,
  judged,
  type Party,
  parties,
  SIGNED,
  tokenOver,
  verdictOf,
  YEAR,
} from './judging.ts';

const HASH_INDEX_V1 = '0.4.0.1733.2.5';
const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest();

interface Archiving {
  readonly at: number;
  readonly tsa?: Party;
  /** Version of the hash index. @default 3 */
  readonly version?: 1 | 3;
  /** True when the index names the existing values. @default both */
  readonly names?: { readonly attributes?: boolean; readonly revocation?: boolean };
}

/** Adds an archive time-stamp with the given coverage. */
function archived(der: Buffer, { at, tsa = parties().tsa, version = 3, names = {} }: Archiving): Buffer {
  const data = parseSignedData(der);
  const [signer] = data.signers;
  if (signer === undefined) throw new Error('no signer');
  const list = (all: readonly Buffer[]) => sequence(...all.map((bytes) => octetString(sha256(bytes))));
  const attributes = indexedAttributes(signer.unsignedAttributes, version);
  const index = sequence(
    sequence(DIGEST_ID.sha256),
    list(data.certificateChoices),
    list(names.revocation === false ? [] : data.revocationChoices),
    list(names.attributes === false ? [] : attributes),
  );
  const imprint = sha256(archiveImprintData(data, signer, sha256(CONTENT), index));
  const maker = { key: tsa.key, certificate: tsa.certificate, chain: [parties().tsaCa.certificate] };
  const token = makeToken(imprint, 'sha256', maker, { at, serial: randomBytes(8) });
  const indexed = amendSignedData(token, {
    unsigned: new Map([[0, [unsignedAttribute(version === 3 ? OID.hashIndexV3 : HASH_INDEX_V1, index)]]]),
  });
  const own = [
    ...(signer.unsignedAttributes?.encodings ?? []),
    unsignedAttribute(OID.archiveTimestampV3, indexed),
  ];
  return amendSignedData(der, { unsigned: new Map([[0, own]]) });
}

/**
 * Creates a signature with a certificate that expires soon, time-stamped by an authority whose certificate does too.
 */
function stampedSoon(shortTsa: Party): Buffer {
  const signer = issue('Short-lived', parties().ca, { notAfter: SIGNED + 5 * DAY });
  const der = forge({ signer, content: CONTENT, at: SIGNED });
  const value = parseSignedData(der).signers[0]?.signature ?? Buffer.alloc(0);
  const stamp = signatureTimestampAttribute(tokenOver(value, SIGNED + 60_000, shortTsa));
  return amendSignedData(der, { unsigned: new Map([[0, [stamp]]]) });
}

const shortTsa = () =>
  issue('Short time', parties().tsaCa, { use: { kind: 'timestamping' }, notAfter: SIGNED + 30 * DAY });

const AFTER = SIGNED + YEAR;

test('a newer archive time-stamp covers an older one only when its index lists it', (t) => {
  const tsa = shortTsa();
  const once = archived(stampedSoon(tsa), { at: SIGNED + DAY, tsa });
  for (const attributes of [true, false]) {
    const twice = archived(once, { at: SIGNED + 20 * DAY, names: { attributes } });
    const { timestamps, bestTime, ...record } = judged(twice, { at: AFTER });
    t.deepEqual(
      timestamps.map(verdictOf),
      attributes
        ? ['TOTAL-PASSED', 'TOTAL-PASSED', 'TOTAL-PASSED']
        : ['INDETERMINATE: OUT_OF_BOUNDS_NO_POE', 'INDETERMINATE: OUT_OF_BOUNDS_NO_POE', 'TOTAL-PASSED'],
    );
    t.is(bestTime, attributes ? SIGNED + 60_000 : SIGNED + 20 * DAY);
    t.is(verdictOf(record), attributes ? 'TOTAL-PASSED' : 'INDETERMINATE: OUT_OF_BOUNDS_NO_POE');
  }
});

test('an index of the first form covers exactly its entries', (t) => {
  for (const attributes of [true, false]) {
    const der = archived(stampedSoon(shortTsa()), {
      at: SIGNED + 20 * DAY,
      version: 1,
      names: { attributes },
    });
    const record = judged(der, { at: AFTER });
    t.is(record.bestTime, attributes ? SIGNED + 60_000 : SIGNED + 20 * DAY);
    t.is(verdictOf(record), attributes ? 'TOTAL-PASSED' : 'INDETERMINATE: OUT_OF_BOUNDS_NO_POE');
  }
});

test('a revocation answer is proven by the oldest archive time-stamp that covers it', (t) => {
  const { root, laterTsa } = parties();
  const long = { notBefore: SIGNED - YEAR, notAfter: SIGNED + 30 * YEAR };
  const rsaRoot = issue('RSA Root', undefined, { kind: 'rsa-2048', ...long });
  const signer = issue('Ada', rsaRoot, { ...long, notAfter: SIGNED + 20 * YEAR });
  const bare = forge({ signer, content: CONTENT, at: SIGNED, crls: [crlOf(rsaRoot, SIGNED + 3_600_000)] });
  // RSA with 2048 bits ends with 2028.
  const at = Date.UTC(2032, 0, 1);
  const trust = {
    anchors: [root.certificate, rsaRoot.certificate],
    revocation: 'hard',
    evidence: evidenceOf(crlsOf(at - DAY)),
  } as const;
  for (const revocation of [true, false]) {
    const early = archived(bare, { at: SIGNED + DAY, names: { revocation } });
    const late = archived(early, { at: Date.UTC(2031, 0, 1), tsa: laterTsa });
    const record = judged(late, { at, trust });
    t.deepEqual(record.timestamps.map(verdictOf), ['TOTAL-PASSED', 'TOTAL-PASSED']);
    t.is(record.bestTime, SIGNED + DAY);
    t.is(verdictOf(record), revocation ? 'TOTAL-PASSED' : 'INDETERMINATE: TRY_LATER');
  }
});

test('an invalid time-stamp or archive time-stamp raises no level', (t) => {
  const { signer, ca, tsaCa, root } = parties();
  const crls = [root, ca, tsaCa].map((issuer) => crlOf(issuer, SIGNED + 3_600_000));
  const bare = forge({ signer, content: CONTENT, at: SIGNED, crls });
  const value = parseSignedData(bare).signers[0]?.signature ?? Buffer.alloc(0);
  const stamped = (over: Buffer) =>
    amendSignedData(bare, {
      unsigned: new Map([[0, [signatureTimestampAttribute(tokenOver(over, SIGNED))]]]),
    });
  t.is(judged(stamped(value)).level, 'LT');
  t.is(judged(stamped(CONTENT)).level, 'B');
  const whole = archived(stamped(value), { at: SIGNED + DAY });
  t.is(judged(whole, { at: SIGNED + 2 * DAY }).level, 'LTA');
  const gone = forgeWithout(whole);
  t.is(judged(gone, { at: SIGNED + 2 * DAY }).level, 'T');
});

/** Removes the CRLs that an archive time-stamp covers, and adds an unreadable one. */
function forgeWithout(der: Buffer): Buffer {
  const { signer } = parties();
  const data = parseSignedData(der);
  const [own] = data.signers;
  const rebuilt = forge({
    signer,
    content: CONTENT,
    at: SIGNED,
    crls: [sequence(oid('1.2.3'))],
    value: () => own?.signature ?? Buffer.alloc(0),
  });
  return amendSignedData(rebuilt, { unsigned: new Map([[0, own?.unsignedAttributes?.encodings ?? []]]) });
}
