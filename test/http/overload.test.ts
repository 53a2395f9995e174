import test from 'ava';
import { createBatchMetrics } from '../../http/index.ts';
import { createLoadGuard } from '../../http/load-guard.ts';
import { SimulatedClock, systemClock } from '../../runtime/clock.ts';
import { form, pdf, startServer } from './harness.ts';

const refusal = { name: 'Refusal', code: 'service.busy' };

/** Turns of the loop until it is so; what is waited for happens on its own. */
async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setImmediate(resolve));
}

test('more requests than are worked on at once are told to come back, and those that were let in are done', async (t) => {
  const load = createLoadGuard(systemClock, { rush: 3 });
  const metrics = createBatchMetrics({ folders: [], profiles: [], process: false }, () => 0);
  const server = await startServer(t, { rateLimiting: OFF }, systemClock, { load, metrics });
  let release = () => {};
  server.service.jobs.gate = new Promise((resolve) => {
    release = resolve;
  });
  const upload = () => server.call('/api/files', { method: 'POST', body: form([['file', pdf()]]) });
  const letIn = [upload(), upload(), upload()];
  await until(() => load.working === 3);

  const refused = await upload();
  t.is(refused.status, 503);
  t.is(refused.headers.get('retry-after'), '1');
  t.is(((await refused.json()) as { code: string }).code, 'service.busy');
  t.is((await server.call('/api/jobs')).status, 503, 'whatever it asks for');
  t.is((await server.call('/api/health')).status, 200);
  t.is((await server.call('/api/ready')).status, 200);
  const exposed = await (await server.call('/api/metrics')).text();
  t.true(exposed.includes('batch_http_requests_total{route="/api/files",status="503"} 1'), exposed);

  release();
  t.deepEqual(
    (await Promise.all(letIn)).map(({ status }) => status),
    [202, 202, 202],
  );
  t.is(load.working, 0);
  t.is(load.refused, 2);
  t.is((await upload()).status, 202, 'there is room again');
});

test('a client that takes its time to send a body keeps nobody out', async (t) => {
  const load = createLoadGuard(systemClock, { rush: 1 });
  const server = await startServer(t, { rateLimiting: OFF }, systemClock, { load });
  let send = () => {};
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      const [head, tail] = slowForm();
      controller.enqueue(head);
      send = () => {
        controller.enqueue(tail);
        controller.close();
      };
    },
  });
  const slow = server.call('/api/files', {
    method: 'POST',
    body,
    headers: { 'content-type': 'multipart/form-data; boundary=b' },
    duplex: 'half',
  } as RequestInit);
  await until(() => server.service.jobs.opened === 1);
  t.is(load.working, 0);
  t.is((await server.call('/api/jobs')).status, 200);
  send();
  t.is((await slow).status, 202);
});

test('a rush is taken in, and what lasts is cut down to what can be answered in time', (t) => {
  const clock = new SimulatedClock();
  const guard = createLoadGuard(clock, { rush: 5, lasting: 2 });
  const enter = () => {
    guard.check();
    guard.begin();
  };
  enter();
  enter();
  clock.advance(150);
  enter();
  clock.advance(100);
  t.throws(enter, refusal, 'more than may last has lasted');
  guard.end();
  guard.end();
  enter();
  t.throws(enter, refusal, 'and may not become so much again at once');
  clock.advance(1500);
  guard.end();
  enter();
  enter();
  enter();
  t.is(guard.working, 4, 'the next rush is taken in');
});

test('a thread that is late again and again refuses what comes, and once is no matter', (t) => {
  const clock = lateClock();
  const guard = createLoadGuard(clock);
  const rush = () => {
    for (let n = 0; n < 100; n += 1) guard.check();
  };
  rush();
  clock.stall(50);
  t.notThrows(rush, 'late for the first time');
  clock.ring();
  for (let n = 0; n < 5; n += 1) {
    rush();
    clock.stall(50);
    clock.ring();
  }
  guard.check();
  clock.stall(50);
  t.throws(rush, refusal);
  clock.ring();
  clock.stall(1100);
  clock.ring();
  clock.stall(5);
  clock.ring();
  t.notThrows(rush, 'in time again');
});

test('a thread without requests rings no timer', (t) => {
  const clock = new SimulatedClock();
  const guard = createLoadGuard(clock);
  guard.check();
  t.is(clock.pending, 1);
  clock.advance(60_000);
  t.is(clock.pending, 0);
});

const OFF = {
  enabled: false,
  upload: { permits: 1, windowSeconds: 1 },
  actions: { permits: 1, windowSeconds: 1 },
};

function slowForm(): readonly [Uint8Array, Uint8Array] {
  const head = '--b\r\nContent-Disposition: form-data; name="file"; filename="a.pdf"\r\n\r\n%PDF';
  return [Buffer.from(head), Buffer.from('-1.7\r\n--b--\r\n')];
}

/** A clock whose alarms ring when the thread gets to them, not when they are due. */
function lateClock() {
  let now = 0;
  let alarms: (() => void)[] = [];
  return {
    elapsed: () => now,
    after(_delay: number, task: () => void) {
      alarms.push(task);
      return () => {};
    },
    stall(duration: number) {
      now += duration;
    },
    ring() {
      const due = alarms;
      alarms = [];
      for (const task of due) task();
    },
  };
}
