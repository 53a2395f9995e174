/** Everything that becomes of jobs whose profile has a certificate that may not sign. Source: docs/batch-values.md §6.5. */
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { run } from '../../commands/program.ts';
import { signedDataIn } from '../../crypto/cades/cades-harness.ts';
import { startAuthority, type TestAuthority } from '../../pki/authority.ts';
import { Service, temporaryRoot } from '../service.ts';
import { localProfile, type Settings } from './profiles.ts';

async function authority(t: ExecutionContext): Promise<TestAuthority> {
  const made = await startAuthority();
  t.teardown(() => made.close());
  return made;
}

function trusting({ pki }: TestAuthority): Settings {
  return { 'Signing:Trust:Roots:0': pki.rootFile, 'Signing:Trust:Revocation': 'Hard' };
}

test.serial('a revoked certificate fails its jobs before anything is signed, and says why', async (t) => {
  const made = await authority(t);
  const root = await temporaryRoot(t);
  const signer = made.pki.freshSigner();
  made.revoke(signer.certificate, Date.now() - 3_600_000);
  const service = await Service.start(t, {
    root,
    settings: {
      ...trusting(made),
      ...(await localProfile(root, 0, { name: 'revoked', signer, members: { Format: 'Cades' } })),
    },
  });
  const job = await service.finished((await service.upload('a.bin', 'one')).jobId);
  t.is(job.status, 'Failed');
  t.is(job.errorCode, 'certificate.revoked');
  t.regex(job.errorMessage ?? '', /^The certificate of signing profile revoked cannot be used\. .*revoked/);
  t.deepEqual(
    job.history.map(({ status }) => status),
    ['Queued', 'Processing', 'Failed'],
  );
});

test.serial('the revocation of a certificate is checked once for many jobs', async (t) => {
  const made = await authority(t);
  const root = await temporaryRoot(t);
  const service = await Service.start(t, {
    root,
    settings: {
      ...trusting(made),
      ...(await localProfile(root, 0, {
        name: 'plain',
        signer: made.pki.signer('p-256'),
        members: { Format: 'Cades' },
      })),
    },
  });
  const finish = async (n: number) => service.finished((await service.upload(`${n}.bin`, `${n}`)).jobId);
  t.is((await finish(0)).status, 'Completed');
  const asked = { ...made.requests };
  t.true(asked.ocsp + asked.crl > 0);
  for (let n = 1; n < 6; n += 1) t.is((await finish(n)).status, 'Completed');
  t.deepEqual({ ...made.requests }, asked);
});

for (const [revocation, status] of [
  ['Soft', 'Completed'],
  ['Hard', 'Failed'],
] as const) {
  test.serial(`without a revocation source, ${revocation} leaves the job ${status}`, async (t) => {
    const made = await authority(t);
    made.break('ocsp', 'down');
    made.break('crl', 'down');
    const root = await temporaryRoot(t);
    const service = await Service.start(t, {
      root,
      settings: {
        ...trusting(made),
        'Signing:Trust:Revocation': revocation,
        ...(await localProfile(root, 0, {
          name: 'plain',
          signer: made.pki.signer('p-256'),
          members: { Format: 'Cades' },
        })),
      },
    });
    const job = await service.finished((await service.upload('a.bin', 'one')).jobId);
    t.is(job.status, status);
    if (status === 'Failed') t.is(job.errorCode, 'certificate.unchecked');
    else t.regex(service.printed, /No revocation service answered for a signing certificate/);
  });
}

test.serial('a certificate without a path to the roots signs nothing, unless the check is off', async (t) => {
  const made = await authority(t);
  const other = await authority(t);
  const root = await temporaryRoot(t);
  const signer = made.pki.signer('p-256');
  const service = await Service.start(t, {
    root,
    settings: {
      ...trusting(other),
      ...(await localProfile(root, 0, { name: 'strange', signer, members: { Format: 'Cades' } })),
      ...(await localProfile(root, 1, {
        name: 'unseen',
        signer,
        members: { Format: 'Cades', ValidateCertificate: false },
      })),
    },
  });
  t.regex(service.printed, /signing profile strange leads to none of the Signing:Trust:Roots/);
  const strange = await service.finished((await service.upload('a.bin', 'one', '?profile=strange')).jobId);
  t.is(strange.errorCode, 'certificate.untrusted');
  const unseen = await service.finished((await service.upload('b.bin', 'two', '?profile=unseen')).jobId);
  t.is(unseen.errorMessage, null);
});

