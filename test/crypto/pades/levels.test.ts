import { existsSync, readFileSync } from 'node:fs';
import test from 'ava';
import type { CryptoError } from '#crypto/core/types.js';
import { basicOcsp } from '#crypto/evidence/embedded-evidence.js';
import { revocationStatus } from '#crypto/evidence/revocation-status.js';
import { signPadesAtLevel } from '#crypto/pades/levels.js';
import { beginPades, finishPades } from '#crypto/pades/two-step.js';
import { readCertificate } from '#crypto/x509/certificate.js';
import type { TestAuthority } from '../../pki/authority.ts';
import { runTool, withTools } from '../../verifiers/index.ts';
import { classicPdf, documentObjects, hybridPdf, stream, streamPdf } from '../pdf/build.ts';
import { inspect, rawSignatures } from './inspect.ts';
import {
  acceptedAt,
  isStampedBy,
  patientAuthority,
  signAt,
  storeIn,
  subjects,
  TOOLS,
  tokensOf,
  understating,
  vriKey,
} from './levels-harness.ts';
import { freshPath, put } from './validation/verdicts.ts';

const toolTest = withTools(test, ...TOOLS, 'qpdf');

let authority: TestAuthority;
test.before(async () => {
  authority = await patientAuthority();
});
test.after.always(() => authority.close());

const plain = () => put(classicPdf(documentObjects()));

async function refusal(work: Promise<unknown>): Promise<{ readonly code: string; readonly message: string }> {
  try {
    await work;
    return { code: '', message: '' };
  } catch (error) {
    const { code, message } = error as CryptoError;
    return { code, message };
  }
}

for (const kind of ['rsa-2048', 'p-256', 'p-384'] as const) {
  toolTest(
    `a signature at level T by ${kind} carries a time-stamp over its value that openssl accepts`,
    async (t) => {
      const digest = kind === 'p-384' ? 'sha384' : 'sha256';
      const signed = await signAt(authority, 'T', plain(), { signer: authority.pki.signer(kind), digest });
      await acceptedAt(t, authority, signed);
      const [raw] = rawSignatures(signed.output);
      const { tokens, value } = tokensOf(raw?.signature ?? Buffer.alloc(0));
      t.is(tokens.length, 1);
      const [token = Buffer.alloc(0)] = tokens;
      t.true(await isStampedBy(authority, token, value));
      t.false(await isStampedBy(authority, token, Buffer.concat([value, Buffer.from([0])])));
      t.is((await inspect(signed.output)).catalog['/DSS'], undefined);
    },
  );
}

const shapes = {
  'with a cross-reference table': () => classicPdf(documentObjects()),
  'with a cross-reference stream': () => streamPdf(documentObjects({ form: 'direct', annots: 'direct' })),
  'with a hybrid cross-reference': () => hybridPdf(documentObjects({ form: 'indirect' }), [4, 7]),
  'with a startxref far off': () => classicPdf(documentObjects(), { startxrefOff: 900_000 }),
  'that is read piece by piece': () =>
    classicPdf(new Map([[9, stream('', 'x'.repeat(3 << 20))], ...documentObjects({ pages: 2 })])),
};

for (const [shape, make] of Object.entries(shapes)) {
  toolTest(`a PDF ${shape} is signed at level LTA, and every verifier agrees`, async (t) => {
    const signed = await signAt(authority, 'LTA', put(make()));
    const original = readFileSync(signed.input);
    const pdf = readFileSync(signed.output);
    t.true(pdf.subarray(0, original.length).equals(original));
    t.is(pdf.length, signed.result.output.length);
    await acceptedAt(t, authority, signed, { documentTimestamps: 1 });
    t.is(rawSignatures(signed.output).at(-1)?.end, pdf.length);
  });
}

toolTest(
  'level LT stores the chains of signer and time-stamp, and an answer about each certificate in them',
  async (t) => {
    const signed = await signAt(authority, 'LT', plain());
    await acceptedAt(t, authority, signed);
    const store = await storeIn(signed.output);
    const { pki } = authority;
    const chains = [
      [pki.signer('p-256').certificate, pki.issuing.certificate, pki.root.certificate],
      [pki.timestampSigner.certificate, pki.stamping.certificate, pki.root.certificate],
    ];
    for (const certificate of chains.flat()) {
      t.true(store.certificates.some((der) => der.equals(certificate)));
    }
    const evidence = { ...store, ocsps: store.ocsps.flatMap(basicOcsp) };
    t.is(evidence.ocsps.length, store.ocsps.length);
    for (const chain of chains) {
      for (const [index, issuer] of chain.slice(1).entries()) {
        const certificate = readCertificate(chain[index] ?? Buffer.alloc(0));
        t.is(
          revocationStatus(certificate, readCertificate(issuer), { evidence, at: Date.now() }).status,
          'good',
        );
      }
    }
    // The same question without any evidence has no answer, so the loop above can fail.
    const [signer, issuer] = (chains[0] ?? []).map(readCertificate);
    if (signer === undefined || issuer === undefined) return t.fail();
    const nothing = { certificates: [], crls: [], ocsps: [] };
    t.is(revocationStatus(signer, issuer, { evidence: nothing, at: Date.now() }).status, 'unknown');
  },
);

