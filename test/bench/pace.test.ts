import { setImmediate } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import { SimulatedClock } from '#runtime/testing/simulated-clock.js';
import { LatencyRecorder } from '../../bench/frame/latency.ts';
import { atRate } from '../../bench/frame/pace.ts';

/** Advances a simulated clock until `work` ends. */
async function driven<Result>(clock: SimulatedClock, work: Promise<Result>): Promise<Result> {
  let over = false;
  const end = work.finally(() => {
    over = true;
  });
  // The returned promise reports the failure; this prevents an unhandled rejection.
  end.catch(() => {});
  while (!over) {
    await setImmediate();
    clock.advance(1);
  }
  return end;
}

/** Compares milliseconds; the simulated clock advances in steps of one. */
function near(t: ExecutionContext, actual: number, wanted: number, what: string): void {
  t.true(Math.abs(actual - wanted) <= 2 + wanted / 500, `${what}: ${actual}, wanted ${wanted}`);
}

test('a server that stalls for a second delays all requests due in that second', async (t) => {
  const clock = new SimulatedClock();
  // From 1 s to 2 s there is no response; otherwise a response takes 5 ms.
  const answer = async () => {
    const now = clock.elapsed();
    await clock.sleep(now >= 1000 && now < 2000 ? 2000 - now + 5 : 5);
    return 'done' as const;
  };
  const latency = await driven(clock, atRate(clock, { perSecond: 100, seconds: 3 }, answer));
  t.is(latency.count, 300);
  t.is(latency.rate, 100);
  near(t, latency.p50, 5, 'p50');
  // 100 of the 300 were due during the stall, and waited from 1005 ms down to 15 ms.
  near(t, latency.p90, 705, 'p90');
  near(t, latency.p99, 975, 'p99');
  near(t, latency.longest, 1005, 'longest');
});

test('a request that starts late because of a busy process is measured from its due time', async (t) => {
  const clock = new SimulatedClock();
  const held = async (n: number) => {
    if (n === 10) clock.advance(50);
    return 'done' as const;
  };
  const latency = await driven(clock, atRate(clock, { perSecond: 100, seconds: 1 }, held));
  t.is(latency.count, 100);
  near(t, latency.longest, 50, 'longest');
  // Latencies of 50, 40, 30, 20 and 10 ms: five of a hundred.
  near(t, latency.p90, 0, 'p90');
  t.true(latency.p99 >= 38, `p99 ${latency.p99}`);
});

test('requests of the warm-up are not measured, and refused ones are counted separately', async (t) => {
  const clock = new SimulatedClock();
  const answer = async (n: number) => {
    await clock.sleep(n < 100 ? 500 : 1);
    return n % 4 === 0 ? ('refused' as const) : ('done' as const);
  };
  const pace = { perSecond: 100, seconds: 2, warmUp: 1 };
  const latency = await driven(clock, atRate(clock, pace, answer));
  t.is(latency.refused, 50);
  t.is(latency.count, 150);
  near(t, latency.longest, 1, 'longest');
});

test('a request that fails makes a measurement at a fixed rate fail', async (t) => {
  const clock = new SimulatedClock();
  const work = async (n: number) => {
    if (n === 7) throw new Error('no answer');
    return 'done' as const;
  };
  await t.throwsAsync(driven(clock, atRate(clock, { perSecond: 100, seconds: 0.1 }, work)), {
    message: 'no answer',
  });
});

test('percentiles of known latencies are exact to a thousandth', (t) => {
  const recorder = new LatencyRecorder();
  for (let millis = 1; millis <= 10_000; millis += 1) recorder.record(millis / 10);
  const { count, p50, p90, p99, p999, longest } = recorder.latency();
  t.is(count, 10_000);
  const wanted = [500, 900, 990, 999, 1000];
  [p50, p90, p99, p999, longest].forEach((value, at) => {
    const right = wanted[at] ?? 0;
    t.true(Math.abs(value - right) <= right / 500, `${value}, wanted ${right}`);
  });
});

test('percentiles without any latency are zero, and an hour is the maximum', (t) => {
  t.deepEqual(new LatencyRecorder().latency(), { count: 0, p50: 0, p90: 0, p99: 0, p999: 0, longest: 0 });
  const recorder = new LatencyRecorder();
  recorder.record(0);
  recorder.record(1e9);
  t.is(recorder.latency().count, 2);
  t.true(recorder.latency().longest <= 3_600_000 * 1.002);
});
