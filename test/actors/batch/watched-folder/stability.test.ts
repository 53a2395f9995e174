import test from 'ava';
import {
  firstSample,
  isHopeless,
  isStable,
  nextSample,
  type Sample,
  type StabilityRules,
} from '../../../../actors/batch/watched-folder/stability.ts';

const RULES: StabilityRules = { intervalMs: 500, requiredSamples: 3, timeoutMs: 60_000 };
const NOW = 1_700_000_000_000;
const FRESH: Sample = { size: 10, mtimeMs: NOW - 20, inode: 7, bornMs: NOW - 20 };

test('a new file is complete at its third equal sample and not before', (t) => {
  const first = firstSample(FRESH, NOW, 0, RULES);
  const second = nextSample(first, FRESH, RULES);
  t.deepEqual([first, second, nextSample(second, FRESH, RULES)].map(isStable), [false, false, true]);
});

test('a file older than the stability period needs one confirming sample', (t) => {
  const old = { ...FRESH, mtimeMs: NOW - 1_501 };
  const first = firstSample(old, NOW, 0, RULES);
  t.false(isStable(first));
  t.true(isStable(nextSample(first, old, RULES)));
});

test('a file exactly as old as the period, or dated in the future, needs all samples', (t) => {
  for (const mtimeMs of [NOW - 1_500, NOW + 3_600_000]) {
    const sample = { ...FRESH, mtimeMs };
    t.false(isStable(nextSample(firstSample(sample, NOW, 0, RULES), sample, RULES)));
  }
});

test('an old file that changes loses the fast path', (t) => {
  const old = { ...FRESH, mtimeMs: NOW - 10_000 };
  const changed = nextSample(firstSample(old, NOW, 0, RULES), { ...old, size: 11 }, RULES);
  t.false(isStable(nextSample(changed, { ...old, size: 11 }, RULES)));
});

test('a change of size, time or identity restarts the count', (t) => {
  const almost = nextSample(firstSample(FRESH, NOW, 0, RULES), FRESH, RULES);
  for (const change of [{ size: 11 }, { mtimeMs: NOW }, { inode: 8 }, { bornMs: NOW }]) {
    t.is(nextSample(almost, { ...FRESH, ...change }, RULES).equal, 1);
  }
});

test('a single required sample makes a file complete at the first one', (t) => {
  t.true(isStable(firstSample(FRESH, NOW, 0, { ...RULES, requiredSamples: 1 })));
});

test('only a file that still changes at the time limit is abandoned', (t) => {
  const first = firstSample(FRESH, NOW, 1_000, RULES);
  const changing = nextSample(first, { ...FRESH, size: 11 }, RULES);
  t.false(isHopeless(changing, 60_999, RULES));
  t.true(isHopeless(changing, 61_000, RULES));
  t.false(isHopeless(nextSample(changing, { ...FRESH, size: 11 }, RULES), 90_000, RULES));
});
