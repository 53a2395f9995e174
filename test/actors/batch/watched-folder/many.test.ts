/**
 * In a file, and so in a process, of its own: it makes the system drop change notices, which all watches of a
 * process have in common.
 */

import { readdirSync, readFileSync } from 'node:fs';
import test from 'ava';
import { LARGE_DIRECTORY } from '../../../../actors/batch/watched-folder/directory-watches.ts';
import { reached } from '../../../project/waiting.ts';
import { createHarness } from './harness.ts';

/** True where the system's queue is too short for the notices of `flood`: two a file. */
function dropsNotices(): boolean {
  try {
    return Number(readFileSync('/proc/sys/fs/inotify/max_queued_events', 'utf8')) < 20_000;
  } catch {
    return false;
  }
}

/** Made without a pause in the watcher's own thread, which meanwhile takes no notice. */
function flood(h: ReturnType<typeof createHarness>): void {
  for (let i = 0; i < 10_000; i += 1) h.put(`file-${i}.pdf`);
}

/** Watches this process holds in the system; undefined where the system does not tell. */
function watchesHeld(): number | undefined {
  if (process.platform !== 'linux') return undefined;
  let held = 0;
  for (const descriptor of readdirSync('/proc/self/fdinfo')) {
    try {
      held += readFileSync(`/proc/self/fdinfo/${descriptor}`, 'utf8').match(/^inotify wd:/gm)?.length ?? 0;
    } catch {
      // The descriptor that lists the descriptors is closed by now.
    }
  }
  return held;
}

test.serial('a folder uses one inotify watch for any number of files', async (t) => {
  const before = watchesHeld();
  const h = createHarness();
  t.teardown(h.close);
  for (let i = 0; i < 200; i += 1) h.put(`existing-${i}.pdf`);
  h.watched.start();
  await h.watched.ready;
  for (let i = 0; i < 200; i += 1) h.put(`new-${i}.pdf`);
  await h.until(() => h.offers.length === 400);
  t.is(watchesHeld(), before === undefined ? undefined : before + 1);
  await h.watched.stop();
  t.is(watchesHeld(), before);
});

test.serial('a folder that grows large keeps one watch and its events', async (t) => {
  const before = watchesHeld();
  const h = createHarness({ settings: { sweepIntervalMs: 200 } });
  t.teardown(h.close);
  h.watched.start();
  await h.watched.ready;
  for (let i = 0; i <= LARGE_DIRECTORY; i += 1) h.put(`file-${i}.pdf`);
  await h.until(() => h.offers.length === LARGE_DIRECTORY + 1);
  // A listing may be replacing the watch. It reports nothing, so `h.until` would not look again.
  const one = before === undefined ? undefined : before + 1;
  await reached(() => watchesHeld() === one);
  h.put('one-more.pdf');
  await h.until(() => h.offers.length === LARGE_DIRECTORY + 2);
  t.is(watchesHeld(), one);
  await h.watched.stop();
  t.is(watchesHeld(), before);
});

test.serial('10,000 files dropped at once are each offered exactly once', async (t) => {
  const h = createHarness();
  t.teardown(h.close);
  h.watched.start();
  await h.watched.ready;
  const done = h.until(() => h.offers.length >= 10_000);
  flood(h);
  await done;
  await h.settled();
  t.is(h.offers.length, 10_000);
  t.is(new Set(h.namesOffered()).size, 10_000);
  t.is(
    h.offers.some((offer) => offer.seen === 'sweep'),
    dropsNotices(),
  );
});

test.serial('a burst of events in one folder does not hide a file in another', async (t) => {
  const flooded = createHarness();
  const quiet = createHarness();
  t.teardown(flooded.close);
  t.teardown(quiet.close);
  flooded.watched.start();
  quiet.watched.start();
  await Promise.all([flooded.watched.ready, quiet.watched.ready]);
  const offered = quiet.until(() => quiet.offers.length === 1);
  flood(flooded);
  quiet.put('lonely.pdf');
  await offered;
  t.is(quiet.offers[0]?.seen, dropsNotices() ? 'sweep' : 'event');
});
