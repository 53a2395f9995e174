import { createHash, verify } from 'node:crypto';
import { readFileSync } from 'node:fs';
import test from 'ava';
import { type SignDigestRequest, signCadesDigest } from '#crypto/cades/sign.js';
import type { RemoteSigner } from '#crypto/core/types.js';
import { signFile } from '#crypto/files/sign-file.js';
import { algorithmOf } from '#crypto/x509/signature-algorithms.js';
import { startAuthority } from '../../pki/authority.ts';
import { type KeyKind, pki } from '../../pki/pki.ts';
import { withTools } from '../../verifiers/index.ts';
import {
  accepted,
  bytes,
  codeOf,
  facts,
  failures,
  file,
  identityOf,
  otherLibrary,
  readByOther,
} from './cades-harness.ts';

const toolTest = withTools(test, 'openssl');

const AT = Date.now();

function digestOf(content: Buffer, digest = 'sha256'): Buffer {
  return createHash(digest).update(content).digest();
}

function request(more: Partial<SignDigestRequest> = {}): SignDigestRequest {
  return { at: AT, signer: pki().signer('p-256'), contentDigest: digestOf(bytes(2500)), ...more };
}

test('the signature of a digest equals that of its file, for 200 files and every digest', async (t) => {
  const signer = pki().signer('rsa-2048');
  const digests = ['sha256', 'sha384', 'sha512'] as const;
  for (let place = 0; place < 200; place++) {
    const content = bytes(1 + place * 137);
    const digest = digests[place % 3] ?? 'sha256';
    const parameters = { signer, at: AT + place * 1000, digest } as const;
    const cades = { detached: true, contentIdentifier: `file-${place}` };
    const output = file();
    signFile({ ...parameters, format: 'Cades', input: content, output, cades, sync: false });
    const contentDigest = digestOf(content, digest);
    const made = await signCadesDigest({ ...parameters, contentDigest, ...cades });
    t.true(made.equals(readFileSync(output)), `file ${place}`);
  }
});

toolTest('openssl and another library accept the signature of a digest at every level', async (t) => {
  const authority = await startAuthority();
  t.teardown(() => authority.close());
  const kinds: readonly KeyKind[] = ['p-256', 'rsa-2048'];
  for (const kind of kinds) {
    const signer = authority.pki.signer(kind);
    for (const level of ['B', 'T', 'LT', 'LTA'] as const) {
      const content = bytes(2500);
      const made = {
        signer,
        level,
        at: Date.now(),
        digest: 'sha384',
        contentDigest: digestOf(content, 'sha384'),
      } as const;
      const der = await signCadesDigest(made, authority.services);
      const signature = file(der);
      const beside = file(content);
      t.is(await accepted({ signature, content: beside, ca: authority.pki.rootFile }), 'accepted');
      t.true(await otherLibrary(der, content));
      const found = facts(signature, beside);
      t.deepEqual(failures(found), []);
      t.is(found.signatures[0]?.level, level);
      t.not(failures(facts(signature, file(bytes(2501)))).length, 0);
      if (level !== 'B') t.is(await codeOf(() => signCadesDigest(made)), 'request.invalid');
    }
  }
});

test('a key elsewhere signs a digest as one here does', async (t) => {
  const local = pki().signer('rsa-2048');
  const hashes: Buffer[] = [];
  const signer: RemoteSigner = {
    ...identityOf(local),
    sign: async ({ toBeSigned, hash, algorithm }) => {
      hashes.push(hash);
      return local.key.sign(toBeSigned, algorithm);
    },
  };
  const given = request();
  const made = await signCadesDigest({ ...given, signer });
  t.true(made.equals(await signCadesDigest({ ...given, signer: local })));
  t.false(hashes.some((hash) => hash.equals(Buffer.from(given.contentDigest))));
  const other = { ...identityOf(local), sign: async () => Buffer.alloc(256) };
  t.is(await codeOf(() => signCadesDigest({ ...given, signer: other })), 'signature.mismatch');
});

test('the digest of signed attributes, or of a certificate, gives no signature over them', async (t) => {
  for (const kind of ['rsa-2048', 'p-256', 'ed25519'] as const) {
    const signer = pki().signer(kind);
    const { digest } = algorithmOf(signer, {});
    const first = await signCadesDigest(request({ signer, contentDigest: digestOf(bytes(9), digest) }));
    const { attributes } = readByOther(first);
    for (const wanted of [attributes, signer.certificate]) {
      const made = await signCadesDigest(request({ signer, contentDigest: digestOf(wanted, digest) }));
      const { attributes: signed, value } = readByOther(made);
      const name = kind === 'ed25519' ? null : digest;
      t.true(verify(name, signed, signer.key.keyObject, value), `${kind}: the value is over our attributes`);
      t.false(verify(name, wanted, signer.key.keyObject, value), kind);
    }
  }
});

test('members that the request does not have change neither type nor digest of what the key signs', async (t) => {
  const given = request({ signer: pki().signer('rsa-2048') });
  const made = await signCadesDigest(given);
  const messageDigest = digestOf(bytes(7));
  for (const contentType of ['none', '1.2.840.113549.1.9.16.1.4']) {
    const more = { contentType, messageDigest, signingTime: 0, toBeSigned: messageDigest };
    t.true(made.equals(await signCadesDigest({ ...given, ...more } as never)), contentType);
  }
});

test('what is no digest by the algorithm of the signature is refused before the key is asked', async (t) => {
  const key = {
    sign: () => {
      throw new Error('the key was asked');
    },
  };
  const asked = (more: object) => codeOf(() => signCadesDigest({ ...request(), ...more } as never));
  const signer = { ...pki().signer('p-256'), key };
  const ed25519 = { ...pki().signer('ed25519'), key };
  const hex = (name: string) => Buffer.from(digestOf(bytes(9), name).toString('hex'));
  for (const more of [
    { contentDigest: digestOf(bytes(9), 'sha1') },
    { contentDigest: digestOf(bytes(9)).subarray(1) },
    { contentDigest: Buffer.concat([digestOf(bytes(9)), Buffer.alloc(1)]) },
    { contentDigest: digestOf(bytes(9), 'sha512') },
    { contentDigest: digestOf(bytes(9)), digest: 'sha512' },
    { contentDigest: Buffer.alloc(0) },
    { contentDigest: undefined },
    { contentDigest: digestOf(bytes(9)).toString('hex') },
    { contentDigest: [...digestOf(bytes(9))] },
    { contentDigest: hex('md5') },
    { contentDigest: hex('sha256'), digest: 'sha512' },
    { contentDigest: Buffer.from(digestOf(bytes(9), 'sha384').toString('base64')), digest: 'sha512' },
    { contentDigest: digestOf(bytes(9), 'sha1'), digest: 'sha1' },
    { contentDigest: digestOf(bytes(9)), digest: 'constructor' },
    { contentDigest: digestOf(bytes(9)), signer: ed25519 },
    { at: Number.NaN },
    { signer: undefined },
  ]) {
    t.is(await asked({ signer, ...more }), 'request.invalid', JSON.stringify(more).slice(0, 90));
  }
  for (const digest of ['sha256', 'sha384', 'sha512'] as const) {
    const contentDigest = digestOf(Buffer.alloc(0), digest);
    t.is(await asked({ signer, digest, contentDigest }), 'input.empty');
  }
});
