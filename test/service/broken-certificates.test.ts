/** One broken certificate leaves the other profiles and the portal running. Source: docs/batch-values.md §3, §3. */
import { copyFile, mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import { startProgram } from '../actors/portal/service.ts';
import { run } from '../commands/program.ts';
import { pki } from '../pki/pki.ts';
import { Service, temporaryRoot } from './service.ts';
import { localProfile } from './signing/profiles.ts';

const DAY = 86_400_000;

interface Ready {
  readonly status: string;
  readonly checks: readonly { readonly name: string; readonly status: string; readonly detail: string }[];
}

test.serial(
  'profiles with an expired, a future and an unreadable certificate fail their jobs, and other profiles work',
  async (t) => {
    const root = await temporaryRoot(t);
    const now = Date.now();
    const trusted = join(root, 'trusted');
    await mkdir(trusted);
    await copyFile(pki().rootFile, join(trusted, 'root.crt'));
    // As folders of systems have them.
    await symlink(join(trusted, 'removed.crt'), join(trusted, '1a2b3c4d.0'));
    const settings = {
      ...(await localProfile(root, 0, {
        name: 'old',
        signer: pki().signerValid(now - 20 * DAY, now - DAY),
        members: {
          Format: 'Cades',
          ValidateCertificate: false,
        },
      })),
      ...(await localProfile(root, 1, {
        name: 'early',
        signer: pki().signerValid(now + DAY, now + 2 * DAY),
        members: {
          Format: 'Cades',
        },
      })),
      ...(await localProfile(root, 2, {
        name: 'torn',
        signer: pki().signer('p-256'),
        members: { Format: 'Cades' },
      })),
      ...(await localProfile(root, 3, {
        name: 'good',
        signer: pki().signer('p-256'),
        members: { Format: 'Cades' },
      })),
      'Signing:Trust:Roots:0': trusted,
      'Signing:Trust:Revocation': 'None',
      'Portal:Enabled': true,
    };
    await writeFile(join(root, 'torn.crt.pem'), 'no certificate');
    const service = await Service.start(t, { root, settings });

    const ready = await service.fetch('/api/ready');
    t.is(ready.status, 200, 'one profile of several does not take the service out of traffic');
    const { status, checks } = (await ready.json()) as Ready;
    t.is(status, 'Ready');
    const metrics = await (await service.fetch('/api/metrics')).text();
    for (const [name, code, reason, key] of [
      ['old', 'certificate.expired', /expired at/, 'Signing:Profiles:0:Certificate:Pem:CertificatePath'],
      [
        'early',
        'certificate.not-yet-valid',
        /valid from/,
        'Signing:Profiles:1:Certificate:Pem:CertificatePath',
      ],
      [
        'torn',
        'certificate.malformed',
        /No certificate/,
        'Signing:Profiles:2:Certificate:Pem:CertificatePath',
      ],
    ] as const) {
      const check = checks.find((each) => each.name === `profile:${name}`);
      t.is(check?.status, 'Degraded', name);
      t.true(metrics.includes(`batch_health_check{check="profile:${name}",status="Degraded"} 1`), name);
      const job = await service.finished((await service.upload('a.bin', name, `?profile=${name}`)).jobId);
      t.is(job.errorCode, code);
      for (const text of [job.errorMessage ?? '', check?.detail ?? '', service.printed]) {
        t.regex(text, reason);
        t.true(text.includes(join(root, `${name}.crt.pem`)) && text.includes(key), text);
      }
    }
    t.is(checks.find(({ name }) => name === 'profile:good')?.status, 'Healthy');
    const good = await service.finished((await service.upload('a.bin', 'good', '?profile=good')).jobId);
    t.is(good.status, 'Completed');
    t.is((await fetch(`${service.portalUrl}/api/health`)).status, 200);

    const words = Object.entries(settings).map(([key, value]) => `--${key}=${value}`);
    const { out } = await run(root, [
      'doctor',
      '--json',
      `--Storage:Root=${root}`,
      `--Batch:Url=${service.url}`,
      ...words,
    ]);
    const found = (JSON.parse(out) as { checks: { name: string; verdict: string; remedy: string }[] }).checks;
    for (const name of ['old', 'early', 'torn']) {
      const finding = found.find((each) => each.name === `profile:${name}`);
      t.is(finding?.verdict, 'warning', name);
      t.regex(finding?.remedy ?? '', /Pem:CertificatePath/);
    }
    t.is(found.find(({ name }) => name === 'profile:good')?.verdict, 'good');
    t.is(await service.stop(), 0);
  },
);

test.serial('the portal accepts documents while its own certificate is unreadable', async (t) => {
  const root = await temporaryRoot(t);
  const settings = {
    ...(await localProfile(root, 0, {
      name: 'torn',
      signer: pki().signer('p-256'),
      members: { Format: 'Pades' },
    })),
    ...(await localProfile(root, 1, {
      name: 'good',
      signer: pki().signer('p-256'),
      members: { Format: 'Pades' },
    })),
    'Signing:Trust:Roots:0': pki().rootFile,
    'Signing:Trust:Revocation': 'None',
    'Portal:SealProfile': 'torn',
  };
  await writeFile(join(root, 'torn.crt.pem'), 'no certificate');
  const { service, acme } = await startProgram(t, { root, settings });
  t.is((await fetch(`${service.url}/api/ready`)).status, 200);
  const ana = { name: 'Ana', email: 'ana@example.com' };
  const id = await acme.create([{ type: 'Signer', user: ana, allowElectronicSignature: true }]);
  t.is((await acme.get<{ readonly status: string }>(`/api/documents/${id}`)).status, 'Pending');
  t.is((await fetch(`${service.portalUrl}/api/health`)).status, 200);
  t.is(await service.stop(), 0);
});
