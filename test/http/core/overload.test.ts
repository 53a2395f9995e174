import test from 'ava';
import { systemClock } from '#runtime/model/clock.js';
import { SimulatedClock } from '#runtime/testing/simulated-clock.js';
import { createLoadGuard } from '../../../http/core/load-guard.ts';
import { createBatchMetrics } from '../../../http/index.ts';
import { reached } from '../../project/waiting.ts';
import { form, type LogLine, pdf, recorder, startServer } from '../harness.ts';

const quiet = { warn() {}, info() {} };

/** Turns the event loop until the condition holds. */
async function until(isSo: () => boolean): Promise<void> {
  await reached(isSo);
}

test('requests above the concurrency limit are refused with Retry-After, and admitted ones are answered', async (t) => {
  const load = createLoadGuard(systemClock, quiet, { rush: 3 });
  const metrics = createBatchMetrics({ folders: [], profiles: [], process: false }, () => 0);
  const server = await startServer(t, { rateLimiting: OFF }, systemClock, { load, metrics });
  let release = () => {};
  const gate = new Promise<void>((resolve) => {
    release = resolve;
  });
  server.service.accepting = () => gate;
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

test('a client that sends its body slowly does not block other requests', async (t) => {
  const load = createLoadGuard(systemClock, quiet, { rush: 1 });
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
  await until(() => server.service.opened === 1);
  t.is(load.working, 0);
  t.is((await server.call('/api/jobs')).status, 200);
  send();
  t.is((await slow).status, 202);
});

test('a short burst is admitted, and a lasting load is limited to the requests that are answered in time', (t) => {
  const clock = new SimulatedClock();
  const lines: LogLine[] = [];
  const guard = createLoadGuard(clock, recorder(lines));
  const kind = {};
  const working: ((isDone: boolean) => void)[] = [];
  const offer = (count: number) => {
    for (let n = 0; n < count; n += 1) if (guard.admits(kind)) working.push(guard.requestStarted(kind));
    return working.length;
  };
  const done = (count: number) => {
    for (const end of working.splice(0, count)) end(true);
  };
  // One request alone takes 100 ms.
  for (let n = 0; n < 3; n += 1) {
    offer(1);
    clock.advance(100);
    done(1);
  }
  t.is(offer(200), 200, 'a rush');
  // 10 complete in 100 ms at any load: about ten at once, or 16 where each may take a little longer.
  let rounds = 0;
  for (; guard.refused === 0; rounds += 1) {
    clock.advance(100);
    done(10);
    offer(50);
  }
  t.is(rounds, 11, 'four times as long as alone for half a second, of which the last request was let in');
  for (; rounds < 100; rounds += 1) {
    clock.advance(100);
    done(10);
    offer(50);
  }
  t.is(working.length, 16);
  t.true(guard.admits({}), 'another kind of request');

  done(16);
  clock.advance(1100);
  t.deepEqual(
    lines.map(({ level }) => level),
    ['warn', 'info'],
  );
  t.is(lines[1]?.properties['Refused'], guard.refused);
  t.is(offer(200), 200, 'the next rush');
});

test('requests delayed by a stalled disk do not count as overload afterwards', (t) => {
  const clock = new SimulatedClock();
  const guard = createLoadGuard(clock, quiet);
  const kind = {};
  const alone = guard.requestStarted(kind);
  clock.advance(10);
  alone(true);
  const waited = Array.from({ length: 120 }, () => guard.requestStarted(kind));
  clock.advance(2000);
  // The waiting ones complete within 400 ms, and later ones within 20 ms each.
  for (let round = 0; round < 100; round += 1) {
    for (const end of waited.splice(0, 6)) end(true);
    t.true(guard.admits(kind));
    const next = guard.requestStarted(kind);
    clock.advance(20);
    next(true);
  }
});

test('few slow requests, and requests of slow routes, do not count as overload', (t) => {
  const clock = new SimulatedClock();
  const guard = createLoadGuard(clock, quiet);
  const stuck = {};
  const slow = {};
  for (let n = 0; n < 60; n += 1) guard.requestStarted(stuck);
  const alone = guard.requestStarted(slow);
  clock.advance(10_000);
  t.true(guard.admits(stuck));
  alone(true);
  for (let round = 0; round < 5; round += 1) {
    const all = Array.from({ length: 100 }, () => guard.requestStarted(slow));
    clock.advance(15_000);
    t.true(guard.admits(slow));
    for (const end of all.slice(0, 20)) end(true);
  }
});

test('requests that fail at once do not hide a standing queue', (t) => {
  const clock = new SimulatedClock();
  const guard = createLoadGuard(clock, quiet);
  const kind = {};
  const alone = guard.requestStarted(kind);
  clock.advance(10);
  alone(true);
  const waiting = Array.from({ length: 250 }, () => guard.requestStarted(kind));
  let refused = false;
  for (let round = 0; round < 30 && !refused; round += 1) {
    clock.advance(100);
    for (const end of waiting.splice(0, 10)) end(true);
    waiting.push(...Array.from({ length: 10 }, () => guard.requestStarted(kind)));
    for (let n = 0; n < 100; n += 1) guard.requestStarted(kind)(false);
    refused = !guard.admits(kind);
  }
  t.true(refused);
});

test('the first request of a burst belongs to the burst', (t) => {
  const clock = new SimulatedClock();
  const guard = createLoadGuard(clock, quiet);
  const kind = {};
  const alone = guard.requestStarted(kind);
  clock.advance(10);
  alone(true);
  let refused = false;
  // Each takes two seconds; with that as the unloaded duration, no queue would persist.
  const all = Array.from({ length: 400 }, () => guard.requestStarted(kind));
  for (let round = 0; round < 30; round += 1) {
    clock.advance(round === 0 ? 2000 : 100);
    for (const end of all.splice(0, 10)) end(true);
    refused ||= !guard.admits(kind);
  }
  t.true(refused);
});

test('a thread with repeated delays refuses requests, and a single delay has no effect', (t) => {
  const clock = lateClock();
  const guard = createLoadGuard(clock, quiet);
  const rush = () => Array.from({ length: 100 }, () => guard.admits(KIND)).every((admitted) => admitted);
  rush();
  clock.stall(50);
  t.true(rush(), 'late for the first time');
  clock.ring();
  for (let n = 0; n < 5; n += 1) {
    rush();
    clock.stall(50);
    clock.ring();
  }
  guard.admits(KIND);
  clock.stall(50);
  t.false(rush());
  const looks = Array.from({ length: 6 }, () => guard.admits(OPERATORS));
  t.deepEqual(looks, [true, true, true, true, false, false], 'few of a route are no cause');
  clock.ring();
  clock.stall(1100);
  clock.ring();
  clock.stall(5);
  clock.ring();
  t.true(rush(), 'in time again');
});

test('an idle thread has no timer', (t) => {
  const clock = new SimulatedClock();
  const guard = createLoadGuard(clock, quiet);
  guard.admits(KIND);
  t.is(clock.pending, 1);
  clock.advance(60_000);
  t.is(clock.pending, 0);
});

const KIND = {};
const OPERATORS = {};

const OFF = {
  enabled: false,
  upload: { permits: 1, windowSeconds: 1 },
  actions: { permits: 1, windowSeconds: 1 },
};

function slowForm(): readonly [Uint8Array, Uint8Array] {
  const head = '--b\r\nContent-Disposition: form-data; name="file"; filename="a.pdf"\r\n\r\n%PDF';
  return [Buffer.from(head), Buffer.from('-1.7\r\n--b--\r\n')];
}

/** A clock whose timers run when the thread reaches them, not when they are due. */
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
