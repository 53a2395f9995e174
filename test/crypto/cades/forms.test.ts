import { createHash, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import test from 'ava';
import { signCades } from '#crypto/cades/sign.js';
import type { SignFileRequest } from '#crypto/core/types.js';
import { certificatePem } from '#crypto/x509/certificate.js';
import { type KeyKind, pki } from '../../pki/pki.ts';
import { opensslCmsPrint, runTool, withTools } from '../../verifiers/index.ts';
import {
  accepted,
  bytes,
  changedCopy,
  codeOf,
  facts,
  failures,
  file,
  otherLibrary,
  readByOther,
  sha256,
  signedDataIn,
} from './cades-harness.ts';

const toolTest = withTools(test, 'openssl');

const AT = Date.now();
const POLICY = {
  oid: '1.3.6.1.4.1.99999.7.1',
  digest: 'sha256',
  hash: createHash('sha256').update('the policy, in words').digest(),
  uri: 'https://policies.example/signing/1.pdf',
} as const;

function request(kind: KeyKind, more: Partial<SignFileRequest> = {}): SignFileRequest {
  const input = more.input ?? file(bytes(5000));
  return { format: 'Cades', output: file(), signer: pki().signer(kind), at: AT, ...more, input };
}

const WAYS = [
  ['rsa-2048', {}],
  ['rsa-2048', { padding: 'pss' }],
  ['rsa-3072', { padding: 'pss', digest: 'sha512' }],
  ['rsa-3072', { digest: 'sha384' }],
  ['p-256', {}],
  ['p-384', { digest: 'sha384' }],
  ['p-521', { digest: 'sha512', padding: 'pss' }],
] as const;

for (const [kind, parameters] of WAYS) {
  toolTest(
    `openssl accepts every form of CAdES by ${kind} ${JSON.stringify(parameters)}, and refuses changed content`,
    async (t) => {
      const ca = pki().rootFile;
      for (const armor of ['der', 'pem'] as const) {
        const form = armor === 'der' ? 'DER' : 'PEM';
        const beside = request(kind, { ...parameters, cades: { detached: true, armor } });
        const done = signCades(beside);
        t.is(done.input.sha256, sha256(beside.input));
        t.is(done.output.sha256, sha256(beside.output));
        const detached = { signature: beside.output, form, ca } as const;
        t.is(await accepted({ ...detached, content: beside.input }), 'accepted');
        t.not(await accepted({ ...detached, content: changedCopy(beside.input, 77) }), 'accepted');
        t.deepEqual(failures(facts(beside.output, beside.input)), []);

        const inside = request(kind, { ...parameters, cades: { armor } });
        signCades(inside);
        const out = file();
        t.is(await accepted({ signature: inside.output, form, ca, out }), 'accepted');
        t.true(readFileSync(out).equals(readFileSync(inside.input)));
        t.deepEqual(failures(facts(inside.output)), []);
        if (armor === 'pem') continue;
        const changed = changedCopy(inside.output, 1000);
        t.not(await accepted({ signature: changed, form, ca }), 'accepted');
        t.not(failures(facts(changed)).length, 0);
      }
    },
  );
}

test('another CMS library accepts PSS, and refuses it over other content', async (t) => {
  const content = bytes(999);
  for (const digest of ['sha256', 'sha384', 'sha512'] as const) {
    const signing = request('rsa-2048', {
      input: file(content),
      padding: 'pss',
      digest,
      cades: { detached: true },
    });
    signCades(signing);
    const der = readFileSync(signing.output);
    t.true(await otherLibrary(der, content));
    t.false(await otherLibrary(der, bytes(1000)));
  }
});

toolTest('openssl prints one hash in all PSS parameters and a salt of the length of the hash', async (t) => {
  for (const [digest, salt] of [
    ['sha256', '20'],
    ['sha384', '30'],
    ['sha512', '40'],
  ] as const) {
    const signing = request('rsa-2048', { padding: 'pss', digest });
    signCades(signing);
    const { stdout } = await runTool('openssl', ['asn1parse', '-inform', 'DER', '-in', signing.output]);
    const after = stdout.slice(stdout.indexOf(':rsassaPss'));
    const lines = after.split('\n').slice(0, 16).join('\n');
    t.is((lines.match(new RegExp(`:${digest}`, 'g')) ?? []).length, 2, lines);
    t.regex(lines, /:mgf1/);
    t.regex(lines, new RegExp(`INTEGER +:${salt}`));
    t.notRegex(lines, /:sha1/);
  }
});

toolTest(
  'openssl pkeyutl accepts an Ed25519 signature with SHA-512 over its attributes, and refuses it over other data',
  async (t) => {
    const signer = pki().signer('ed25519');
    const key = new X509Certificate(signer.certificate).publicKey.export({ type: 'spki', format: 'pem' });
    const inkey = file(key);
    for (const detached of [true, false]) {
      const signing = request('ed25519', { digest: 'sha256', cades: { detached } });
      signCades(signing);
      const { attributes, value } = readByOther(readFileSync(signing.output));
      t.is(attributes[0], 0x31);
      const verify = (data: string) =>
        runTool('openssl', [
          'pkeyutl',
          '-verify',
          '-rawin',
          '-pubin',
          '-inkey',
          inkey,
          '-in',
          data,
          '-sigfile',
          sigfile,
        ]);
      const sigfile = file(value);
      const signed = file(attributes);
      const good = await verify(signed);
      t.is(good.exit, 0, good.stdout + good.stderr);
      t.not((await verify(changedCopy(signed, attributes.length - 1))).exit, 0);
      const messageDigest = createHash('sha512').update(readFileSync(signing.input)).digest();
      t.true(attributes.includes(messageDigest));
      const [info] = signedDataIn(signing.output).signers;
      t.is(info?.digestAlgorithm, '2.16.840.1.101.3.4.2.3');
      t.is(info?.signatureAlgorithm.id, '1.3.101.112');
      t.is(info?.signatureAlgorithm.parameters, undefined);
      t.deepEqual(failures(facts(signing.output, detached ? signing.input : undefined)), []);
      const other = detached ? file(bytes(4999)) : undefined;
      if (other !== undefined) t.not(failures(facts(signing.output, other)).length, 0);
    }
  },
);

toolTest('the certificate chain is included unless the request excludes it', async (t) => {
  const withChain = request('p-256');
  const without = request('p-256', { includeChain: false });
  signCades(withChain);
  signCades(without);
  t.is(signedDataIn(withChain.output).certificates.length, 2);
  t.deepEqual(
    signedDataIn(without.output).certificates.map((der) => certificatePem(der)),
    [certificatePem(without.signer.certificate)],
  );
  t.not(await accepted({ signature: without.output, ca: pki().rootFile }), 'accepted');
  const both = file(readFileSync(pki().rootFile, 'latin1') + readFileSync(pki().issuingFile, 'latin1'));
  t.is(await accepted({ signature: without.output, ca: both }), 'accepted');
});

toolTest('a signature policy is signed with its digest and its URI', async (t) => {
  const signing = request('p-256', { policy: POLICY });
  signCades(signing);
  t.is(await accepted({ signature: signing.output, ca: pki().rootFile }), 'accepted');
  const printed = await opensslCmsPrint(signing.output);
  t.regex(printed, /id-smime-aa-ets-sigPolicyId/);
  t.true(printed.includes(POLICY.oid));
  t.true(printed.includes(POLICY.uri));
  t.regex(printed, /id-smime-spq-ets-sqt-uri/);
  const attributes = readByOther(readFileSync(signing.output)).attributes;
  t.true(attributes.includes(POLICY.hash));
  t.is(facts(signing.output).signatures[0]?.policy, POLICY.oid);

  const plain = request('p-256');
  signCades(plain);
  t.notRegex(await opensslCmsPrint(plain.output), /sigPolicyId/);
});

test('a request with a weak algorithm, or an unwritable output, is refused and leaves no output', async (t) => {
  const cases: readonly [string, Partial<SignFileRequest>][] = [
    ['key.unsupported', { digest: 'sha1' as never }],
    ['key.unsupported', { digest: 'md5' as never }],
    ['key.unsupported', { padding: 'none' as never }],
    ['key.unsupported', { signer: { ...pki().signer('p-256'), keyBits: 384 } }],
    ['key.unsupported', { signer: { ...pki().signer('p-256'), keyType: 'rsa', keyBits: 2048 } }],
    ['request.invalid', { policy: { ...POLICY, hash: Buffer.alloc(20) } }],
    ['request.invalid', { policy: { ...POLICY, oid: '3.5.1' } }],
    ['request.invalid', { policy: { ...POLICY, oid: 'policy' } }],
    ['request.invalid', { policy: { ...POLICY, oid: '2.25.329800735698586629295641978511506172918' } }],
    ['request.invalid', { policy: { ...POLICY, uri: 'https://e.example/\u00fcber' } }],
    ['request.invalid', { level: 'T' }],
  ];
  for (const [code, more] of cases) {
    const signing = request('p-256', more);
    t.is(await codeOf(() => signCades(signing)), code, JSON.stringify(more));
    t.throws(() => readFileSync(signing.output), { code: 'ENOENT' });
  }
});

test('PEM of any length has lines of 64 characters and decodes to the DER', (t) => {
  for (const size of [1, 47, 48, 49, 1 << 20, (1 << 20) + 1, 2_500_000]) {
    // Ed25519 makes the same value twice.
    const input = file(bytes(size));
    const der = request('ed25519', { input });
    const pem = request('ed25519', { input, cades: { armor: 'pem' } });
    signCades(der);
    const done = signCades(pem);
    const text = readFileSync(pem.output, 'latin1');
    t.is(done.output.length, text.length);
    const lines = text.split('\n');
    t.is(lines.shift(), '-----BEGIN PKCS7-----');
    t.is(lines.pop(), '');
    t.is(lines.pop(), '-----END PKCS7-----');
    t.true(lines.slice(0, -1).every((line) => line.length === 64));
    t.true(Buffer.from(lines.join(''), 'base64').equals(readFileSync(der.output)));
    t.deepEqual(failures(facts(pem.output)), []);
  }
});