test.serial(
  'a profile of level LTA whose certificate names no revocation address says so at start',
  async (t) => {
    const made = await authority(t);
    const root = await temporaryRoot(t);
    const level = { Format: 'Cades', 'Timestamp:Url': made.timestampUrl };
    const bare = made.pki.freshSigner({ ocspUrl: undefined, crlUrl: undefined });
    const settings = {
      ...trusting(made),
      ...(await localProfile(root, 0, { name: 'bare', signer: bare, members: { ...level, Level: 'LTA' } })),
      ...(await localProfile(root, 1, { name: 'lower', signer: bare, members: { ...level, Level: 'T' } })),
      ...(await localProfile(root, 2, {
        name: 'full',
        signer: made.pki.freshSigner(),
        members: { ...level, Level: 'LTA' },
      })),
      ...(await localProfile(root, 3, { name: 'seal', signer: bare, members: level })),
      'Portal:Enabled': true,
      'Portal:SealProfile': 'seal',
    };
    const service = await Service.start(t, { root, settings });
    const words = Object.entries(settings).map(([key, value]) => `--${key}=${value}`);
    const doctor = await run(root, ['doctor', `--Storage:Root=${root}`, ...words]);
    for (const text of [service.printed, doctor.out]) {
      const named = text.matchAll(
        /Signing profile (.+) signs at level LTA, but the certificate of \S.*names no address/g,
      );
      t.deepEqual([...new Set([...named].map(([, name]) => name))].sort(), ['bare', 'seal (portal)']);
    }
  },
);

for (const allowed of [true, false]) {
  test.serial(
    `a key without its issuer ${allowed ? 'signs with the fetched one inside' : 'signs nothing'}, with AllowAia ${allowed}`,
    async (t) => {
      const made = await authority(t);
      const root = await temporaryRoot(t);
      const leaf = { ...made.pki.freshSigner(), chain: [] };
      const service = await Service.start(t, {
        root,
        settings: {
          ...trusting(made),
          'Signing:Trust:AllowAia': allowed,
          'Signing:Trust:AiaHosts:0': '127.0.0.1',
          // The issuer is a private address, which a certificate alone may not name.
          'Signing:Trust:Revocation': 'None',
          ...(await localProfile(root, 0, { name: 'leaf', signer: leaf, members: { Format: 'Cades' } })),
        },
      });
      t.is(/leads to none of the Signing:Trust:Roots/.test(service.printed), !allowed);
      const job = await service.finished((await service.upload('a.bin', 'one')).jobId);
      t.is(job.errorCode, allowed ? null : 'certificate.untrusted', job.errorMessage ?? '');
      if (!allowed) return;
      const { certificates } = signedDataIn(join(root, 'output', job.outputFileName ?? ''));
      t.is(certificates.length, 2);
      t.true(certificates.some((der) => der.equals(made.pki.issuing.certificate)));
    },
  );
}

test.serial(
  'a key whose issuer can be fetched only after the start signs nothing until the next start',
  async (t) => {
    const made = await authority(t);
    made.break('ca', 'missing');
    const root = await temporaryRoot(t);
    const leaf = { ...made.pki.freshSigner(), chain: [] };
    const settings = {
      ...trusting(made),
      'Signing:Trust:AllowAia': true,
      'Signing:Trust:AiaHosts:0': '127.0.0.1',
      ...(await localProfile(root, 0, { name: 'leaf', signer: leaf, members: { Format: 'Cades' } })),
    };
    const service = await Service.start(t, { root, settings });
    t.regex(service.printed, /leads to none of the Signing:Trust:Roots/);
    made.mend('ca');
    const job = await service.finished((await service.upload('a.bin', 'one')).jobId);
    t.is(job.errorCode, 'certificate.untrusted');
    t.regex(job.errorMessage ?? '', /Restart the service/);
  },
);
