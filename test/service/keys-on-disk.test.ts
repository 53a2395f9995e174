/** Key files that change while the service works with what it loaded. */
import { execFileSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { copyFileSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { systemIds } from '#runtime/model/ids.js';
import { profilesProbe } from '../../actors/batch/health-probes.ts';
import { type Profile, Profiles } from '../../actors/shared/signing/profiles.ts';
import type { ProfileName } from '../../machines/ids.ts';
import { openKeyFolder } from '../../service/key-folder.ts';
import { keyOnDisk } from '../../service/keys-on-disk.ts';
import { keyPemOf, pki, type TestSigner } from '../pki/pki.ts';
import { folderFor } from '../runtime/folder.ts';
import { withTools } from '../verifiers/tool.ts';
import { smallDisk } from './small-disk.ts';

const toolTest = withTools(test, 'tmpfs');

const DAY = 86_400_000;

function writePfx(path: string, { certificate, key }: TestSigner): void {
  writeFileSync(`${path}.pem`, `${new X509Certificate(certificate)}${keyPemOf(key.keyObject)}`);
  execFileSync('openssl', [
    'pkcs12',
    '-export',
    '-in',
    `${path}.pem`,
    '-out',
    path,
    '-passout',
    'pass:secret',
  ]);
}

test('a profile that cannot sign is degraded while another one can, else unhealthy', async (t) => {
  const profileOf = (name: string, validTo: number): Profile => ({
    method: 'Local',
    verify: true,
    encrypt: false,
    name: name as ProfileName,
    format: undefined,
    signer: pki().signer('p-256'),
    anchors: [],
    validTo,
    certificate: `CN=${name}`,
  });
  const clock = { now: () => DAY };
  const statuses = async (...profiles: Profile[]) =>
    (await profilesProbe(new Profiles(profiles), clock)()).map(({ name, status }) => [name, status]);
  const old = profileOf('old', DAY - 1);
  t.deepEqual(await statuses(old, profileOf('new', 2 * DAY)), [
    ['profile:old', 'Degraded'],
    ['profile:new', 'Healthy'],
  ]);
  t.deepEqual(await statuses(old), [['profile:old', 'Unhealthy']]);
});

test('readiness says of each changed key file whether the next start could load it', async (t) => {
  const folder = folderFor(t);
  const at = (name: string) => join(folder, name);
  const now = Date.now();
  writePfx(at('good'), pki().signer('p-256'));
  writePfx(at('other'), pki().signerValid(now - DAY, now + DAY));
  writePfx(at('expired'), pki().signerValid(now - 20 * DAY, now - DAY));
  const path = at('key.pfx');
  copyFileSync(at('good'), path);
  let elapsed = 0;
  const clock = { now: () => now, elapsed: () => elapsed };
  const keys = { source: 'Pfx', path, password: 'secret' } as const;
  const onDisk = keyOnDisk({ keys, path, files: `${path} (Signing:Certificate)`, development: false }, clock);
  const profile: Profile = {
    method: 'Local',
    verify: true,
    encrypt: false,
    name: 'default' as ProfileName,
    format: undefined,
    signer: pki().signer('p-256'),
    anchors: [],
    validTo: now + DAY,
    certificate: 'CN=Ann',
  };
  const probe = profilesProbe(new Profiles([profile]), clock, onDisk);
  const check = async () => {
    // Answers count for five seconds.
    elapsed += 5_000;
    return (await probe())[0];
  };
  const cases: readonly (readonly [what: string, change: () => void, detail: RegExp | undefined])[] = [
    ['is as it was', () => {}, undefined],
    [
      'is cut off',
      () => writeFileSync(path, readFileSync(path).subarray(0, 200)),
      /next start cannot use .*key\.pfx/,
    ],
    ['is another good one', () => copyFileSync(at('other'), path), undefined],
    ['has expired', () => copyFileSync(at('expired'), path), /expired/],
    ['is good again', () => copyFileSync(at('good'), path), undefined],
    ['is gone', () => rmSync(path), /next start cannot use .*key\.pfx/],
  ];
  for (const [what, change, detail] of cases) {
    change();
    const found = await check();
    t.is(found?.status, detail === undefined ? 'Healthy' : 'Degraded', what);
    t.regex(found?.detail ?? '', detail ?? /^CN=Ann$/, what);
  }
});

toolTest('keys that a full disk does not take are refused with the remedy', async (t) => {
  const disk = join(folderFor(t), 'disk');
  const room = smallDisk(t, disk, 1);
  const keys = openKeyFolder(join(disk, 'keys'), systemIds);
  const written = {
    made: async () => void (await keys.loadOrCreate('made', () => 'a')),
    replaced: async () => keys.replace('replaced', 'a'),
  };
  for (const [name, write] of Object.entries(written)) {
    room.fill();
    await t.throwsAsync(
      write,
      {
        code: 'keys.unusable',
        message: /its disk is full \(ENOSPC\)\. Free some space on it, and start again\.$/,
      },
      name,
    );
    t.deepEqual(readdirSync(keys.path), name === 'made' ? [] : ['made'], 'no part of a file is left');
    room.empty();
    await write();
    t.is(keys.read(name), 'a');
  }
});
