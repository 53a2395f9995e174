import { createHash } from 'node:crypto';
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import test from 'ava';
import type { BeginSigningRequest, CryptoError, SignerIdentity } from '#crypto/core/types.js';
import { trySigning } from '#crypto/files/sign-file.js';
import { signPades } from '#crypto/pades/sign.js';
import { beginPades, finishPades } from '#crypto/pades/two-step.js';
import { concatenatedValue } from '#crypto/x509/signature-values.js';
import { pki, type TestSigner } from '../../pki/pki.ts';
import { withTools } from '../../verifiers/index.ts';
import { classicPdf, documentObjects, stream, streamPdf } from '../pdf/build.ts';
import { accepted, freshPath, judge, put } from './validation/verdicts.ts';

const TOOLS = ['pdfsig', 'certutil', 'mutool', 'qpdf', 'openssl'] as const;

const toolTest = withTools(test, ...TOOLS);

/** The signer as two-step signing knows it: without a key. */
function identity({ certificate, chain, keyType, keyBits, fingerprint }: SignerIdentity): SignerIdentity {
  return { certificate, chain, keyType, keyBits, fingerprint };
}

function begin(input: string, signer: TestSigner, more: Partial<BeginSigningRequest> = {}) {
  return beginPades({ format: 'Pades', input, signer: identity(signer), at: Date.now(), ...more });
}

function tryOut(input: string, signer: TestSigner, more: Partial<BeginSigningRequest> = {}): void {
  trySigning({ format: 'Pades', input, signer: identity(signer), at: Date.now(), ...more });
}

async function refusal(work: Promise<unknown>): Promise<string> {
  try {
    await work;
    return '';
  } catch (error) {
    return (error as CryptoError).code;
  }
}

const cases: readonly {
  readonly kind: Parameters<ReturnType<typeof pki>['signer']>[0];
  readonly more?: Partial<BeginSigningRequest>;
  readonly raw?: boolean;
}[] = [
  { kind: 'rsa-2048' },
  { kind: 'rsa-2048', more: { digest: 'sha512' } },
  { kind: 'p-256' },
  { kind: 'p-256', raw: true },
  { kind: 'p-384', more: { digest: 'sha384' }, raw: true },
  { kind: 'p-521', raw: true },
];

for (const { kind, more = {}, raw = false } of cases) {
  const form = `${kind} with ${more.digest ?? 'sha256'}${raw ? ', r and s in a row' : ''}`;
  toolTest(`a PDF is signed in two steps by a key of kind ${form}, and every verifier agrees`, async (t) => {
    const signer = pki().signer(kind);
    const input = put(streamPdf(documentObjects({ form: 'direct' })));
    const begun = begin(input, signer, { ...more, pades: { reason: 'Zwei Schritte ✓' } });
    t.deepEqual(begun.hash, createHash(begun.algorithm.digest).update(begun.toBeSigned).digest());
    const value = signer.key.sign(begun.toBeSigned, begun.algorithm);
    const output = freshPath('signed.pdf');
    const state = JSON.parse(JSON.stringify(begun.state)) as string;
    const result = await finishPades({
      input,
      output,
      state,
      value: raw ? concatenatedValue(value, signer.keyBits) : value,
    });
    const report = judge({ input, output, result }, signer);
    t.true(report.ok, JSON.stringify(report.checks.filter(({ ok }) => !ok)));
    await accepted(t, { input, output, result });
  });
}

test('external RSA-PSS and Ed25519 values are accepted, and others are refused', async (t) => {
  for (const [kind, padding] of [
    ['rsa-2048', 'pss'],
    ['ed25519', 'pkcs1'],
  ] as const) {
    const signer = pki().signer(kind);
    const input = put(classicPdf(documentObjects()));
    const begun = begin(input, signer, { padding });
    const value = signer.key.sign(begun.toBeSigned, begun.algorithm);
    const output = freshPath('signed.pdf');
    const result = await finishPades({ input, output, state: begun.state, value });
    const report = judge({ input, output, result }, signer);
    t.true(report.ok, JSON.stringify(report.checks.filter(({ ok }) => !ok)));
    const broken = Buffer.from(value);
    broken.writeUInt8(broken.readUInt8(20) ^ 1, 20);
    const again = { input, output: freshPath('none.pdf'), state: begun.state, value: broken };
    t.is(await refusal(finishPades(again)), 'signature.mismatch');
    t.false(existsSync(again.output));
  }
});

test('two steps give the same bytes as one', async (t) => {
  const signer = pki().signer('rsa-2048');
  const input = put(classicPdf(documentObjects()));
  const at = Date.now();
  const once = freshPath('once.pdf');
  const output = freshPath('signed.pdf');
  const expected = signPades({ format: 'Pades', input, output: once, signer, at });
  const begun = begin(input, signer, { at });
  const value = signer.key.sign(begun.toBeSigned, begun.algorithm);
  const result = await finishPades({ input, output, state: begun.state, value, sync: false });
  t.deepEqual(result, expected);
  t.true(readFileSync(once).equals(readFileSync(output)));
});

