/** The whole program on disks that fill up, turn read-only and come back. Source: issue "The batch service", Proof. */
import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { samplePdf } from '../../bench/samples.ts';
import { brokenPromises, sha256 } from './evidence.ts';
import { type Job, Service, temporaryRoot } from './service.ts';
import { smallDisk } from './small-disk.ts';

/** Retries every failed job, waits, and looks whether any promise was broken on the way. */
async function mended(
  t: ExecutionContext,
  service: Service,
  dropped: readonly string[],
  accepted: readonly string[] = [],
) {
  for (const { id } of await service.jobs('&status=Failed'))
    await service.json(`/api/jobs/${id}/retry`, { method: 'POST' });
  await service.until('all files to be signed', async () => {
    const signed = new Set(
      (await Promise.all((await service.jobs('&status=Completed')).map(({ id }) => service.job(id)))).map(
        (job) => job.inputSha256,
      ),
    );
    return dropped.every((digest) => signed.has(digest)) ? true : undefined;
  });
  await service.idle();
  // Files are put away after their jobs have ended.
  await service
    .until('the folders to be in order', async () =>
      (await brokenPromises(service, { accepted, dropped })).length === 0 ? true : undefined,
    )
    .catch(async () => t.deepEqual(await brokenPromises(service, { accepted, dropped }), []));
}

/** Whole at once, as a careful writer does it. */
async function drop(service: Service, name: string, content: Uint8Array): Promise<string> {
  const place = join(service.root, 'input');
  await writeFile(join(place, `.${name}`), content);
  await rename(join(place, `.${name}`), join(place, name));
  return sha256(content);
}

/** The only failed job, once there is one. */
async function failure(service: Service): Promise<Job> {
  const [failed] = await service.until('a job to fail', async () => {
    const jobs = await service.jobs('&status=Failed');
    return jobs.length > 0 ? jobs : undefined;
  });
  if (failed === undefined) throw new Error('no job failed');
  return service.job(failed.id);
}

for (const where of ['processing', 'output'] as const) {
  test(`a full ${where} folder fails jobs with disk.full, loses nothing and takes them again once there is room`, async (t) => {
    const root = await temporaryRoot(t);
    const disk = smallDisk(t, join(root, where), 4);
    if (disk === undefined) return;
    const service = await Service.start(t, { root });
    disk.fill();
    const digest = await drop(service, 'large.pdf', samplePdf(2_000_000));
    const job = await failure(service);
    t.is(job.errorCode, 'disk.full');
    t.regex(job.errorMessage ?? '', /no room left/);
    t.is(sha256(await readFile(job.originalPath)), digest);
    t.deepEqual(
      (await readdir(join(root, 'output'))).filter((name) => name !== '.ballast'),
      [],
    );
    t.is((await fetch(`${service.url}/api/health`)).status, 200);
    disk.empty();
    await mended(t, service, [digest]);
    t.is(await service.stop(), 0);
  });

  test(`a read-only ${where} folder fails jobs with disk.not-writable and takes them again once it can be written`, async (t) => {
    const root = await temporaryRoot(t);
    const disk = smallDisk(t, join(root, where), 8);
    if (disk === undefined) return;
    const service = await Service.start(t, { root });
    disk.readOnly();
    const digest = await drop(service, 'a.pdf', samplePdf(4_000));
    const job = await failure(service);
    t.is(job.errorCode, 'disk.not-writable');
    t.is(sha256(await readFile(job.originalPath)), digest);
    disk.writable();
    await mended(t, service, [digest]);
    t.is(await service.stop(), 0);
  });
}

test('a full error folder holds up no job, and takes what belongs there once there is room', async (t) => {
  const root = await temporaryRoot(t);
  const disk = smallDisk(t, join(root, 'error'), 4);
  if (disk === undefined) return;
  const service = await Service.start(t, { root });
  disk.fill();
  const bad = Buffer.concat([Buffer.from('%PDF-1.7 and nothing more'), Buffer.alloc(1_000_000)]);
  await drop(service, 'bad.pdf', bad);
  const { id, errorCode } = await failure(service);
  t.regex(errorCode ?? '', /^pdf\./);
  const good = await drop(service, 'good.pdf', samplePdf(4_000));
  await service.until('the good one', async () =>
    (await service.count('Completed')) === 1 ? true : undefined,
  );
  t.true((await readdir(join(root, 'processing'))).includes(id), 'what failed is still there');
  disk.empty();
  await service.until('the failed one to be put away', async () =>
    (await readdir(join(root, 'error'))).includes(id) &&
    !(await readdir(join(root, 'processing'))).includes(id)
      ? true
      : undefined,
  );
  t.deepEqual(await brokenPromises(service, { accepted: [], dropped: [sha256(bad), good] }), []);
});

for (const what of ['store', 'whole root'] as const) {
  test(`a full disk below the ${what} is answered with 503, takes nothing it cannot keep, and recovers by itself`, async (t) => {
    const root = await temporaryRoot(t);
    const place = what === 'store' ? join(root, 'db') : root;
    const disk = smallDisk(t, place, 24);
    if (disk === undefined) return;
    await mkdir(join(root, 'input'), { recursive: true });
    const service = await Service.start(t, { root });
    const accepted: string[] = [];
    accepted.push((await service.upload('before.pdf', samplePdf(4_000, 'before'))).jobId);
    await service.idle();
    disk.fill();
    const refused = await service.until('an upload to be refused', async () => {
      const form = new FormData();
      form.set('file', new Blob([samplePdf(100_000, String(accepted.length))]), 'during.pdf');
      const response = await service.fetch('/api/files', { method: 'POST', body: form });
      if (response.status !== 202) return response;
      accepted.push(((await response.json()) as { jobId: string }).jobId);
      return undefined;
    });
    t.is(refused.status, 503);
    t.true(Number(refused.headers.get('retry-after')) >= 1);
    const problem = (await refused.json()) as { code: string };
    t.is(problem.code, 'service.busy');
    t.is((await fetch(`${service.url}/api/health`)).status, 200);
    t.is(
      (await fetch(`${service.url}/api/jobs?pageSize=1`, { headers: { 'X-API-Key': await service.key() } }))
        .status,
      200,
      'reads go on',
    );
    const dropped: string[] = [];
    if (what === 'store') {
      dropped.push(await drop(service, 'dropped.pdf', samplePdf(4_000, 'dropped')));
      await service.until('the folder to say so', async () => {
        const { folders } = await service.json<{ folders: { lastError: string | null }[] }>('/api/folders');
        return folders[0]?.lastError !== null ? true : undefined;
      });
    }
    disk.empty();
    accepted.push(
      (
        await service.until('an upload to be taken', () =>
          service.upload('after.pdf', samplePdf(4_000, 'after')).catch(() => undefined),
        )
      ).jobId,
    );
    await mended(t, service, dropped, accepted);
    t.is(await service.stop(), 0);
    t.false(service.printed.includes('internal'), service.printed);
  });
}
