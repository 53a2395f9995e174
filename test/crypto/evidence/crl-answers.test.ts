/**
 * Delta CRLs, distribution points by name, CRL signing keys and self-issued certificates, after sections 4.5, 4.14
 * and 4.15 of the NIST path validation test suite: a revoked and a good certificate in every case.
 */

import { generateKeyPairSync, type KeyObject, randomBytes } from 'node:crypto';
import test from 'ava';
import { TAG } from '#crypto/asn1/read.js';
import { oid, sequence, setOf, small, tlv } from '#crypto/asn1/write.js';
import { validateChain } from '#crypto/validation/chain.js';
import { type Certificate, readCertificate } from '#crypto/x509/certificate.js';
import { type CertificateRequest, encodeName, issueCertificate } from '../../pki/issuing.ts';
import {
  type CrlRequest,
  crlExtension,
  makeCrl,
  type Revocation,
  serialOf,
} from '../../pki/revocation-answers.ts';

const AT = Math.floor(Date.now() / 1000) * 1000;
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const FRESH = { thisUpdate: AT - HOUR, nextUpdate: AT + HOUR };

interface Entity {
  readonly key: KeyObject;
  readonly publicKey: KeyObject;
  readonly certificate: Buffer;
}

type Keys = Pick<Entity, 'key' | 'publicKey'>;

