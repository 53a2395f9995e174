import { createHash, generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { signatureTimestampAttribute, unsignedAttribute } from '#crypto/cms/attributes-template.js';
import {
  buildSignedData,
  completeSignedData,
  maxSignedDataLength,
  prepareSignedData,
} from '#crypto/cms/build.js';
import { parseSignedData } from '#crypto/cms/parse.js';
import type { Check, DigestName, Signer } from '#crypto/core/types.js';
import { verifySignedData } from '#crypto/validation/signed-data/verify-signed-data.js';
import { algorithmOf, type HashName } from '#crypto/x509/signature-algorithms.js';
import { issueCertificate } from '../../pki/issuing.ts';
import { type KeyKind, pki, testSigner } from '../../pki/pki.ts';
import { opensslCms, opensslCmsPrint, withTools } from '../../verifiers/index.ts';

const toolTest = withTools(test, 'openssl');

const CONTENT = Buffer.from('Thirty pages of terms, and a signature.\n'.repeat(50));
const KINDS: readonly KeyKind[] = ['rsa-2048', 'rsa-3072', 'p-256', 'p-384', 'p-521'];
const DIGESTS: readonly DigestName[] = ['sha256', 'sha384', 'sha512'];

const folder = mkdtempSync(join(tmpdir(), 'sealwright-cms-'));
test.after.always(() => rmSync(folder, { recursive: true, force: true }));

function hash(digest: HashName, content = CONTENT): Buffer {
  return createHash(digest).update(content).digest();
}

function build(signer: Signer, digest: DigestName = 'sha256', signingTime?: number): Buffer {
  const time = signingTime === undefined ? {} : { signingTime };
  return buildSignedData({ signer, digest, messageDigest: hash(digest), ...time });
}

function verify(der: Buffer, content = CONTENT): Check[] {
  return verifySignedData(der, {
    contentDigest: (digest) => hash(digest, content),
    at: Date.now(),
    anchors: [pki().root.certificate],
  });
}

function failed(checks: readonly Check[]): string[] {
  return checks.filter(({ ok }) => !ok).map(({ name }) => name);
}

function written(name: string, bytes: Buffer): string {
  const path = join(folder, name);
  writeFileSync(path, bytes);
  return path;
}

toolTest('openssl and the engine accept signatures by every kind of key with every digest', async (t) => {
  const content = written('content.bin', CONTENT);
  const ca = pki().rootFile;
  for (const kind of KINDS) {
    for (const digest of DIGESTS) {
      const der = build(pki().signer(kind), digest);
      const verdict = await opensslCms({ signature: written(`${kind}-${digest}.der`, der), content, ca });
      t.true(verdict.ok, `${kind} ${digest}: ${verdict.text}`);
      t.deepEqual(failed(verify(der)), [], `${kind} ${digest}`);
    }
  }
});

toolTest('signing-time is included only on request, and the other attributes always', async (t) => {
  const signer = pki().signer('rsa-2048');
  const without = await opensslCmsPrint(written('pades.der', build(signer)));
  const withTime = await opensslCmsPrint(
    written('cades.der', build(signer, 'sha256', Date.UTC(2031, 4, 6, 7, 8, 9))),
  );
  for (const printed of [without, withTime]) {
    t.regex(printed, /contentType/);
    t.regex(printed, /messageDigest/);
    t.regex(printed, /id-smime-aa-signingCertificateV2|1\.2\.840\.113549\.1\.9\.16\.2\.47/);
  }
  t.notRegex(without, /signingTime/);
  t.regex(withTime, /signingTime[\s\S]*UTCTIME:May {2}6 07:08:09 2031 GMT/);
});

toolTest('a signing time from 2050 on is written as GeneralizedTime', async (t) => {
  const der = build(pki().signer('p-256'), 'sha256', Date.UTC(2050, 0, 1));
  t.regex(await opensslCmsPrint(written('late.der', der)), /GENERALIZEDTIME:Jan {2}1 00:00:00 2050 GMT/);
  t.deepEqual(failed(verify(der)), []);
});

test('the reserved space is exact for RSA, and never too small nor far too large for ECDSA', (t) => {
  for (const kind of KINDS) {
    for (const digest of DIGESTS) {
      const signer = pki().signer(kind);
      const most = maxSignedDataLength(signer, { digest });
      const lengths = Array.from(
        { length: kind.startsWith('rsa') ? 1 : 40 },
        () => build(signer, digest).length,
      );
      const longest = Math.max(...lengths);
      t.true(longest <= most, `${kind} ${digest}: ${longest} of ${most}`);
      if (signer.keyType === 'rsa') t.is(longest, most);
      else t.true(most - Math.min(...lengths) <= 8);
    }
  }
});

test('the reserved space is exact for RSA keys whose bits are no multiple of 8', (t) => {
  for (const modulusLength of [2050, 2054]) {
    const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength });
    const name = { commonName: 'Odd' };
    const certificate = issueCertificate({
      subject: name,
      issuer: name,
      publicKey,
      issuerKey: privateKey,
      serial: Buffer.from([1]),
      notBefore: Date.UTC(2026, 0, 1),
      notAfter: Date.UTC(2036, 0, 1),
      use: { kind: 'signer', purposes: [] },
    });
    const signer = testSigner(privateKey, certificate, []);
    t.is(signer.keyBits, modulusLength);
    for (const parameters of [{}, { padding: 'pss' }] as const) {
      const request = { signer, ...parameters, messageDigest: hash('sha256') };
      const { toBeSigned, algorithm } = prepareSignedData(request);
      const value = signer.key.sign(toBeSigned, algorithm);
      t.is(value.length, Math.floor((modulusLength + 7) / 8));
      const der = completeSignedData(request, toBeSigned, value);
      t.is(der.length, maxSignedDataLength(signer, parameters), `${modulusLength} bits`);
    }
  }
});

