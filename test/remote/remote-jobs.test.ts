/** Jobs that a person signs on the remote portal. Source: docs/batch-values.md §8, its three tables. */
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { type Clock, systemClock } from '@sealwright/runtime';
import test from 'ava';
import { samplePdf } from '../../bench/samples.ts';
import { RESTART_MESSAGE } from '../../machines/batch/job-context.ts';
import type { JobId } from '../../machines/ids.ts';
import { hasty, PDF, POLL_MS, PROFILE, startRemote, until } from './remote-harness.ts';

test('a file is uploaded, a document made for its one participant, and the signed file published', async (t) => {
  const { portal, service } = await startRemote(t);
  const id = await service.upload('contract "ä".pdf', PDF);
  await service.reach('AwaitingSigner', 1);
  const waiting = await service.batch.jobs.get(id);
  t.is(waiting.remoteDocumentId, portal.only.id);
  t.is(typeof waiting.awaitingSignerSince, 'number');
  t.is(service.batch.inFlight(), 0, 'a waiting job holds no slot');
  t.deepEqual([...portal.keys], [portal.apiKey]);
  t.deepEqual(portal.only.content, PDF);
  t.like(portal.only.request, {
    files: [{ displayName: 'contract "ä".pdf', name: 'contract "ä".pdf', contentType: 'application/pdf' }],
    flowActions: [
      {
        type: 'Signer',
        step: 1,
        user: { name: 'Ann Example', identifier: '12345678909', email: 'ann@example.org' },
        allowElectronicSignature: false,
      },
    ],
  });
  portal.conclude(portal.only);
  await service.reach('Completed', 1);
  const done = await service.batch.jobs.get(id);
  t.deepEqual(
    done.history.map(({ status, message }) => `${status}: ${message}`),
    [
      'Queued: Uploaded.',
      'Processing: Claimed by worker.',
      `AwaitingSigner: Dispatched to the remote portal (document ${waiting.remoteDocumentId}).`,
      'Verifying: Remote document concluded; content downloaded.',
      'Completed: Verified and published.',
    ],
  );
  t.deepEqual(await readFile((await service.batch.jobs.output(id)).path), portal.only.content);
  t.is(portal.count('upload'), 1);
  t.is(portal.count('create'), 1);
  // The portal warns the person who signs there.
  t.deepEqual(done.warnings, []);
});

for (const [name, content] of [
  ['data.bin', Buffer.from('any bytes')],
  ['order.xml', Buffer.from('<order><item>1</item></order>')],
] as const) {
  test(`${name} is returned signed in its format`, async (t) => {
    const { portal, service } = await startRemote(t);
    const id = await service.upload(name, content);
    await service.reach('AwaitingSigner', 1);
    t.is(portal.only.request['forceCadesSignature'], name.endsWith('.bin') ? true : undefined);
    portal.conclude(portal.only);
    await until(() => service.batch.count(['Completed', 'Failed']) === 1);
    const job = await service.batch.jobs.get(id);
    t.is(job.status, 'Completed', job.errorMessage ?? undefined);
  });
}

for (const status of ['Refused', 'Expired', 'Canceled']) {
  test(`a document that is ${status} fails its job with the reason`, async (t) => {
    const { portal, service } = await startRemote(t);
    const id = await service.upload('a.pdf', PDF);
    await service.reach('AwaitingSigner', 1);
    portal.only.reason = 'wrong amount';
    portal.only.status = status;
    await service.reach('Failed', 1);
    const job = await service.batch.jobs.get(id);
    t.is(job.errorCode, 'remote.document-rejected');
    t.regex(job.errorMessage ?? '', new RegExp(`^remote\\.document-rejected: .*${status}.*wrong amount`));
    t.is(job.history.at(-1)?.message, job.errorMessage ?? undefined);
    t.true(existsSync(job.originalPath), 'the input stays');
    await until(async () => (await readdir(service.layout.error)).includes(id));
  });
}

test('Pending, FlowConcluded and unknown statuses are polled further, with one warning for the last', async (t) => {
  const { portal, service } = await startRemote(t);
  await service.upload('a.pdf', PDF);
  await service.reach('AwaitingSigner', 1);
  for (const status of ['FlowConcluded', 'SomethingNew']) {
    portal.only.status = status;
    const asked = portal.count('poll');
    await until(() => portal.count('poll') >= asked + 3);
  }
  t.is(service.batch.count(['AwaitingSigner']), 1);
  t.is(service.complaints.filter((line) => line.includes('SomethingNew')).length, 1);
});

