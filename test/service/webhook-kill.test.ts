/** The real program, killed while it announces the ends of jobs: each is announced, each call with one id and body. */
import test from 'ava';
import { Webhook } from 'standardwebhooks';
import { startReceiver } from '../actors/portal/webhooks/receiver.ts';
import { Service, temporaryRoot } from './service.ts';

const SECRET = `whsec_${Buffer.alloc(32, 3).toString('base64')}`;

test('under repeated kills the end of every job is announced, and repetitions have one id and one body', async (t) => {
  const root = await temporaryRoot(t);
  const receiver = await startReceiver(t, (_, response) => setImmediate(() => response.writeHead(204).end()));
  const settings = { 'Notifications:Webhooks:0:Url': receiver.url };
  // A secret belongs into the environment.
  const env = { Notifications__Webhooks__0__Secret: SECRET };
  for (const faults of [
    'effect.leased.before-run=kill:9',
    'effect.done.before-outcome=kill:11',
    'step.committed.before-reply=kill:40',
  ]) {
    const service = await Service.start(t, { root, settings, env, faults });
    const work = (async () => {
      for (let n = 0; n < 12; n++) await service.upload(`${n}.txt`, `content ${n}`).catch(() => undefined);
    })();
    t.is(await service.ended, 'SIGKILL', faults);
    await work;
  }
  const service = await Service.start(t, { root, settings, env });
  await service.upload('last.txt', 'content');
  await service.upload('broken.pdf', 'no PDF');
  await service.idle();
  const jobs = await service.jobs();
  t.true(jobs.length >= 5, `${jobs.length} jobs`);
  const announced = () => new Set(receiver.calls.map(({ body }) => (JSON.parse(body) as Body).data.id));
  await service.until('every job to be announced', async () =>
    jobs.every(({ id }) => announced().has(id)) ? true : undefined,
  );
  const types = new Map(jobs.map(({ id, status }) => [id, `Job${status}`]));
  const firsts = new Map<string, string>();
  for (const { headers, body } of receiver.calls) {
    const { type, data } = JSON.parse(body) as Body;
    t.is(type, types.get(data.id) ?? '');
    const id = String(headers['webhook-id']);
    t.true(id.endsWith(data.id));
    t.is(body, firsts.get(id) ?? body);
    firsts.set(id, body);
    t.notThrows(() => new Webhook(SECRET).verify(body, headers as Record<string, string>));
  }
  t.is(firsts.size, jobs.length);

  // The receiver has a call before the service has stored that it was delivered.
  const page = await service.until('every delivery to be stored', async () => {
    const delivered = await service.json<{ items: { id: string }[]; totalCount: number }>(
      '/api/webhooks/deliveries?status=delivered&pageSize=200',
    );
    return delivered.totalCount === jobs.length ? delivered : undefined;
  });
  const before = receiver.calls.length;
  const resent = await service.fetch(`/api/webhooks/deliveries/${page.items[0]?.id}/resend`, {
    method: 'POST',
  });
  t.is(resent.status, 202);
  await service.until('the delivery to be sent again', async () =>
    receiver.calls.length === before + 1 ? true : undefined,
  );
  t.is(receiver.calls.at(-1)?.headers['webhook-id'], page.items[0]?.id);
  await service.until('the metrics to count no pending delivery', async () => {
    const metrics = await (await service.fetch('/api/metrics')).text();
    t.regex(metrics, /^batch_webhook_calls_total\{outcome="delivered"\} [1-9]/m);
    return /^batch_webhook_deliveries_pending 0$/m.test(metrics) ? true : undefined;
  });
  t.is(await service.stop(), 0);
});

interface Body {
  readonly type: string;
  readonly data: { readonly id: string };
}