toolTest('openssl reads everything in the security store', async (t) => {
  const signed = await signAt(authority, 'LT', plain());
  const store = await storeIn(signed.output);
  const { pki } = authority;
  for (const der of store.certificates) {
    const { exit } = await runTool('openssl', ['x509', '-inform', 'DER', '-noout', '-in', put(der)]);
    t.is(exit, 0);
  }
  t.true(store.crls.length > 0);
  for (const der of store.crls) {
    const path = put(der, 'crl.der');
    const { exit, stderr } = await runTool('openssl', [
      'crl',
      '-inform',
      'DER',
      '-noout',
      '-in',
      path,
      '-CAfile',
      pki.rootFile,
    ]);
    t.is(exit, 0);
    t.regex(stderr, /verify OK/);
  }
  const signer = put(pki.signer('p-256').certificate, 'signer.der');
  const pem = freshPath('signer.pem');
  await runTool('openssl', ['x509', '-inform', 'DER', '-in', signer, '-out', pem]);
  const verdicts: string[] = [];
  for (const der of store.ocsps) {
    const path = put(der, 'ocsp.der');
    const read = await runTool('openssl', ['ocsp', '-respin', path, '-resp_text', '-noverify']);
    t.regex(read.stdout, /OCSP Response Status: successful/);
    const { stdout, stderr } = await runTool('openssl', [
      'ocsp',
      '-respin',
      path,
      '-no_nonce',
      '-issuer',
      pki.issuingFile,
      '-cert',
      pem,
      '-CAfile',
      pki.rootFile,
      '-verify_other',
      pki.issuingFile,
    ]);
    verdicts.push(`${stdout}${stderr}`);
  }
  // Each answer is about one certificate; one of them is the signer's.
  const good = verdicts.filter(
    (text) => text.includes('Response verify OK') && text.includes(`${pem}: good`),
  );
  t.is(good.length, 1, verdicts.join('\n'));
});

toolTest('the evidence of a signature is stored under the digest of its value', async (t) => {
  const signed = await signAt(authority, 'LT', plain());
  const store = await storeIn(signed.output);
  const [raw] = rawSignatures(signed.output);
  const entry = store.vri.get(vriKey(raw?.contents ?? Buffer.alloc(0)));
  t.is(store.vri.size, 1);
  t.deepEqual(subjects(entry?.certificates ?? []), subjects(store.certificates));
  t.is(entry?.crls.length, store.crls.length);
  t.is(entry?.ocsps.length, store.ocsps.length);
  const file = await inspect(signed.output);
  t.is(file.dict(file.catalog['/DSS'])['/Type'], '/DSS');
});

toolTest('the security store has each object once, also one that another program added', async (t) => {
  const { pki } = authority;
  const binary = (der: Buffer) => stream('', der.toString('latin1'));
  for (const form of ['direct', 'indirect'] as const) {
    const objects = documentObjects({ catalog: form === 'direct' ? '/DSS << %% >>' : '/DSS 50 0 R' });
    const store = '/Type /DSS /Certs 51 0 R /VRI << /ABCD << /Cert [52 0 R] >> >> /Private (kept)';
    objects.set(1, (objects.get(1) ?? '').replace('%%', store));
    objects.set(50, `<< ${store} >>`);
    objects.set(51, '[52 0 R 53 0 R]');
    objects.set(52, binary(pki.root.certificate));
    objects.set(53, binary(Buffer.from('something else')));
    const once = await signAt(authority, 'LT', put(classicPdf(objects)));
    const twice = await signAt(authority, 'LT', once.output, { signer: pki.signer('p-384') });
    await acceptedAt(t, authority, twice, { signatures: 2 });
    const after = await storeIn(twice.output);
    for (const list of [after.certificates, after.crls, after.ocsps]) {
      t.is(new Set(list.map((der) => der.toString('hex'))).size, list.length, form);
    }
    t.is(after.vri.size, 3);
    t.true(after.certificates.some((der) => der.toString() === 'something else'));
    const file = await inspect(twice.output);
    t.is(file.dict(file.catalog['/DSS'])['/Private'], 'u:kept');
  }
});

