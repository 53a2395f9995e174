/**
 * In a file, and so in a process, of its own: it makes the system drop change notices, which all watches of a
 * process have in common.
 */
import test from 'ava';
import { createHarness } from './harness.ts';

/** Made without a pause in the watcher's own thread: two notices a file, more than the system's queue of 16,384 holds. */
function flood(h: ReturnType<typeof createHarness>): void {
  for (let i = 0; i < 10_000; i += 1) h.put(`file-${i}.pdf`);
}

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
  t.true(
    h.offers.some((offer) => offer.seen === 'sweep'),
    'no notice was dropped, so nothing was shown',
  );
});

test.serial('a flood in one folder does not hide a file in another', async (t) => {
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
  t.is(quiet.offers[0]?.seen, 'sweep');
});
