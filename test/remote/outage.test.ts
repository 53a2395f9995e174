/** A remote portal that is down, slow or gone. Source: docs/batch-values.md §8, failure table; docs/decisions/0049-remote-portal-outages.md. */
import { readdir, writeFile } from 'node:fs/promises';
import { systemClock, systemIds } from '@sealwright/runtime';
import test from 'ava';
import { createRemotePortal } from '../../actors/index.ts';
import { samplePdf } from '../../bench/samples.ts';
import type { JobId, ProfileName } from '../../machines/ids.ts';
import type { BatchFixture } from '../actors/batch/batch-harness.ts';
import { pki } from '../pki/pki.ts';
import { faster, PDF, PROFILE, startRemote, until } from './remote-harness.ts';

const LOCAL = {
  method: 'Local' as const,
  verify: true,
  encrypt: false,
  name: 'here' as ProfileName,
  format: undefined,
  signer: pki().signer('p-256'),
  anchors: [pki().root.certificate],
  validTo: Date.now() + 86_400_000,
  certificate: 'test',
};

async function remoteHealth(service: BatchFixture): Promise<string | undefined> {
  return (await service.batch.health.checks()).find(({ name }) => name === 'remote-portal')?.status;
}

/** The defaults of `RemoteSigner:*`. */
const DEFAULTS = { every: 30_000, timeout: 168 * 3_600_000, maxFailures: 0 };

for (const down of ['reset', { status: 503 }] as const) {
  const name = down === 'reset' ? 'breaks every connection' : 'answers 503';
  test(`no job fails while the portal ${name} for ten minutes, and local signing continues`, async (t) => {
    const clock = faster(100);
    const { portal, service } = await startRemote(t, {
      remote: DEFAULTS,
      serviceOptions: { clock, profiles: [PROFILE, LOCAL], maxConcurrency: 1 },
    });
    for (let index = 0; index < 5; index += 1) await service.upload(`before-${index}.pdf`, PDF);
    await service.reach('AwaitingSigner', 5);
    portal.down = down;
    const end = clock.elapsed() + 10 * 60_000;
    const calls = portal.calls.length;
    await service.upload('at-its-begin.pdf', PDF);
    await until(async () => (await remoteHealth(service)) === 'Degraded');
    for (let index = 0; index < 4; index += 1) await service.upload(`during-${index}.pdf`, PDF);
    for (let index = 0; index < 3; index += 1) await service.upload(`here-${index}.pdf`, PDF, 'here');
    await service.reach('Completed', 3);
    await until(() => clock.elapsed() > end);
    t.is(service.batch.count(['Failed']), 0);
    t.is(service.batch.count(['AwaitingSigner']), 5);
    t.is(await remoteHealth(service), 'Degraded');
    t.true(service.batch.count(['Queued']) >= 4, 'while the circuit is open no job is claimed');
    t.true(portal.calls.length - calls < 60, `${portal.calls.length - calls} calls of a portal that is down`);
    portal.down = undefined;
    await service.reach('AwaitingSigner', 10);
    for (const document of portal.documents.values()) portal.conclude(document);
    await service.reach('Completed', 13);
    t.is(await remoteHealth(service), 'Healthy');
    t.is(service.batch.count(['Failed']), 0);
    t.is(portal.documents.size, 10, 'one document for each job');
  });
}

test('failed downloads count, although the polls between them succeed', async (t) => {
  const { portal, service } = await startRemote(t, { maxFailures: 2 });
  const id = await service.upload('a.pdf', PDF);
  await service.reach('AwaitingSigner', 1);
  portal.misbehave('download', ...Array.from({ length: 20 }, () => ({ status: 502 })));
  portal.conclude(portal.only);
  await service.reach('Failed', 1);
  t.is(portal.count('download'), 3);
  const { errorCode, errorMessage } = await service.batch.jobs.get(id);
  t.is(errorCode, 'remote.unreachable');
  t.regex(errorMessage ?? '', /3 failures in a row/);
});

