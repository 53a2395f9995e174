/** The whole program on disks that fill up, turn read-only and come back. Source: issue "The batch service", Proof. */
import { mkdir, readdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import ava, { type ExecutionContext } from 'ava';
import { samplePdf } from '../../bench/samples.ts';
import { withTools } from '../verifiers/tool.ts';
import { type Job, Service, temporaryRoot } from './service.ts';
import { brokenPromises, sha256 } from './signing/evidence.ts';
import { smallDisk } from './small-disk.ts';

const test = withTools(ava, 'tmpfs');

/** Settings under which a start in Production needs no certificate of its own. */
const IN_PRODUCTION = { 'Signing:AllowSelfSigned': true };

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

interface State {
  readonly paused: boolean;
  readonly held: { readonly reason: string; readonly since: string } | null;
  readonly jobsInFlight: number;
}

/** The state of the pipeline once it is held. */
async function heldState(service: Service): Promise<State & { readonly held: object }> {
  return service.until('the pipeline to be held', async () => {
    const state = await service.json<State>('/api/pipeline/state');
    return state.held === null ? undefined : { ...state, held: state.held };
  });
}

/** Names of the checks that make the service not ready. */
async function unhealthyChecks(service: Service): Promise<readonly string[]> {
  const { checks } = (await (await fetch(`${service.url}/api/ready`)).json()) as {
    readonly checks: readonly { readonly name: string; readonly status: string }[];
  };
  return checks.filter(({ status }) => status === 'Unhealthy').map(({ name }) => name);
}

for (const [where, left] of [
  ['processing', 0],
  ['output', 1_500_000],
] as const) {
  const freeSpace = left === 0 ? 'no room at all' : 'too little room for the file';
  test(`a ${where} folder with ${freeSpace} holds the pipeline, which continues once there is space and fails no job`, async (t) => {
    const root = await temporaryRoot(t);
    const disk = smallDisk(t, join(root, where), 4);
    const service = await Service.start(t, { root });
    disk.fill(left);
    const digest = await drop(service, 'large.pdf', samplePdf(2_000_000));
    const { paused, held } = await heldState(service);
    t.false(paused);
    t.regex(String((held as State['held'])?.reason), /no room left/);
    t.is((await fetch(`${service.url}/api/ready`)).status, 503);
    t.deepEqual(await unhealthyChecks(service), ['room']);
    t.is((await fetch(`${service.url}/api/health`)).status, 200);
    t.is(await service.count('Failed'), 0);
    disk.empty();
    await service.until('the job to be signed', async () =>
      (await service.count('Completed')) === 1 ? true : undefined,
    );
    t.is((await service.json<State>('/api/pipeline/state')).held, null);
    t.is((await fetch(`${service.url}/api/ready`)).status, 200);
    t.is(await service.count('Failed'), 0);
    await mended(t, service, [digest]);
    t.is(await service.stop(), 0);
  });
}

for (const where of ['processing', 'output'] as const) {
  test(`a read-only ${where} folder holds the pipeline until it is writable, and fails no job`, async (t) => {
    const root = await temporaryRoot(t);
    const disk = smallDisk(t, join(root, where), 8);
    const service = await Service.start(t, { root });
    await disk.readOnly();
    const digest = await drop(service, 'a.pdf', samplePdf(4_000));
    const { held } = await heldState(service);
    t.regex(String((held as State['held'])?.reason), /EROFS/);
    await service.until('readiness to say so', async () =>
      (await unhealthyChecks(service)).includes(`folder:${where}`) ? true : undefined,
    );
    disk.writable();
    await service.until('the job to be signed', async () =>
      (await service.count('Completed')) === 1 ? true : undefined,
    );
    t.is(await service.count('Failed'), 0);
    await mended(t, service, [digest]);
    t.is(await service.stop(), 0);
  });
}

test('an original in a folder that turned read-only stays, its job says why, and it is signed once', async (t) => {
  const root = await temporaryRoot(t);
  const folder = join(root, 'share');
  const disk = smallDisk(t, folder, 4);
  const settings = { 'Storage:Inputs:0:Name': 'share', 'Storage:Inputs:0:Path': folder };
  const service = await Service.start(t, { root, settings });
  await service.json('/api/pipeline/pause', { method: 'POST' });
  await writeFile(join(folder, 'a.pdf'), samplePdf(4_000));
  await service.until('the job', async () => (await service.jobs())[0]);
  await disk.readOnly();
  await service.json('/api/pipeline/resume', { method: 'POST' });
  const job = await service.until('the job to say that its input stays', async () => {
    const [first] = await service.jobs('&status=Completed');
    const found = first && (await service.job(first.id));
    const last = found?.history.at(-1)?.message ?? '';
    return last.startsWith('job.input-not-removed') ? found : undefined;
  });
  t.is(job?.status, 'Completed');
  t.regex(job?.history.at(-1)?.message ?? '', /stays in place.*right to remove files.*EROFS/);
  t.deepEqual(await readdir(folder), ['a.pdf']);
  t.deepEqual(await readdir(join(root, 'output')), ['a.signed.pdf']);
  t.is((await service.jobs()).length, 1);
  t.is(await service.stop(), 0);
});

test('none of 140 queued jobs fails on a full disk, and all are signed after space is freed', async (t) => {
  const root = await temporaryRoot(t);
  const disk = smallDisk(t, join(root, 'output'), 8);
  const service = await Service.start(t, { root, settings: { 'Pipeline:MaxConcurrency': 4 } });
  await service.json('/api/pipeline/pause', { method: 'POST' });
  const digests: string[] = [];
  for (let n = 0; n < 140; n += 1) {
    const content = samplePdf(4_000, String(n));
    digests.push(sha256(content));
    await service.upload(`${n}.pdf`, content);
  }
  disk.fill();
  await service.json('/api/pipeline/resume', { method: 'POST' });
  await heldState(service);
  const failedWhileFull = await service.count('Failed');
  const { jobsInFlight } = await service.json<State>('/api/pipeline/state');
  t.true(jobsInFlight <= 4, 'no more is claimed than could be in flight');
  const start = Date.now();
  disk.empty();
  await service.until('all to be signed', async () =>
    (await service.count('Completed')) === 140 ? true : undefined,
  );
  const failed = await service.count('Failed');
  t.deepEqual([failedWhileFull, failed], [0, 0]);
  t.log(`140 queued, 0 failed, all signed ${Date.now() - start} ms after room was made`);
  await mended(t, service, digests);
  t.is(await service.stop(), 0);
});

test('a service that stops while the pipeline is held does not wait for space', async (t) => {
  const root = await temporaryRoot(t);
  const disk = smallDisk(t, join(root, 'output'), 4);
  const service = await Service.start(t, { root });
  disk.fill();
  await drop(service, 'large.pdf', samplePdf(2_000_000));
  await heldState(service);
  t.is(await service.stop(), 0);
});

for (const [what, outcome] of [
  ['first', 'refused with a sentence'],
  ['later', 'held until there is room'],
] as const) {
  test(`a ${what} start on a full disk is ${outcome}`, async (t) => {
    const root = await temporaryRoot(t);
    const disk = smallDisk(t, root, 24);
    if (what === 'later') t.is(await (await Service.start(t, { root })).stop(), 0);
    disk.fill();
    const start = Service.start(t, { root });
    if (what === 'first') {
      const refused = await t.throwsAsync(start);
      t.regex(refused?.message ?? '', /^ended with 3:[\s\S]*could not start: .*no room/);
      t.notRegex(refused?.message ?? '', /SIGBUS/);
      return;
    }
    // What is there already can be read; the service starts and is held.
    const service = await start;
    await heldState(service);
    disk.empty();
    await service.until('the hold to end', async () =>
      (await service.json<State>('/api/pipeline/state')).held === null ? true : undefined,
    );
    t.is(await service.stop(), 0);
  });
}

test('a full error folder delays no job, and receives its files once there is space', async (t) => {
  const root = await temporaryRoot(t);
  const disk = smallDisk(t, join(root, 'error'), 4);
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
  const broken = () => brokenPromises(service, { accepted: [], dropped: [sha256(bad), good] });
  await service
    .until('the folders to be in order', async () => ((await broken()).length === 0 ? true : undefined))
    .catch(async () => t.deepEqual(await broken(), []));
});

for (const what of ['store', 'whole root'] as const) {
  test(`a full disk below the ${what} is answered with 503, acknowledges nothing that is not stored, and recovers automatically`, async (t) => {
    const root = await temporaryRoot(t);
    const place = what === 'store' ? join(root, 'db') : root;
    const disk = smallDisk(t, place, 24);
    await mkdir(join(root, 'input'), { recursive: true });
    const service = await Service.start(t, {
      root,
      env: { NODE_ENV: 'production' },
      settings: IN_PRODUCTION,
    });
    const accepted: string[] = [];
    accepted.push((await service.upload('before.pdf', samplePdf(4_000, 'before'))).jobId);
    await service.idle();
    disk.fill();
    await service.until('an upload to be refused for the full disk', async () => {
      const form = new FormData();
      form.set('file', new Blob([new Uint8Array(samplePdf(100_000, String(accepted.length)))]), 'during.pdf');
      const response = await service.fetch('/api/files', { method: 'POST', body: form });
      if (response.status === 202) {
        accepted.push(((await response.json()) as { jobId: string }).jobId);
        return undefined;
      }
      t.is(response.status, 503);
      t.true(Number(response.headers.get('retry-after')) >= 1);
      const { code } = (await response.json()) as { code: string };
      // On a machine with other load the service may be busy first.
      t.true(['storage.full', 'service.busy'].includes(code), code);
      return code === 'storage.full' ? true : undefined;
    });
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
      // A store that is nearly full may still have room for one more job.
      await service.until('the folder to say so, or the file to be queued', async () => {
        const { folders } = await service.json<{ folders: { lastError: string | null }[] }>('/api/folders');
        const jobs = await service.jobs('');
        return folders[0]?.lastError !== null || jobs.some(({ fileName }) => fileName === 'dropped.pdf')
          ? true
          : undefined;
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