test('the state omits the placeholder zeros and fits its own file alone', async (t) => {
  const signer = pki().signer('p-256');
  const input = put(classicPdf(documentObjects()));
  const begun = begin(input, signer);
  t.true(begun.state.length < 8192);
  t.notRegex(begun.state, /PRIVATE|MDAwMDAwMDAwMDAwMDAw/);
  const value = signer.key.sign(begun.toBeSigned, begun.algorithm);
  const pdf = readFileSync(input);
  const longer = put(Buffer.concat([pdf, Buffer.from('\n')]));
  const other = Buffer.from(pdf);
  other.write('J', pdf.indexOf('Hello'), 'latin1');
  for (const changed of [longer, put(other)]) {
    const output = freshPath('none.pdf');
    t.is(await refusal(finishPades({ input: changed, output, state: begun.state, value })), 'input.changed');
    t.false(existsSync(output));
  }
  const output = freshPath('signed.pdf');
  await finishPades({ input, output, state: begun.state, value });
  t.is(await refusal(finishPades({ input, output, state: begun.state, value })), 'output.exists');
});

test('an invalid state is refused before anything is written', async (t) => {
  const signer = pki().signer('p-256');
  const input = put(classicPdf(documentObjects()));
  const begun = begin(input, signer);
  const value = signer.key.sign(begun.toBeSigned, begun.algorithm);
  const state = JSON.parse(begun.state) as Record<string, unknown>;
  const states = [
    '',
    'null',
    '{}',
    '{"kind":"cades/1"}',
    begun.state.slice(0, -1),
    JSON.stringify({ ...state, space: 1e12 }),
    JSON.stringify({ ...state, space: 'much' }),
    ...Object.keys(state).map((key) => JSON.stringify({ ...state, [key]: undefined })),
    ...Object.keys(state).map((key) => JSON.stringify({ ...state, [key]: {} })),
  ];
  for (const text of states) {
    const output = freshPath('none.pdf');
    t.is(await refusal(finishPades({ input, output, state: text, value })), 'request.invalid', text);
    t.false(existsSync(output));
  }
});

test('a value over other bytes, of another key or of no valid form is refused before anything is written', async (t) => {
  const signer = pki().signer('p-256');
  const input = put(classicPdf(documentObjects()));
  const begun = begin(input, signer);
  const { algorithm, toBeSigned } = begun;
  const values = [
    signer.key.sign(Buffer.concat([toBeSigned, Buffer.from('x')]), algorithm),
    pki().untrustedSigner().key.sign(toBeSigned, algorithm),
    Buffer.alloc(64),
    Buffer.alloc(0),
    Buffer.alloc(5000, 0x30),
  ];
  for (const value of values) {
    const output = freshPath('none.pdf');
    t.is(await refusal(finishPades({ input, output, state: begun.state, value })), 'signature.mismatch');
    t.false(existsSync(output));
  }
});

test('the first step, and its layout alone, refuse the requests that signing in one step refuses', (t) => {
  const signer = pki().signer('p-256');
  const codeOf = (input: string, more: Partial<BeginSigningRequest> = {}) => {
    const { code } = t.throws<CryptoError>(() => begin(input, signer, more));
    t.is(t.throws<CryptoError>(() => tryOut(input, signer, more)).code, code);
    return code;
  };
  t.is(codeOf(put(Buffer.alloc(0))), 'input.empty');
  t.is(codeOf(put(Buffer.from('no PDF'))), 'pdf.malformed');
  t.is(codeOf(freshPath('missing.pdf')), 'input.unreadable');
  const input = put(classicPdf(documentObjects()));
  t.is(codeOf(input, { pades: { fieldName: 'a..b' } }), 'request.invalid');
  t.is(codeOf(input, { level: 'T' }), 'request.invalid');
  t.notThrows(() => tryOut(input, signer));
});

toolTest('a file of several megabytes is signed in two steps', async (t) => {
  const objects = new Map([[9, stream('', 'x'.repeat(3 << 20))], ...documentObjects({ pages: 3 })]);
  const signer = pki().signer('p-256');
  const input = put(classicPdf(objects));
  const begun = begin(input, signer);
  const value = signer.key.sign(begun.toBeSigned, begun.algorithm);
  const output = freshPath('signed.pdf');
  const result = await finishPades({ input, output, state: begun.state, value });
  t.true(judge({ input, output, result }, signer).ok);
  await accepted(t, { input, output, result });
  const copy = freshPath('copy.pdf');
  writeFileSync(copy, readFileSync(input));
  appendFileSync(copy, 'more');
  t.is(
    await refusal(finishPades({ input: copy, output: freshPath('none.pdf'), state: begun.state, value })),
    'input.changed',
  );
});
