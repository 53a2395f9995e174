import { X509Certificate } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import { samplePdf } from '../../bench/samples.ts';
import { keyPemOf, pki } from '../pki/pki.ts';
import { NODES, ON_POSTGRES } from '../postgres/test-store.ts';
import { endedAfter } from '../project/ended-after.ts';
import { mutool, opensslCms, pdfsig, qpdf, withTools, xmlsec1 } from '../verifiers/index.ts';
import { Service, temporaryRoot } from './service.ts';
import { brokenPromises, sha256 } from './signing/evidence.ts';

const shared = endedAfter(test);
let service: Promise<Service> | undefined;

/** The service of the tests that need neither settings nor a start of their own. */
function sharedService(): Promise<Service> {
  service ??= temporaryRoot(shared).then((root) => Service.start(shared, { root }));
  return service;
}

const toolTest = withTools(test, 'pdfsig', 'certutil', 'mutool', 'qpdf', 'openssl', 'xmlsec1');

/** The settings of somebody who configured nothing, but for the port and the folder. */
const UNTOUCHED = {
  'WatchedFolder:StabilityPollIntervalMs': 500,
  'WatchedFolder:StabilityRequiredSamples': 3,
  'RateLimiting:Enabled': true,
};

test.serial(
  'a PDF, an XML and any other file dropped into the folder are signed without configuration',
  async (t) => {
    const root = await temporaryRoot(t);
    const service = await Service.start(t, { root, settings: UNTOUCHED, makesKey: true });
    const files = {
      'report.pdf': samplePdf(),
      'order.xml': '<order><line>one</line></order>',
      'notes.txt': 'Hello',
    };
    for (const [name, content] of Object.entries(files)) await writeFile(join(root, 'input', name), content);
    await service.until('three completed jobs', async () =>
      (await service.count('Completed')) === 3 ? true : undefined,
    );
    await service.until('the folders to be tidy', async () =>
      (await brokenPromises(service, { accepted: [], dropped: Object.values(files).map(sha256) })).length ===
      0
        ? true
        : undefined,
    );
    t.deepEqual((await readdir(join(await service.files(), 'output'))).sort(), [
      'notes.signed.txt',
      'order.signed.xml',
      'report.signed.pdf',
    ]);
    t.deepEqual(await readdir(join(root, 'input')), []);
    for (const job of await service.jobs()) {
      t.like(job, { source: 'Watcher', folder: 'default', errorMessage: null, profileName: 'default' });
      const { history, format, inputSha256 } = await service.job(job.id);
      t.deepEqual(
        history.map(({ id, status, message }) => ({ id, status, message })),
        [
          { id: 1, status: 'Queued', message: 'Enqueued by watcher (folder default).' },
          { id: 2, status: 'Processing', message: 'Claimed by worker.' },
          { id: 3, status: 'Verifying', message: 'Signed.' },
          { id: 4, status: 'Completed', message: 'Verified and published.' },
        ],
      );
      t.is(format, { 'report.pdf': 'Pades', 'order.xml': 'Xades', 'notes.txt': 'Cades' }[job.fileName] ?? '');
      t.is(inputSha256, sha256(files[job.fileName as keyof typeof files]));
    }
    t.is(await service.stop(), 0);
  },
);

test.serial('an upload is answered 202, signed, and downloaded with its digest as the tag', async (t) => {
  const service = await sharedService();
  const answer = await service.upload('rapport été.pdf', samplePdf());
  t.is(answer.status, 'Queued');
  const job = await service.finished(answer.jobId);
  t.like(job, {
    status: 'Completed',
    source: 'Upload',
    fileName: 'rapport été.pdf',
    outputFileName: 'rapport été.signed.pdf',
  });
  const output = await service.fetch(`/api/jobs/${job.id}/output`);
  const bytes = new Uint8Array(await output.arrayBuffer());
  t.is(job.outputSha256, sha256(bytes));
  t.true(output.headers.get('etag')?.includes(job.outputSha256 ?? '-'));
  t.is(output.headers.get('content-type'), 'application/pdf');
  await service.until('the folders to be tidy', async () =>
    (await brokenPromises(service, { accepted: [job.id], dropped: [] })).length === 0 ? true : undefined,
  );
});

test.serial(
  'a file that a job could not sign stays in the input, its content is put into the error folder, and the next job runs',
  async (t) => {
    const service = await sharedService();
    const { root } = service;
    const before = await service.count('Completed');
    await writeFile(join(root, 'input', 'broken.pdf'), 'this is no PDF');
    await service.until('the failure', async () =>
      (await service.count('Failed')) === 1 ? true : undefined,
    );
    await writeFile(join(root, 'input', 'fine.txt'), 'fine');
    await service.until('the next job', async () =>
      (await service.count('Completed')) === before + 1 ? true : undefined,
    );
    const [failed] = await service.jobs('&status=Failed');
    const job = await service.job(failed?.id ?? '');
    t.is(job.errorCode, 'pdf.malformed');
    t.truthy(job.errorMessage);
    t.like(job.history.at(-1), { status: 'Failed', message: job.errorMessage });
    t.is(await readFile(join(root, 'input', 'broken.pdf'), 'utf8'), 'this is no PDF');
    await service.until('the error folder', async () =>
      existsSync(join(await service.files(), 'error', job.id, 'broken.pdf')) ? true : undefined,
    );
    t.is(
      await readFile(join(await service.files(), 'error', job.id, 'broken.pdf'), 'utf8'),
      'this is no PDF',
    );
    const answer = await service.fetch(`/api/jobs/${job.id}/output`);
    t.is(answer.status, 404);
    t.like(await answer.json(), { code: 'job.output-unavailable' });
    await rm(join(root, 'input', 'broken.pdf'));
  },
);

