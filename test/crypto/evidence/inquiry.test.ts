import type { KeyObject } from 'node:crypto';
import test from 'ava';
import { TAG } from '#crypto/asn1/read.js';
import { sequence, small, tlv } from '#crypto/asn1/write.js';
import { CryptoError } from '#crypto/core/types.js';
import type { AuthorityRequest } from '#crypto/evidence/authorities.js';
import { CacheLimit, createAnswerCache, createInquiry } from '#crypto/evidence/revocation-inquiry.js';
import { certificatesIn, readCertificate } from '#crypto/x509/certificate.js';
import { makeAuthorityPki } from '../../pki/authority-pki.ts';
import { issueCertificate } from '../../pki/issuing.ts';
import { keyOf } from '../../pki/pki.ts';
import { answerOcspRequest, crlExtension, makeCrl, serialOf } from '../../pki/revocation-answers.ts';

const NOW = Math.floor(Date.now() / 1000) * 1000;
const HOUR = 3_600_000;
const INSIDE = 'http://inside.test/secret';

test('addresses in an OCSP answer are asked only when its signer is authorized and signed it', async (t) => {
  const pki = makeAuthorityPki({ baseUrl: 'http://authority.test', now: NOW });
  const { issuing } = pki;
  const { publicKey, privateKey } = keyOf('p-256');
  const name = { country: 'XX', organization: 'Nobody', commonName: 'Responder' };
  const unknownResponder = {
    key: privateKey,
    certificate: issueCertificate({
      subject: name,
      issuer: name,
      publicKey,
      issuerKey: privateKey,
      serial: Buffer.from([7]),
      notBefore: NOW - HOUR,
      notAfter: NOW + HOUR,
      use: { kind: 'signer', purposes: ['1.3.6.1.5.5.7.3.9'] },
      crlUrl: INSIDE,
    }),
  };
  const asked: string[] = [];
  const inquiry = createInquiry({
    transport: {
      async exchange({ url, body }: AuthorityRequest) {
        asked.push(url);
        if (body === undefined) throw new CryptoError('authority.unreachable', 'nobody is there');
        return answerOcspRequest(Buffer.from(body), {
          thisUpdate: NOW - HOUR,
          nextUpdate: NOW + HOUR,
          producedAt: NOW - HOUR,
          revoked: new Map(),
          issuer: issuing.certificate,
          responder: unknownResponder,
        });
      },
    },
    now: () => NOW,
    cacheMinutes: 60,
    timeoutMs: 1000,
    issuerHosts: [],
    retries: 0,
    wait: () => Promise.resolve(),
  });
  const certificate = readCertificate(pki.signer('p-256').certificate);
  await t.throwsAsync(inquiry.about(certificate, readCertificate(issuing.certificate), NOW), {
    message: /not authorized|no certificate of the issuer/,
  });
  t.true(asked.length > 0);
  t.false(asked.includes(INSIDE), asked.join(' '));
});

test('a line end or padding after an OCSP answer and after a CRL is no part of them', async (t) => {
  const { issuing, signer } = makeAuthorityPki({ baseUrl: 'http://authority.test', now: NOW });
  const times = { thisUpdate: NOW - HOUR, nextUpdate: NOW + HOUR };
  const padded = (answer: Buffer) => Buffer.concat([answer, Buffer.from('\r\n\0\0')]);
  for (const kind of ['ocsps', 'crls'] as const) {
    const inquiry = createInquiry({
      transport: {
        async exchange({ body }: AuthorityRequest) {
          if (body === undefined)
            return padded(makeCrl({ issuer: issuing, revoked: new Map(), ...times, number: 1 }));
          if (kind === 'crls') throw new CryptoError('authority.unreachable', 'nobody is there');
          const more = {
            producedAt: NOW - HOUR,
            revoked: new Map(),
            issuer: issuing.certificate,
            responder: issuing,
          };
          return padded(answerOcspRequest(Buffer.from(body), { ...times, ...more }));
        },
      },
      now: () => NOW,
      cacheMinutes: 60,
      timeoutMs: 1000,
      issuerHosts: [],
      retries: 0,
      wait: () => Promise.resolve(),
    });
    const certificate = readCertificate(signer('p-256').certificate);
    const { status, evidence } = await inquiry.about(certificate, readCertificate(issuing.certificate), NOW);
    t.is(status.status, 'good', kind);
    t.is(evidence[kind].length, 1);
    t.deepEqual([...certificatesIn(padded(issuing.certificate))], [issuing.certificate]);
  }
});

