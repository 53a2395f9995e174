import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { joinCadesSigners, signFile, validateFile } from '@sealwright/signatures';
import test, { type ExecutionContext } from 'ava';
import { pki } from '../../pki/pki.ts';
import { opensslCms } from '../../verifiers/index.ts';

function joinFixture(t: ExecutionContext) {
  const folder = mkdtempSync(join(tmpdir(), 'sealwright-join-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const path = (name: string) => join(folder, name);
  const write = (name: string, text: string) => {
    writeFileSync(path(name), text);
    return path(name);
  };
  const sign = (input: string, name: string, kind: 'rsa-2048' | 'p-256') => {
    const form = { format: 'Cades', cades: { detached: true } } as const;
    signFile({ ...form, input, output: path(name), signer: pki().signer(kind), at: Date.now() });
    return path(name);
  };
  return { path, write, sign };
}

test('two detached signatures over one content become one file in which both are valid', async (t) => {
  const { path, write, sign } = joinFixture(t);
  const content = write('words.txt', 'plain words\n');
  const input = sign(content, 'one.p7s', 'rsa-2048');
  const added = sign(content, 'two.p7s', 'p-256');
  const output = path('both.p7s');
  joinCadesSigners({ input, added, content, output });
  const verdict = await opensslCms({ signature: output, content, ca: pki().rootFile });
  t.true(verdict.ok, verdict.text);
  const trust = { anchors: [pki().root.certificate], intermediates: [], revocation: 'none' } as const;
  const report = await validateFile({ format: 'Cades', path: output, content, trust, at: Date.now() });
  t.deepEqual(
    report.signatures.map(({ indication }) => indication),
    ['TOTAL-PASSED', 'TOTAL-PASSED'],
  );
});

test('a signature over other content is not joined, and leaves no file behind', (t) => {
  const { path, write, sign } = joinFixture(t);
  const content = write('words.txt', 'plain words\n');
  const input = sign(content, 'one.p7s', 'rsa-2048');
  const added = sign(write('other.txt', 'other words\n'), 'two.p7s', 'p-256');
  const output = path('both.p7s');
  t.throws(() => joinCadesSigners({ input, added, content, output }), { code: 'signature.mismatch' });
  t.throws(() => joinCadesSigners({ input: added, added: input, content, output }), {
    code: 'signature.mismatch',
  });
  t.notThrows(() => joinCadesSigners({ input, added: sign(content, 'three.p7s', 'p-256'), content, output }));
});
