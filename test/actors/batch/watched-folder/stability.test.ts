import test from 'ava';
import {
  firstSample,
  hasTimedOut,
  isStable,
  nextSample,
  type Sample,
  type StabilityRules,
} from '../../../../actors/batch/watched-folder/stability.ts';

const RULES: StabilityRules = { intervalMs: 500, requiredSamples: 3, timeoutMs: 60_000 };
const NOW = 1_700_000_000_000;
const FRESH: Sample = { size: 10, mtimeMs: NOW - 20, inode: 7, bornMs: NOW - 20 };

test('a file is complete at its third equal sample and not before, whatever its time says', (t) => {
  for (const mtimeMs of [FRESH.mtimeMs, NOW - 1_501, NOW - 3_600_000, NOW + 3_600_000, 0]) {
    const sample = { ...FRESH, mtimeMs };
    const first = firstSample(sample, 0);
    const second = nextSample(first, sample);
    const tracks = [first, second, nextSample(second, sample)];
    t.deepEqual(
      tracks.map((track) => isStable(track, RULES)),
      [false, false, true],
    );
  }
});

test('a change of size, time or identity restarts the count', (t) => {
  const almost = nextSample(firstSample(FRESH, 0), FRESH);
  for (const change of [{ size: 11 }, { mtimeMs: NOW }, { inode: 8 }, { bornMs: NOW }]) {
    t.is(nextSample(almost, { ...FRESH, ...change }).equal, 1);
  }
});

test('a single required sample makes a file complete at the first one', (t) => {
  t.true(isStable(firstSample(FRESH, 0), { ...RULES, requiredSamples: 1 }));
});

test('only a file that still changes at the time limit is abandoned', (t) => {
  const first = firstSample(FRESH, 1_000);
  const changing = nextSample(first, { ...FRESH, size: 11 });
  t.false(hasTimedOut(changing, 60_999, RULES));
  t.true(hasTimedOut(changing, 61_000, RULES));
  t.false(hasTimedOut(nextSample(changing, { ...FRESH, size: 11 }), 90_000, RULES));
});
