import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  verify,
} from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { signFile, validateFile } from '@sealwright/signatures';
import test, { type ExecutionContext } from 'ava';
import { childrenOf, encoded, octets, readWhole } from '#crypto/asn1/read.js';
import { octetString, oid, sequence, small, tlv } from '#crypto/asn1/write.js';
import type { DigestName } from '#crypto/core/types.js';
import { type KeySource, loadSigner } from '#crypto/keys/load.js';
import { deserializeSigner, type LocalSigner, serializeSigner } from '#crypto/keys/transfer.js';
import { validityFault } from '#crypto/validation/signing-certificate.js';
import { certificatePem } from '#crypto/x509/certificate.js';
import { algorithmOf } from '#crypto/x509/signature-algorithms.js';
import { type CertificateUse, DOCUMENT_SIGNING, issueCertificate } from '../../pki/issuing.ts';
import { keyPemOf, pki, type TestSigner } from '../../pki/pki.ts';
import { runTool, withTools } from '../../verifiers/index.ts';

const toolTest = withTools(test, 'openssl');

const NOW = Date.now();
const DAY = 86_400_000;
const folder = mkdtempSync(join(tmpdir(), 'sealwright-keys-'));
test.after.always(() => rmSync(folder, { recursive: true, force: true }));

let files = 0;

function file(content: string | Uint8Array = ''): string {
  const path = join(folder, `file-${++files}`);
  writeFileSync(path, content);
  return path;
}

function chainPem(signer: TestSigner): string {
  return [signer.certificate, ...signer.chain, pki().root.certificate].map(certificatePem).join('');
}

function pem(
  signer: TestSigner,
  options: { key?: string; password?: string; certificates?: string } = {},
): KeySource {
  return {
    source: 'Pem',
    certificatePath: file(options.certificates ?? chainPem(signer)),
    keyPath: file(options.key ?? keyPemOf(signer.key.keyObject)),
    ...(options.password === undefined ? {} : { password: options.password }),
  };
}

/** Returns the result of loading and of the validity check. */
async function codeOf(source: KeySource, now = NOW): Promise<string> {
  try {
    const fault = validityFault(await loadSigner(source), now);
    if (fault !== undefined) return fault.code;
  } catch (error) {
    return (error as { code: string }).code;
  }
  return 'loaded';
}

function sameKey({ key: one }: LocalSigner, { key: other }: LocalSigner): boolean {
  return one.where === 'memory' && other.where === 'memory' && one.keyObject.equals(other.keyObject);
}

/** Makes a container with the openssl program. */
async function pfx(signer: TestSigner, password: string, ...options: readonly string[]): Promise<string> {
  const out = file();
  const chain = file(signer.chain.map(certificatePem).join('') + certificatePem(pki().root.certificate));
  const { exit, stderr } = await runTool('openssl', [
    'pkcs12',
    '-export',
    '-inkey',
    file(keyPemOf(signer.key.keyObject)),
    '-in',
    file(certificatePem(signer.certificate)),
    '-certfile',
    chain,
    '-passout',
    `pass:${password}`,
    '-out',
    out,
    ...options,
  ]);
  if (exit !== 0) throw new Error(stderr);
  return out;
}

test('PEM is read as key, certificate, chain without root, and separate root', async (t) => {
  for (const kind of ['rsa-2048', 'p-256', 'p-521'] as const) {
    const signer = pki().signer(kind);
    const loaded = await loadSigner(pem(signer));
    t.true(sameKey(loaded, signer));
    t.deepEqual(loaded.certificate, signer.certificate);
    t.deepEqual(loaded.chain, [pki().issuing.certificate]);
    t.deepEqual(loaded.root, pki().root.certificate);
    t.is(loaded.keyType, signer.keyType);
    t.is(loaded.fingerprint, createHash('sha256').update(signer.certificate).digest('hex'));
    t.is(loaded.thumbprint, createHash('sha1').update(signer.certificate).digest('hex').toUpperCase());
    t.regex(loaded.subject, /CN=Signer/);
  }
});

