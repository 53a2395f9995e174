import { SimulatedClock } from '@sealwright/runtime/testing';
import test from 'ava';
import { Abortion, runHandler } from '#runtime/effects/attempt.js';
import { dispatchHandler } from '../../../../actors/batch/effects/dispatch.ts';
import type { JobHandlerDependencies } from '../../../../actors/batch/effects/effect-handler.ts';
import { CircuitBreaker } from '../../../../actors/batch/remote/circuit-breaker.ts';
import { RemoteFailure } from '../../../../actors/batch/remote/ports.ts';
import { UploadRetries } from '../../../../actors/batch/remote/upload-retries.ts';
import { reached } from '../../../project/waiting.ts';

function uploads(timeout = 3_600_000) {
  const clock = new SimulatedClock();
  const breaker = new CircuitBreaker(
    clock,
    async () => {},
    () => {},
  );
  const made = new UploadRetries(clock, breaker, timeout, () => {});
  const stop = () => {
    breaker.stop();
    made.stop();
  };
  const pass = async (seconds: number) => {
    for (let at = 0; at < seconds; at += 60) {
      clock.advance(60_000);
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  return { breaker, made, stop, pass, clock };
}

/** Seconds of `RemoteSigner:TimeoutHours` here. */
const TIMEOUT_S = 3600;

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
  await reached(() => made.waiting > 0);
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

for (const [portal, open] of [
  ['stays away', true],
  ['answers other calls', false],
] as const) {
  test(`an upload to a portal that ${portal} ends, and is not made afterwards`, async (t) => {
    const { breaker, made, pass } = uploads();
    for (let count = 0; open && count < 5; count += 1) breaker.failed('no answer');
    let ended = '';
    let attempts = 0;
    const attempt = () => {
      attempts += 1;
      return away();
    };
    const uploading = made.run('one', attempt, never).catch(({ message }: Error) => {
      ended = message;
    });
    await pass(TIMEOUT_S - 60);
    t.is(ended, open ? '' : 'remote.unreachable: no answer');
    await pass(120);
    await uploading;
    t.regex(ended, /^remote\.unreachable: /);
    t.is(made.waiting, 0);
    const before = attempts;
    breaker.succeeded();
    await pass(600);
    t.is(attempts, before);
  });
}

test('a pause that the portal requests does not outlast the time limit of an upload', async (t) => {
  const { made, pass } = uploads();
  let ended = '';
  const busy = () =>
    Promise.reject(new RemoteFailure('upload', 'busy', { transient: true, retryAfter: 86_400_000 }));
  const uploading = made.run('one', busy, never).catch(({ message }: Error) => {
    ended = message;
  });
  await pass(TIMEOUT_S + 60);
  await uploading;
  t.is(ended, 'remote.unreachable: busy');
});

test('an upload that the portal takes within the time limit succeeds', async (t) => {
  const { breaker, made, pass } = uploads();
  for (let count = 0; count < 5; count += 1) breaker.failed('no answer');
  const uploading = made.run('one', async () => 'stored', never);
  await pass(TIMEOUT_S - 60);
  breaker.succeeded();
  t.is(await uploading, 'stored');
});

test('an upload that waits longer than the time limit of effects stays one attempt', async (t) => {
  const { breaker, made, pass, clock } = uploads(3 * 3_600_000);
  for (let count = 0; count < 5; count += 1) breaker.failed('no answer');
  let attempts = 0;
  const portal = {
    upload: async () => 'upload',
    create: async () => 'document',
  };
  const { handler } = dispatchHandler({
    pool: {
      run: async () => {
        attempts += 1;
        return { ok: true, result: { input: { length: 1, sha256: '' }, path: '' } };
      },
    },
    storage: { writable: async () => {} },
    remote: { profileOf: () => ({ portal, profile: {} }), uploads: made, dispatched: () => {} },
  } as unknown as JobHandlerDependencies);
  const silent = () => {};
  const log = { debug: silent, info: silent, warn: silent, error: silent };
  const effect = {
    do: 'dispatch',
    fileName: 'a.pdf',
    originalPath: '/a.pdf',
    format: 'pdf',
    profileName: 'p',
  };
  const stored = {
    key: 'job/a/1/0',
    actor: { kind: 'job', id: 'a' },
    effect,
    dueAt: 0,
    failures: 0,
    lastError: null,
  };
  const dependencies = { clock, log, timeLimitMs: 3_600_000, context: { clock, log } };
  const running = runHandler(
    dependencies as unknown as Parameters<typeof runHandler>[0],
    handler,
    stored as Parameters<typeof runHandler>[2],
    { stop: new Abortion() },
  ).catch(({ message }: Error) => message);
  await pass(2 * TIMEOUT_S);
  breaker.succeeded();
  t.like(await running, { type: 'DISPATCHED', documentId: 'document' });
  t.is(attempts, 1);
});
