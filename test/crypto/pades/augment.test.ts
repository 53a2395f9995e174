import { existsSync, readFileSync } from 'node:fs';
import test from 'ava';
import { openSource } from '#crypto/core/files.js';
import type { AugmentFileRequest, CryptoError } from '#crypto/core/types.js';
import type { SigningServices } from '#crypto/evidence/authorities.js';
import { augmentPades } from '#crypto/pades/augment.js';
import { IncrementalFile } from '#crypto/pades/incremental-file.js';
import { appendDocumentTimestamp } from '#crypto/pades/time-stamping.js';
import { inspectPades } from '#crypto/pades/validate.js';
import { startAuthority, type TestAuthority } from '../../pki/authority.ts';
import { runTool, withTools } from '../../verifiers/index.ts';
import { classicPdf, documentObjects, stream, streamPdf } from '../pdf/build.ts';
import { rawSignatures } from './inspect.ts';
import {
  acceptedAt,
  patientAuthority,
  type SignedAt,
  signAt,
  storeIn,
  subjects,
  TOOLS,
  tokensOf,
  vriKey,
} from './levels-harness.ts';
import { freshPath, put } from './validation/verdicts.ts';

const toolTest = withTools(test, ...TOOLS);

let authority: TestAuthority;
test.before(async () => {
  authority = await patientAuthority();
});
test.after.always(() => authority.close());

const plain = () => put(classicPdf(documentObjects()));

async function augment(
  input: string,
  to: AugmentFileRequest['to'],
  services: SigningServices = authority.services,
): Promise<SignedAt> {
  const output = freshPath(`to-${to}.pdf`);
  const result = await augmentPades({ format: 'Pades', input, output, to, at: Date.now() }, services);
  return { input, output, result };
}

async function refusal(input: string, to: AugmentFileRequest['to'], services?: SigningServices) {
  const output = freshPath('none.pdf');
  const request = { format: 'Pades', input, output, to, at: Date.now() } as const;
  try {
    await augmentPades(request, services ?? authority.services);
    return { code: '', message: '' };
  } catch (error) {
    if (existsSync(output)) throw new Error('a failed augmentation left its output');
    const { code, message } = error as CryptoError;
    return { code, message };
  }
}

const startsWith = (path: string, prefix: string) => {
  const whole = readFileSync(path);
  const start = readFileSync(prefix);
  return whole.subarray(0, start.length).equals(start);
};

toolTest(
  'a signature is augmented from B to T, LT and LTA and renewed, and every verifier agrees at each step',
  async (t) => {
    for (const pdf of [classicPdf(documentObjects()), streamPdf(documentObjects({ form: 'indirect' }))]) {
      const signed = await signAt(authority, 'B', put(pdf));
      const stamped = await augment(signed.output, 'T');
      await acceptedAt(t, authority, stamped, { documentTimestamps: 1 });
      t.is((await storeIn(stamped.output)).vri.size, 0);
      const proven = await augment(stamped.output, 'LT');
      await acceptedAt(t, authority, proven, { documentTimestamps: 1 });
      const keys = rawSignatures(proven.output).map(({ contents }) => vriKey(contents));
      t.deepEqual([...(await storeIn(proven.output)).vri.keys()].sort(), keys.sort());
      const archived = await augment(proven.output, 'LTA');
      await acceptedAt(t, authority, archived, { documentTimestamps: 2 });
      t.is(rawSignatures(archived.output).at(-1)?.end, archived.result.output.length);
      const renewed = await augment(archived.output, 'LTA');
      await acceptedAt(t, authority, renewed, { documentTimestamps: 3 });
      for (const { input, output } of [stamped, proven, archived, renewed]) t.true(startsWith(output, input));
    }
  },
);

test('a time-stamp covers a certificate in an older signature, also when the store repeats it later', async (t) => {
  const signed = await signAt(authority, 'B', plain());
  const stamped = await augment(signed.output, 'T');
  const { output } = await augment(stamped.output, 'LT');
  const source = openSource(output);
  try {
    const [first] = inspectPades(source).signatures;
    const covers = first?.timestamps[0]?.covers;
    const [issuing = Buffer.alloc(0)] = authority.pki.signer('p-256').chain;
    const { certificates = [], crls = [], ocsps = [] } = first?.evidence ?? {};
    t.true(certificates.some((der) => der.equals(issuing)));
    t.is(covers?.(issuing), true);
    for (const der of [...crls, ...ocsps]) t.is(covers?.(der), false);
    t.true(crls.length + ocsps.length > 0);
  } finally {
    source.close();
  }
});

