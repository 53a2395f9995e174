/** The check of a document in the task that adds its last signature. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { signFile } from '@sealwright/signatures';
import test from 'ava';
import { passesFinalCheck } from '../../../actors/pool/portal/check.ts';
import type { PortalTaskContext } from '../../../actors/pool/portal/portal-task-context.ts';
import { NO_TRUST } from '../../../actors/shared/trust.ts';
import { samplePdf } from '../../../bench/samples.ts';
import { pki } from '../../pki/pki.ts';

const folder = mkdtempSync(join(tmpdir(), 'sealwright-final-'));
test.after.always(() => rmSync(folder, { recursive: true, force: true }));

const THREAD = {
  profiles: { byName: new Map([['seal', { choices: {}, services: {} }]]), trust: NO_TRUST },
} as unknown as PortalTaskContext;

let files = 0;
function pathOf(bytes?: Uint8Array): string {
  const path = join(folder, `${++files}.pdf`);
  if (bytes !== undefined) writeFileSync(path, bytes);
  return path;
}

function signed(input: string, fieldName: string): string {
  const output = pathOf();
  signFile({
    format: 'Pades',
    input,
    output,
    at: Date.now(),
    pades: { fieldName },
    signer: pki().signer('p-256'),
  });
  return output;
}

function passes(output: string, more: { fieldName?: string; certificate?: string } = {}): Promise<boolean> {
  const { fieldName = 'Ana', certificate = pki().signer('p-256').fingerprint } = more;
  const check = { expected: [], fieldName, at: Date.now() };
  const task = { check, documentId: 'd', format: 'Pades', input: output, output, profile: 'seal' } as const;
  return passesFinalCheck(task, certificate, THREAD);
}

test('a file with one signature concludes only with the signature that was to be made, intact', async (t) => {
  const good = signed(pathOf(samplePdf()), 'Ana');
  t.true(await passes(good));
  t.false(await passes(good, { fieldName: 'Bo' }), 'another field');
  t.false(await passes(good, { certificate: pki().signer('rsa-2048').fingerprint }), 'another signer');
  const bytes = readFileSync(good);
  const changed = Buffer.from(bytes);
  changed[20] = (changed[20] ?? 0) ^ 1;
  t.false(await passes(pathOf(changed)), 'a changed byte');
  t.false(await passes(pathOf(bytes.subarray(0, -8))), 'a file without its end');
  t.false(await passes(pathOf(samplePdf())), 'no signature');
  t.true(await passes(signed(good, 'Bo'), { fieldName: 'Bo' }), 'a further signature: full validation');
});