test('a slow download holds no slot', async (t) => {
  const { portal, service } = await startRemote(t, {
    serviceOptions: { profiles: [PROFILE, LOCAL], maxConcurrency: 1 },
  });
  await service.upload('a.pdf', PDF);
  await service.reach('AwaitingSigner', 1);
  let release = () => {};
  portal.gates.set(
    'download',
    new Promise((resolve) => {
      release = resolve;
    }),
  );
  portal.conclude(portal.only);
  await until(() => portal.count('download') === 1);
  await service.upload('b.pdf', PDF, 'here');
  await service.reach('Completed', 1);
  release();
  await service.reach('Completed', 2);
  t.is(portal.count('download'), 1);
});

test('a signed file that cannot be stored does not count as a failure of the portal', async (t) => {
  const { portal, service } = await startRemote(t, { maxFailures: 1 });
  const id = await service.upload('a.pdf', PDF);
  await service.reach('AwaitingSigner', 1);
  // A file where the job's working folder has to be: nothing can be stored in it.
  await until(async () => (await readdir(service.layout.processing)).includes(id));
  const folder = `${service.layout.processing}/${id}`;
  const { rename, rm } = await import('node:fs/promises');
  await rename(folder, `${folder}.aside`);
  await writeFile(folder, '');
  portal.conclude(portal.only);
  await until(() => service.complaints.filter((line) => line.includes('could not be stored')).length >= 3);
  t.is(service.batch.count(['AwaitingSigner']), 1);
  await rm(folder);
  await rename(`${folder}.aside`, folder);
  await service.reach('Completed', 1);
});

test('a call without a connection reports that nothing was sent', async (t) => {
  const portal = createRemotePortal({
    endpoint: 'http://127.0.0.1:1',
    apiKey: 'a|b',
    timeout: 5_000,
    clock: systemClock,
    ids: systemIds,
  });
  t.teardown(() => portal.close());
  const document = {
    ...PROFILE,
    fileName: 'a.pdf',
    contentType: 'application/pdf',
    format: 'Pades' as const,
  };
  await t.throwsAsync(portal.create('upload', document), { name: 'RemoteFailure' }, 'refused');
  await t.throwsAsync(portal.create('upload', document), { message: /ECONNREFUSED/ });
  const error = await portal.create('upload', document).catch((failure: unknown) => failure);
  t.like(error, { transient: true, sent: false });
});

/** A job that failed because the portal refused one poll. */
async function failedJob(t: Parameters<typeof startRemote>[0]) {
  const made = await startRemote(t);
  const id = await made.service.upload('a.pdf', PDF);
  await made.service.reach('AwaitingSigner', 1);
  made.portal.misbehave('poll', { status: 403 });
  await made.service.reach('Failed', 1);
  await until(async () => (await readdir(made.service.layout.error)).includes(id));
  return { ...made, id };
}

for (const status of ['Pending', 'FlowConcluded', 'Concluded']) {
  test(`a retry attaches to the document of the failed job while that is ${status}`, async (t) => {
    const { portal, service, id } = await failedJob(t);
    const { only } = portal;
    if (status === 'Concluded') portal.conclude(only);
    only.status = status;
    const retry = await service.batch.jobs.retry(id);
    await until(async () => (await service.batch.jobs.get(retry.id)).remoteDocumentId !== null);
    const job = await service.batch.jobs.get(retry.id);
    t.is(job.remoteDocumentId, only.id);
    t.true(job.history.some(({ message }) => message.includes(`that job ${id} dispatched`)));
    if (status !== 'Concluded') portal.conclude(only);
    await service.reach('Completed', 1);
    t.is(portal.count('upload'), 1);
    t.is(portal.count('create'), 1);
  });
}

for (const status of ['Refused', 'Expired', 'Canceled', 'SomethingNew']) {
  test(`a retry makes a new document when the earlier one is ${status}`, async (t) => {
    const { portal, service, id } = await failedJob(t);
    const earlier = portal.only.id;
    portal.only.status = status;
    const retry = await service.batch.jobs.retry(id);
    await service.reach('AwaitingSigner', 1);
    t.not((await service.batch.jobs.get(retry.id)).remoteDocumentId, earlier);
    t.is(portal.count('create'), 2);
  });
}