test('PEM certificates are read in any order, with text around them', async (t) => {
  const signer = pki().signer('p-256');
  const certificates = `Bag Attributes\n${[pki().root.certificate, ...signer.chain, signer.certificate].map(certificatePem).join('notes\n')}`;
  const loaded = await loadSigner(pem(signer, { certificates }));
  t.deepEqual(loaded.certificate, signer.certificate);
  t.deepEqual(loaded.chain, signer.chain);
});

test('an encrypted PEM key opens with its password and only with it', async (t) => {
  const signer = pki().signer('rsa-2048');
  const key = signer.key.keyObject
    .export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'open' })
    .toString();
  t.true(sameKey(await loadSigner(pem(signer, { key, password: 'open' })), signer));
  t.is(await codeOf(pem(signer, { key, password: 'shut' })), 'key.password');
  t.is(await codeOf(pem(signer, { key })), 'key.password');
});

test('each fault of a key file has its own code', async (t) => {
  const signer = pki().signer('p-256');
  t.is(await codeOf(pem(signer, { key: keyPemOf(pki().signer('p-384').key.keyObject) })), 'key.mismatch');
  t.is(await codeOf(pem(signer, { key: 'no key' })), 'key.unreadable');
  t.is(await codeOf({ source: 'Pem' } as never), 'request.invalid');
  t.is(await codeOf(pem(signer, { certificates: 'no certificate' })), 'certificate.malformed');
  t.is(
    await codeOf(pem(signer, { certificates: certificatePem(signer.certificate.subarray(0, 300)) })),
    'certificate.malformed',
  );
  t.is(
    await codeOf({ source: 'Pem', certificatePath: join(folder, 'none'), keyPath: file() }),
    'key.unreadable',
  );
  const early = pki().signerValid(NOW + DAY, NOW + 2 * DAY);
  t.is(await codeOf(pem(early)), 'certificate.not-yet-valid');
  t.is(await codeOf(pem(early), NOW + 3 * DAY), 'certificate.expired');
  t.is(await codeOf(pem(early), NOW + 1.5 * DAY), 'loaded');

  const odd = (key: ReturnType<typeof generateKeyPairSync>, ca = false) => {
    const certificate = issueCertificate({
      subject: { commonName: 'odd' },
      issuer: { commonName: pki().issuing.name },
      ...key,
      issuerKey: pki().issuing.key,
      serial: Buffer.from([1, 2, 3]),
      notBefore: NOW - DAY,
      notAfter: NOW + DAY,
      use: ca ? { kind: 'ca' } : { kind: 'signer', purposes: DOCUMENT_SIGNING },
    });
    return pem(signer, { key: keyPemOf(key.privateKey), certificates: certificatePem(certificate) });
  };
  t.is(await codeOf(odd(generateKeyPairSync('rsa', { modulusLength: 1024 }))), 'key.unsupported');
  t.is(await codeOf(odd(generateKeyPairSync('ec', { namedCurve: 'secp224r1' }))), 'key.unsupported');
  t.is(await codeOf(odd(generateKeyPairSync('ed448'))), 'key.unsupported');
  t.is(await codeOf(odd(generateKeyPairSync('ec', { namedCurve: 'P-256' }), true)), 'key.unsupported');
  t.is(await codeOf(odd(generateKeyPairSync('ec', { namedCurve: 'P-256' }))), 'loaded');
});

/** A certificate below the test authority for a key that has others. */
function certificateFor(
  key: KeyObject,
  from: number,
  to: number,
  other: { readonly issuer?: KeyObject; readonly use?: CertificateUse } = {},
): Buffer {
  const { issuer = pki().issuing.key, use = { kind: 'signer', purposes: DOCUMENT_SIGNING } } = other;
  const isSelfSigned = issuer === key;
  const named = (commonName: string) => ({ country: 'XX', organization: 'Sealwright tests', commonName });
  return issueCertificate({
    subject: named('Signer of several years'),
    issuer: named(isSelfSigned ? 'Signer of several years' : pki().issuing.name),
    publicKey: createPublicKey(key),
    issuerKey: issuer,
    serial: randomBytes(8),
    notBefore: NOW + from * DAY,
    notAfter: NOW + to * DAY,
    use,
  });
}

