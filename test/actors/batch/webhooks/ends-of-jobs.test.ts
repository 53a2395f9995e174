/** Webhooks for the ends of real jobs, called over real connections. Source: docs/webhooks.md. */

import test from 'ava';
import { Webhook } from 'standardwebhooks';
import type { JobWebhookOptions } from '../../../../actors/batch/webhooks/job-webhook.ts';
import { type JobDetail, jobDetail } from '../../../../contracts/batch/jobs.ts';
import { encoderOf } from '../../../../contracts/encoder.ts';
import { reached } from '../../../project/waiting.ts';
import { type Receiver, startReceiver } from '../../portal/webhooks/receiver.ts';
import { batchFixture } from '../batch-harness.ts';

const SECRET = `whsec_${Buffer.alloc(32, 9).toString('base64')}`;
const ALL = ['JobCompleted', 'JobFailed', 'JobCanceled'] as const;

interface JobEvent {
  readonly type: string;
  readonly timestamp: string;
  readonly data: { readonly id: string; readonly [member: string]: unknown };
}

const encodeJob = encoderOf(jobDetail);
const eventsAt = ({ calls }: Receiver) => calls.map(({ body }) => JSON.parse(body) as JobEvent);

async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  await reached(condition);
}

test('the end of each job is announced once to each subscribed webhook, with a signature', async (t) => {
  const all = await startReceiver(t);
  const failures = await startReceiver(t);
  const webhooks: readonly JobWebhookOptions[] = [
    { url: all.url, secret: SECRET, events: ALL },
    { url: failures.url, secret: SECRET, events: ['JobFailed'] },
  ];
  const it = await batchFixture(t, { watch: false, webhooks });
  const completed = await it.upload('a.txt', 'content');
  const failed = await it.upload('broken.pdf', 'no PDF');
  await it.reach('Completed', 1);
  await it.reach('Failed', 1);
  await it.batch.pipeline.pause(null);
  const canceled = await it.upload('b.txt', 'content');
  await it.batch.jobs.cancel(canceled, 'sent twice');
  await until(async () => (await it.batch.webhooks.counts()).Delivered === 4);
  const events = new Map(eventsAt(all).map((event) => [event.data.id, event]));
  t.is(all.calls.length, 3);
  t.deepEqual(
    [completed, failed, canceled].map((id) => events.get(id)?.type),
    ['JobCompleted', 'JobFailed', 'JobCanceled'],
  );
  t.deepEqual(
    eventsAt(failures).map(({ type, data }) => [type, data.id]),
    [['JobFailed', failed]],
  );
  for (const call of [...all.calls, ...failures.calls]) {
    const headers = call.headers as Record<string, string>;
    t.notThrows(() => new Webhook(SECRET).verify(call.body, headers));
    t.throws(() => new Webhook(SECRET).verify(`${call.body} `, headers));
  }
  for (const id of [completed, failed, canceled]) {
    const { history: _, updatedAt: __, ...job } = encodeJob(await it.batch.jobs.get(id)) as JobDetail;
    const { ['updatedAt']: ___, ...data } = (events.get(id)?.data ?? {}) as Record<string, unknown>;
    t.deepEqual(data, { ...job });
  }
});

test('jobs from a time without webhooks are not announced, and a store of that time opens', async (t) => {
  const first = await batchFixture(t, { watch: false });
  await first.batch.pipeline.pause(null);
  await first.upload('old.txt', 'content');
  await first.close();
  const receiver = await startReceiver(t);
  const webhooks = [{ url: receiver.url, secret: SECRET, events: ALL }];
  const second = await batchFixture(t, { root: first.layout.root, watch: false, webhooks });
  const announced = await second.upload('new.txt', 'content');
  await second.batch.pipeline.resume(null);
  await second.reach('Completed', 2);
  await until(async () => (await second.batch.webhooks.counts()).Delivered === 1);
  t.deepEqual(
    eventsAt(receiver).map(({ data }) => data.id),
    [announced],
  );
});

test('a job is cleared once its webhook call is stored, and the call survives the job', async (t) => {
  const receiver = await startReceiver(t, (_, response) => response.writeHead(500).end());
  const webhooks = [{ url: receiver.url, secret: SECRET, events: ALL }];
  const it = await batchFixture(t, { watch: false, webhooks });
  await it.batch.pipeline.pause(null);
  const id = await it.upload('a.txt', 'content');
  await it.batch.jobs.cancel(id, null);
  await until(async () => (await it.batch.bulk.clear()).deleted === 1);
  await until(() => receiver.calls.length > 0);
  const listed = () => it.batch.webhooks.list({ status: 'Pending', page: 1, pageSize: 10 });
  await until(async () => (await listed()).items[0]?.attempts.length === 1);
  t.like((await listed()).items[0], { jobId: id, url: receiver.url, type: 'JobCanceled' });
});