toolTest(
  'level B is augmented to LTA at once, and each time-stamp covers the evidence about the earlier ones',
  async (t) => {
    const own = await startAuthority({ sources: 'crl' });
    try {
      const signed = await signAt(own, 'B', plain());
      const archived = await augment(signed.output, 'LTA', own.services);
      await acceptedAt(t, own, archived, { documentTimestamps: 2 });
      const raw = rawSignatures(archived.output);
      const keys = raw.map(({ contents }) => vriKey(contents));
      for (const [index, { end }] of raw.entries()) {
        const covered = put(readFileSync(archived.output).subarray(0, end));
        const store = await storeIn(covered);
        t.deepEqual([...store.vri.keys()].sort(), keys.slice(0, index).sort());
        if (index === 0) continue;
        // Without the network and without a later revision, the signer is proven good, and so is its CA.
        const certificates = pemFile(store.certificates, 'CERTIFICATE');
        const crls = pemFile(store.crls, 'X509 CRL');
        const verdict = await runTool('openssl', [
          'verify',
          '-CAfile',
          own.pki.rootFile,
          '-untrusted',
          certificates,
          '-crl_check_all',
          '-CRLfile',
          crls,
          '-purpose',
          'any',
          pemFile([own.pki.signer('p-256').certificate], 'CERTIFICATE'),
        ]);
        t.is(verdict.exit, 0, verdict.stderr);
      }
    } finally {
      await own.close();
    }
  },
);

function pemFile(values: readonly Buffer[], label: string): string {
  const lines = values.map((der) => der.toString('base64').replace(/.{64}/g, '$&\n'));
  return put(
    Buffer.from(lines.map((body) => `-----BEGIN ${label}-----\n${body}\n-----END ${label}-----\n`).join('')),
  );
}

toolTest('a signature with a time-stamp gets no second one for level LT', async (t) => {
  const signed = await signAt(authority, 'T', plain());
  const proven = await augment(signed.output, 'LT');
  await acceptedAt(t, authority, proven);
  const raw = rawSignatures(proven.output);
  t.is(raw.length, 1);
  t.is(tokensOf(raw[0]?.signature ?? Buffer.alloc(0)).tokens.length, 1);
  t.true(subjects((await storeIn(proven.output)).certificates).includes('Authority time-stamps'));
});

toolTest('a renewal adds evidence for the last time-stamp, and none that is already stored', async (t) => {
  const archived = await signAt(authority, 'LTA', plain());
  const before = await storeIn(archived.output);
  const renewed = await augment(archived.output, 'LTA', authority.freshServices());
  await acceptedAt(t, authority, renewed, { documentTimestamps: 2 });
  const after = await storeIn(renewed.output);
  const last = rawSignatures(archived.output).at(-1);
  const added = [...after.vri.keys()].filter((key) => !before.vri.has(key));
  t.deepEqual(added, [vriKey(last?.contents ?? Buffer.alloc(0))]);
  t.true(subjects(after.vri.get(added[0] ?? '')?.certificates ?? []).includes('Authority time-stamps'));
  for (const list of [after.certificates, after.crls, after.ocsps]) {
    t.is(new Set(list.map((der) => der.toString('hex'))).size, list.length);
  }
  // New answers about the time-stamp's signer, but the certificates were known.
  t.is(after.certificates.length, before.certificates.length);
});

toolTest('several signatures get evidence each, and share one document time-stamp', async (t) => {
  const first = await signAt(authority, 'B', plain());
  const second = await signAt(authority, 'T', first.output, { signer: authority.pki.signer('p-384') });
  const third = await signAt(authority, 'B', second.output, { signer: authority.pki.signer('rsa-2048') });
  const proven = await augment(third.output, 'LT');
  await acceptedAt(t, authority, proven, { signatures: 3, documentTimestamps: 1 });
  t.is((await storeIn(proven.output)).vri.size, 4);
});

toolTest('a security store without VRI entries counts for the content of a later time-stamp', async (t) => {
  const proven = await signAt(authority, 'LT', plain());
  // The same length, so that no offset moves; another signer writes no /VRI.
  const text = readFileSync(proven.output).toString('latin1').replace('/VRI <<', '/XYZ <<');
  const without = await stamped(put(Buffer.from(text, 'latin1')));
  const raw = rawSignatures(without);
  const renewed = await augment(without, 'LTA');
  const { vri } = await storeIn(renewed.output);
  t.deepEqual([...vri.keys()], [vriKey(raw.at(-1)?.contents ?? Buffer.alloc(0))]);
});

