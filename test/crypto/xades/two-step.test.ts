import { sign } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import test from 'ava';
import type { BeginSigningRequest, SignatureParameters, XadesFormat } from '#crypto/core/types.js';
import { concatenatedValue } from '#crypto/x509/signature-values.js';
import { signXades } from '#crypto/xades/sign.js';
import { beginXades, finishXades } from '#crypto/xades/two-step.js';
import { type KeyKind, pki } from '../../pki/pki.ts';
import { withTools } from '../../verifiers/index.ts';
import { byXmlsec, NOW, newFile, newPath, valueIsRight } from './signing.ts';

const toolTest = withTools(test, 'xmllint', 'xmlsec1');

const DOCUMENT = '<r Id="x">text</r>';

function begin(kind: KeyKind, xades: XadesFormat = {}, more: Partial<SignatureParameters> = {}) {
  const { key, ...signer } = pki().signer(kind);
  const request: BeginSigningRequest = {
    ...more,
    format: 'Xades',
    input: newFile(DOCUMENT),
    signer,
    at: NOW,
    xades,
  };
  return { key, request, begun: beginXades(request) };
}

const codeOf = (error: unknown): string | undefined => (error as { code?: string } | undefined)?.code;

for (const packaging of ['enveloped', 'element', 'enveloping', 'detached'] as const) {
  test(`a signature in two steps equals one made in one step: ${packaging}`, async (t) => {
    const xades = { packaging, elementId: 'x' };
    const { key, request, begun } = begin('rsa-2048', xades, { includeChain: false });
    const output = newPath();
    const value = key.sign(begun.toBeSigned, begun.algorithm);
    const file = await finishXades({ input: request.input, output, state: begun.state, value });
    const other = newPath();
    const single = signXades({ ...request, signer: pki().signer('rsa-2048'), output: other });
    t.deepEqual(readFileSync(output), readFileSync(other));
    t.deepEqual(file, single);
  });
}

for (const kind of ['p-256', 'p-521', 'ed25519'] as const) {
  toolTest(`external values of a key of kind ${kind} are accepted`, async (t) => {
    const { key, request, begun } = begin(kind);
    const der = key.sign(begun.toBeSigned, begun.algorithm);
    const forms = kind === 'ed25519' ? [der] : [der, concatenatedValue(der, key.bits)];
    for (const value of forms) {
      const output = newPath();
      await finishXades({ input: request.input, output, state: begun.state, value });
      t.true(await valueIsRight(output));
      if (kind !== 'ed25519') t.true((await byXmlsec(output)).ok);
    }
  });
}

test('the returned hash is enough for a key that signs hashes', async (t) => {
  const { key, request, begun } = begin('p-256');
  // Signing the bytes and signing their hash give the same type of value.
  const output = newPath();
  const value = sign('sha256', begun.toBeSigned, key.keyObject);
  t.is(begun.hash.length, 32);
  await finishXades({ input: request.input, output, state: begun.state, value });
  t.true(existsSync(output));
});

test('a value over other data, by another key, or malformed is refused and leaves no output', async (t) => {
  const { key, request, begun } = begin('p-256');
  const values = [
    key.sign(Buffer.from('something else'), begun.algorithm),
    pki().untrustedSigner().key.sign(begun.toBeSigned, begun.algorithm),
    Buffer.alloc(64),
    Buffer.alloc(0),
  ];
  for (const value of values) {
    const output = newPath();
    const error = await t.throwsAsync(
      finishXades({ input: request.input, output, state: begun.state, value }),
    );
    t.is(codeOf(error), 'signature.mismatch');
    t.false(existsSync(output));
  }
});

test('an input changed between the steps is refused', async (t) => {
  const { key, request, begun } = begin('p-256');
  const value = key.sign(begun.toBeSigned, begun.algorithm);
  writeFileSync(request.input, DOCUMENT.replace('text', 'tent'));
  const error = await t.throwsAsync(
    finishXades({ input: request.input, output: newPath(), state: begun.state, value }),
  );
  t.is(codeOf(error), 'input.changed');
});

test('an invalid state, or one of another format, is refused', async (t) => {
  const { key, request, begun } = begin('p-256');
  const value = key.sign(begun.toBeSigned, begun.algorithm);
  for (const state of ['', '{}', '{"kind":"cades/1"}', begun.state.replace('xades/1', 'xades/2')]) {
    const error = await t.throwsAsync(finishXades({ input: request.input, output: newPath(), state, value }));
    t.is(codeOf(error), 'request.invalid');
  }
});

test('the state consists of text that survives storage', async (t) => {
  const hash = Buffer.alloc(32, 7);
  const { key, request, begun } = begin(
    'p-256',
    {},
    { policy: { oid: '1.2.3', digest: 'sha256', hash, uri: 'urn:policy' } },
  );
  const state = JSON.stringify(JSON.parse(begun.state));
  const output = newPath();
  await finishXades({
    input: request.input,
    output,
    state,
    value: key.sign(begun.toBeSigned, begun.algorithm),
  });
  t.true(
    readFileSync(output, 'latin1').includes(`<ds:DigestValue>${hash.toString('base64')}</ds:DigestValue>`),
  );
});
