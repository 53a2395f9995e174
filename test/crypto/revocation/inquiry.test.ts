import test from 'ava';
import type { AuthorityRequest } from '../../../crypto/authorities.ts';
import { readCertificate } from '../../../crypto/certificates/certificate.ts';
import { issueCertificate } from '../../../crypto/certificates/issue.ts';
import { AnswerRoom, createAnswerCache } from '../../../crypto/revocation/answer-cache.ts';
import { createInquiry } from '../../../crypto/revocation/inquiry.ts';
import { CryptoError } from '../../../crypto/types.ts';
import { makeAuthorityPki } from '../../pki/authority-pki.ts';
import { keyOf } from '../../pki/pki.ts';
import { answerOcspRequest } from '../../pki/revocation-answers.ts';

const NOW = Math.floor(Date.now() / 1000) * 1000;
const HOUR = 3_600_000;
const INSIDE = 'http://inside.test/secret';

test('addresses in an OCSP answer are asked only when its signer is authorized and signed it', async (t) => {
  const pki = makeAuthorityPki({ baseUrl: 'http://authority.test', now: NOW });
  const { issuing } = pki;
  const { publicKey, privateKey } = keyOf('p-256');
  const name = { country: 'XX', organization: 'Nobody', commonName: 'Responder' };
  const stranger = {
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
          responder: stranger,
        });
      },
    },
    now: () => NOW,
    cacheMinutes: 60,
    timeoutMs: 1000,
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

test('caches of several profiles together hold no more bytes than there is room for, and lose the oldest first', async (t) => {
  const room = new AnswerRoom(100);
  const caches = [0, 1].map(() => createAnswerCache<Buffer>(10, ({ length }) => length, room));
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

test('many small answers leave as well, whichever cache they are in and though nobody asks it any more', (t) => {
  const room = new AnswerRoom(1_000_000);
  let dropped = 0;
  for (let n = 0; n < 5_000; n += 1) room.take(1, () => (dropped += 1));
  t.true(dropped >= 2_900, `${dropped} were dropped`);
});