/** Appends a document time-stamp. */
async function stamped(input: string): Promise<string> {
  const output = freshPath('without.pdf');
  const source = openSource(input);
  try {
    const grown = new IncrementalFile(source, output, ['sha256']);
    await appendDocumentTimestamp(grown, authority.services.timestamps, 'sha256', Date.now());
    grown.finish(false);
  } finally {
    source.close();
  }
  return output;
}

test('a file that cannot be augmented is refused, and no output is left', async (t) => {
  t.is((await refusal(plain(), 'T')).code, 'request.invalid');
  t.is((await refusal(put(Buffer.from('no PDF')), 'T')).code, 'pdf.malformed');
  t.is((await refusal(put(Buffer.alloc(0)), 'T')).code, 'input.empty');
  const signed = await signAt(authority, 'B', plain());
  t.is((await refusal(signed.output, 'T', {})).code, 'request.invalid');
  t.is(
    (await refusal(signed.output, 'LT', { timestamps: authority.services.timestamps })).code,
    'request.invalid',
  );
  const text = readFileSync(signed.output).toString('latin1');
  const garbled = text.replace(/\/Contents <30/, '/Contents <31');
  t.is((await refusal(put(Buffer.from(garbled, 'latin1')), 'LT')).code, 'signature.mismatch');
  const moved = text.replace(
    /\/ByteRange\[0 (\d)/,
    (_all, digit: string) => `/ByteRange[0 ${(Number(digit) + 1) % 10}`,
  );
  t.is((await refusal(put(Buffer.from(moved, 'latin1')), 'LT')).code, 'signature.mismatch');
});

test('an unavailable authority, or a revocation of the signer, fails the signing with its reason and leaves no output', async (t) => {
  const own = await patientAuthority();
  try {
    const failing = async (level: 'T' | 'LT' | 'LTA', pdf = plain()) => {
      const output = freshPath('none.pdf');
      try {
        await signAt({ ...own, services: own.freshServices() }, level, pdf, { output });
        return { code: '', message: '' };
      } catch (error) {
        t.false(existsSync(output));
        const { code, message } = error as CryptoError;
        return { code, message };
      }
    };
    for (const [service, fault, code] of [
      ['timestamp', 'down', 'authority.unreachable'],
      ['timestamp', 'missing', 'authority.refused'],
      ['timestamp', 'garbage', 'authority.refused'],
    ] as const) {
      own.break(service, fault);
      const failed = await failing('T');
      t.is(failed.code, code, fault);
      t.true(failed.message.includes(own.timestampUrl), failed.message);
      own.mend(service);
    }
    own.break('ocsp', 'busy');
    own.break('crl', 'busy');
    t.regex((await failing('LT')).code, /^(authority|revocation)\./);
    own.mend('ocsp');
    own.mend('crl');
    const large = put(
      classicPdf(new Map([[9, stream('', 'x'.repeat(3 << 20))], ...documentObjects({ pages: 2 })])),
    );
    t.is((await failing('LT', large)).code, '');
    own.revoke(own.pki.signer('p-256').certificate, Date.now() - 60_000);
    t.is((await failing('T', large)).code, '');
    t.is((await failing('LT', large)).code, 'certificate.revoked');
    t.is((await failing('LTA')).code, 'certificate.revoked');
  } finally {
    await own.close();
  }
});

toolTest(
  'a file encrypted with an empty password is signed and archived, and its stored evidence is readable',
  async (t) => {
    for (const length of ['128', '256']) {
      const path = freshPath('encrypted.pdf');
      await runTool('qpdf', [
        '--encrypt',
        '',
        'owner',
        length,
        ...(length === '128' ? ['--use-aes=y'] : []),
        '--',
        plain(),
        path,
      ]);
      const signed = await signAt(authority, 'LTA', path, {
        pades: { reason: 'Geheim ✓', location: 'Hier' },
      });
      await acceptedAt(t, authority, signed, { documentTimestamps: 1 });
      const store = await storeIn(signed.output);
      t.true(subjects(store.certificates).includes('Authority Root'), length);
      t.is(store.vri.size, 1);
      const renewed = await augment(signed.output, 'LTA');
      await acceptedAt(t, authority, renewed, { documentTimestamps: 2 });
      t.is((await storeIn(renewed.output)).certificates.length, store.certificates.length);
    }
  },
);
