/** Files that wait for their removal when the service stops. */

import type { ActorStore } from '@sealwright/runtime';
import { SimulatedClock } from '@sealwright/runtime/testing';
import test from 'ava';
import { BlobSweeping } from '../../../../actors/portal/uploads/blob-sweeping.ts';
import { reached } from '../../../project/waiting.ts';
import { SILENT } from './upload-harness.ts';

test('a sweep that ends after the stop leaves no timer, which would keep the process alive', async (t) => {
  const clock = new SimulatedClock();
  let answer: (left: readonly string[]) => void = () => {};
  const sweeping = new BlobSweeping(
    { store: {} as ActorStore, clock, log: SILENT },
    {
      sweep: async () => ({ removed: 0, bytes: 0 }),
      trim: async () => {},
      sweepSome: () => new Promise((resolve) => (answer = resolve)),
    },
    { sweep: async () => 0 },
  );
  sweeping.start();
  const sweep = sweeping.requestSweep([{ sha256: 'a'.repeat(64) }]);
  await sweeping.stop();
  answer(['a'.repeat(64)]);
  await sweep;
  t.is(clock.pending, 0);
});

test('a stop ends the sweep also while a file leaves the cache', async (t) => {
  const clock = new SimulatedClock();
  const signals: AbortSignal[] = [];
  let trimmed = () => {};
  const sweeping = new BlobSweeping(
    { store: {} as ActorStore, clock, log: SILENT },
    {
      sweep: async (_, signal) => {
        if (signal) signals.push(signal);
        return { removed: 0, bytes: 0 };
      },
      trim: () => new Promise((resolve) => (trimmed = resolve)),
      sweepSome: async () => [],
    },
    { sweep: async () => 0 },
  );
  sweeping.startTrimming();
  sweeping.start();
  clock.advance(10 * 60_000);
  await reached(() => signals.length === 1);
  const stopped = sweeping.stop();
  t.true(signals[0]?.aborted);
  trimmed();
  await stopped;
  t.is(clock.pending, 0);
});
