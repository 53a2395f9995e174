/** The end of a hold that a failed task began. Source: docs/decisions/0047-held-pipeline.md. */
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Fatal } from '@sealwright/runtime/core';
import { SimulatedClock } from '@sealwright/runtime/testing';
import test, { type ExecutionContext } from 'ava';
import { whileWritable } from '../../../actors/batch/effects/effect-handler.ts';
import { StorageMonitor } from '../../../actors/batch/pipeline/storage-monitor.ts';
import { reached } from '../../project/waiting.ts';

/** Folder of a file system in which other tests free little room: room that is gained ends a hold. */
const QUIET = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();

async function monitored(t: ExecutionContext) {
  const path = await mkdtemp(join(QUIET, 'sealwright-'));
  const clock = new SimulatedClock();
  const silent = () => {};
  const log = { debug: silent, info: silent, warn: silent, error: silent, child: () => log };
  const folders = [{ name: 'output', path, probe: '.probe' }];
  const monitor = new StorageMonitor({ clock, log }, folders, silent);
  await monitor.start();
  t.teardown(async () => {
    await monitor.stop();
    await rm(path, { recursive: true });
  });
  /** Advances the clock and waits for the end of the check, which schedules the next one. */
  const advance = async (time: number) => {
    clock.advance(time);
    await reached(() => clock.pending > 0);
  };
  /** Reports a failure in a folder that has room; returns the seconds until the hold ends. */
  const held = async () => {
    monitor.report({ code: 'disk.full', reason: 'full' });
    t.is(monitor.held?.reason, 'full');
    const from = clock.elapsed();
    while (monitor.held !== null) {
      await advance(1_000);
    }
    return (clock.elapsed() - from) / 1_000;
  };
  return { monitor, advance, held };
}

test('a hold ends automatically, and later with each consecutive failure', async (t) => {
  const { advance, held } = await monitored(t);
  const first: number[] = [];
  for (let time = 0; time < 6; time += 1) first.push(await held());
  t.deepEqual(first, [2, 4, 8, 16, 30, 30]);
  for (let second = 0; second < 60; second += 2) await advance(2_000);
  t.is(await held(), 2);
});

test('a file that alone needs more room than is free fails after some attempts, and others wait for room', async (t) => {
  const { monitor, advance } = await monitored(t);
  const { signal } = new AbortController();
  const outcomeOf = async (bytes: number, lastAttempt: number) => {
    let attempts = 0;
    let outcome: string | undefined;
    const work = () => {
      attempts += 1;
      return attempts > lastAttempt
        ? Promise.resolve('done')
        : Promise.reject(new Fatal('disk.full', 'full'));
    };
    whileWritable(monitor, { signal }, work, bytes).then(
      (result) => {
        outcome = result;
      },
      (error: unknown) => {
        outcome = String(error);
      },
    );
    while (outcome === undefined) await advance(1_000);
    return `${attempts}: ${outcome}`;
  };
  t.regex(await outcomeOf(monitor.freeBytes, 20), /^6: .*full/);
  t.is(await outcomeOf(1_000, 8), '9: done');
});
