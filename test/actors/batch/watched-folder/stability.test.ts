import test from 'ava';
import { LOCAL_FILE_SYSTEMS, stabilityRules } from '../../../../actors/batch/watched-folder/file-systems.ts';
import {
  firstSample,
  hasTimedOut,
  isStable,
  nextSample,
  type Sample,
  type StabilityRules,
  sameSample,
} from '../../../../actors/batch/watched-folder/stability.ts';

const RULES: StabilityRules = {
  intervalMs: 500,
  requiredSamples: 3,
  timeoutMs: 60_000,
  quietMs: 0,
  quietWithHolesMs: 0,
};
const NOW = 1_700_000_000_000;
const FRESH: Sample = {
  size: 10,
  mtimeMs: NOW - 20,
  ctimeMs: NOW - 20,
  inode: 7,
  bornMs: NOW - 20,
  blocks: 8,
};

test('a file is complete at its third equal sample and not before, whatever its time says', (t) => {
  for (const mtimeMs of [FRESH.mtimeMs, NOW - 1_501, NOW - 3_600_000, NOW + 3_600_000, 0]) {
    const sample = { ...FRESH, mtimeMs };
    const first = firstSample(sample, 0);
    const second = nextSample(first, sample, 500);
    const tracks = [first, second, nextSample(second, sample, 1_000)];
    t.deepEqual(
      tracks.map((track) => isStable(track, 1_000, RULES)),
      [false, false, true],
    );
  }
});

test('a change of any member of a sample restarts the count and the time', (t) => {
  const almost = nextSample(firstSample(FRESH, 0), FRESH, 500);
  for (const name of Object.keys(FRESH) as (keyof Sample)[])
    t.like(
      nextSample(almost, { ...FRESH, [name]: FRESH[name] + 1 }, 1_000),
      { equal: 1, equalSince: 1_000 },
      name,
    );
});

test('a job that links its input, and blocks allocated late, leave a known file known', (t) => {
  t.true(sameSample(FRESH, { ...FRESH, ctimeMs: NOW, blocks: 16 }));
  for (const name of ['size', 'mtimeMs', 'inode', 'bornMs'] as const)
    t.false(sameSample(FRESH, { ...FRESH, [name]: FRESH[name] + 1 }), name);
});

test('a file is complete when it was unchanged for the time of its folder, and one with holes for its own', (t) => {
  const rules = { ...RULES, quietMs: 5_000, quietWithHolesMs: 15_000 };
  const cases: readonly [Partial<Sample>, number][] = [
    [{ size: 40_960, blocks: 80 }, 5_000],
    // Less than a block is missing: what a file system stores beside the file's own metadata.
    [{ size: 40_960, blocks: 73 }, 5_000],
    [{ size: 40_960, blocks: 72 }, 15_000],
    [{ size: 100, blocks: 0 }, 5_000],
    [{ size: 4_096, blocks: 0 }, 15_000],
  ];
  for (const [part, quiet] of cases) {
    const sample = { ...FRESH, ...part };
    let track = firstSample(sample, 0);
    for (const at of [1, 2, 3]) track = nextSample(track, sample, at);
    t.deepEqual(
      [quiet - 1, quiet].map((elapsed) => isStable(track, elapsed, rules)),
      [false, true],
      JSON.stringify(part),
    );
  }
});

const CONFIGURED = { intervalMs: 500, requiredSamples: 3, timeoutMs: 60_000 };
/** NFS, SMB 1 and 2, FUSE, 9P, Ceph, AFS, GFS2, Lustre, and a number that nobody has. */
const NOT_LOCAL = [
  0x6969, 0xff534d42, 0xfe534d42, 0x65735546, 0x01021997, 0x00c36400, 0x5346414f, 0x01161970, 0x0bd00bd0,
  0x7777_7777,
];

test('a file system that the table of local ones does not name has the rules of a share', (t) => {
  const share = { ...CONFIGURED, intervalMs: 5_000, quietMs: 10_000, quietWithHolesMs: 30_000 };
  for (const number of NOT_LOCAL) t.deepEqual(stabilityRules(CONFIGURED, number), share, number.toString(16));
  for (const [number, blocks] of LOCAL_FILE_SYSTEMS) {
    const quietWithHolesMs = blocks === 'whole' ? 10_000 : 0;
    const local = { ...CONFIGURED, quietMs: 0, quietWithHolesMs };
    t.deepEqual(stabilityRules(CONFIGURED, number), local, number.toString(16));
    const polled = stabilityRules({ ...CONFIGURED, isShare: true }, number);
    t.is(polled.quietMs, 10_000, 'an input that is polled is a share');
  }
  const own = { ...CONFIGURED, quietMs: 60_000 };
  for (const number of [0x6969, 0xef53])
    t.like(stabilityRules(own, number), { intervalMs: 30_000, quietMs: 60_000, quietWithHolesMs: 180_000 });
});

test('a single required sample makes a file complete at the first one', (t) => {
  t.true(isStable(firstSample(FRESH, 0), 0, { ...RULES, requiredSamples: 1 }));
});

test('only a file that still changes at the time limit is abandoned', (t) => {
  const first = firstSample(FRESH, 1_000);
  const changing = nextSample(first, { ...FRESH, size: 11 }, 2_000);
  t.false(hasTimedOut(changing, 60_999, RULES));
  t.true(hasTimedOut(changing, 61_000, RULES));
  t.false(hasTimedOut(nextSample(changing, { ...FRESH, size: 11 }, 3_000), 90_000, RULES));
});