test.serial(
  'a file with a failed or canceled job is ignored until it changes, also after a restart',
  async (t) => {
    const root = await temporaryRoot(t);
    const first = await Service.start(t, { root });
    await writeFile(join(root, 'input', 'broken.pdf'), 'this is no PDF');
    await first.until('the failure', async () => ((await first.count('Failed')) === 1 ? true : undefined));
    await first.stop();
    const second = await Service.start(t, { root });
    await writeFile(join(root, 'input', 'marker.txt'), 'seen after the broken one');
    await second.until('the marker', async () =>
      (await second.count('Completed')) === 1 ? true : undefined,
    );
    t.is((await second.jobs()).length, 2, 'no second job for the failed file');
    await writeFile(join(root, 'input', 'broken.pdf'), samplePdf());
    await second.until('the mended file', async () =>
      (await second.count('Completed')) === 2 ? true : undefined,
    );
    await second.kill();
  },
);

test.serial('a queued job can be canceled, and its file stays and is not offered again', async (t) => {
  const root = await temporaryRoot(t);
  const service = await Service.start(t, { root, env: { SEALWRIGHT_FAULTS: 'pool.sign.staged=hang:1' } });
  for (let node = 1; node <= NODES; node += 1)
    await writeFile(join(root, 'input', `first-${node}.txt`), `holds the only slot of a node: ${node}`);
  await service.until('the first to run', async () =>
    (await service.count('Processing')) === NODES ? true : undefined,
  );
  await writeFile(join(root, 'input', 'second.txt'), 'waits');
  const [queued] = await service.until('the second to wait', async () => {
    const jobs = await service.jobs('&status=Queued');
    return jobs.length === 1 ? jobs : undefined;
  });
  const id = queued?.id ?? '';
  const canceled = await service.json(`/api/jobs/${id}/cancel`, { method: 'POST' });
  t.deepEqual(canceled, { jobId: id, status: 'Canceled' });
  t.is((await service.job(id)).history.at(-1)?.message, 'Operator canceled.');
  const again = await service.fetch(`/api/jobs/${id}/cancel`, { method: 'POST' });
  t.is(again.status, 409);
  t.like(await again.json(), { code: 'job.not-queued' });
  const [running] = await service.jobs('&status=Processing');
  t.is((await service.fetch(`/api/jobs/${running?.id}/cancel`, { method: 'POST' })).status, 409);
  await service.kill();
  const second = await Service.start(t, { root });
  await writeFile(join(root, 'input', 'marker.txt'), 'later');
  await second.until('the marker', async () => ((await second.count('Completed')) === 1 ? true : undefined));
  t.is(await readFile(join(root, 'input', 'second.txt'), 'utf8'), 'waits');
  t.is(await second.count('Queued'), 0);
  await second.kill();
});

test.serial('the same name after its job completed is a new job and overwrites nothing', async (t) => {
  const service = await sharedService();
  const { root } = service;
  for (const content of ['one', 'two']) {
    const before = await service.count('Completed');
    await writeFile(join(root, 'input', 'same.txt'), content);
    await service.until(`${content} to be signed`, async () =>
      (await service.count('Completed')) === before + 1 ? true : undefined,
    );
    await service.until('the input to be put away', async () =>
      existsSync(join(root, 'input', 'same.txt')) ? undefined : true,
    );
  }
  const names = (await readdir(join(await service.files(), 'output'))).filter((name) =>
    name.startsWith('same'),
  );
  t.is(names.length, 2);
  t.true(names.includes('same.signed.txt'));
  t.regex(names.find((name) => name !== 'same.signed.txt') ?? '', /^same-[0-9a-f]{8}\.signed\.txt$/);
});