toolTest('the reserved space for a signature follows the size of time-stamps of the authority', async (t) => {
  const { timestamps, evidence } = authority.freshServices();
  const once = understating(timestamps, 1);
  const retried = await signAt(authority, 'T', plain(), { services: { timestamps: once, evidence } });
  t.is(once.asked, 2);
  await acceptedAt(t, authority, retried);
  const [raw] = rawSignatures(retried.output);
  const spare = (raw?.contents.length ?? 0) - (raw?.signature.length ?? 0);
  t.true(spare >= 0 && spare < 100, `${spare} bytes too many`);

  const stamped = await signAt(authority, 'LTA', plain(), {
    services: { timestamps: understating(timestamps, 2), evidence },
  });
  await acceptedAt(t, authority, stamped, { documentTimestamps: 1 });
  for (const { contents, signature } of rawSignatures(stamped.output)) {
    t.true(contents.length - signature.length < 200);
  }
});

test('an authority whose time-stamps never fit fails the signing by its name and leaves no output', async (t) => {
  const { timestamps } = authority.freshServices();
  let length = 100;
  const growing = {
    name: timestamps.name,
    tokenLength: 100,
    stamp: async (imprint: Buffer, digest: 'sha256' | 'sha384' | 'sha512') => {
      await timestamps.stamp(imprint, digest);
      length *= 4;
      return Buffer.alloc(length, 0x30);
    },
  };
  const output = freshPath('none.pdf');
  const request = { format: 'Pades', output, at: Date.now(), level: 'T' } as const;
  const signing = signPadesAtLevel(
    { ...request, input: plain(), signer: authority.pki.signer('p-256') },
    { timestamps: growing },
  );
  const { code, message } = await refusal(signing);
  t.is(code, 'authority.refused');
  t.true(message.includes(timestamps.name));
  t.false(existsSync(output));
});

toolTest('a certification that forbids changes is made at level LTA', async (t) => {
  const signed = await signAt(authority, 'LTA', plain(), { pades: { certification: 1 } });
  await acceptedAt(t, authority, signed, { documentTimestamps: 1 });
  const again = await refusal(signAt(authority, 'T', signed.output));
  t.is(again.code, 'pdf.change-forbidden');
});

test('a required time-stamp of a seed value is satisfied from level T on', async (t) => {
  const objects = documentObjects({ form: 'indirect', fields: 'indirect' });
  objects.set(7, '<< /FT /Sig /T (s) /SV << /TimeStamp << /URL (http://x) /Ff 1 >> >> >>');
  const input = put(classicPdf(objects));
  t.is((await refusal(signAt(authority, 'B', input, { pades: { fieldName: 's' } }))).code, 'request.invalid');
  t.is((await refusal(signAt(authority, 'T', input, { pades: { fieldName: 's' } }))).code, '');
});

for (const level of ['T', 'LT', 'LTA'] as const) {
  toolTest(`an external key signs at level ${level} in two steps`, async (t) => {
    const signer = authority.pki.signer('rsa-2048');
    const { key, ...identity } = signer;
    const input = plain();
    const begun = beginPades(
      { format: 'Pades', input, signer: identity, at: Date.now(), level },
      authority.services,
    );
    const output = freshPath('signed.pdf');
    const value = key.sign(begun.toBeSigned, begun.algorithm);
    await finishPades({ input, output, state: begun.state, value }, authority.services);
    await acceptedAt(t, authority, { input, output }, { documentTimestamps: level === 'LTA' ? 1 : 0 });
    t.is(tokensOf(rawSignatures(output)[0]?.signature ?? Buffer.alloc(0)).tokens.length, 1);
    if (level !== 'T') t.is((await storeIn(output)).vri.size, 1);
  });
}

toolTest('a time-stamp over the reserved space becomes a document time-stamp', async (t) => {
  const signer = authority.pki.signer('p-256');
  const { timestamps, evidence } = authority.freshServices();
  const input = plain();
  const request = { format: 'Pades', input, signer, at: Date.now(), level: 'LT' } as const;
  const begun = beginPades(request, { timestamps: understating(timestamps, 1), evidence });
  const output = freshPath('signed.pdf');
  const value = signer.key.sign(begun.toBeSigned, begun.algorithm);
  await finishPades({ input, output, state: begun.state, value }, { timestamps, evidence });
  await acceptedAt(t, authority, { input, output }, { documentTimestamps: 1 });
  t.is((await storeIn(output)).vri.size, 2);
});
