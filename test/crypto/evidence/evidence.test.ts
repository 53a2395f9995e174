import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { octetString, oid, sequence, tlv } from '#crypto/asn1/write.js';
import type { CryptoError } from '#crypto/core/types.js';
import type { Evidence } from '#crypto/evidence/authorities.js';
import { revocationStatus } from '#crypto/evidence/revocation-status.js';
import { certificatePem, readCertificate } from '#crypto/x509/certificate.js';
import {
  type AuthorityOptions,
  type Fault,
  startAuthority,
  type TestAuthority,
} from '../../pki/authority.ts';
import { runTool, withTools } from '../../verifiers/index.ts';

const toolTest = withTools(test, 'openssl');

async function using<T>(
  options: AuthorityOptions,
  work: (authority: TestAuthority) => Promise<T>,
): Promise<T> {
  const authority = await startAuthority(options);
  try {
    return await work(authority);
  } finally {
    await authority.close();
  }
}

function ends(authority: TestAuthority): Buffer[] {
  return [authority.pki.signer('p-256').certificate, authority.pki.timestampSigner.certificate];
}

function collect(authority: TestAuthority, services = authority.freshServices()): Promise<Evidence> {
  return services.evidence.collect(ends(authority), [], Date.now());
}

async function refusal(work: Promise<unknown>): Promise<CryptoError> {
  try {
    await work;
  } catch (error) {
    return error as CryptoError;
  }
  throw new Error('Nothing was refused.');
}

/** Builds an OCSPResponse around a BasicOCSPResponse, as openssl reads it. */
function wholeResponse(basic: Buffer): Buffer {
  const bytes = sequence(oid('1.3.6.1.5.5.7.48.1.1'), octetString(basic));
  return sequence(Buffer.from([0x0a, 1, 0]), tlv(0xa0, bytes));
}

toolTest(
  'evidence holds both chains with the root, and an answer that openssl accepts for each certificate below it',
  async (t) => {
    await using({}, async (authority) => {
      const { pki } = authority;
      const evidence = await collect(authority);
      const fingerprints = evidence.certificates.map((der) => readCertificate(der).fingerprint);
      for (const wanted of [
        ...ends(authority),
        pki.issuing.certificate,
        pki.stamping.certificate,
        pki.root.certificate,
      ]) {
        t.true(fingerprints.includes(readCertificate(wanted).fingerprint));
      }
      t.is(new Set(fingerprints).size, fingerprints.length);
      t.is(evidence.ocsps.length, 2, 'signer and time-stamp signer');
      t.is(evidence.crls.length, 1, 'the two CAs are on one list');
      const path = (name: string, bytes: Buffer | string) => {
        const file = join(pki.folder, name);
        writeFileSync(file, bytes);
        return file;
      };
      const [signer = Buffer.alloc(0), stamper = Buffer.alloc(0)] = ends(authority);
      const cases = [
        { certificate: signer, issuer: pki.issuingFile },
        { certificate: stamper, issuer: pki.stampingFile },
      ];
      for (const [index, { certificate, issuer }] of cases.entries()) {
        const verdicts = [];
        for (const ocsp of evidence.ocsps) {
          const run = await runTool('openssl', [
            'ocsp',
            '-respin',
            path(`${index}.ors`, wholeResponse(ocsp)),
            '-no_nonce',
            '-issuer',
            issuer,
            '-cert',
            path(`${index}.crt`, certificatePem(certificate)),
            '-CAfile',
            pki.rootFile,
            '-verify_other',
            issuer,
          ]);
          verdicts.push(`${run.stdout}${run.stderr}`);
        }
        t.true(
          verdicts.some((text) => text.includes('Response verify OK') && text.includes(`${index}.crt: good`)),
          verdicts.join('\n'),
        );
      }
      const [crl = Buffer.alloc(0)] = evidence.crls;
      const run = await runTool('openssl', [
        'crl',
        '-inform',
        'DER',
        '-in',
        path('root.crl', crl),
        '-CAfile',
        pki.rootFile,
        '-noout',
      ]);
      t.regex(run.stderr, /verify OK/);
    });
  },
);

test('answers are cached until nextUpdate, and concurrent callers share one request', async (t) => {
  await using({}, async (authority) => {
    const services = authority.freshServices();
    await Promise.all(Array.from({ length: 20 }, () => collect(authority, services)));
    t.deepEqual({ ...authority.requests }, { timestamp: 0, ocsp: 2, crl: 1, ca: 0 });
    await collect(authority, services);
    t.deepEqual({ ...authority.requests }, { timestamp: 0, ocsp: 2, crl: 1, ca: 0 });
  });
});

test('answers are requested again after the cache time, or after nextUpdate', async (t) => {
  await using({ freshFor: 30 * 60_000 }, async (authority) => {
    let now = Date.now();
    const services = authority.freshServices({ cacheMinutes: 10, now: () => now });
    const look = () => services.evidence.collect(ends(authority), [], now);
    await look();
    now += 9 * 60_000;
    authority.setTime(now);
    await look();
    t.is(authority.requests.ocsp, 2);
    now += 2 * 60_000;
    authority.setTime(now);
    await look();
    t.is(authority.requests.ocsp, 4);
    const longer = authority.freshServices({ cacheMinutes: 1000, now: () => now });
    await longer.evidence.collect(ends(authority), [], now);
    now += 31 * 60_000;
    authority.setTime(now);
    await longer.evidence.collect(ends(authority), [], now);
    t.is(authority.requests.ocsp, 8);
  });
});