test.serial(
  'unusual names are signed or fail with a reason, and the files after them are signed',
  async (t) => {
    const root = await temporaryRoot(t);
    const outside = join(root, 'outside.txt');
    await writeFile(outside, 'not to be read');
    await mkdir(join(root, 'input'), { recursive: true });
    const long = `${'n'.repeat(251)}.txt`;
    const names = [
      '..hidden-looking.txt ',
      'line\nbreak.txt',
      'tab\tand\u0001control.txt',
      'ünïcödé 文書 عربي.txt',
      '-rf.txt',
      '%2e%2e%2fetc.txt',
      long,
    ];
    const watched = names.filter((name) => !name.startsWith('.'));
    const service = await Service.start(t, { root });
    for (const name of watched) await writeFile(join(root, 'input', name), name);
    await symlink(outside, join(root, 'input', 'link.txt'));
    await mkdir(join(root, 'input', 'folder.txt'));
    await service.until('all to end', async () =>
      (await service.count('Completed')) + (await service.count('Failed')) === watched.length
        ? true
        : undefined,
    );
    const failed = await service.jobs('&status=Failed');
    t.deepEqual(
      failed.map((job) => job.fileName),
      [long],
      'only the name that has no room for .signed',
    );
    t.regex(failed[0]?.errorMessage ?? '', /shorter name/);
    for (const name of ['../../escape.txt', '..\\..\\escape.txt', '/etc/escape.txt', 'nul\u0000byte.txt']) {
      const { jobId } = await service.upload(name, 'uploaded');
      const job = await service.finished(jobId);
      t.false(
        job.fileName.includes('/') || job.fileName.includes('\\') || job.fileName.includes('\u0000'),
        JSON.stringify(job.fileName),
      );
      t.is(job.status, 'Completed', `${JSON.stringify(name)}: ${job.errorMessage}`);
    }
    await t.throwsAsync(service.upload(`${'x'.repeat(400)}.txt`, 'uploaded'), {
      message: /answered 400: .*must have a shorter name/,
    });
    t.false(existsSync(join(root, 'escape.txt')));
    t.is(await readFile(outside, 'utf8'), 'not to be read');
    await service.kill();
  },
);

test.serial('a second process on the same folder is refused with the pid of the first', async (t) => {
  const first = await sharedService();
  const { root } = first;
  const refused = await t.throwsAsync(Service.start(t, { root }));
  t.regex(refused?.message ?? '', /ended with 3/);
  if (ON_POSTGRES) t.regex(refused?.message ?? '', /already has the node name/);
  else t.true(refused?.message.includes(String(first.pid)), refused?.message);
  t.is((await first.fetch('/api/health')).status, 200);
});

test.serial(
  'keys and secrets are readable by their owner only, the store by its group, and the log never contains the API key',
  async (t) => {
    const root = await temporaryRoot(t);
    const first = await Service.start(t, { root, makesKey: true });
    const key = (await readFile(join(root, 'keys', 'api-key'), 'utf8')).trim();
    t.is((await stat(join(root, 'keys'))).mode & 0o777, 0o700);
    for (const name of await readdir(join(root, 'keys'))) {
      t.is((await stat(join(root, 'keys', name))).mode & 0o077, 0, name);
    }
    for (const name of await readdir(join(root, 'db'))) {
      t.is((await stat(join(root, 'db', name))).mode & 0o027, 0, name);
    }
    t.is(first.printed.split(key).length - 1, 1, 'the banner shows it once');
    await first.stop();
    const second = await Service.start(t, { root });
    t.false(second.printed.includes(key), 'and never again');
    await second.kill();
  },
);

toolTest.serial(
  'pdfsig, mutool, qpdf, openssl and xmlsec1 accept the outputs of a service with its own certificate',
  async (t) => {
    const identities = pki();
    for (const kind of ['rsa-2048', 'p-256'] as const) {
      const root = await temporaryRoot(t);
      const certificates = join(root, 'chain.pem');
      const key = join(root, 'key.pem');
      const signer = identities.signer(kind);
      const issuers = [...signer.chain, identities.root.certificate];
      await writeFile(
        certificates,
        [signer.certificate, ...issuers].map((der) => `${new X509Certificate(der)}`).join(''),
      );
      await writeFile(key, keyPemOf(signer.key.keyObject), { mode: 0o600 });
      const service = await Service.start(t, {
        root,
        settings: {
          'Signing:Certificate:Source': 'Pem',
          'Signing:Certificate:Pem:CertificatePath': certificates,
          'Signing:Certificate:Pem:KeyPath': key,
        },
      });
      for (const [name, content] of [
        ['a.pdf', samplePdf()],
        ['a.xml', '<a>one</a>'],
        ['a.txt', 'one'],
      ] as const) {
        const { jobId } = await service.upload(name, content);
        t.is((await service.finished(jobId)).errorMessage, null);
      }
      const files = await service.files();
      const output = (name: string) => join(files, 'output', name);
      t.deepEqual(
        (await pdfsig(output('a.signed.pdf'), identities)).map(({ ok }) => ok),
        [true],
        kind,
      );
      t.like(await mutool(output('a.signed.pdf')), [{ unchanged: true, digestError: '' }], kind);
      t.is((await qpdf(output('a.signed.pdf'))).exit, 0, kind);
      t.true((await opensslCms({ signature: output('a.signed.txt'), ca: identities.rootFile })).ok, kind);
      const xml = await xmlsec1({ file: output('a.signed.xml'), ca: identities.rootFile });
      t.like(xml, { ok: true, referencesOk: 2, references: 2 }, kind);
      await service.kill();
    }
  },
);
