import { createHash, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import test from 'ava';
import { encoded } from '#crypto/asn1/read.js';
import { oid, sequence, setOf, tlv } from '#crypto/asn1/write.js';
import {
  type AddCadesSignerRequest,
  addCadesSigner,
  addCadesSignerAtLevel,
} from '#crypto/cades/add-signer.js';
import { augmentCades } from '#crypto/cades/augment.js';
import { type CounterSignCadesRequest, counterSignCades } from '#crypto/cades/counter-sign.js';
import { signCades, signCadesAtLevel } from '#crypto/cades/sign.js';
import { amendSignedData } from '#crypto/cms/amend.js';
import { unsignedAttribute } from '#crypto/cms/attributes-template.js';
import { parseSignerInfo } from '#crypto/cms/parse.js';
import type { SignFileRequest } from '#crypto/core/types.js';
import { startAuthority } from '../../pki/authority.ts';
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
  sha256,
  signedDataIn,
} from './cades-harness.ts';

const toolTest = withTools(test, 'openssl');

const AT = Date.now();
const COUNTER_SIGNATURE = '1.2.840.113549.1.9.6';

function first(more: Partial<SignFileRequest> = {}): SignFileRequest {
  const signer = pki().signer('p-256');
  const request = {
    format: 'Cades',
    input: file(bytes(2000)),
    output: file(),
    signer,
    at: AT,
    ...more,
  } as const;
  signCades(request);
  return request;
}

function further(
  input: string,
  kind: KeyKind,
  more: Partial<AddCadesSignerRequest> = {},
): AddCadesSignerRequest {
  return { input, output: file(), signer: pki().signer(kind), at: AT, ...more };
}

test('two signatures by the same key over the same content at the same time have different content identifiers', async (t) => {
  const { output } = first({ cades: { contentIdentifier: 'one' } });
  const request = further(output, 'p-256', { contentIdentifier: 'two' });
  addCadesSigner(request);
  const { signatures } = facts(request.output);
  t.deepEqual(failures(facts(request.output)), []);
  t.deepEqual(signatures.map(({ contentIdentifier }) => contentIdentifier).sort(), ['one', 'two']);
  t.true((await opensslCmsPrint(request.output)).includes('id-smime-aa-contentIdentifier'));
  const bad = { ...request, contentIdentifier: 'two words', output: file() };
  t.is(await codeOf(() => addCadesSigner(bad)), 'request.invalid');
});

function counter(input: string, more: Partial<CounterSignCadesRequest> = {}): CounterSignCadesRequest {
  return { input, output: file(), signer: pki().signer('p-384'), at: AT, ...more };
}

toolTest(
  'openssl accepts signers that were added one by one, and the earlier ones keep their bytes',
  async (t) => {
    for (const form of ['detached', 'enveloping', 'pem'] as const) {
      const cades = { detached: form === 'detached', armor: form === 'pem' ? 'pem' : 'der' } as const;
      const signing = first({ cades });
      const content = form === 'detached' ? { content: signing.input } : {};
      let path = signing.output;
      for (const [kind, more] of [
        ['rsa-2048', { padding: 'pss', digest: 'sha384' }],
        ['p-521', { digest: 'sha512' }],
      ] as const) {
        const before = signedDataIn(path);
        const adding = further(path, kind, { ...more, ...content });
        const done = addCadesSigner(adding);
        t.is(done.input.sha256, sha256(path));
        t.is(done.output.sha256, sha256(adding.output));
        path = adding.output;
        const after = signedDataIn(path);
        t.is(after.signers.length, before.signers.length + 1);
        for (const { encoding } of before.signers) {
          t.true(after.signers.some((signer) => signer.encoding.equals(encoding)));
        }
        const judged = { signature: path, form: form === 'pem' ? 'PEM' : 'DER', ca: pki().rootFile } as const;
        t.is(await accepted({ ...judged, ...content }), 'accepted', `${form} ${kind}`);
        t.deepEqual(failures(facts(path, content.content)), []);
        if (form === 'detached') {
          const changed = changedCopy(signing.input, 3);
          t.not(await accepted({ ...judged, content: changed }), 'accepted');
          t.not(failures(facts(path, changed)).length, 0);
        }
      }
      // One certificate of the chain for all three.
      t.is(signedDataIn(path).certificates.length, 4);
    }
  },
);