test('a job over its time limit fails, and the document stays unchanged', async (t) => {
  const { portal, service } = await startRemote(t, { timeout: 1 });
  const id = await service.upload('a.pdf', PDF);
  await service.reach('Failed', 1);
  t.is((await service.batch.jobs.get(id)).errorCode, 'remote.timeout');
  t.is(portal.count('cancel'), 0);
  t.is(portal.only.status, 'Pending');
});

for (const how of ['reset', { status: 503 }, { status: 429 }, { status: 408 }] as const) {
  const name = how === 'reset' ? how : String(how.status);
  test(`an upload that fails with ${name} is retried until it succeeds`, async (t) => {
    const { portal, service } = await startRemote(t, { serviceOptions: { clock: hasty() } });
    portal.misbehave('upload', how, how, how, how, how, how, how);
    await service.upload('a.pdf', PDF);
    await service.reach('AwaitingSigner', 1);
    t.is(portal.count('upload'), 8);
    t.is(portal.count('create'), 1);
  });
}

test('an upload that fails repeatedly while the portal answers other calls is abandoned', async (t) => {
  const { portal, service } = await startRemote(t, { serviceOptions: { clock: hasty() } });
  portal.misbehave('upload', ...Array.from({ length: 40 }, () => ({ status: 500 })));
  const id = await service.upload('a.pdf', PDF);
  await service.reach('Failed', 1);
  t.true(portal.count('upload') >= 16, `${portal.count('upload')} tries`);
  t.is(portal.count('create'), 0);
  t.is((await service.batch.jobs.get(id)).errorCode, 'remote.unreachable');
});

test('an upload with a permanent refusal is not retried', async (t) => {
  const { portal, service } = await startRemote(t);
  portal.misbehave('upload', { status: 401, body: 'unknown key' });
  const id = await service.upload('a.pdf', PDF);
  await service.reach('Failed', 1);
  t.is(portal.count('upload'), 1);
  t.regex((await service.batch.jobs.get(id)).errorMessage ?? '', /^remote\.unreachable: .*401.*unknown key/);
});

for (const how of ['reset', { status: 500 }, { status: 400 }, { status: 200, body: '<html>' }] as const) {
  const name = how === 'reset' ? how : `${how.status}${'body' in how ? ' and a page' : ''}`;
  test(`a document whose creation fails with ${name} is never created twice`, async (t) => {
    const { portal, service } = await startRemote(t);
    portal.misbehave('create', how);
    const id = await service.upload('a.pdf', PDF);
    await service.reach('Failed', 1);
    t.is(portal.count('create'), 1);
    t.is((await service.batch.jobs.get(id)).errorCode, 'remote.unreachable');
  });
}

test('consecutive failures fail the job only over the limit, and a success resets the count', async (t) => {
  const { portal, service } = await startRemote(t, { maxFailures: 2 });
  const id = await service.upload('a.pdf', PDF);
  await service.reach('AwaitingSigner', 1);
  portal.misbehave('poll', { status: 500 }, 'reset');
  const asked = portal.count('poll');
  await until(() => portal.count('poll') > asked + 3);
  t.is(service.batch.count(['AwaitingSigner']), 1);
  portal.misbehave('poll', { status: 502 }, { status: 502 }, { status: 502 });
  await service.reach('Failed', 1);
  t.is((await service.batch.jobs.get(id)).errorCode, 'remote.unreachable');
});

test('a permanent refusal of the poll fails the job at once', async (t) => {
  const { portal, service } = await startRemote(t);
  const id = await service.upload('a.pdf', PDF);
  await service.reach('AwaitingSigner', 1);
  portal.misbehave('poll', { status: 403 });
  await service.reach('Failed', 1);
  t.is((await service.batch.jobs.get(id)).errorCode, 'remote.unreachable');
});

/** The clock of this machine, and a wait for so many ends of passes over the waiting jobs: each sets the time of the next one. */
function countingClock(): { readonly clock: Clock; passed(count: number): Promise<void> } {
  let passes = 0;
  const after: Clock['after'] = (delay, task) => {
    if (delay === POLL_MS) passes += 1;
    return systemClock.after(delay, task);
  };
  return {
    clock: { ...systemClock, after },
    async passed(count) {
      const wanted = passes + count;
      await until(() => passes >= wanted);
    },
  };
}

