import test from 'ava';
import { CircuitBreaker } from '../../../../actors/batch/remote/circuit-breaker.ts';
import { RemoteFailure } from '../../../../actors/batch/remote/ports.ts';
import { UploadRetries } from '../../../../actors/batch/remote/upload-retries.ts';
import { SimulatedClock } from '../../../../runtime/index.ts';

function uploads() {
  const clock = new SimulatedClock();
  const breaker = new CircuitBreaker({ clock, probe: async () => {}, onChange: () => {} });
  const made = new UploadRetries({ clock, breaker, timeout: 3_600_000, onChange: () => {} });
  const stop = () => {
    breaker.stop();
    made.stop();
  };
  return { breaker, made, stop };
}

const never = new AbortController().signal;
const away = () => Promise.reject(new RemoteFailure('upload', 'no answer', { transient: true, sent: false }));

test('an upload that starts during a planned stop still reaches a portal that answers', async (t) => {
  const { made, stop } = uploads();
  stop();
  t.is(await made.run('one', async () => 'stored', never), 'stored');
  t.is(made.waiting, 0);
});

test('an upload that waits when a stop begins stays marked as waiting, so that the stop does not wait for it', async (t) => {
  const { made, stop } = uploads();
  const uploading = made.run('one', away, never);
  const refused = t.throwsAsync(uploading, { message: 'The service stopped before the upload was taken.' });
  while (made.waiting === 0) await new Promise((resolve) => setImmediate(resolve));
  stop();
  await refused;
  t.is(made.waiting, 1);
  await t.throwsAsync(made.run('one', away, never));
  t.is(made.waiting, 1, 'the runtime tries the effect again meanwhile');
});

test('an upload that waits for an open circuit is left for the next start too', async (t) => {
  const { breaker, made, stop } = uploads();
  for (let count = 0; count < 5; count += 1) breaker.failed('no answer');
  const refused = t.throwsAsync(made.run('one', away, never));
  t.is(made.waiting, 1);
  stop();
  await refused;
  t.is(made.waiting, 1);
});