test('caches of several profiles share one byte limit, and the oldest answers are evicted first', async (t) => {
  const limit = new CacheLimit(100);
  const caches = [0, 1].map(() => createAnswerCache<Buffer>(10, ({ length }) => length, limit));
  let asked = 0;
  const get = (cache: number, key: string, bytes = 40): Promise<Buffer | undefined> | undefined =>
    caches[cache]?.get(key, NOW, async () => {
      asked++;
      return { value: Buffer.alloc(bytes), until: NOW + HOUR };
    });
  await get(0, 'a');
  await get(1, 'b');
  await get(0, 'a');
  await get(1, 'b');
  t.is(asked, 2);
  await get(0, 'c');
  await get(1, 'b');
  t.is(asked, 3, 'there was room for two');
  await get(0, 'a');
  t.is(asked, 4, 'the oldest had to go');
  await get(0, 'large', 101);
  await get(0, 'large', 101);
  t.is(asked, 6, 'what has no room at all is not kept');
  await get(0, 'a');
  t.is(asked, 6, 'and takes no room from others');
});

test('many small answers are evicted, also from a cache without further requests', (t) => {
  const limit = new CacheLimit(1_000_000);
  let dropped = 0;
  for (let n = 0; n < 5_000; n += 1) limit.reserve(1, () => (dropped += 1));
  t.true(dropped >= 2_900, `${dropped} were dropped`);
});

const CRL = 'http://authority.test/base.crl';
const DELTA = 'http://authority.test/delta.crl';
const points = (url: string): Buffer => {
  const uri = tlv(0x86, Buffer.from(url));
  const name = tlv(TAG.context0Constructed, tlv(TAG.context0Constructed, uri));
  return sequence(sequence(name));
};

/** Asks about a certificate whose complete CRL does not name it. @param deltaOf the delta CRL; undefined = no answer */
async function statusBy(
  named: 'certificate' | 'list',
  deltaOf: (one: Buffer, ca: Issuer) => Buffer | undefined,
) {
  const { publicKey, privateKey } = keyOf('p-256');
  const name = { commonName: 'CA' };
  const made = {
    issuer: name,
    publicKey,
    issuerKey: privateKey,
    notBefore: NOW - HOUR,
    notAfter: NOW + HOUR,
  };
  const ca = issueCertificate({ ...made, subject: name, serial: Buffer.from([1]), use: { kind: 'ca' } });
  const issuer = { key: privateKey, certificate: ca };
  const end = issueCertificate({
    ...made,
    subject: { commonName: 'Signer' },
    serial: Buffer.from([9]),
    use: { kind: 'signer', purposes: [] },
    crlUrl: CRL,
    ...(named === 'certificate' && {
      furtherExtensions: [{ id: '2.5.29.46', critical: false, value: points(DELTA) }],
    }),
  });
  const base = makeCrl({
    issuer,
    revoked: new Map(),
    thisUpdate: NOW - HOUR,
    nextUpdate: NOW + HOUR,
    number: 3,
    ...(named === 'list' && { extensions: [crlExtension('2.5.29.46', points(DELTA))] }),
  });
  const asked: string[] = [];
  const inquiry = createInquiry({
    transport: {
      async exchange({ url }: AuthorityRequest) {
        asked.push(url);
        const answer = url === CRL ? base : deltaOf(end, issuer);
        if (answer === undefined) throw new CryptoError('authority.unreachable', 'nobody is there');
        return answer;
      },
    },
    now: () => NOW,
    cacheMinutes: 60,
    timeoutMs: 1000,
    issuerHosts: [],
    retries: 0,
    wait: () => Promise.resolve(),
  });
  const { status, evidence } = await inquiry.about(readCertificate(end), readCertificate(ca), NOW);
  return { status: status.status, asked, lists: evidence.crls.length };
}

interface Issuer {
  readonly key: KeyObject;
  readonly certificate: Buffer;
}

/** Makes a delta CRL. */
function delta(issuer: Issuer, revoked: readonly Buffer[]): Buffer {
  return makeCrl({
    issuer,
    revoked: new Map(revoked.map((one) => [serialOf(one), { at: NOW - HOUR }])),
    thisUpdate: NOW - HOUR / 2,
    nextUpdate: NOW + HOUR,
    number: 4,
    extensions: [crlExtension('2.5.29.27', small(3), true)],
  });
}

for (const named of ['certificate', 'list'] as const) {
  test(`a delta CRL that the ${named} names is fetched, and what only it revokes is revoked`, async (t) => {
    const bad = await statusBy(named, (end, ca) => delta(ca, [end]));
    t.deepEqual(bad, { status: 'revoked', asked: [CRL, DELTA], lists: 2 });
    const good = await statusBy(named, (_, ca) => delta(ca, []));
    t.deepEqual(good, { status: 'good', asked: [CRL, DELTA], lists: 2 });
  });

  test(`a delta CRL that the ${named} names is ignored when it is unavailable or of another signer`, async (t) => {
    t.like(await statusBy(named, () => undefined), { status: 'good', asked: [CRL, DELTA] });
    const otherKey = keyOf('p-384').privateKey;
    const forged = await statusBy(named, (end, ca) => delta({ ...ca, key: otherKey }, [end]));
    t.is(forged.status, 'good');
    t.is((await statusBy(named, () => Buffer.from('nothing'))).status, 'good');
  });
}
