import { createHash, createPrivateKey, sign } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import test from 'ava';
import { beginCades, finishCades } from '#crypto/cades/two-step.js';
import type { BeginSigningRequest, FinishSigningRequest, Signer } from '#crypto/core/types.js';
import { concatenatedValue } from '#crypto/x509/signature-values.js';
import { startAuthority } from '../../pki/authority.ts';
import { type KeyKind, pki } from '../../pki/pki.ts';
import { runTool, withTools } from '../../verifiers/index.ts';
import {
  accepted,
  bytes,
  changedCopy,
  codeOf,
  facts,
  failures,
  file,
  identityOf,
  sha256,
} from './cades-harness.ts';

const toolTest = withTools(test, 'openssl');

const AT = Date.now();

function begin(signer: Signer, more: Partial<BeginSigningRequest> = {}): BeginSigningRequest {
  return { format: 'Cades', input: file(bytes(2500)), at: AT, ...more, signer: identityOf(signer) };
}

function finish(input: string, state: string, value: Buffer): FinishSigningRequest {
  return { input, output: file(), state, value };
}

const WAYS = [
  ['rsa-2048', {}],
  ['rsa-2048', { padding: 'pss', digest: 'sha384' }],
  ['p-256', {}],
  ['p-521', { digest: 'sha512' }],
  ['ed25519', {}],
] as const;

for (const [kind, parameters] of WAYS) {
  toolTest(
    `an external value by ${kind} ${JSON.stringify(parameters)} completes every form, and another value is refused`,
    async (t) => {
      const signer = pki().signer(kind);
      for (const cades of [{ detached: true }, { detached: false }, { armor: 'pem' }] as const) {
        const beginning = begin(signer, { ...parameters, cades });
        const { toBeSigned, hash, algorithm, state } = beginCades(beginning);
        t.true(hash.equals(createHash(algorithm.digest).update(toBeSigned).digest()));
        t.is(typeof JSON.parse(state), 'object');
        t.false(state.includes('PRIVATE'));
        const value = signer.key.sign(toBeSigned, algorithm);
        const finishing = finish(beginning.input, state, value);
        const done = await finishCades(finishing);
        t.is(done.input.sha256, sha256(beginning.input));
        t.is(done.output.sha256, sha256(finishing.output));
        const detached = 'detached' in cades && cades.detached;
        if (kind !== 'ed25519') {
          const verdict = await accepted({
            signature: finishing.output,
            form: 'armor' in cades ? 'PEM' : 'DER',
            ca: pki().rootFile,
            ...(detached ? { content: beginning.input } : {}),
          });
          t.is(verdict, 'accepted');
        }
        t.deepEqual(failures(facts(finishing.output, detached ? beginning.input : undefined)), []);

        const wrong = Buffer.from(value);
        wrong[wrong.length - 1] = (wrong[wrong.length - 1] ?? 0) ^ 1;
        for (const bad of [
          wrong,
          value.subarray(1),
          Buffer.alloc(0),
          Buffer.alloc(value.length),
          Buffer.alloc(9000),
        ]) {
          const refused = finish(beginning.input, state, bad);
          t.is(await codeOf(() => finishCades(refused)), 'signature.mismatch');
          t.throws(() => readFileSync(refused.output), { code: 'ENOENT' });
        }
      }
    },
  );
}

toolTest(
  'a key that signs hashes needs the hash alone, and an ECDSA value may be r and s concatenated',
  async (t) => {
    for (const kind of ['p-256', 'p-384', 'p-521'] as const) {
      const signer = pki().signer(kind);
      const beginning = begin(signer, { cades: { detached: true } });
      const { hash, state } = beginCades(beginning);
      const key = file(signer.key.keyObject.export({ type: 'pkcs8', format: 'pem' }));
      const out = file();
      const { exit, stderr } = await runTool('openssl', [
        'pkeyutl',
        '-sign',
        '-inkey',
        key,
        '-in',
        file(hash),
        '-out',
        out,
        '-pkeyopt',
        'digest:sha256',
      ]);
      t.is(exit, 0, stderr);
      const value = readFileSync(out);
      const row = concatenatedValue(value, signer.keyBits);
      for (const form of [value, row]) {
        const finishing = finish(beginning.input, state, form);
        await finishCades(finishing);
        const verdict = await accepted({
          signature: finishing.output,
          content: beginning.input,
          ca: pki().rootFile,
        });
        t.is(verdict, 'accepted');
      }
      const swapped = Buffer.concat([row.subarray(row.length / 2), row.subarray(0, row.length / 2)]);
      t.is(await codeOf(() => finishCades(finish(beginning.input, state, swapped))), 'signature.mismatch');
    }
  },
);