test('of several certificates of one key in PEM, the first of an authority that is valid now and may sign is used and named', async (t) => {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const own = certificateFor(privateKey, -9, 900, { issuer: privateKey });
  const [past, early, old, renewed, mirrored] = [
    [-400, -30],
    [30, 800],
    [-300, 20],
    [-2, 365],
    [-2, 200],
  ].map(([from = 0, to = 0]) => certificateFor(privateKey, from, to)) as [
    Buffer,
    Buffer,
    Buffer,
    Buffer,
    Buffer,
  ];
  const key = keyPemOf(privateKey);
  const load = (certificates: readonly Buffer[]) =>
    loadSigner({
      source: 'Pem',
      certificatePath: file([...certificates, ...pki().signer('p-256').chain].map(certificatePem).join('')),
      keyPath: file(key),
    });
  const crlSigner = certificateFor(privateKey, -2, 900, { use: { kind: 'crl' } });
  const all = [own, crlSigner, past, early, old, renewed, mirrored];
  for (const [certificates, first] of [
    [all, old],
    [all.toReversed(), mirrored],
  ] as const) {
    const { certificate, warnings, thumbprint } = await load(certificates);
    t.deepEqual(certificate, first);
    const said = warnings.find(({ code }) => code === 'certificate.several')?.text ?? '';
    t.true(said.includes('7 certificates') && said.includes(thumbprint), said);
  }
  t.deepEqual((await load([past, early])).certificate, early);
  t.deepEqual((await load([past, own])).certificate, own);
  t.deepEqual((await load([past, crlSigner])).certificate, past);
  const twice = await load([renewed, renewed]);
  t.false(twice.warnings.some(({ code }) => code === 'certificate.several'));
});

toolTest(
  'a thumbprint names any of the certificates of one key in a container, and without it the longest that may sign is used',
  async (t) => {
    const signer = pki().signer('p-256');
    const { keyObject } = signer.key;
    const renewed = certificateFor(keyObject, -1, 9000);
    const crlSigner = certificateFor(keyObject, -1, 9900, { use: { kind: 'crl' } });
    const path = await pfx({ ...signer, chain: [crlSigner, renewed, ...signer.chain] }, 'open');
    t.deepEqual((await loadSigner({ source: 'Pfx', path, password: 'open' })).certificate, renewed);
    for (const certificate of [signer.certificate, renewed]) {
      // With the mark that Windows copies.
      const thumbprint = `\u200e${createHash('sha1').update(certificate).digest('hex')}`;
      const loaded = await loadSigner({ source: 'Pfx', path, password: 'open', thumbprint });
      t.deepEqual(loaded.certificate, certificate);
      t.deepEqual(loaded.warnings, []);
    }
  },
);

test('PEM is read as Windows shells, variables and editors leave it, and certificates also from P7B', async (t) => {
  const signer = pki().signer('rsa-2048');
  const key = keyPemOf(signer.key.keyObject);
  const certificates = chainPem(signer);
  const wide = (text: string) => Buffer.concat([Buffer.from('fffe', 'hex'), Buffer.from(text, 'utf16le')]);
  const forms: readonly (readonly [string, (text: string) => string | Buffer])[] = [
    ['UTF-16LE', wide],
    ['UTF-16BE', (text) => wide(text).swap16()],
    ['line ends as in variables', (text) => text.replaceAll('\n', '\\n')],
    ['one line', (text) => text.replaceAll('\n', ' ')],
    ['indented', (text) => text.replaceAll(/^/gm, '    ')],
  ];
  for (const [form, written] of forms) {
    const loaded = await loadSigner({
      source: 'Pem',
      certificatePath: file(written(certificates)),
      keyPath: file(written(key)),
    });
    t.true(sameKey(loaded, signer), form);
    t.deepEqual(loaded.chain, signer.chain, form);
  }
  const sealed = signer.key.keyObject
    .export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'open' })
    .toString();
  t.true(
    sameKey(await loadSigner(pem(signer, { key: sealed.replaceAll('\n', ' '), password: 'open' })), signer),
  );
  t.is(await codeOf(pem(signer, { key: sealed.replaceAll('\n', ' ') })), 'key.password');
});