test('another CMS library accepts each of two signers, and refuses both over other content', async (t) => {
  const signing = first({ cades: { detached: true } });
  const adding = further(signing.output, 'p-384', { content: signing.input, digest: 'sha384' });
  addCadesSigner(adding);
  const der = readFileSync(adding.output);
  for (const place of [0, 1]) {
    t.true(await otherLibrary(der, readFileSync(signing.input), place));
    t.false(await otherLibrary(der, bytes(1999), place));
  }
});

toolTest('a signer is added at level LTA and leaves a signer of level B unchanged', async (t) => {
  const authority = await startAuthority();
  try {
    const signer = authority.pki.signer('rsa-2048');
    const signing = first({ signer });
    const adding = further(signing.output, 'p-256', { signer: authority.pki.signer('p-256'), level: 'LTA' });
    await addCadesSignerAtLevel(adding, authority.services);
    t.is(await accepted({ signature: adding.output, ca: authority.pki.rootFile }), 'accepted');
    const found = facts(adding.output);
    t.deepEqual(failures(found), []);
    t.deepEqual(found.signatures.map(({ level }) => level).sort(), ['B', 'LTA']);

    // And everybody climbs together afterwards; nothing that was covered is touched.
    const step = {
      format: 'Cades',
      input: adding.output,
      output: file(),
      to: 'LTA',
      at: Date.now(),
    } as const;
    await augmentCades(step, authority.services);
    const all = facts(step.output);
    t.deepEqual(failures(all), []);
    t.deepEqual(
      all.signatures.map(({ level }) => level),
      ['LTA', 'LTA'],
    );
  } finally {
    await authority.close();
  }
});

test('an archive time-stamp stays valid after signers and counter-signatures are added', async (t) => {
  const authority = await startAuthority();
  try {
    const signing: SignFileRequest = {
      format: 'Cades',
      input: file(bytes(1234)),
      output: file(),
      signer: authority.pki.signer('p-256'),
      at: AT,
      level: 'LTA',
    };
    await signCadesAtLevel(signing, authority.services);
    const adding = further(signing.output, 'rsa-2048');
    addCadesSigner(adding);
    const countering = counter(adding.output);
    counterSignCades(countering);
    const found = facts(countering.output);
    t.deepEqual(failures(found), []);
    t.true(found.signatures.some(({ level }) => level === 'LTA'));
  } finally {
    await authority.close();
  }
});

toolTest(
  'a counter-signature covers the value of the signature, without content-type, and openssl prints it',
  async (t) => {
    for (const kind of ['p-384', 'rsa-2048', 'ed25519'] as const) {
      const signing = first();
      const signer = pki().signer(kind);
      const countering = counter(signing.output, { signer, padding: 'pss' });
      const done = counterSignCades(countering);
      t.is(done.output.sha256, sha256(countering.output));
      t.is(await accepted({ signature: countering.output, ca: pki().rootFile }), 'accepted');
      t.regex(await opensslCmsPrint(countering.output), /countersignature/i);

      const [original] = signedDataIn(signing.output).signers;
      const data = signedDataIn(countering.output);
      const [signed] = data.signers;
      t.true(signed!.signature.equals(original!.signature));
      const [value, ...more] = signed!.unsignedAttributes?.values.get(COUNTER_SIGNATURE) ?? [];
      t.is(more.length, 0);
      const info = parseSignerInfo(value!);
      t.false(info.attributes?.values.has('1.2.840.113549.1.9.3'));
      const digest = kind === 'ed25519' ? 'sha512' : 'sha256';
      const messageDigest = createHash(digest).update(original!.signature).digest();
      t.true(encoded(info.attributes!.values.get('1.2.840.113549.1.9.4')![0]!).includes(messageDigest));

      const tbs = file(setOf(info.attributes!.encodings));
      const sigfile = file(info.signature);
      const key = file(
        new X509Certificate(signer.certificate).publicKey.export({ type: 'spki', format: 'pem' }),
      );
      const options =
        kind === 'ed25519'
          ? ['-rawin']
          : [
              '-rawin',
              '-digest',
              'sha256',
              ...(kind === 'rsa-2048' ? ['-pkeyopt', 'rsa_padding_mode:pss'] : []),
            ];
      const verify = (data: string) =>
        runTool('openssl', [
          'pkeyutl',
          '-verify',
          '-pubin',
          '-inkey',
          key,
          '-in',
          data,
          '-sigfile',
          sigfile,
          ...options,
        ]);
      t.is((await verify(tbs)).exit, 0, `${kind}: ${(await verify(tbs)).stderr}`);
      t.not((await verify(changedCopy(tbs, 40))).exit, 0);

      const found = facts(countering.output);
      t.deepEqual(failures(found), []);
      t.is(found.signatures[0]?.counterSignatures.length, 1);
      const at = readFileSync(countering.output).indexOf(messageDigest);
      t.not(failures(facts(changedCopy(countering.output, at))).length, 0);
    }
  },
);