for (const fault of [
  'down',
  'busy',
  'missing',
  'garbage',
  'oversize',
  'stale',
  'try-later',
  'wrong-value',
] as const) {
  test(`the CRL is used when the OCSP responder is ${fault}`, async (t) => {
    await using({}, async (authority) => {
      authority.break('ocsp', fault satisfies Fault);
      const evidence = await collect(authority);
      t.is(evidence.ocsps.length, 0);
      t.is(evidence.crls.length, 3);
    });
  });
}

for (const fault of ['other-serial', 'unknown', 'no-certificate'] as const) {
  test(`an OCSP answer with ${fault} is no answer`, async (t) => {
    await using({ sources: 'ocsp' }, async (authority) => {
      authority.break('ocsp', fault);
      const error = await refusal(collect(authority));
      t.is(error.code, 'revocation.missing');
      t.regex(error.message, /Signer p-256 .*127\.0\.0\.1:\d+\/ocsp\/issuing/);
    });
  });
}

test('a failure without any answer names the certificate and every address', async (t) => {
  await using({}, async (authority) => {
    authority.break('ocsp', 'down');
    authority.break('crl', 'slow');
    const error = await refusal(collect(authority, authority.freshServices({ timeoutMs: 100 })));
    t.is(error.code, 'authority.unreachable');
    t.regex(error.message, /certificate of /);
    t.regex(error.message, /\/crl\//);
  });
});

test('an authority that recovers between two tries gives its answer', async (t) => {
  await using({ sources: 'ocsp' }, async (authority) => {
    authority.break('ocsp', 'busy', 2);
    const pauses: number[] = [];
    const services = authority.freshServices({
      retries: 3,
      wait: (ms) => {
        pauses.push(ms);
        return Promise.resolve();
      },
    });
    const evidence = await services.evidence.collect(
      [authority.pki.signer('p-256').certificate],
      [],
      Date.now(),
    );
    t.is(evidence.ocsps.length, 1);
    t.deepEqual(pauses, [200, 400]);
  });
});

for (const sources of ['ocsp', 'crl'] as const) {
  test(`a revocation by ${sources} is an error with its time, and a later revocation is none`, async (t) => {
    await using({ sources }, async (authority) => {
      const at = Date.now();
      const signer = authority.pki.signer('p-256').certificate;
      authority.revoke(signer, at + 60_000, 1);
      await authority.freshServices().evidence.collect([signer], [], at);
      authority.revoke(signer, at - 60_000, 1);
      const error = await refusal(authority.freshServices().evidence.collect([signer], [], at));
      t.is(error.code, 'certificate.revoked');
      t.regex(error.message, /Signer p-256.*since \d{4}-.*keyCompromise/);
    });
  });
}

test('evidence is refused for a certificate without addresses, and trust anchors are not checked', async (t) => {
  await using({ sources: 'none' }, async (authority) => {
    const { evidence } = authority.freshServices();
    const [end] = ends(authority);
    if (end === undefined) return t.fail();
    const error = await refusal(evidence.collect([end], [], Date.now()));
    t.is(error.code, 'revocation.missing');
    t.regex(error.message, /names no address/);
    const { certificate } = authority.pki.root;
    t.is((await evidence.collect([certificate], [], Date.now())).certificates.length, 1, 'the anchor itself');
  });
});

test('a revoked intermediate CA is detected', async (t) => {
  await using({}, async (authority) => {
    authority.revoke(authority.pki.issuing.certificate, Date.now() - 60_000);
    const error = await refusal(collect(authority));
    t.is(error.code, 'certificate.revoked');
    t.regex(error.message, /Issuing CA/);
  });
});

test('a responder without id-pkix-ocsp-nocheck needs a CRL, and is refused once the CRL lists it', async (t) => {
  await using({ noCheck: false, sources: 'ocsp' }, async (authority) => {
    const signer = authority.pki.signer('p-256').certificate;
    const evidence = await authority.freshServices().evidence.collect([signer], [], Date.now());
    t.is(evidence.crls.length, 2, "the root's and the issuing CA's");
    const certificate = readCertificate(signer);
    const issuer = readCertificate(authority.pki.issuing.certificate);
    const judge = (look: Evidence) =>
      revocationStatus(certificate, issuer, { evidence: look, at: Date.now() });
    t.is(judge(evidence).status, 'good');
    const unknown = judge({ ...evidence, crls: [] });
    t.regex(
      unknown.status === 'unknown' ? unknown.reason : '',
      /responder of an OCSP answer has no revocation answer/,
    );
    authority.revoke(authority.pki.issuing.responder.certificate, Date.now() - 60_000);
    const later = await authority.freshServices().evidence.collect([signer], [], Date.now());
    const status = judge(later);
    // The CRL that revokes the responder is valid for the signer and replaces the OCSP response.
    t.is(status.status === 'good' ? status.source.kind : status.status, 'crl');
  });
});

test('missing issuers are fetched from the addresses in certificates only on hosts that an operator listed', async (t) => {
  await using({}, async (authority) => {
    const look = (...issuerHosts: readonly string[]) =>
      collect(authority, authority.freshServices({ intermediates: [], issuerHosts }));
    t.is((await look('127.0.0.1')).certificates.length >= 5, true);
    t.is(authority.requests.ca, 2);
    t.is((await refusal(look('authority.test'))).code, 'revocation.missing');
    const error = await refusal(look());
    t.is(error.code, 'revocation.missing');
    t.regex(error.message, /no chain to a trust anchor/);
    t.is(authority.requests.ca, 2);
  });
});
