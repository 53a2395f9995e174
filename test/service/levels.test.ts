/** Signing with time-stamps and revocation answers, from an authority of our own, by the real program. */
import { createServer } from 'node:net';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { samplePdf } from '../../bench/samples.ts';
import { type SignatureFormat, validateFile } from '../../crypto/index.ts';
import { startAuthority, type TestAuthority } from '../pki/authority.ts';
import { localProfile, type Settings } from './profiles.ts';
import { Service, temporaryRoot } from './service.ts';

const CONTENT: {
  readonly [format in SignatureFormat]: readonly [name: string, content: string | Uint8Array];
} = {
  Pades: ['a.pdf', samplePdf()],
  Cades: ['a.bin', 'any file'],
  Xades: ['a.xml', '<order><item>1</item></order>'],
};
const FORMATS = ['Pades', 'Cades', 'Xades'] as const;

async function authority(t: ExecutionContext): Promise<TestAuthority> {
  const made = await startAuthority();
  t.teardown(() => made.close());
  return made;
}

function trusting({ pki }: TestAuthority): Settings {
  return { 'Signing:Trust:Roots:0': pki.rootFile, 'Signing:Trust:Revocation': 'Hard' };
}

/** A port nobody listens on. */
async function closedPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

for (const level of ['T', 'LT', 'LTA'] as const) {
  test.serial(`files of every format are signed at level ${level} and pass validation by whom trusts the root`, async (t) => {
    const made = await authority(t);
    const root = await temporaryRoot(t);
    let settings = trusting(made);
    for (const [index, format] of FORMATS.entries()) {
      const members = { Format: format, Level: level, 'Timestamp:Url': made.timestampUrl };
      const name = format.toLowerCase();
      settings = {
        ...settings,
        ...(await localProfile(root, index, name, made.pki.signer('p-256'), members)),
      };
    }
    const service = await Service.start(t, { root, settings: { ...settings, 'Pipeline:MaxConcurrency': 3 } });
    for (const format of FORMATS) {
      const [name, content] = CONTENT[format];
      const { jobId } = await service.upload(name, content, `?profile=${format.toLowerCase()}`);
      const job = await service.finished(jobId);
      t.is(job.errorMessage, null, format);
      const report = await validateFile({
        format,
        path: join(root, 'output', job.outputFileName ?? ''),
        trust: made.trust,
        at: Date.now(),
      });
      t.is(report.indication, 'TOTAL-PASSED', format);
      t.is(report.signatures.find(({ isTimestamp }) => !isTimestamp)?.level, level, format);
    }
  });
}

test.serial('an authority that cannot be reached fails the job with its name, and the next job runs', async (t) => {
  const made = await authority(t);
  const root = await temporaryRoot(t);
  const signer = made.pki.signer('p-256');
  const port = await closedPort();
  const service = await Service.start(t, {
    root,
    settings: {
      ...trusting(made),
      ...(await localProfile(root, 0, 'stamped', signer, {
        Format: 'Cades',
        Level: 'T',
        'Timestamp:Url': `http://127.0.0.1:${port}/tsa`,
      })),
      ...(await localProfile(root, 1, 'plain', signer, { Format: 'Cades' })),
    },
  });
  const failed = await service.upload('a.bin', 'one', '?profile=stamped');
  const next = await service.upload('b.bin', 'two', '?profile=plain');
  const job = await service.finished(failed.jobId);
  t.is(job.status, 'Failed');
  t.is(job.errorCode, 'authority.unreachable');
  t.regex(job.errorMessage ?? '', new RegExp(`127\\.0\\.0\\.1:${port}`));
  t.is((await service.finished(next.jobId)).status, 'Completed');
});

test.serial('a slow authority holds up nobody who does not need it', async (t) => {
  const made = await authority(t);
  made.break('timestamp', 'slow');
  const root = await temporaryRoot(t);
  const signer = made.pki.signer('p-256');
  const service = await Service.start(t, {
    root,
    settings: {
      ...trusting(made),
      'Pipeline:MaxConcurrency': 8,
      ...(await localProfile(root, 0, 'stamped', signer, {
        Format: 'Cades',
        Level: 'T',
        'Timestamp:Url': made.timestampUrl,
        'Timestamp:TimeoutSeconds': 120,
      })),
      ...(await localProfile(root, 1, 'plain', signer, { Format: 'Cades' })),
    },
  });
  const waiting = [];
  for (let n = 0; n < 4; n += 1) waiting.push(await service.upload(`s${n}.bin`, `${n}`, '?profile=stamped'));
  for (let n = 0; n < 4; n += 1) {
    const { jobId } = await service.upload(`p${n}.bin`, `${n}`, '?profile=plain');
    t.is((await service.finished(jobId)).status, 'Completed');
  }
  for (const { jobId } of waiting) t.is((await service.job(jobId)).status, 'Processing');
});

test.serial('a revoked certificate fails its jobs before anything is signed, and says why', async (t) => {
  const made = await authority(t);
  const root = await temporaryRoot(t);
  const signer = made.pki.freshSigner();
  made.revoke(signer.certificate, Date.now() - 3_600_000);
  const service = await Service.start(t, {
    root,
    settings: { ...trusting(made), ...(await localProfile(root, 0, 'revoked', signer, { Format: 'Cades' })) },
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

test.serial('whether a certificate is revoked is asked once for many jobs', async (t) => {
  const made = await authority(t);
  const root = await temporaryRoot(t);
  const service = await Service.start(t, {
    root,
    settings: {
      ...trusting(made),
      ...(await localProfile(root, 0, 'plain', made.pki.signer('p-256'), { Format: 'Cades' })),
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
  test.serial(`with nobody to ask about revocation, ${revocation} leaves the job ${status}`, async (t) => {
    const made = await authority(t);
    made.break('ocsp', 'down');
    made.break('crl', 'down');
    const root = await temporaryRoot(t);
    const service = await Service.start(t, {
      root,
      settings: {
        ...trusting(made),
        'Signing:Trust:Revocation': revocation,
        ...(await localProfile(root, 0, 'plain', made.pki.signer('p-256'), { Format: 'Cades' })),
      },
    });
    const job = await service.finished((await service.upload('a.bin', 'one')).jobId);
    t.is(job.status, status);
    if (status === 'Failed') t.is(job.errorCode, 'certificate.unchecked');
    else t.regex(service.printed, /Nobody could be asked whether a signing certificate is revoked/);
  });
}

test.serial('a certificate that leads to none of the roots signs nothing, unless nobody looks at it', async (t) => {
  const made = await authority(t);
  const other = await authority(t);
  const root = await temporaryRoot(t);
  const signer = made.pki.signer('p-256');
  const service = await Service.start(t, {
    root,
    settings: {
      ...trusting(other),
      ...(await localProfile(root, 0, 'strange', signer, { Format: 'Cades' })),
      ...(await localProfile(root, 1, 'unseen', signer, { Format: 'Cades', ValidateCertificate: false })),
    },
  });
  t.regex(service.printed, /signing profile strange leads to none of the Signing:Trust:Roots/);
  const strange = await service.finished((await service.upload('a.bin', 'one', '?profile=strange')).jobId);
  t.is(strange.errorCode, 'certificate.untrusted');
  const unseen = await service.finished((await service.upload('b.bin', 'two', '?profile=unseen')).jobId);
  t.is(unseen.errorMessage, null);
});
