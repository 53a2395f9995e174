/** The check of a document in the task that adds its last signature. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { signFile } from '@sealwright/signatures';
import test from 'ava';
import { checkSignatures, passesFinalCheck } from '../../../actors/pool/portal/check.ts';
import type { PortalTaskContext } from '../../../actors/pool/portal/portal-task-context.ts';
import { NO_TRUST } from '../../../actors/shared/signing/trust-options.ts';
import { samplePdf } from '../../../bench/samples.ts';
import { CONTENT, contract } from '../../crypto/pades/validation/attack-files.ts';
import { appendRevision, stream } from '../../crypto/pdf/build.ts';
import { pki } from '../../pki/pki.ts';

const folder = mkdtempSync(join(tmpdir(), 'sealwright-final-'));
test.after.always(() => rmSync(folder, { recursive: true, force: true }));

const THREAD = {
  profiles: { byName: new Map([['seal', { anchors: [], choices: {}, services: {} }]]), trust: NO_TRUST },
} as unknown as PortalTaskContext;

let files = 0;
function pathOf(bytes?: Uint8Array): string {
  const path = join(folder, `${++files}.pdf`);
  if (bytes !== undefined) writeFileSync(path, bytes);
  return path;
}

function signed(input: string, fieldName: string, kind: 'p-256' | 'p-384' = 'p-256'): string {
  const output = pathOf();
  signFile({
    format: 'Pades',
    input,
    output,
    at: Date.now(),
    pades: { fieldName },
    signer: pki().signer(kind),
  });
  return output;
}

function passes(output: string, more: { fieldName?: string; certificate?: string } = {}): Promise<boolean> {
  const { fieldName = 'Ana', certificate = pki().signer('p-256').fingerprint } = more;
  const check = { expected: [], original: null, fieldName, at: Date.now() };
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

/** Everything that the final verification says of a file; empty when all is well. */
async function faults(input: string, original: string | null, signatures: string | null = null) {
  const format = signatures === null ? 'Pades' : 'Cades';
  const expected = [
    { fieldName: format === 'Pades' ? 'Ana' : null, certificate: pki().signer('p-256').fingerprint },
  ];
  const place = { documentId: 'd', format, input, signatures, original, profile: 'seal' } as const;
  try {
    await checkSignatures({ task: 'portal.check', ...place, expected, at: Date.now(), output: null }, THREAD);
    return '';
  } catch (error) {
    return (error as Error).message;
  }
}

test('a fault that the upload had does not keep a document open, and one that is new does, until it is gone', async (t) => {
  const good = signed(pathOf(contract()), 'Other', 'p-384');
  const bytes = readFileSync(good);
  bytes.write('Pay 900', bytes.indexOf('Pay 100'));
  const broken = pathOf(bytes);
  t.is(await faults(signed(broken, 'Ana'), broken), '', 'the upload was broken');
  t.regex(await faults(signed(broken, 'Ana'), null), /The signature Other is not good/, 'nobody knows');
  t.regex(await faults(signed(broken, 'Ana'), good), /The signature Other is not good any more/);
  const page = new Map([[CONTENT, stream('', 'BT /F1 24 Tf 40 150 Td (Pay 900) Tj ET')]]);
  const repainted = signed(pathOf(appendRevision(readFileSync(good), page)), 'Ana');
  t.regex(await faults(repainted, good), /The signature Other is not good any more/);
  const added = signed(broken, 'Ana');
  t.regex(await faults(added, pathOf(contract())), /The signature Other is not good: /, 'it came with ours');
  t.is(await faults(signed(good, 'Ana'), good), '', 'tried again');
});

test('signatures beside a file are good over that file alone', async (t) => {
  const file = pathOf(Buffer.from('a file'));
  const other = pathOf(Buffer.from('another'));
  const p7s = pathOf();
  const signer = pki().signer('p-256');
  signFile({ format: 'Cades', input: file, output: p7s, at: Date.now(), signer });
  t.is(await faults(file, file, p7s), '');
  t.regex(await faults(other, other, p7s), /content\.given: The signature holds other content/);
});