test('a PSS value whose salt length differs from the signed parameters is refused', async (t) => {
  const signer = pki().signer('rsa-2048');
  const beginning = begin(signer, { padding: 'pss' });
  const { toBeSigned, state } = beginCades(beginning);
  const key = createPrivateKey(signer.key.keyObject.export({ type: 'pkcs8', format: 'pem' }));
  const value = (saltLength: number) => sign('sha256', toBeSigned, { key, padding: 6, saltLength });
  t.is(await codeOf(() => finishCades(finish(beginning.input, state, value(20)))), 'signature.mismatch');
  t.is(await codeOf(() => finishCades(finish(beginning.input, state, value(32)))), 'none');
});

test('a file that differs from that of the first step is refused', async (t) => {
  const signer = pki().signer('p-256');
  const beginning = begin(signer);
  const { toBeSigned, algorithm, state } = beginCades(beginning);
  const value = signer.key.sign(toBeSigned, algorithm);
  const longer = file(Buffer.concat([readFileSync(beginning.input), Buffer.from([0])]));
  for (const other of [changedCopy(beginning.input, 2499), longer]) {
    const finishing = finish(other, state, value);
    t.is(await codeOf(() => finishCades(finishing)), 'input.changed');
    t.throws(() => readFileSync(finishing.output), { code: 'ENOENT' });
  }
  writeFileSync(beginning.input, 'something else by now');
  t.is(await codeOf(() => finishCades(finish(beginning.input, state, value))), 'input.changed');
});

test('an invalid or damaged state, or one of another document, is refused with a code', async (t) => {
  const signer = pki().signer('p-256');
  const beginning = begin(signer);
  const { toBeSigned, algorithm, state } = beginCades(beginning);
  const value = signer.key.sign(toBeSigned, algorithm);
  const whole = JSON.parse(state) as Record<string, unknown>;
  const damaged = Object.keys(whole).map((member) => {
    const { [member]: _gone, ...rest } = whole;
    return JSON.stringify(rest);
  });
  const other = beginCades(begin(signer, { input: file('another document') }));
  const otherState = JSON.stringify({ ...JSON.parse(other.state), input: whole['input'] });
  const otherValue = signer.key.sign(other.toBeSigned, other.algorithm);
  t.is(await codeOf(() => finishCades(finish(beginning.input, otherState, otherValue))), 'request.invalid');
  for (const text of ['', '[]', 'null', '{"kind":"xades/1"}', state.slice(0, -1), ...damaged]) {
    const finishing = finish(beginning.input, text, value);
    t.is(await codeOf(() => finishCades(finishing)), 'request.invalid', text.slice(0, 60));
    t.throws(() => readFileSync(finishing.output), { code: 'ENOENT' });
  }
});

test('the first step refuses the requests that signing in one step refuses', async (t) => {
  const signer = pki().signer('rsa-2048');
  t.is(await codeOf(() => beginCades(begin({ ...signer, keyBits: 1024 }))), 'key.unsupported');
  t.is(await codeOf(() => beginCades(begin(signer, { digest: 'sha1' as never }))), 'key.unsupported');
  t.is(await codeOf(() => beginCades(begin(signer, { input: file('') }))), 'input.empty');
  t.is(await codeOf(() => beginCades(begin(signer, { input: file() }))), 'input.unreadable');
});

toolTest('two steps reach every level', async (t) => {
  const authority = await startAuthority();
  try {
    const kinds: readonly KeyKind[] = ['p-256', 'rsa-2048'];
    for (const kind of kinds) {
      const signer = authority.pki.signer(kind);
      for (const level of ['B', 'T', 'LT', 'LTA'] as const) {
        const beginning = begin(signer, { level, cades: { detached: kind === 'p-256' } });
        const { toBeSigned, algorithm, state } = beginCades(beginning);
        const finishing = finish(beginning.input, state, signer.key.sign(toBeSigned, algorithm));
        if (level !== 'B') t.is(await codeOf(() => finishCades(finishing)), 'request.invalid');
        await finishCades(finishing, authority.services);
        const content = kind === 'p-256' ? beginning.input : undefined;
        const found = facts(finishing.output, content);
        t.deepEqual(failures(found), []);
        t.is(found.signatures[0]?.level, level);
        const verdict = await accepted({
          signature: finishing.output,
          ca: authority.pki.rootFile,
          ...(content === undefined ? {} : { content }),
        });
        t.is(verdict, 'accepted');
      }
    }
  } finally {
    await authority.close();
  }
});
