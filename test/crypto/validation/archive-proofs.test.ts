/** An archive time-stamp proves exactly the older time-stamps, responses and certificates that it covers. */
import { createHash, randomBytes } from 'node:crypto';
import test from 'ava';
import { DIGEST_ID, OID } from '#crypto/asn1/oids.js';
import { TAG } from '#crypto/asn1/read.js';
import { octetString, oid, sequence, tlv } from '#crypto/asn1/write.js';
import { amendSignedData } from '#crypto/cms/amend.js';
import { archiveImprintData, indexedAttributes } from '#crypto/cms/archive-imprint.js';
import { signatureTimestampAttribute, unsignedAttribute } from '#crypto/cms/attributes-template.js';
import { parseSignedData } from '#crypto/cms/parse.js';
import { encodeCertId } from '#crypto/evidence/revocation-inquiry.js';
import { readCertificate } from '#crypto/x509/certificate.js';
import { makeBasicResponse } from '../../pki/revocation-answers.ts';
import { makeToken } from '../../pki/tokens.ts';
import { attributeOf, forge } from './forge.ts';
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

/** CRLReason (RFC 5280 §5.3.1). */
const REASON = { keyCompromise: 1, superseded: 4 } as const;
const HOUR = 3_600_000;
const LOST = SIGNED + 10 * DAY;
const MONTH_LATER = SIGNED + 30 * DAY;

/** Adds a time-stamp over the signature, an hour after it, and further attributes. */
function stamped(der: Buffer, further: readonly Buffer[] = []): Buffer {
  const value = parseSignedData(der).signers[0]?.signature ?? Buffer.alloc(0);
  const stamp = signatureTimestampAttribute(tokenOver(value, SIGNED + HOUR));
  return amendSignedData(der, { unsigned: new Map([[0, [stamp, ...further]]]) });
}

test('an answer of an authority that was revoked since counts only when it is proven to be older', (t) => {
  const { root, ca, signer, tsaCa } = parties();
  const ofNow = crlOf(ca, MONTH_LATER - DAY);
  const verdict = (der: Buffer, { reason, at }: { reason: number; at: number }, ...own: Buffer[]): string => {
    const lists = [crlOf(root, MONTH_LATER - DAY, [[ca, { at, reason }]]), crlOf(tsaCa, MONTH_LATER - DAY)];
    const evidence = evidenceOf([...lists, ...own]);
    return verdictOf(judged(der, { at: MONTH_LATER, trust: { revocation: 'hard', evidence } }));
  };
  const bare = stamped(forge({ signer, content: CONTENT, at: SIGNED }));
  const lost = { reason: REASON.keyCompromise, at: LOST };
  t.is(verdict(bare, lost, ofNow), 'INDETERMINATE: REVOKED_CA_NO_POE');
  t.is(verdict(bare, { ...lost, reason: REASON.superseded }, ofNow), 'TOTAL-PASSED');
  t.is(verdict(bare, { ...lost, at: SIGNED }, ofNow), 'INDETERMINATE: REVOKED_CA_NO_POE');
  const crls = [crlOf(ca, SIGNED + 2 * HOUR)];
  const carrying = stamped(forge({ signer, content: CONTENT, at: SIGNED, crls }));
  t.is(verdict(carrying, lost), 'INDETERMINATE: REVOKED_CA_NO_POE', 'the list may have been made since');
  const whole = archived(carrying, { at: LOST - DAY });
  t.is(verdict(whole, lost), 'TOTAL-PASSED');
  t.is(verdict(whole, lost, ...crls), 'TOTAL-PASSED', 'the authority still gives the same list');
  t.is(verdict(archived(carrying, { at: LOST + DAY }), lost), 'INDETERMINATE: REVOKED_CA_NO_POE');
  const open = archived(carrying, { at: LOST - DAY, names: { revocation: false } });
  t.is(verdict(open, lost), 'INDETERMINATE: REVOKED_CA_NO_POE');
});

test('the certificate of an authority below one that was revoked since counts only when it is proven to be older', (t) => {
  const { root, tsaCa } = parties();
  const upper = issue('Upper', root, { use: { kind: 'ca' }, notAfter: SIGNED + YEAR });
  const lower = issue('Lower', upper, { use: { kind: 'ca' }, notAfter: SIGNED + YEAR });
  const signer = issue('Ada', lower);
  const der = stamped(
    forge({
      signer,
      content: CONTENT,
      at: SIGNED,
      certificates: [signer, lower, upper].map(({ certificate }) => certificate),
      crls: [crlOf(upper, SIGNED + 2 * HOUR), crlOf(lower, SIGNED + 2 * HOUR)],
    }),
  );
  const lists = (lost: boolean) => [
    crlOf(root, MONTH_LATER - DAY, lost ? [[upper, { at: LOST, reason: REASON.keyCompromise }]] : []),
    crlOf(tsaCa, MONTH_LATER - DAY),
  ];
  const verdict = (signed: Buffer, lost = true): string => {
    const trust = { revocation: 'hard', evidence: evidenceOf(lists(lost)) } as const;
    return verdictOf(judged(signed, { at: MONTH_LATER, trust }));
  };
  t.is(verdict(der, false), 'TOTAL-PASSED');
  t.is(verdict(der), 'INDETERMINATE: REVOKED_CA_NO_POE');
  t.is(verdict(archived(der, { at: LOST - DAY })), 'TOTAL-PASSED');
});

test('an answer of a responder that was revoked since counts only when it is proven to be older', (t) => {
  const { root, ca, tsaCa } = parties();
  // The lists of the CA are from after its expiry, and tell about the responder alone.
  const signer = issue('Short-lived', ca, { notAfter: SIGNED + 5 * DAY });
  const use = { kind: 'ocsp', noCheck: false } as const;
  const responder = issue('Responder', ca, { use, crlUrl: 'http://ca.test/list' });
  const id = encodeCertId(readCertificate(signer.certificate), readCertificate(ca.certificate));
  const answer = makeBasicResponse([id], {
    producedAt: SIGNED + 2 * HOUR,
    thisUpdate: SIGNED + 2 * HOUR,
    nextUpdate: SIGNED + DAY,
    revoked: new Map(),
    issuer: ca.certificate,
    responder,
  });
  const values = sequence(tlv(TAG.context1Constructed, sequence(answer)));
  const der = stamped(forge({ signer, content: CONTENT, at: SIGNED }), [
    attributeOf(oid(OID.revocationValues), values),
  ]);
  const verdict = (bytes: Buffer, reason: number): string => {
    const lists = [root, tsaCa].map((issuer) => crlOf(issuer, MONTH_LATER - DAY));
    const evidence = evidenceOf([...lists, crlOf(ca, LOST + DAY, [[responder, { at: LOST, reason }]])]);
    return verdictOf(judged(bytes, { at: MONTH_LATER, trust: { revocation: 'hard', evidence } }));
  };
  t.is(verdict(der, REASON.keyCompromise), 'INDETERMINATE: TRY_LATER');
  t.is(verdict(der, REASON.superseded), 'TOTAL-PASSED');
  t.is(verdict(archived(der, { at: LOST - DAY }), REASON.keyCompromise), 'TOTAL-PASSED');
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