toolTest('the certificates of a PEM key may come as P7B, in PEM and in DER', async (t) => {
  const signer = pki().signer('p-256');
  for (const form of ['PEM', 'DER']) {
    const out = file();
    const words = ['crl2pkcs7', '-nocrl', '-certfile', file(chainPem(signer)), '-outform', form, '-out', out];
    t.is((await runTool('openssl', words)).exit, 0);
    const loaded = await loadSigner({
      source: 'Pem',
      certificatePath: out,
      keyPath: file(keyPemOf(signer.key.keyObject)),
    });
    t.deepEqual([loaded.certificate, ...loaded.chain], [signer.certificate, ...signer.chain], form);
  }
});

test('a file of another kind in the place of a container is called what it is', async (t) => {
  const signer = pki().signer('p-256');
  const said = async (content: string | Uint8Array): Promise<string> => {
    try {
      await loadSigner({ source: 'Pfx', path: file(content) });
    } catch (error) {
      const { code, message } = error as { code: string; message: string };
      return `${code} ${message}`;
    }
    return 'loaded';
  };
  t.regex(await said(Buffer.from('feedfeed00000002', 'hex')), /^key\.unreadable .*key store of Java/);
  t.regex(
    await said(chainPem(signer) + keyPemOf(signer.key.keyObject)),
    /^key\.unreadable .*PEM file with a key/,
  );
  t.regex(await said(chainPem(signer)), /^key\.unreadable .*certificates without a key/);
  t.regex(await said(signer.certificate), /^key\.unreadable .*certificates without a key/);
  t.regex(await said('nothing'), /^key\.unreadable .*can't be read/);
});

toolTest(
  'a container is opened whose password was taken as bytes of UTF-8, as older programs do',
  async (t) => {
    const signer = pki().signer('p-256');
    const password = 'pässwörd €';
    // What openssl makes of these characters is what older versions made of the bytes of the password.
    const bytes = Buffer.from(password).toString('latin1');
    const old = ['-legacy', '-keypbe', 'PBE-SHA1-3DES', '-certpbe', 'PBE-SHA1-3DES'];
    const path = await pfx(signer, bytes, ...old);
    t.true(sameKey(await loadSigner({ source: 'Pfx', path, password }), signer));
    t.true(
      sameKey(
        await loadSigner({ source: 'Pfx', path: await pfx(signer, password, ...old), password }),
        signer,
      ),
    );
    t.is(await codeOf({ source: 'Pfx', path, password: 'pässwörd' }), 'key.password');
  },
);

/** Loads a key and signs in CMS and XML with it; the outcome is the verdict of both, or the code of the refusal. */
async function outcomeOf(
  t: ExecutionContext,
  pair: { readonly publicKey: KeyObject; readonly privateKey: KeyObject },
  digest?: DigestName,
): Promise<string> {
  const { root, issuing } = pki();
  const certificate = issueCertificate({
    subject: { commonName: 'Signer of another kind' },
    issuer: { country: 'XX', organization: 'Sealwright tests', commonName: issuing.name },
    ...pair,
    issuerKey: issuing.key,
    serial: Buffer.from([1, 2, 3]),
    notBefore: NOW - DAY,
    notAfter: NOW + DAY,
    use: { kind: 'signer', purposes: DOCUMENT_SIGNING },
  });
  const key = file(keyPemOf(pair.privateKey));
  const certificatePath = file(certificatePem(certificate) + certificatePem(issuing.certificate));
  const signer = await loadSigner({ source: 'Pem', certificatePath, keyPath: key });
  const verdicts: string[] = [];
  for (const format of ['Cades', 'Xades'] as const) {
    const output = join(folder, `file-${++files}`);
    const request = { format, input: file('<order/>'), output, signer, at: NOW } as const;
    try {
      signFile({ ...request, ...(digest !== undefined && { digest }) });
    } catch (error) {
      return (error as { code: string }).code;
    }
    const trust = { anchors: [root.certificate], intermediates: [], revocation: 'none' } as const;
    const report = await validateFile({ format, path: request.output, at: NOW, trust });
    verdicts.push(report.indication);
    if (format !== 'Cades') continue;
    const words = ['cms', '-verify', '-inform', 'DER', '-in', request.output, '-CAfile', pki().rootFile];
    const { exit, stderr } = await runTool('openssl', [...words, '-purpose', 'any', '-out', file()]);
    t.is(exit, 0, stderr);
  }
  return [...new Set(verdicts)].join();
}

toolTest('a PKCS#12 container in Base64, as secret stores hold it, is opened', async (t) => {
  const signer = pki().signer('p-256');
  const path = join(folder, 'stored.pfx');
  const named = ['-inkey', file(keyPemOf(signer.key.keyObject)), '-in', file(chainPem(signer))];
  const words = ['pkcs12', '-export', ...named, '-passout', 'pass:open', '-out', path];
  t.is((await runTool('openssl', words)).exit, 0);
  const text = readFileSync(path).toString('base64');
  const lines = text.replace(/.{64}/g, '$&\r\n');
  for (const form of [text, `${lines}\n`, `-----BEGIN PKCS12-----\n${lines}\n-----END PKCS12-----\n`]) {
    const source = { source: 'Pfx', path: file(form), password: 'open' } as const;
    t.true((await loadSigner(source)).certificate.equals(signer.certificate));
  }
  t.is(await codeOf({ source: 'Pfx', path: file(text.slice(4)), password: 'open' }), 'key.unreadable');
});

toolTest('keys on further curves sign, and openssl accepts their signatures', async (t) => {
  for (const namedCurve of ['secp256k1', 'brainpoolP256r1', 'brainpoolP320r1', 'brainpoolP512r1']) {
    t.is(await outcomeOf(t, generateKeyPairSync('ec', { namedCurve })), 'TOTAL-PASSED', namedCurve);
  }
});

toolTest('RSA-PSS keys sign with the digest they are bound to, and refuse another', async (t) => {
  const free = generateKeyPairSync('rsa-pss', { modulusLength: 2048 });
  t.is(await outcomeOf(t, free), 'TOTAL-PASSED');
  t.is(await outcomeOf(t, free, 'sha512'), 'TOTAL-PASSED');
  const parameters = { hashAlgorithm: 'sha384', mgf1HashAlgorithm: 'sha384' };
  const bound = generateKeyPairSync('rsa-pss', { modulusLength: 2048, ...parameters });
  t.is(await outcomeOf(t, bound), 'TOTAL-PASSED');
  t.is(await outcomeOf(t, bound, 'sha256'), 'key.unsupported');
});

toolTest('PKCS#12 with old and with new ciphers is opened, for RSA and EC keys', async (t) => {
  const ways: readonly (readonly string[])[] = [
    ['-legacy'],
    ['-legacy', '-keypbe', 'PBE-SHA1-3DES', '-certpbe', 'PBE-SHA1-3DES'],
    [],
    ['-keypbe', 'AES-128-CBC', '-certpbe', 'AES-128-CBC', '-macalg', 'SHA1'],
    ['-macalg', 'SHA512'],
    ['-keypbe', 'NONE', '-certpbe', 'NONE'],
  ];
  for (const kind of ['rsa-2048', 'p-256', 'p-384'] as const) {
    const signer = pki().signer(kind);
    for (const way of ways) {
      const loaded = await loadSigner({
        source: 'Pfx',
        path: await pfx(signer, 'pässword', ...way),
        password: 'pässword',
      });
      t.true(sameKey(loaded, signer), `${kind} ${way.join(' ')}`);
      t.deepEqual(loaded.certificate, signer.certificate);
      t.deepEqual(loaded.chain, signer.chain);
      t.deepEqual(loaded.root, pki().root.certificate);
    }
  }
});

toolTest(
  'PKCS#12 opens without a password, a wrong password has a code of its own, and other bytes are unreadable',
  async (t) => {
    const signer = pki().signer('p-256');
    t.is(await codeOf({ source: 'Pfx', path: await pfx(signer, '') }), 'loaded');
    for (const way of [['-legacy'], [], ['-nomac'], ['-legacy', '-nomac']]) {
      const path = await pfx(signer, 'right', ...way);
      t.is(await codeOf({ source: 'Pfx', path, password: 'wrong' }), 'key.password', way.join(' '));
      t.is(await codeOf({ source: 'Pfx', path }), 'key.password', way.join(' '));
    }
    t.is(await codeOf({ source: 'Pfx', path: file('rubbish') }), 'key.unreadable');
    t.is(await codeOf({ source: 'Pfx', path: file() }), 'key.unreadable');
    t.is(await codeOf({ source: 'Pfx', path: join(folder, 'none') }), 'key.unreadable');
  },
);

toolTest('the thumbprint selects one of several keys in a container', async (t) => {
  const signers = [pki().signer('rsa-2048'), pki().signer('p-256')] as const;
  const safes = await Promise.all(
    signers.map(async (signer) => safesOf(readFileSync(await pfx(signer, 'two keys', '-nomac')))),
  );
  const data = oid('1.2.840.113549.1.7.1');
  const both = sequence(...safes.flat());
  const path = file(sequence(small(3), sequence(data, tlv(0xa0, octetString(both)))));

  t.is(await codeOf({ source: 'Pfx', path, password: 'two keys' }), 'key.ambiguous');
  t.notThrows(() => createPrivateKey(keyPemOf(signers[0].key.keyObject)), 'nothing is left of the refusal');
  for (const { certificate } of signers) {
    const sha1 = createHash('sha1').update(certificate).digest('hex');
    const thumbprint = sha1.replace(/..(?=.)/g, '$&:');
    const loaded = await loadSigner({ source: 'Pfx', path, password: 'two keys', thumbprint });
    t.deepEqual(loaded.certificate, certificate);
  }
  const nobody = { source: 'Pfx', path, password: 'two keys', thumbprint: '00'.repeat(20) } as const;
  t.is(await codeOf(nobody), 'key.not-found');
});

/** The parts of a container's authenticated safe, encoded. */
function safesOf(container: Buffer): Buffer[] {
  const [, contentInfo] = childrenOf(readWhole(container));
  const [, explicit] = childrenOf(contentInfo ?? readWhole(container));
  const [safe] = childrenOf(explicit ?? readWhole(container));
  return childrenOf(readWhole(octets(safe ?? readWhole(container)))).map(encoded);
}

toolTest('a truncated or changed container fails with a code', async (t) => {
  const good = readFileSync(
    await pfx(pki().signer('p-256'), 'x', '-keypbe', 'AES-128-CBC', '-iter', '1', '-nomac'),
  );
  for (let at = 0; at < good.length; at += 3) {
    for (const bytes of [
      good.subarray(0, at),
      Buffer.concat([good.subarray(0, at), Buffer.from([(good[at] ?? 0) ^ 0x55]), good.subarray(at + 1)]),
    ]) {
      const code = await codeOf({ source: 'Pfx', path: file(bytes), password: 'x' });
      t.regex(code, /^(key|certificate)\.|^loaded$/);
    }
  }
});

test('a signer is sent to another thread as plain data and constructed there once', (t) => {
  for (const kind of ['rsa-2048', 'p-384'] as const) {
    const signer = pki().signer(kind);
    const data = structuredClone(serializeSigner(signer));
    const there = deserializeSigner(data);
    t.true(sameKey(there, signer));
    t.deepEqual(there.certificate, signer.certificate);
    t.deepEqual(there.chain, signer.chain);
    t.is(deserializeSigner(structuredClone(data)), there);
    t.not(deserializeSigner({ ...data, chain: [] }), there);
    const value = there.key.sign(Buffer.from('x'), algorithmOf(there, {}));
    t.true(verify('sha256', Buffer.from('x'), createPublicKey(signer.key.keyObject), value));
  }
});