test('a retry with a changed input makes a new document', async (t) => {
  const { portal, service, id } = await failedJob(t);
  const { originalPath } = await service.batch.jobs.get(id);
  await writeFile(originalPath, samplePdf(4_000, 'corrected'));
  const earlier = portal.only.id;
  const retry = await service.batch.jobs.retry(id);
  await service.reach('AwaitingSigner', 1);
  t.not((await service.batch.jobs.get(retry.id)).remoteDocumentId, earlier);
});

test('a retry of a retry that never reached the portal finds the first document', async (t) => {
  const { portal, service, id } = await failedJob(t);
  portal.misbehave('poll', { status: 404 });
  portal.misbehave('upload', { status: 400 });
  const second = await service.batch.jobs.retry(id);
  await service.reach('Failed', 2);
  await until(async () => (await readdir(service.layout.error)).includes(second.id));
  const third = await service.batch.jobs.retry(second.id);
  await service.reach('AwaitingSigner', 1);
  t.is((await service.batch.jobs.get(third.id)).remoteDocumentId, portal.only.id);
});

async function waitingJobs(t: Parameters<typeof startRemote>[0], count: number) {
  const made = await startRemote(t);
  const ids: JobId[] = [];
  for (let index = 0; index < count; index += 1) ids.push(await made.service.upload(`${index}.pdf`, PDF));
  await made.service.reach('AwaitingSigner', count);
  await made.service.close();
  return { ...made, ids };
}

test('a waiting job with a removed endpoint is listed, and an event names the document that its cancellation left open', async (t) => {
  const { again, ids, portal } = await waitingJobs(t, 1);
  const id = ids[0] as JobId;
  const service = await again({ profiles: [LOCAL], remote: { ...DEFAULTS, every: 50 } });
  const query = { statuses: ['AwaitingSigner'] as const, page: 1, pageSize: 10 };
  t.deepEqual(
    (await service.batch.jobs.list(query)).items.map((job) => job.id),
    [id],
  );
  await until(() => service.complaints.some((line) => line.includes('not signed there any more')));
  t.is(await remoteHealth(service), 'Degraded');
  await service.batch.jobs.cancel(id, 'not needed');
  const recorded = () => service.batch.events.list({ kinds: ['RemoteCancelFailed'], page: 1, pageSize: 5 });
  await until(async () => (await recorded()).totalCount === 1);
  const [event] = (await recorded()).items;
  t.like(event, { jobId: id, code: 'remote.unreachable' });
  t.true(event?.message.includes(`${portal.only.id} was not canceled`));
  const { history } = await service.batch.jobs.get(id);
  t.deepEqual(history.at(-1)?.message, 'Operator canceled: not needed.', 'one line per transition');
  t.is(portal.count('cancel'), 0);
});

test('a waiting job with a removed endpoint fails at its time limit', async (t) => {
  const { again, ids } = await waitingJobs(t, 1);
  const service = await again({ profiles: [LOCAL], remote: { every: 50, timeout: 1, maxFailures: 0 } });
  await service.reach('Failed', 1);
  t.is((await service.batch.jobs.get(ids[0] as JobId)).errorCode, 'remote.timeout');
});

test('a waiting job with a removed profile waits until its conclusion, and is canceled on the portal', async (t) => {
  const { again, ids, portal } = await waitingJobs(t, 2);
  const [first, second] = ids as [JobId, JobId];
  const service = await again({ profiles: [LOCAL] });
  const documentId = (await service.batch.jobs.get(first)).remoteDocumentId ?? '';
  const document = portal.documents.get(documentId);
  if (document) portal.conclude(document);
  const asked = portal.count('poll');
  await until(() => portal.count('poll') >= asked + 6);
  t.is(service.batch.count(['AwaitingSigner']), 2);
  await service.batch.jobs.cancel(second, 'not needed');
  await until(() => portal.count('cancel') === 1);
  await service.close();
  const back = await again();
  await back.reach('Completed', 1);
  t.is((await back.batch.jobs.get(first)).status, 'Completed');
});