test('a pause that the portal requests is kept', async (t) => {
  const { clock, passed } = countingClock();
  const { portal, service } = await startRemote(t, { serviceOptions: { clock } });
  await service.upload('a.pdf', PDF);
  await service.reach('AwaitingSigner', 1);
  portal.misbehave('poll', { status: 503, headers: { 'retry-after': '3600' } });
  await until(() => service.complaints.some((line) => line.includes('could not be asked')));
  const asked = portal.count('poll');
  await passed(5);
  t.is(portal.count('poll'), asked);
});

for (const [name, content] of [
  ['half an answer', 'half'],
  ['an unsigned file', PDF],
  ['a page', Buffer.from('<html>sorry</html>')],
] as const) {
  test(`${name} in place of the signed file is never published`, async (t) => {
    const { portal, service } = await startRemote(t, { maxFailures: 1 });
    const id = await service.upload('a.pdf', PDF);
    await service.reach('AwaitingSigner', 1);
    if (content === 'half') portal.misbehave('download', 'half', 'half', 'half');
    else portal.only.content = content;
    portal.only.status = 'Concluded';
    await service.reach('Failed', 1);
    t.deepEqual(await readdir(service.layout.output), []);
    const { originalPath, errorMessage } = await service.batch.jobs.get(id);
    t.true(existsSync(originalPath));
    t.truthy(errorMessage);
  });
}

for (const [name, sent, returned] of [
  ['data.bin', Buffer.from('what was sent'), Buffer.from('something else')],
  ['order.xml', Buffer.from('<order><item>1</item></order>'), Buffer.from('<order><item>9</item></order>')],
  ['contract.pdf', PDF, samplePdf(4_000, 'another contract')],
] as const) {
  test(`${name} is not published when the portal returns a good signature of another file`, async (t) => {
    const { portal, service } = await startRemote(t);
    const id = await service.upload(name, sent);
    await service.reach('AwaitingSigner', 1);
    portal.only.content = returned;
    portal.conclude(portal.only);
    await service.reach('Failed', 1);
    const { errorMessage, originalPath } = await service.batch.jobs.get(id);
    t.regex(errorMessage ?? '', /^Verification failed\. .*content/);
    t.true(existsSync(originalPath), 'the input stays');
    t.deepEqual(await readdir(service.layout.output), []);
  });
}

test('a file that a portal rewrites before signing is published when the comparison is off', async (t) => {
  const { portal, service } = await startRemote(t, {
    serviceOptions: { profiles: [{ ...PROFILE, compareContent: false }] },
  });
  const id = await service.upload('contract.pdf', PDF);
  await service.reach('AwaitingSigner', 1);
  portal.only.content = samplePdf(5_000, 'with a cover page');
  portal.conclude(portal.only);
  await service.reach('Completed', 1);
  t.deepEqual(await readFile((await service.batch.jobs.output(id)).path), portal.only.content);
});

test('cancellation of a waiting job is sent to the portal, and an unavailable portal does not prevent it', async (t) => {
  const { portal, service } = await startRemote(t);
  const first = await service.upload('a.pdf', PDF);
  await service.reach('AwaitingSigner', 1);
  await service.batch.jobs.cancel(first, 'signed on paper');
  await until(() => portal.count('cancel') === 1);
  t.deepEqual(portal.cancellations, [{ id: portal.only.id, reason: 'signed on paper' }]);
  const second = await service.upload('b.pdf', PDF);
  await service.reach('AwaitingSigner', 1);
  portal.misbehave('cancel', { status: 500 });
  await service.batch.jobs.cancel(second, null);
  await until(() => portal.count('cancel') === 2);
  const job = await service.batch.jobs.get(second);
  t.is(job.status, 'Canceled');
  t.true(existsSync(job.originalPath), 'the input stays');
  await until(async () => (await readdir(service.layout.error)).length === 2);
});

test('waiting jobs are unaffected by a restart, and complete afterwards', async (t) => {
  const { portal, service, again } = await startRemote(t);
  const id = await service.upload('a.pdf', PDF);
  await service.reach('AwaitingSigner', 1);
  await service.close();
  portal.conclude(portal.only);
  const second = await again();
  await second.reach('Completed', 1);
  t.is((await second.batch.jobs.get(id)).status, 'Completed');
  t.is(portal.count('upload'), 1);
});

