import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock, systemIds } from '@sealwright/runtime';
import { type LocalSigner, makeDevelopmentCertificates } from '@sealwright/signatures';
import test, { type ExecutionContext } from 'ava';
import { loadSigner } from '#crypto/keys/load.js';
import { poolOptions } from '../../../actors/pool/pool-options.ts';
import { warmUp } from '../../../actors/pool/warm-up.ts';
import { createWorkerProfiles } from '../../../actors/pool/worker-profiles.ts';
import type { Profile } from '../../../actors/shared/signing/profiles.ts';
import { freshFolder } from '../../commands/program.ts';

async function developmentSigner(folder: string): Promise<LocalSigner> {
  const made = await makeDevelopmentCertificates({
    label: 'warm-up',
    now: systemClock.now(),
    random: (length) => systemIds.bytes(length),
  });
  const path = join(folder, 'signer.pem');
  writeFileSync(path, `${made.certificate}\n${made.caCertificate}\n${made.key}`);
  return loadSigner({ source: 'Pem', certificatePath: path, keyPath: path });
}

function threadOf(t: ExecutionContext, signer: LocalSigner | undefined) {
  const processing = join(freshFolder(), 'processing');
  const profile = { name: 'default', method: 'Local', verify: true, encrypt: false, anchors: [], signer };
  const { setup } = poolOptions(
    { profiles: signer === undefined ? [] : [{ ...profile, format: undefined } as unknown as Profile] },
    { processing, output: processing, error: processing, faults: '' },
  );
  t.deepEqual(setup.profiles.length, signer === undefined ? 0 : 1);
  return { processing, setup, profiles: createWorkerProfiles(setup) };
}

test('a thread signs, verifies and validates a file of each format before its first task, and removes them', async (t) => {
  const { processing, setup, profiles } = threadOf(t, await developmentSigner(freshFolder()));
  mkdirSync(processing);
  t.deepEqual(await warmUp(setup, profiles), ['Pades', 'Xades', 'Cades']);
  t.deepEqual(readdirSync(processing), []);
});

test('a thread without a key, or without a writable folder, is ready at once', async (t) => {
  const keyless = threadOf(t, undefined);
  t.deepEqual(await warmUp(keyless.setup, keyless.profiles), []);
  const { processing, setup, profiles } = threadOf(t, await developmentSigner(freshFolder()));
  writeFileSync(processing, 'a file where the folder should be');
  t.deepEqual(await warmUp(setup, profiles), []);
});
