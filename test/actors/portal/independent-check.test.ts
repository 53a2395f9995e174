/** The portal's validation asks the second implementation where the seal profile says so. */
import { readFileSync, writeFileSync } from 'node:fs';
import { Faults, systemClock } from '@sealwright/runtime';
import { signFile } from '@sealwright/signatures';
import test from 'ava';
import { poolOptions } from '../../../actors/pool/pool-options.ts';
import { describe } from '../../../actors/pool/portal/describe.ts';
import { createWorkerProfiles } from '../../../actors/pool/worker-profiles.ts';
import { DiskSync } from '../../../actors/shared/files/disk-sync.ts';
import type { Profile } from '../../../actors/shared/signing/profiles.ts';
import type { ProfileName } from '../../../machines/ids.ts';
import { file, NOW } from '../../crypto/asic/container-harness.ts';
import { ambiguousSigner } from '../../pki/ambiguous-signer.ts';
import { pki } from '../../pki/pki.ts';

function threadOf(verifyIndependently: boolean) {
  const profile: Profile = {
    method: 'Local',
    verify: true,
    verifyIndependently,
    encrypt: false,
    name: 'seal' as ProfileName,
    format: undefined,
    signer: pki().signer('p-256'),
    anchors: [pki().root.certificate],
    validTo: NOW + 86_400_000,
    certificate: 'test',
  };
  const { setup } = poolOptions({ profiles: [profile] }, {
    processing: '',
    output: '',
    error: '',
    faults: '',
  } as never);
  return {
    profiles: createWorkerProfiles(setup),
    clock: systemClock,
    faults: new Faults(),
    disk: new DiskSync(),
  };
}

async function typesOf(path: string, independent: boolean, format: 'Xades' | 'Cades' = 'Xades') {
  const task = {
    task: 'portal.describe',
    documentId: 'd',
    path,
    content: null,
    format,
    contentType: null,
    profile: 'seal',
    at: NOW + 1000,
  } as const;
  const { signatures } = await describe(task, threadOf(independent));
  const { passedChecks, errors, warnings } = signatures[0]?.view.validationResults ?? {
    passedChecks: [],
    errors: [],
    warnings: [],
  };
  const about = (items: readonly { readonly type: string }[]) =>
    items.filter(({ type }) => type === 'independent.agreement').length;
  return [about(passedChecks), about(warnings), about(errors)];
}

test('signature records state whether a second implementation agrees, disagrees, or cannot decide', async (t) => {
  const signed = (content: string) => {
    const output = file(undefined, 'xml');
    const signer = pki().signer('p-256');
    signFile({ format: 'Xades', input: file(content, 'xml'), output, signer, at: NOW });
    return output;
  };
  const good = signed('<order/>');
  t.deepEqual(await typesOf(good, false), [0, 0, 0]);
  t.deepEqual(await typesOf(good, true), [1, 0, 0]);
  t.deepEqual(await typesOf(signed('<order><?note x?></order>'), true), [0, 1, 0]);
  const changed = file(undefined, 'xml');
  writeFileSync(changed, readFileSync(good, 'utf8').replace('<order>', '<order a="b">'));
  // Both refuse it: they agree, and the signature is not valid.
  t.deepEqual(await typesOf(changed, true), [1, 0, 0]);
  const disputed = file();
  const signer = await ambiguousSigner();
  signFile({ format: 'Cades', input: file('order'), output: disputed, signer, at: Date.now() });
  t.deepEqual(await typesOf(disputed, true, 'Cades'), [0, 0, 1]);
});
