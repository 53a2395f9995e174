/** Extending signed files: the job kind (`operation=Extend`) and the command. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type SignatureFormat,
  signAsic,
  signFile,
  type ValidationReport,
  validateFile,
} from '@sealwright/signatures';
import test, { type ExecutionContext } from 'ava';
import { samplePdf } from '../../bench/samples.ts';
import { freshFolder, run } from '../commands/program.ts';
import { startAuthority, type TestAuthority } from '../pki/authority.ts';
import { Service, temporaryRoot } from './service.ts';
import { localProfile } from './signing/profiles.ts';

const CONTENT: { readonly [format in SignatureFormat]: Buffer } = {
  Pades: samplePdf(),
  Cades: Buffer.from('content'),
  Xades: Buffer.from('<order/>'),
};
const NAME = { Pades: 'a.pdf', Cades: 'a.p7m', Xades: 'a.xml', Asic: 'a.asice' } as const;

/** Files of every format at level B, by the authority's signer. */
async function signedFiles(folder: string, { pki }: TestAuthority) {
  const signer = pki.signer('p-256');
  const paths: [keyof typeof NAME, string][] = [];
  for (const format of ['Pades', 'Cades', 'Xades'] as const) {
    const input = join(folder, `in.${format}`);
    const output = join(folder, NAME[format]);
    writeFileSync(input, CONTENT[format]);
    signFile({ format, input, output, signer, at: Date.now() });
    paths.push([format, output]);
  }
  const output = join(folder, NAME.Asic);
  const inputs = [{ path: join(folder, 'in.Cades'), name: 'a.bin' }];
  await signAsic({ kind: 'E', format: 'Cades', inputs, output, signer, at: Date.now() });
  return [...paths, ['Asic', output] as const];
}

async function authorityOf(t: ExecutionContext): Promise<TestAuthority> {
  const authority = await startAuthority();
  t.teardown(() => authority.close());
  return authority;
}

function judged(format: keyof typeof NAME, path: string, { pki }: TestAuthority): Promise<ValidationReport> {
  const trust = { anchors: [pki.root.certificate], intermediates: [], revocation: 'soft' } as const;
  return validateFile({ format, path, trust, at: Date.now() + 60_000 });
}

test.serial(
  'an upload to be extended reaches the level of its profile, without the original and with a valid signature',
  async (t) => {
    const authority = await authorityOf(t);
    const root = await temporaryRoot(t);
    const settings = await localProfile(root, 0, {
      name: 'lta',
      signer: authority.pki.signer('p-256'),
      members: {
        Format: 'Cades',
        Level: 'LTA',
        VerifyIndependently: true,
        'Timestamp:Url': authority.timestampUrl,
      },
    });
    const low = await localProfile(root, 1, {
      name: 'low',
      signer: authority.pki.signer('p-256'),
      members: { Format: 'Cades' },
    });
    const service = await Service.start(t, {
      root,
      settings: { ...settings, ...low, 'Signing:Trust:Roots:0': authority.pki.rootFile },
    });
    for (const [format, path] of await signedFiles(root, authority)) {
      const as = format === 'Asic' ? 'Cades' : format;
      const { jobId } = await service.upload(
        NAME[format],
        readFileSync(path),
        `?profile=lta&operation=extend&format=${as}`,
      );
      const job = await service.finished(jobId);
      t.is(job.status, 'Completed', `${format}: ${job.errorMessage}`);
      t.is(job.outputFileName, NAME[format].replace('a.', 'a.extended.'));
      t.deepEqual(job.history.map(({ message }) => message).slice(0, 3), [
        'Uploaded to be extended.',
        'Claimed by worker.',
        'Extended.',
      ]);
      // The original is removed after the job is completed.
      await service.until('the original to be gone', async () =>
        existsSync(job.originalPath) ? undefined : true,
      );
      const report = await judged(format, join(root, 'output', job.outputFileName ?? ''), authority);
      t.is(report.indication, 'TOTAL-PASSED', format);
      t.is(report.signatures.find(({ isTimestamp }) => !isTimestamp)?.level, 'LTA', format);
    }
    // What has no signature, and a profile without a level to extend to.
    const { jobId } = await service.upload(
      'b.pdf',
      samplePdf(),
      '?profile=lta&operation=Extend&format=Pades',
    );
    t.is((await service.finished(jobId)).errorCode, 'request.invalid');
    const headers = { 'X-API-Key': await service.key() };
    for (const query of ['?profile=low&operation=Extend', '?profile=lta&operation=nothing']) {
      const form = new FormData();
      form.append('file', new Blob(['x']), 'a.p7m');
      const answer = await fetch(`${service.url}/api/files${query}`, { method: 'POST', headers, body: form });
      t.like(await answer.json(), { status: 400, code: 'validation.body-invalid' });
    }
  },
);

test.serial('a file that was broken before its extension is not published', async (t) => {
  const authority = await authorityOf(t);
  const root = await temporaryRoot(t);
  const settings = await localProfile(root, 0, {
    name: 'lt',
    signer: authority.pki.signer('p-256'),
    members: {
      Format: 'Xades',
      Level: 'LT',
      'Timestamp:Url': authority.timestampUrl,
    },
  });
  const service = await Service.start(t, {
    root,
    settings: { ...settings, 'Signing:Trust:Roots:0': authority.pki.rootFile },
  });
  const [, , [, path] = ['', '']] = await signedFiles(root, authority);
  const broken = readFileSync(path, 'utf8').replace('<order>', '<order a="b">');
  const { jobId } = await service.upload('a.xml', broken, '?profile=lt&operation=Extend');
  const job = await service.finished(jobId);
  t.is(job.status, 'Failed');
  t.is(job.errorCode, 'signature.mismatch');
  const unsigned = await service.upload('b.xml', '<order/>', '?profile=lt&operation=Extend');
  t.is((await service.finished(unsigned.jobId)).errorMessage, 'b.xml has no XAdES signature.');
});

test.serial(
  'extend augments files of every format to level LTA and renews them, next to the originals',
  async (t) => {
    const authority = await authorityOf(t);
    const cwd = freshFolder();
    const files = await signedFiles(cwd, authority);
    const words = [
      '--timestamp-url',
      authority.timestampUrl,
      '--trust',
      authority.pki.rootFile,
      '--allow-private',
    ];
    const names = files.map(([format]) => NAME[format]);
    const done = await run(cwd, ['extend', '--level', 'LTA', ...words, ...names]);
    t.is(done.code, 0, done.out + done.err);
    for (const [format] of files) {
      const path = join(cwd, NAME[format].replace('a.', 'a.extended.'));
      const report = await judged(format, path, authority);
      t.is(report.indication, 'TOTAL-PASSED', format);
      t.is(report.signatures.find(({ isTimestamp }) => !isTimestamp)?.level, 'LTA', format);
    }
    const again = await run(cwd, ['extend', ...words, '--json', '--out', 'renewed.xml', 'a.extended.xml']);
    t.is(again.code, 0, again.out + again.err);
    t.like(JSON.parse(again.out), { ok: true, files: [{ output: 'renewed.xml' }] });
    const renewed = await judged('Xades', join(cwd, 'renewed.xml'), authority);
    t.is(renewed.signatures[0]?.timestamps.filter(({ kind }) => kind === 'archive').length, 2);

    const taken = await run(cwd, ['extend', ...words, '--out', 'renewed.xml', 'a.xml']);
    t.is(taken.code, 1);
    t.regex(taken.err, /output\.exists/);
    const two = await run(cwd, ['extend', ...words, '--out', 'x', 'a.xml', 'a.pdf']);
    t.is(two.code, 2);
  },
);