function keys(): Keys {
  const { privateKey: key, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return { key, publicKey };
}

function issued(
  subject: string,
  issuer: string,
  {
    issuerKey,
    more = {},
    own = keys(),
  }: {
    readonly issuerKey: KeyObject;
    readonly more?: Partial<CertificateRequest> | undefined;
    readonly own?: Keys | undefined;
  },
): Entity {
  const certificate = issueCertificate({
    subject: { commonName: subject },
    issuer: { commonName: issuer },
    serial: randomBytes(8),
    notBefore: AT - DAY,
    notAfter: AT + 365 * DAY,
    publicKey: own.publicKey,
    issuerKey,
    use: { kind: 'signer', purposes: [] },
    ...more,
  });
  return { ...own, certificate };
}

const CA = { use: { kind: 'ca' } } as const;
const rootKeys = keys();
const root = issued('Root', 'Root', { issuerKey: rootKeys.key, more: CA, own: rootKeys });
const ca = issued('CA', 'Root', { issuerKey: root.key, more: CA });
const rootCrl = makeCrl({ issuer: root, revoked: new Map(), ...FRESH });

function crl(revoked: readonly Buffer[], more: Partial<CrlRequest> = {}, reason?: number): Buffer {
  const revocation: Revocation = { at: AT - DAY, ...(reason === undefined ? {} : { reason }) };
  const entries = revoked.map((certificate) => [serialOf(certificate), revocation] as const);
  return makeCrl({ issuer: ca, revoked: new Map(entries), ...FRESH, ...more });
}

/** Returns `passed`, or the sub-indication; the revocation status of every other link is known. */
function verdict(end: Buffer, crls: readonly Buffer[], others: readonly Buffer[] = []): string {
  const known = [ca.certificate, ...others].map(readCertificate);
  return (
    validateChain({
      certificate: readCertificate(end),
      others: known as readonly Certificate[],
      evidence: { certificates: [], crls: [rootCrl, ...crls], ocsps: [] },
      trust: { anchors: [root.certificate], intermediates: [], revocation: 'hard' },
      purpose: 'signature',
      time: AT,
      evidenceTime: () => AT,
      now: AT,
    }).subIndication ?? 'passed'
  );
}

const signer = (more: Partial<CertificateRequest> = {}): Buffer =>
  issued('Signer', 'CA', { issuerKey: ca.key, more }).certificate;
const delta = (base: number) => crlExtension('2.5.29.27', small(base), true);
const number = (value: number, extensions: readonly Buffer[] = []): Partial<CrlRequest> => ({
  number: value,
  extensions,
});

test('4.15: a certificate that only a delta list revokes is revoked, and one that no list names is good', (t) => {
  const good = signer();
  const bad = signer();
  const base = crl([], number(3));
  const change = crl([bad], number(4, [delta(3)]));
  t.is(verdict(good, [base, change]), 'passed');
  t.is(verdict(bad, [base, change]), 'REVOKED_NO_POE');
  t.is(verdict(bad, [change, base]), 'REVOKED_NO_POE');
  t.is(verdict(bad, [change]), 'REVOKED_NO_POE');
  t.is(verdict(good, [change]), 'TRY_LATER', 'a delta list alone proves nothing');
});

test('4.15: a delta list extends the freshness of its base list, and lifts a hold', (t) => {
  const good = signer();
  const old = { thisUpdate: AT - 3 * DAY, nextUpdate: AT - 2 * DAY };
  const stale = crl([], { ...old, number: 3 });
  t.is(verdict(good, [stale]), 'TRY_LATER');
  t.is(verdict(good, [stale, crl([], number(5, [delta(3)]))]), 'passed');
  t.is(verdict(good, [stale, crl([], number(5, [delta(4)]))]), 'TRY_LATER', 'it starts from a newer list');
  const held = crl([good], { ...old, number: 3 }, 6);
  t.is(verdict(good, [held]), 'TRY_LATER');
  t.is(verdict(good, [held, crl([good], number(5, [delta(3)]), 8)]), 'passed');
  const revoked = crl([good], { ...old, number: 3 }, 1);
  t.is(verdict(good, [revoked, crl([], number(5, [delta(3)]))]), 'REVOKED_NO_POE');
});

/** Builds [0] of a DistributionPoint or IssuingDistributionPoint. */
const fullName = (name: string): Buffer =>
  tlv(TAG.context0Constructed, tlv(TAG.context0Constructed, tlv(0xa4, encodeName({ commonName: name }))));
const relativeName = (name: string): Buffer => {
  const part = sequence(oid('2.5.4.3'), tlv(TAG.utf8String, Buffer.from(name)));
  return tlv(TAG.context0Constructed, tlv(TAG.context1Constructed, part));
};
const atPoint = (...fields: Buffer[]): Partial<CertificateRequest> => ({
  furtherExtensions: [{ id: '2.5.29.31', critical: false, value: sequence(sequence(...fields)) }],
});
const ofPoint = (...fields: Buffer[]): Partial<CrlRequest> => ({
  extensions: [crlExtension('2.5.29.28', sequence(...fields), true)],
});

test('4.14: a list with a distribution point covers the certificates that name this point, by a directory name too', (t) => {
  for (const name of [fullName, relativeName]) {
    const good = signer(atPoint(name('A')));
    const bad = signer(atPoint(name('A')));
    const elsewhere = signer(atPoint(name('B')));
    const list = crl([bad], ofPoint(name('A')));
    t.is(verdict(good, [list]), 'passed');
    t.is(verdict(bad, [list]), 'REVOKED_NO_POE');
    t.is(verdict(elsewhere, [list]), 'TRY_LATER', 'the list is for another part');
    t.is(verdict(signer(), [list]), 'TRY_LATER');
  }
  const completed = tlv(
    TAG.context0Constructed,
    tlv(
      TAG.context0Constructed,
      tlv(
        0xa4,
        sequence(
          setOf([sequence(oid('2.5.4.3'), tlv(TAG.utf8String, Buffer.from('CA')))]),
          setOf([sequence(oid('2.5.4.3'), tlv(TAG.utf8String, Buffer.from('A')))]),
        ),
      ),
    ),
  );
  const relative = signer(atPoint(relativeName('A')));
  t.is(verdict(relative, [crl([], ofPoint(completed))]), 'passed', 'the same name in both forms');
});

test('4.14: each list for some reasons can revoke, and only lists for all reasons together prove a certificate good', (t) => {
  const reasons = (...octets: number[]) => tlv(0x83, Buffer.from(octets));
  const good = signer();
  const bad = signer();
  const first = ofPoint(reasons(5, 0x60));
  const rest = ofPoint(reasons(7, 0x1f, 0x80));
  t.is(verdict(good, [crl([], first)]), 'TRY_LATER');
  t.is(verdict(good, [crl([], first), crl([], rest)]), 'passed');
  t.is(verdict(bad, [crl([bad], first)]), 'REVOKED_NO_POE');
  t.is(verdict(bad, [crl([], first), crl([bad], rest)]), 'REVOKED_NO_POE');
});

test('4.14: an indirect CRL counts for the certificates that name its issuer', (t) => {
  const lister = issued('Lister', 'Root', { issuerKey: root.key, more: CA });
  const crlIssuer = tlv(0xa2, tlv(0xa4, encodeName({ commonName: 'Lister' })));
  const good = signer(atPoint(crlIssuer));
  const bad = signer(atPoint(crlIssuer));
  const indirect = tlv(0x84, Buffer.from([0xff]));
  const list = (revoked: readonly Buffer[], ...fields: Buffer[]) =>
    crl(revoked, {
      issuer: lister,
      certificateIssuer: encodeName({ commonName: 'CA' }),
      ...ofPoint(...fields),
    });
  t.is(verdict(good, [list([bad], indirect)], [lister.certificate]), 'passed');
  t.is(verdict(bad, [list([bad], indirect)], [lister.certificate]), 'REVOKED_NO_POE');
  const inherits = list([signer(), bad], indirect);
  t.is(
    verdict(bad, [inherits], [lister.certificate]),
    'REVOKED_NO_POE',
    'the second entry has the issuer of the first',
  );
  t.is(verdict(good, [inherits], [lister.certificate]), 'passed');
  t.is(verdict(good, [list([])], [lister.certificate]), 'TRY_LATER', 'it does not say that it is indirect');
  t.is(
    verdict(signer(), [list([], indirect)], [lister.certificate]),
    'TRY_LATER',
    'the certificate does not name it',
  );
  const otherIssuer = issued('Lister', 'Stranger', { issuerKey: keys().key, more: CA });
  t.is(verdict(good, [list([], indirect)], [otherIssuer.certificate]), 'TRY_LATER');
});

test('4.5 and 4.14.19: a key for CRLs alone counts when the CA or its issuer certified it for that and did not revoke it', (t) => {
  const use = { use: { kind: 'crl' } } as const;
  const good = signer();
  const bad = signer();
  for (const [issuer, key] of [
    ['CA', ca.key],
    ['Root', root.key],
  ] as const) {
    const own = issued('CA', issuer, { issuerKey: key, more: use });
    const list = crl([bad], { issuer: own });
    t.is(verdict(good, [list], [own.certificate]), 'passed', issuer);
    t.is(verdict(bad, [list], [own.certificate]), 'REVOKED_NO_POE', issuer);
    if (issuer === 'CA') continue;
    const withdrawn = makeCrl({ issuer: root, revoked: revokes(own.certificate), ...FRESH });
    t.is(verdict(good, [withdrawn, list], [own.certificate]), 'TRY_LATER', 'its key is revoked');
  }
  const unsuitable = issued('CA', 'CA', { issuerKey: ca.key });
  t.is(
    verdict(good, [crl([], { issuer: unsuitable })], [unsuitable.certificate]),
    'TRY_LATER',
    'it is not for CRLs',
  );
  const foreign = issued('CA', 'CA', { issuerKey: keys().key, more: use });
  t.is(
    verdict(good, [crl([], { issuer: foreign })], [foreign.certificate]),
    'TRY_LATER',
    'nobody certified it',
  );
});

const revokes = (certificate: Buffer): ReadonlyMap<string, Revocation> =>
  new Map([[serialOf(certificate), { at: AT - DAY }]]);

test('4.5: after a renewal of its key a CA may sign CRLs with either key for certificates of both', (t) => {
  const renewed = issued('CA', 'CA', { issuerKey: ca.key, more: CA });
  const [good, bad] = [0, 1].map(() => issued('Signer', 'CA', { issuerKey: renewed.key }).certificate) as [
    Buffer,
    Buffer,
  ];
  const list = crl([bad]);
  t.is(verdict(good, [list], [renewed.certificate]), 'passed');
  t.is(verdict(bad, [list], [renewed.certificate]), 'REVOKED_NO_POE');
  const withdrawn = crl([renewed.certificate]);
  t.is(verdict(good, [withdrawn], [renewed.certificate]), 'REVOKED_CA_NO_POE');
});