const POLICY = { oid: '1.2.3.4', digest: 'sha512', hash: hash('sha512'), uri: 'http://p.example/' } as const;

test('the reserved space covers every way to sign, unsigned attributes included, with little waste', (t) => {
  const unsigned = [
    signatureTimestampAttribute(Buffer.alloc(3000)),
    unsignedAttribute('1.2.3', Buffer.from([5, 0])),
  ];
  const unsignedLength = unsigned.reduce((sum, { length }) => sum + length, 0);
  for (const kind of ['rsa-2048', 'p-256', 'p-521', 'ed25519'] as const) {
    const signer = pki().signer(kind);
    for (const parameters of [
      {},
      { includeChain: false },
      { padding: 'pss', digest: 'sha384' },
      { policy: POLICY },
    ] as const) {
      const { digest } = algorithmOf(signer, parameters);
      const request = { signer, ...parameters, messageDigest: hash(digest) };
      const { toBeSigned, algorithm } = prepareSignedData(request);
      const value = signer.key.sign(toBeSigned, algorithm);
      const bare = completeSignedData(request, toBeSigned, value);
      const full = completeSignedData(request, toBeSigned, value, unsigned);
      for (const [der, options] of [
        [bare, {}],
        [full, { unsignedLength }],
      ] as const) {
        const most = maxSignedDataLength(signer, parameters, options);
        t.true(der.length <= most, `${kind} ${JSON.stringify(parameters)}: ${der.length} of ${most}`);
        t.true(most - der.length <= (signer.keyType === 'ec' ? 8 : 0));
      }
      t.is(parseSignedData(full).signers[0]?.unsignedAttributes?.encodings.length, 2);
      // Without the chain there is nothing between the signer and the root.
      t.deepEqual(failed(verify(full)), 'includeChain' in parameters ? ['chain'] : []);
    }
  }
});

test('preparing and completing gives the same bytes as one call, and completing changes no prepared byte', (t) => {
  const signer = pki().signer('ed25519');
  const request = { signer, messageDigest: hash('sha512'), signingTime: Date.UTC(2030, 1, 1) };
  const { toBeSigned, algorithm } = prepareSignedData(request);
  const before = Buffer.from(toBeSigned);
  const value = signer.key.sign(toBeSigned, algorithm);
  const der = completeSignedData(request, toBeSigned, value);
  t.true(toBeSigned.equals(before));
  t.true(der.equals(buildSignedData(request)));
  t.true(der.equals(completeSignedData(request, toBeSigned, value)));
});

test('a digest of the wrong length, or for another algorithm, is refused', (t) => {
  const signer = pki().signer('ed25519');
  t.throws(() => buildSignedData({ signer, messageDigest: hash('sha256') }), { code: 'key.unsupported' });
  t.throws(() => buildSignedData({ signer, digest: 'sha256', messageDigest: hash('sha256') }), {
    code: 'key.unsupported',
  });
});
