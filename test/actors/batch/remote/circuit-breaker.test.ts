import { SimulatedClock } from '@sealwright/runtime/testing';
import test from 'ava';
import { CircuitBreaker } from '../../../../actors/batch/remote/circuit-breaker.ts';

function breaker(answers: () => boolean) {
  const clock = new SimulatedClock();
  const start = clock.elapsed();
  const probes: number[] = [];
  const changes: boolean[] = [];
  const made: CircuitBreaker = new CircuitBreaker(
    clock,
    async () => {
      probes.push((clock.elapsed() - start) / 1000);
      if (answers()) made.succeeded();
      else made.failed('no answer');
    },
    (open) => changes.push(open),
  );
  const pass = async (seconds: number) => {
    for (let second = 0; second < seconds; second += 1) {
      clock.advance(1000);
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  return { made, probes, changes, pass };
}

test('five consecutive failures open the circuit, and a success in between resets the count', (t) => {
  const { made, changes } = breaker(() => false);
  for (let count = 0; count < 4; count += 1) made.failed('no answer');
  made.succeeded();
  for (let count = 0; count < 4; count += 1) made.failed('no answer');
  t.is(made.open, undefined);
  made.failed('no answer at last');
  t.is(made.open?.reason, 'no answer at last');
  t.deepEqual(changes, [true]);
});

test('an open circuit is probed after growing pauses of at most a minute, and closes at the first success', async (t) => {
  let up = false;
  const { made, probes, changes, pass } = breaker(() => up);
  for (let count = 0; count < 5; count += 1) made.failed('no answer');
  await pass(200);
  t.deepEqual(probes, [1, 3, 7, 15, 31, 63, 123, 183]);
  const closed = made.untilClosed(new AbortController().signal);
  up = true;
  await pass(60);
  await closed;
  t.deepEqual(changes, [true, false]);
  await pass(200);
  t.is(probes.length, 9, 'a closed circuit is not probed');
});

test('a pause that the endpoint requests is kept, and ends with a stop', async (t) => {
  const { made, probes, pass } = breaker(() => true);
  for (let count = 0; count < 5; count += 1) made.failed('busy', 90_000);
  await pass(89);
  t.deepEqual(probes, []);
  const stopping = new AbortController();
  const waiting = made.untilClosed(stopping.signal);
  stopping.abort(new Error('stopped'));
  await t.throwsAsync(waiting, { message: 'stopped' });
  made.stop();
  await pass(10);
  t.deepEqual(probes, []);
});
