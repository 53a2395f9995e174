/** Signing with time-stamps and revocation answers, from an authority of our own, by the real program. */
import { createServer } from 'node:net';
import { join } from 'node:path';
import { type SignatureFormat, validateFile } from '@sealwright/signatures';
import test, { type ExecutionContext } from 'ava';
import { samplePdf } from '../../../bench/samples.ts';
import { run } from '../../commands/program.ts';
import { startAuthority, type TestAuthority } from '../../pki/authority.ts';
import { Service, temporaryRoot } from '../service.ts';
import { localProfile, type Settings } from './profiles.ts';

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

/** A port without a listener. */
async function closedPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

for (const level of ['T', 'LT', 'LTA'] as const) {
  test.serial(
    `files of every format are signed at level ${level} and pass validation below the trusted root`,
    async (t) => {
      const made = await authority(t);
      const root = await temporaryRoot(t);
      let settings = trusting(made);
      for (const [index, format] of FORMATS.entries()) {
        const members = { Format: format, Level: level, 'Timestamp:Url': made.timestampUrl };
        const name = format.toLowerCase();
        settings = {
          ...settings,
          ...(await localProfile(root, index, { name, signer: made.pki.signer('p-256'), members })),
        };
      }
      const service = await Service.start(t, {
        root,
        settings: { ...settings, 'Pipeline:MaxConcurrency': 3 },
      });
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
    },
  );
}

test.serial('an unavailable authority fails the job with its name, and the next job runs', async (t) => {
  const made = await authority(t);
  const root = await temporaryRoot(t);
  const signer = made.pki.signer('p-256');
  const port = await closedPort();
  const service = await Service.start(t, {
    root,
    settings: {
      ...trusting(made),
      ...(await localProfile(root, 0, {
        name: 'stamped',
        signer,
        members: {
          Format: 'Cades',
          Level: 'T',
          'Timestamp:Url': `http://127.0.0.1:${port}/tsa`,
        },
      })),
      ...(await localProfile(root, 1, { name: 'plain', signer, members: { Format: 'Cades' } })),
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

test.serial('a slow authority delays no job without it', async (t) => {
  const made = await authority(t);
  made.break('timestamp', 'slow');
  const root = await temporaryRoot(t);
  const signer = made.pki.signer('p-256');
  const service = await Service.start(t, {
    root,
    settings: {
      ...trusting(made),
      'Pipeline:MaxConcurrency': 8,
      ...(await localProfile(root, 0, {
        name: 'stamped',
        signer,
        members: {
          Format: 'Cades',
          Level: 'T',
          'Timestamp:Url': made.timestampUrl,
          'Timestamp:TimeoutSeconds': 120,
        },
      })),
      ...(await localProfile(root, 1, { name: 'plain', signer, members: { Format: 'Cades' } })),
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

test.serial(
  'with a time-stamp authority the portal signs at level LTA, and the batch service at level B',
  async (t) => {
    const made = await authority(t);
    const root = await temporaryRoot(t);
    const members = { Format: 'Pades', 'Timestamp:Url': made.timestampUrl };
    const settings = {
      ...trusting(made),
      ...(await localProfile(root, 0, { name: 'seal', signer: made.pki.signer('p-256'), members })),
    };
    const service = await Service.start(t, { root, settings: { ...settings, 'Portal:Enabled': true } });
    const { jobId } = await service.upload(...CONTENT.Pades);
    const job = await service.finished(jobId);
    t.is(job.errorMessage, null);
    const words = Object.entries(settings).map(([key, value]) => `--${key}=${value}`);
    const tried = await run(root, ['try', `--Storage:Root=${root}`, ...words]);
    t.is(tried.code, 0, tried.out + tried.err);
    for (const [path, level] of [
      [join(root, 'output', job.outputFileName ?? ''), 'B'],
      [join(root, 'sample-contract-signed.pdf'), 'LTA'],
    ] as const) {
      const report = await validateFile({ format: 'Pades', path, trust: made.trust, at: Date.now() });
      t.is(report.signatures.find(({ isTimestamp }) => !isTimestamp)?.level, level, path);
    }
  },
);