test('one or both of two signatures are counter-signed, and a repetition adds a second counter-signature', (t) => {
  const signing = first();
  const adding = further(signing.output, 'rsa-2048');
  addCadesSigner(adding);
  const one = counter(adding.output, { of: 1 });
  counterSignCades(one);
  const counts = (path: string) =>
    facts(path).signatures.map(({ counterSignatures }) => counterSignatures.length);
  t.deepEqual(counts(one.output).sort(), [0, 1]);
  const both = counter(one.output, { signer: pki().signer('p-521') });
  counterSignCades(both);
  t.deepEqual(counts(both.output).sort(), [1, 2]);
  t.deepEqual(failures(facts(both.output)), []);
});

test('an addition to a broken, unsuitable or closed signature is refused and leaves no output', async (t) => {
  const enveloping = first();
  const detached = first({ cades: { detached: true } });
  const closed = file(
    amendSignedData(readFileSync(detached.output), {
      unsigned: new Map([[0, [unsignedAttribute('1.2.840.113549.1.9.16.2.48', sequence())]]]),
    }),
  );
  const empty = file(
    sequence(
      oid('1.2.840.113549.1.7.2'),
      tlv(
        0xa0,
        sequence(Buffer.from([2, 1, 1]), setOf([]), sequence(oid('1.2.840.113549.1.7.1')), setOf([])),
      ),
    ),
  );
  const adding: readonly [string, AddCadesSignerRequest][] = [
    ['signature.mismatch', further(changedCopy(enveloping.output, 900), 'p-384')],
    ['signature.mismatch', further(detached.output, 'p-384', { content: changedCopy(detached.input, 1) })],
    ['request.invalid', further(detached.output, 'p-384')],
    ['request.invalid', further(enveloping.output, 'p-384', { content: enveloping.input })],
    ['request.invalid', further(enveloping.output, 'p-384', { level: 'T' })],
    ['request.invalid', further(closed, 'p-384', { content: detached.input })],
    ['request.invalid', further(empty, 'p-384')],
    ['cms.malformed', further(file('no signature'), 'p-384')],
    ['input.unreadable', further(file(), 'p-384')],
    ['input.unreadable', further(detached.output, 'p-384', { content: file() })],
    ['key.unsupported', further(enveloping.output, 'p-384', { digest: 'sha1' as never })],
  ];
  for (const [code, request] of adding) {
    t.is(await codeOf(() => addCadesSigner(request)), code);
    t.throws(() => readFileSync(request.output), { code: 'ENOENT' });
  }
  const counters: readonly [string, CounterSignCadesRequest][] = [
    ['signature.mismatch', counter(changedCopy(enveloping.output, 900))],
    ['request.invalid', counter(enveloping.output, { of: 1 })],
    ['request.invalid', counter(enveloping.output, { of: -1 })],
    ['request.invalid', counter(closed)],
    ['cms.malformed', counter(file('no signature'))],
  ];
  for (const [code, request] of counters) {
    t.is(await codeOf(() => counterSignCades(request)), code);
    t.throws(() => readFileSync(request.output), { code: 'ENOENT' });
  }
});

test('an addition to a signature file that is cut at any byte is refused with a code', async (t) => {
  const der = readFileSync(first({ cades: { detached: true } }).output);
  for (let length = 0; length < der.length; length += 61) {
    const code = await codeOf(() => counterSignCades(counter(file(der.subarray(0, length)))));
    t.is(code, length === 0 ? 'input.empty' : 'cms.malformed');
  }
});
