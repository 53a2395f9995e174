import { join } from 'node:path';
import test from 'ava';
import { Retryable } from '#runtime/model/failures.js';
import { createHarness } from './harness.ts';

test('a declined file stays declined over many listings, until it changes', async (t) => {
  const h = createHarness({ settings: { sweepIntervalMs: 1 } });
  t.teardown(h.close);
  h.put('declined.pdf');
  h.put('active.pdf');
  h.answer = ({ fileName }) => (fileName === 'active.pdf' ? 'active' : 'declined');
  h.watched.start();
  await h.until(() => h.offers.filter((offer) => offer.fileName === 'active.pdf').length === 4);
  t.is(h.offers.filter((offer) => offer.fileName === 'declined.pdf').length, 1);
  const changed = h.until(() => h.offers.filter((offer) => offer.fileName === 'declined.pdf').length === 2);
  h.put('declined.pdf', 'corrected');
  await changed;
  t.pass();
});

test('a file with an active job is offered again only after a recheck', async (t) => {
  const h = createHarness();
  t.teardown(h.close);
  h.answer = () => 'active';
  h.watched.start();
  await h.watched.ready;
  h.put('a.pdf');
  await h.until(() => h.offers.length === 1);
  await h.settled();
  t.is(h.offers.length, 1);
  h.answer = () => 'declined';
  const again = h.until(() => h.offers.length === 2);
  h.watched.recheck(h.at('a.pdf'));
  await again;
  await h.settled();
  t.is(h.offers.length, 2);
});

test('a recheck during the offer of the same file is not lost', async (t) => {
  const h = createHarness();
  t.teardown(h.close);
  h.answer = (candidate) => {
    if (h.offers.length === 1) h.watched.recheck(candidate.path);
    return 'enqueued';
  };
  h.put('a.pdf');
  h.watched.start();
  await h.until(() => h.offers.length === 2);
  await h.settled();
  t.is(h.offers.length, 2);
});

test('a recheck of a missing, ignored or foreign path offers nothing', async (t) => {
  const h = createHarness();
  t.teardown(h.close);
  h.watched.start();
  await h.watched.ready;
  h.put('a.tmp');
  for (const path of [h.at('gone.pdf'), h.at('a.tmp'), join(h.base, 'other', 'b.pdf'), h.folder]) {
    h.watched.recheck(path);
  }
  await h.settled();
  t.is(h.offers.length, 0);
});

test('a file rewritten during its offer is offered again with its new content', async (t) => {
  const h = createHarness();
  t.teardown(h.close);
  h.answer = ({ fileName }) => {
    if (h.offers.length === 1) h.put(fileName, 'rewritten meanwhile');
    return 'enqueued';
  };
  h.put('a.pdf', 'first');
  h.watched.start();
  await h.until(() => h.offers.length === 2);
  await h.settled();
  t.deepEqual(
    h.offers.map((offer) => offer.size),
    [5, 19],
  );
});

test('a rejected offer is repeated, one file at a time until one is accepted', async (t) => {
  const h = createHarness();
  t.teardown(h.close);
  const REJECTED = 6;
  let underWay = 0;
  let mostAfterFirst = 0;
  h.answer = async () => {
    underWay += 1;
    if (h.offers.length > 30 && h.offers.length <= 30 + REJECTED)
      mostAfterFirst = Math.max(mostAfterFirst, underWay);
    await new Promise((resolve) => setImmediate(resolve));
    underWay -= 1;
    if (h.offers.length <= 30 + REJECTED - 1) throw new Retryable('store.busy', 'The store is busy.', 1);
    return 'enqueued' as const;
  };
  for (let i = 0; i < 30; i += 1) h.put(`file-${i}.pdf`);
  h.watched.start();
  const taken = new Set<string>();
  await h.until(() => {
    for (const offer of h.offers.slice(30 + REJECTED - 1)) taken.add(offer.fileName);
    return taken.size === 30;
  });
  t.is(mostAfterFirst, 1);
  t.is(h.lines.filter((line) => line.text.includes('not being taken')).length, 1);
});
