import { createHash, randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { TAG } from '#crypto/asn1/read.js';
import { timeText } from '#crypto/asn1/time.js';
import { octetString, oid, sequence, small, TRUE, tlv } from '#crypto/asn1/write.js';
import type { Evidence } from '#crypto/evidence/authorities.js';
import { encodeCertId } from '#crypto/evidence/revocation-inquiry.js';
import { type RevocationStatus, revocationStatus } from '#crypto/evidence/revocation-status.js';
import { type Certificate, certificatePem, readCertificate } from '#crypto/x509/certificate.js';
import { makeAuthorityPki, type TestCa } from '../../pki/authority-pki.ts';
import { issueCertificate } from '../../pki/issuing.ts';
import { keyOf } from '../../pki/pki.ts';
import {
  type CrlRequest,
  crlExtension,
  makeBasicResponse,
  makeCrl,
  type OcspRequest,
  type Revoked,
  serialOf,
} from '../../pki/revocation-answers.ts';
import { runTool, withTools } from '../../verifiers/index.ts';

const toolTest = withTools(test, 'openssl');

const AT = Math.floor(Date.now() / 1000) * 1000;
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const BASE = 'http://authority.test';

const pki = makeAuthorityPki({ baseUrl: BASE, now: AT });
const ca = pki.issuing;
const issuer = readCertificate(ca.certificate);
const signer = readCertificate(pki.signer('p-256').certificate);

const FRESH = { thisUpdate: AT - HOUR, nextUpdate: AT + HOUR };
const NO_CALLER: Revoked = new Map();

function revoked(at: number, reason?: number, who: Certificate = signer): Revoked {
  return new Map([[serialOf(who.der), { at, ...(reason === undefined ? {} : { reason }) }]]);
}

function crl(differences: Partial<CrlRequest> = {}): Buffer {
  return makeCrl({ issuer: ca, revoked: NO_CALLER, ...FRESH, ...differences });
}

function ocsp(differences: Partial<OcspRequest> = {}, id = encodeCertId(signer, issuer)): Buffer {
  return makeBasicResponse([id], {
    ...FRESH,
    producedAt: AT - HOUR,
    revoked: NO_CALLER,
    issuer: ca.certificate,
    responder: ca.responder,
    ...differences,
  });
}

function evidence(parts: Partial<Evidence>): Evidence {
  return { certificates: [], crls: [], ocsps: [], ...parts };
}

function judge(parts: Partial<Evidence>, at = AT, certificate = signer, now?: number): RevocationStatus {
  return revocationStatus(certificate, issuer, {
    evidence: evidence(parts),
    at,
    options: now === undefined ? {} : { now },
  });
}

function reasonOf(status: RevocationStatus): string {
  return status.status === 'unknown' ? status.reason : status.status;
}

test('a good answer of either kind is reported with its source', (t) => {
  for (const [kind, parts] of [
    ['ocsp', { ocsps: [ocsp()] }],
    ['crl', { crls: [crl()] }],
  ] as const) {
    const status = judge(parts);
    if (status.status !== 'good') return t.fail(reasonOf(status));
    t.is(status.source.kind, kind);
    t.is(status.source.thisUpdate, AT - HOUR);
    t.is(status.source.nextUpdate, AT + HOUR);
    const wanted = kind === 'ocsp' ? ca.responder.certificate : ca.certificate;
    t.deepEqual(status.source.signer.der, wanted);
    t.deepEqual(
      status.source.algorithms.map(({ name }) => name),
      kind === 'ocsp' ? ['ecdsa', 'sha256', 'ecdsa', 'sha256'] : ['ecdsa', 'sha256'],
      'a delegated responder rests on its own certificate too',
    );
  }
  t.is(reasonOf(judge({})), 'there is no answer about it');
});

test('a revocation counts from its time on, with its reason', (t) => {
  const revocations = revoked(AT - HOUR, 1);
  for (const parts of [
    { ocsps: [ocsp({ revoked: revocations })] },
    { crls: [crl({ revoked: revocations })] },
  ]) {
    const status = judge(parts);
    if (status.status !== 'revoked') return t.fail(reasonOf(status));
    t.deepEqual(status.revocation, { at: AT - HOUR, reason: 'keyCompromise' });
    t.is(judge(parts, AT - HOUR).status, 'revoked');
    t.is(judge(parts, AT - HOUR - 1000).status, 'good');
  }
});

test('a revocation counts from an answer of any age, and before any good answer', (t) => {
  const old = crl({ revoked: revoked(AT - 9 * DAY), thisUpdate: AT - 8 * DAY, nextUpdate: AT - 7 * DAY });
  t.is(judge({ crls: [old] }).status, 'revoked');
  t.is(judge({ crls: [old], ocsps: [ocsp()] }).status, 'revoked');
});

test('entries about other certificates do not hide a revocation', (t) => {
  const revocations = revoked(AT - HOUR, 1);
  const otherCertId = encodeCertId(readCertificate(pki.freshSigner().certificate), issuer);
  const junk = Array.from({ length: 300 }, (_, index) => Buffer.from([0x30, 2, 5, index & 0xff]));
  const forged = Array.from({ length: 201 }, (_, index) =>
    crl({
      issuer: { key: pki.stamping.key, certificate: ca.certificate },
      thisUpdate: AT - HOUR - index * 1000,
    }),
  );
  const others = Array.from({ length: 201 }, () => ocsp({}, otherCertId));
  const list = crl({ revoked: revocations });
  const answer = ocsp({ revoked: revocations });
  for (const crls of [junk, forged]) {
    t.is(judge({ crls: [...crls, list] }).status, 'revoked');
    t.is(judge({ crls: [...crls, crl()] }).status, 'good', 'the honest twin');
  }
  for (const ocsps of [junk, others]) {
    t.is(judge({ ocsps: [...ocsps, answer] }).status, 'revoked');
    t.is(judge({ ocsps: [...ocsps, ocsp()] }).status, 'good', 'the honest twin');
  }
});

test('a newer answer lifts a hold, and an older answer does not', (t) => {
  const hold = { revoked: revoked(AT - 9 * HOUR, 6), thisUpdate: AT - 8 * HOUR, nextUpdate: AT + HOUR };
  t.is(judge({ crls: [crl(hold)] }).status, 'revoked');
  t.is(judge({ crls: [crl(hold), crl()] }).status, 'good');
  t.is(judge({ crls: [crl(hold), crl({ thisUpdate: AT - 10 * HOUR })] }).status, 'revoked');
});

test('an answer proves the status at a time within it or before it, and at none after it', (t) => {
  for (const parts of [{ ocsps: [ocsp()] }, { crls: [crl()] }]) {
    t.is(judge(parts, AT + HOUR).status, 'good');
    t.is(judge(parts, AT - 12 * HOUR).status, 'good', 'given later');
    t.regex(reasonOf(judge(parts, AT + HOUR + 1000)), /was good until .* only/);
  }
  const endless = ocsp({ nextUpdate: undefined });
  t.is(judge({ ocsps: [endless] }, AT + 22 * HOUR).status, 'good');
  t.is(judge({ ocsps: [endless] }, AT + 24 * HOUR).status, 'unknown');
  t.is(judge({ ocsps: [ocsp()] }, AT, signer, AT - 2 * HOUR).status, 'unknown', 'from after now');
});

test('an answer that does not know the certificate is named, and proves nothing', (t) => {
  const unknown = ocsp({ fault: 'unknown' });
  t.is(reasonOf(judge({ ocsps: [unknown] })), 'an OCSP answer does not know the certificate');
  t.is(reasonOf(judge({})), 'there is no answer about it');
  t.is(judge({ ocsps: [unknown], crls: [crl()] }).status, 'good');
});

test('an answer from after the expiry of the certificate is good only when it covers expired certificates', (t) => {
  const short = readCertificate(
    pki.freshSigner({ notBefore: AT - 3 * DAY, notAfter: AT - 2 * DAY }).certificate,
  );
  const id = encodeCertId(short, issuer);
  const time = (at: number) => tlv(TAG.generalizedTime, Buffer.from(timeText(at)));
  const since = (at: number) => ({ extensions: [crlExtension('2.5.29.60', time(at))] });
  const at = AT - 2.5 * DAY;
  t.regex(reasonOf(judge({ crls: [crl()] }, at, short)), /from after the certificate expired/);
  t.is(judge({ crls: [crl(since(AT - 4 * DAY))] }, at, short).status, 'good');
  t.is(judge({ crls: [crl(since(AT - DAY))] }, at, short).status, 'unknown');
  t.regex(reasonOf(judge({ ocsps: [ocsp({}, id)] }, at, short)), /from after the certificate expired/);
  t.is(judge({ crls: [crl({ revoked: revoked(at - HOUR, 1, short) })] }, at, short).status, 'revoked');
});

test('OCSP answers may name the certificate with other digests, and the responder by name or key', (t) => {
  const hash = (bytes: Buffer) => octetString(createHash('sha256').update(bytes).digest());
  const id = sequence(
    sequence(oid('2.16.840.1.101.3.4.2.1')),
    hash(issuer.subject),
    hash(issuer.publicKeyBits),
    signer.serial,
  );
  t.is(judge({ ocsps: [ocsp({}, id)] }).status, 'good');
  t.is(judge({ ocsps: [ocsp({ by: 'name' })] }).status, 'good');
  t.is(judge({ ocsps: [ocsp({ responder: ca })] }).status, 'good', 'the issuer itself');
  const otherCertificate = readCertificate(pki.freshSigner().certificate);
  t.is(judge({ ocsps: [ocsp()] }, AT, otherCertificate).status, 'unknown');
});

function responder(differences: Partial<Parameters<typeof issueCertificate>[0]> = {}, by: TestCa = ca) {
  const pair = keyOf('p-256');
  const certificate = issueCertificate({
    subject: { commonName: 'Another responder' },
    issuer: { country: 'XX', organization: 'Sealwright tests', commonName: by.name },
    publicKey: pair.publicKey,
    issuerKey: by.key,
    serial: randomBytes(8),
    notBefore: AT - DAY,
    notAfter: AT + DAY,
    use: { kind: 'ocsp', noCheck: true },
    ...differences,
  });
  return { key: pair.privateKey, certificate };
}

test('only the issuer, or a responder that it certified for this purpose, may answer', (t) => {
  const refused = (by: ReturnType<typeof responder>, words: RegExp) => {
    t.regex(reasonOf(judge({ ocsps: [ocsp({ responder: by })] })), words);
    t.is(judge({ ocsps: [ocsp({ responder: by, revoked: revoked(AT - DAY) })] }).status, 'unknown');
  };
  t.is(judge({ ocsps: [ocsp({ responder: responder() })] }).status, 'good');
  refused(responder({ use: { kind: 'signer', purposes: [] } }), /certificate for something else/);
  refused(responder({ use: { kind: 'timestamping' } }), /certificate for something else/);
  refused(responder({}, pki.stamping), /no certificate of the issuer/);
  refused(responder({ issuerKey: pki.stamping.key }), /no certificate of the issuer/);
  refused(responder({ notAfter: AT - 2 * HOUR }), /not valid at that time/);
  const inside = responder();
  const outside = ocsp({ responder: inside, fault: 'no-certificate' });
  t.is(judge({ ocsps: [outside] }).status, 'unknown');
  t.is(judge({ ocsps: [outside], certificates: [inside.certificate] }).status, 'good');
});

const point = (...fields: Buffer[]) => ({
  extensions: [crlExtension('2.5.29.28', sequence(...fields), true)],
});
const flag = (tag: number) => tlv(tag, TRUE.subarray(2));
const address = (url: string) => tlv(0xa0, tlv(0xa0, tlv(0x86, Buffer.from(url))));

test('CRLs are used only within their scope', (t) => {
  const ofCa = (differences: Partial<CrlRequest>) => judge({ crls: [crl(differences)] });
  t.is(ofCa(point(flag(0x81))).status, 'good', 'end certificates');
  t.regex(reasonOf(ofCa(point(flag(0x82)))), /for CA certificates only/);
  t.regex(reasonOf(ofCa(point(tlv(0x83, Buffer.from([6, 0x40]))))), /some reasons only/);
  t.is(ofCa(point(flag(0x84))).status, 'good', 'others beside its own');
  t.regex(reasonOf(ofCa(point(flag(0x85)))), /attribute certificates/);
  t.is(ofCa(point(address(`${BASE}/crl/issuing`))).status, 'good', 'the part named in the certificate');
  t.regex(reasonOf(ofCa(point(address(`${BASE}/crl/other`)))), /another part/);
  t.regex(
    reasonOf(ofCa({ extensions: [crlExtension('2.5.29.27', small(1), true)] })),
    /only what changed since another list/,
  );
  t.regex(
    reasonOf(ofCa({ extensions: [crlExtension('1.2.3.4', small(1), true)] })),
    /1\.2\.3\.4 is not understood/,
  );
  t.is(ofCa({ extensions: [crlExtension('1.2.3.4', small(1))] }).status, 'good');
});

test('a CRL signed by another key, or by a CA without the right to, is ignored', (t) => {
  const forged = crl({ issuer: { key: pki.stamping.key, certificate: ca.certificate } });
  t.regex(reasonOf(judge({ crls: [forged] })), /signature is not that of the issuer/);
  t.is(judge({ crls: [crl({ issuer: pki.stamping })] }).status, 'unknown', 'a list of somebody else');
  const mute = issueCertificate({
    subject: { country: 'XX', organization: 'Sealwright tests', commonName: ca.name },
    issuer: { commonName: 'Root' },
    publicKey: keyOf('p-256').publicKey,
    issuerKey: pki.root.key,
    serial: randomBytes(8),
    notBefore: AT - DAY,
    notAfter: AT + DAY,
    use: { kind: 'signer', purposes: [] },
  });
  const status = revocationStatus(signer, readCertificate(mute), {
    evidence: evidence({ crls: [crl()] }),
    at: AT,
  });
  t.regex(reasonOf(status), /may not sign CRLs/);
});

toolTest(
  'openssl and the engine agree about CRLs that are good, revoking, stale, forged, or for CAs only',
  async (t) => {
    const rootList = makeCrl({ issuer: pki.root, revoked: NO_CALLER, ...FRESH });
    const cases: readonly Buffer[] = [
      crl(),
      crl({ revoked: revoked(AT - HOUR) }),
      crl({ thisUpdate: AT - 3 * HOUR, nextUpdate: AT - HOUR }),
      crl({ issuer: { key: pki.stamping.key, certificate: ca.certificate } }),
      crl(point(flag(0x82))),
      crl(point(address(`${BASE}/crl/other`))),
      crl(point(address(`${BASE}/crl/issuing`))),
    ];
    const leaf = join(pki.folder, 'leaf.pem');
    writeFileSync(leaf, certificatePem(signer.der));
    for (const [index, der] of cases.entries()) {
      const lists = join(pki.folder, `${index}.crls`);
      const pem = (bytes: Buffer) => certificatePem(bytes).replaceAll('CERTIFICATE', 'X509 CRL');
      writeFileSync(lists, pem(der) + pem(rootList));
      const { exit, stderr } = await runTool('openssl', [
        'verify',
        '-attime',
        String(AT / 1000),
        '-CAfile',
        pki.rootFile,
        '-untrusted',
        pki.issuingFile,
        '-crl_check_all',
        '-CRLfile',
        lists,
        '-purpose',
        'any',
        leaf,
      ]);
      t.is(judge({ crls: [der] }).status === 'good', exit === 0, `case ${index}: ${stderr}`);
    }
  },
);

test('no changed byte makes a revoked certificate good', (t) => {
  const look = (make: (bytes: Buffer) => Partial<Evidence>, der: Buffer) => {
    for (let at = 0; at < der.length; at++) {
      const changed = Buffer.from(der);
      changed[at] = (changed[at] ?? 0) ^ (1 << (at % 8));
      t.not(judge(make(changed)).status, 'good', `byte ${at}`);
      t.not(judge(make(der.subarray(0, at))).status, 'good', `cut at ${at}`);
    }
  };
  look((bytes) => ({ crls: [bytes] }), crl({ revoked: revoked(AT - HOUR) }));
  look((bytes) => ({ ocsps: [bytes] }), ocsp({ revoked: revoked(AT - HOUR) }));
});

test('one certificate is found among a hundred thousand entries', (t) => {
  const many = new Map(
    Array.from({ length: 100_000 }, (_, index) => [(0x40000000 + index).toString(16), { at: AT - HOUR }]),
  );
  t.is(judge({ crls: [crl({ revoked: many })] }).status, 'good');
  many.set(serialOf(signer.der), { at: AT - HOUR });
  t.is(judge({ crls: [crl({ revoked: many })] }).status, 'revoked');
});

for (const caKey of ['rsa-2048', 'p-384', 'p-521', 'ed25519'] as const) {
  test(`answers signed with a key of ${caKey} are accepted, and those of another such key are refused`, (t) => {
    const [own, other] = [0, 1].map(() => makeAuthorityPki({ baseUrl: BASE, now: AT, caKey }).stamping);
    if (own === undefined || other === undefined) return t.fail();
    const above = readCertificate(own.certificate);
    const below = readCertificate(responder({}, own).certificate);
    const look = (by: TestCa) => {
      const issuerOf = { key: by.key, certificate: own.certificate };
      const lists = (caKey === 'rsa-2048' ? (['pkcs1', 'pss'] as const) : (['pkcs1'] as const)).map(
        (padding) => makeCrl({ issuer: issuerOf, revoked: NO_CALLER, padding, ...FRESH }),
      );
      const answer = makeBasicResponse([encodeCertId(below, above)], {
        ...FRESH,
        producedAt: AT,
        revoked: NO_CALLER,
        issuer: own.certificate,
        responder: issuerOf,
      });
      return [
        ...lists.map((list) =>
          revocationStatus(below, above, { evidence: evidence({ crls: [list] }), at: AT }),
        ),
        revocationStatus(below, above, { evidence: evidence({ ocsps: [answer] }), at: AT }),
      ].map(({ status }) => status);
    };
    t.deepEqual([...new Set(look(own))], ['good']);
    t.deepEqual([...new Set(look(other))], ['unknown']);
  });
}