test('a job canceled during the download of its signed file leaves no working file', async (t) => {
  const { portal, service } = await startRemote(t);
  const id = await service.upload('a.pdf', PDF);
  await service.reach('AwaitingSigner', 1);
  // The poll has looked at the job and waits for the portal's answer.
  let release = () => {};
  portal.gates.set(
    'poll',
    new Promise((resolve) => {
      release = resolve;
    }),
  );
  const before = portal.count('poll');
  await until(() => portal.count('poll') > before);
  await service.batch.jobs.cancel(id, null);
  await until(async () => portal.count('cancel') === 1 && (await readdir(service.layout.error)).includes(id));
  portal.conclude(portal.only);
  portal.gates.delete('poll');
  release();
  await until(() => portal.count('download') === 1);
  const asked = portal.count('poll');
  const second = await service.upload('b.pdf', PDF);
  await until(() => portal.count('poll') > asked);
  await service.batch.jobs.cancel(second, null);
  await until(async () => (await readdir(service.layout.error)).includes(second));
  const working = async () =>
    (await readdir(service.layout.processing)).filter((name) => !name.startsWith('.spare-'));
  await until(async () => (await working()).length === 0);
  t.deepEqual((await readdir(service.layout.error)).sort(), [id, second].sort());
});

test('a job whose document was being created when the service ended fails, and creates no second one', async (t) => {
  const { portal, service, again } = await startRemote(t);
  portal.gates.set('create', new Promise(() => {}));
  const id = await service.upload('a.pdf', PDF);
  await until(() => portal.count('create') === 1);
  await service.close();
  portal.gates.delete('create');
  const second = await again();
  await second.reach('Failed', 1);
  const job = await second.batch.jobs.get(id);
  t.is(job.errorMessage, RESTART_MESSAGE);
  t.true(existsSync(job.originalPath), 'the input stays');
  await until(async () => (await readdir(second.layout.error)).includes(id));
  t.is(portal.count('create'), 1);
});

test('at most MaxConcurrency jobs are verified at once, for any number of concluded documents', async (t) => {
  const { portal, service } = await startRemote(t, { serviceOptions: { maxConcurrency: 1 } });
  for (let index = 0; index < 6; index += 1) await service.upload(`${index}.pdf`, PDF);
  await service.reach('AwaitingSigner', 6);
  let most = 0;
  const watching = setInterval(() => {
    most = Math.max(most, service.batch.inFlight());
  }, 1);
  for (const document of portal.documents.values()) portal.conclude(document);
  await service.reach('Completed', 6);
  clearInterval(watching);
  t.true(most <= 1, `${most} jobs were in flight`);
});

test('a paused pipeline sends the portal no requests until it is resumed', async (t) => {
  const { clock, passed } = countingClock();
  const { portal, service } = await startRemote(t, { serviceOptions: { clock } });
  await service.upload('a.pdf', PDF);
  await service.reach('AwaitingSigner', 1);
  await service.batch.pipeline.pause(null);
  portal.conclude(portal.only);
  // A request of the pass that was in progress may still arrive.
  await passed(1);
  const asked = portal.count('poll');
  await passed(5);
  t.is(portal.count('poll'), asked);
  t.is(service.batch.count(['AwaitingSigner']), 1);
  await service.batch.pipeline.resume(null);
  await service.reach('Completed', 1);
});

test('a cancel concurrent with the poll ends in exactly one of the two results', async (t) => {
  const { portal, service } = await startRemote(t, { serviceOptions: { maxConcurrency: 4 } });
  const ids: JobId[] = [];
  for (let index = 0; index < 8; index += 1) ids.push(await service.upload(`${index}.pdf`, PDF));
  await service.reach('AwaitingSigner', 8);
  for (const document of portal.documents.values()) portal.conclude(document);
  const outcomes = await Promise.all(
    ids.map((id) =>
      service.batch.jobs.cancel(id, null).then(
        () => 'Canceled',
        () => 'Completed',
      ),
    ),
  );
  await until(() => service.batch.count(['Canceled', 'Completed']) === 8);
  for (const [index, id] of ids.entries()) {
    const { status } = await service.batch.jobs.get(id);
    t.true(status === outcomes[index], `${id} is ${status}; its cancel said ${outcomes[index]}`);
  }
});
