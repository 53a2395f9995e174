/** Tasks of a node whose lease is over, because the database does not answer. */

import { describeFailure, systemClock } from '@sealwright/runtime';
import test from 'ava';
import { LeaseDeadline } from '#runtime/model/lease-deadline.js';
import { messageOf } from '../../../actors/batch/effects/effect-handler.ts';
import { leaseHeld } from '../../../actors/pool/job/job-task-context.ts';

/** The lowest `Pipeline:TaskTimeoutSeconds`, milliseconds. A sign task waits twice. */
const LOWEST_TIME_LIMIT_MS = 10_000;

test('a task ends its wait for the lease before its time limit, and its effect is retried', async (t) => {
  let now = 0;
  const sleep = async (ms: number) => {
    now += ms;
    if (now > LOWEST_TIME_LIMIT_MS / 2) throw new Error('waits for too long');
  };
  const lease = new LeaseDeadline(() => now);
  const failure = describeFailure(
    await t.throwsAsync(async () => leaseHeld({ lease, clock: { ...systemClock, sleep } })),
  );
  t.is(failure.code, 'store.unavailable');
  t.throws(() => messageOf({ ok: false, ms: 0, ...failure }), { name: 'Retryable' });
  t.throws(() => messageOf({ ok: false, ms: 0, code: 'pool.deadline', message: '' }), { name: 'Fatal' });
});
