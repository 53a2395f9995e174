import {
  appendFileSync,
  closeSync,
  ftruncateSync,
  futimesSync,
  linkSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { SimulatedClock } from '#runtime/testing/simulated-clock.js';
import type { Candidate, OfferResult } from '../../../../actors/batch/watched-folder/contract.ts';
import { createFileReader } from '../../../../actors/batch/watched-folder/file-reader.ts';
import { createKnownFiles } from '../../../../actors/batch/watched-folder/known-files.ts';
import { Pickup } from '../../../../actors/batch/watched-folder/pickup.ts';
import type { FileSample } from '../../../../actors/batch/watched-folder/stability.ts';
import { folderFor } from '../../../runtime/folder.ts';
import { createHarness } from './harness.ts';

const INTERVAL = 500;

/** A real folder whose samples are taken when the test lets time pass: three, each an interval after the last. */
function pickupByHand(
  t: ExecutionContext,
  offer: (candidate: Candidate) => Promise<OfferResult>,
  isTaken: (path: string) => boolean = () => false,
) {
  const folder = folderFor(t);
  const clock = new SimulatedClock();
  const disk = createFileReader(folder, { limit: 1, clock });
  /** Answers instead of the disk. */
  const share: { answer?: FileSample | undefined; samples: number } = { samples: 0 };
  const fileReader = {
    ...disk,
    sample(name: string) {
      share.samples += 1;
      return share.answer === undefined ? disk.sample(name) : Promise.resolve(share.answer);
    },
  };
  const nothing = () => {};
  const rules = {
    intervalMs: INTERVAL,
    requiredSamples: 3,
    timeoutMs: 60_000,
    quietMs: 2 * INTERVAL,
    quietWithHolesMs: 6 * INTERVAL,
  };
  const pickup = new Pickup({
    options: {
      name: 'inbox',
      path: folder,
      clock,
      offer,
      isTaken,
      onState: nothing,
      log: { debug: nothing, info: nothing, warn: nothing, error: nothing },
      settings: {
        stability: rules,
        concurrency: 1,
        ignoredExtensions: [],
        ignoredPrefixes: [],
        sweepIntervalMs: 60_000,
      },
    },
    folder,
    fileReader,
    memory: createKnownFiles(),
    onDirectory: nothing,
    onChange: nothing,
    rules: () => rules,
  });
  t.teardown(() => pickup.stop());
  /** Resolves when what follows from this moment is done. */
  const settled = async () => {
    for (let turn = 0; turn < 10; turn += 1) {
      await new Promise((resolve) => setImmediate(resolve));
      await fileReader.idle();
    }
  };
  return {
    pickup,
    settled,
    share,
    at: (name: string) => join(folder, name),
    async pass(intervals: number) {
      for (let n = 0; n < intervals; n += 1) {
        clock.advance(INTERVAL);
        await settled();
      }
    },
  };
}

for (const [clocks, offset] of [
  ['right', 0],
  ['behind', -10],
  ['ahead', 3_600],
] as const)
  test(`a file that is written on a share whose clock is ${clocks} is offered when it stayed unchanged for all samples`, async (t) => {
    const sizes: number[] = [];
    const h = pickupByHand(t, async ({ size }) => {
      sizes.push(size);
      return 'enqueued';
    });
    const write = () => {
      appendFileSync(h.at('slow.txt'), 'x'.repeat(300));
      const time = Date.now() / 1000 + offset;
      utimesSync(h.at('slow.txt'), time, time);
      h.pickup.observe('slow.txt', 'event');
    };
    write();
    await h.settled();
    for (let part = 1; part < 10; part += 1) {
      // The writer pauses for longer than one interval.
      await h.pass(1);
      write();
    }
    t.deepEqual(sizes, []);
    await h.pass(2);
    t.deepEqual(sizes, [], 'two samples are equal');
    await h.pass(1);
    t.deepEqual(sizes, [3_000]);
  });

for (const way of ['after its last sample is old', 'and its event is reported'] as const)
  test(`a complete file that changes before its turn, ${way}, goes back to sampling`, async (t) => {
    const offered: [string, number][] = [];
    let answer = () => {};
    const h = pickupByHand(t, ({ fileName, size }) => {
      offered.push([fileName, size]);
      return new Promise((resolve) => {
        answer = () => resolve('enqueued');
      });
    });
    for (const name of ['first.txt', 'second.txt']) {
      writeFileSync(h.at(name), 'half');
      h.pickup.observe(name, 'event');
      await h.settled();
      // The first takes the only place, the second waits for it.
      await h.pass(3);
    }
    t.deepEqual(offered, [['first.txt', 4]]);
    appendFileSync(h.at('second.txt'), ' and half');
    if (way === 'and its event is reported') h.pickup.observe('second.txt', 'event');
    else await h.pass(2);
    answer();
    await h.settled();
    t.deepEqual(offered, [['first.txt', 4]], 'the second is written again');
    await h.pass(3);
    t.deepEqual(offered.slice(1), [['second.txt', 13]]);
    answer();
    await h.settled();
  });

for (const [growth, write] of Object.entries({
  'its blocks grow': (file: number, part: number) =>
    writeSync(file, Buffer.alloc(65_536, part), 0, 65_536, part * 65_536),
  'it is written again in place': (file: number) => writeSync(file, Buffer.alloc(65_536), 0, 65_536, 0),
}))
  test(`a file with its final size and an old time is not offered while ${growth}, nor soon after with holes`, async (t) => {
    const offered: number[] = [];
    const h = pickupByHand(t, async ({ size }) => {
      offered.push(size);
      return 'enqueued';
    });
    const file = openSync(h.at('a.bin'), 'w');
    t.teardown(() => closeSync(file));
    ftruncateSync(file, 1 << 20);
    h.pickup.observe('a.bin', 'event');
    await h.settled();
    for (let part = 0; part < 8; part += 1) {
      write(file, part);
      // As a server that stores the time when the file is closed.
      futimesSync(file, 1_000, 1_000);
      await h.pass(2);
    }
    t.deepEqual(offered, []);
    await h.pass(3);
    t.deepEqual(offered, [], 'half of it is a hole');
    await h.pass(3);
    t.deepEqual(offered, [1 << 20], 'a sparse file that nobody writes');
  });

test('at most the configured number of offers runs at once', async (t) => {
  const h = createHarness({ settings: { concurrency: 3 } });
  t.teardown(h.close);
  let underWay = 0;
  let most = 0;
  let allow = () => {};
  const allowed = new Promise<void>((resolve) => {
    allow = resolve;
  });
  h.answer = async () => {
    underWay += 1;
    most = Math.max(most, underWay);
    if (underWay === 3) allow();
    await allowed;
    await new Promise((resolve) => setImmediate(resolve));
    underWay -= 1;
    return 'enqueued' as const;
  };
  for (let i = 0; i < 40; i += 1) h.put(`file-${i}.pdf`);
  h.watched.start();
  await h.watched.ready;
  t.is(h.offers.length, 40);
  t.is(most, 3);
});

test('existing files are offered before the watcher reports that it is running', async (t) => {
  const h = createHarness();
  t.teardown(h.close);
  h.put('one.pdf');
  h.put('two.xml');
  h.watched.start();
  t.is(h.watched.state().phase, 'Initializing');
  await h.watched.ready;
  t.deepEqual(h.namesOffered(), ['one.pdf', 'two.xml']);
  t.deepEqual(h.watched.state(), { phase: 'Running', exists: true, notices: 'events', error: null });
  const [offer] = h.offers;
  t.is(offer?.seen, 'sweep');
  t.is(offer?.size, 7);
  t.is(offer?.path, h.at(offer?.fileName ?? ''));
});

test('a file that never becomes stable is abandoned, and offered after its next change', async (t) => {
  const h = createHarness({
    settings: { stability: { intervalMs: 50, requiredSamples: 3, timeoutMs: 200 } },
  });
  t.teardown(h.close);
  h.watched.start();
  await h.watched.ready;
  const givenUp = h.until(() => h.lines.some((line) => line.level === 'warn'));
  const writer = setInterval(() => appendFileSync(h.at('restless.pdf'), 'x'), 10);
  await givenUp;
  clearInterval(writer);
  t.is(h.offers.length, 0);
  t.is(h.lines.find((line) => line.level === 'warn')?.properties['File'], 'restless.pdf');
  const offered = h.until(() => h.offers.length === 1);
  appendFileSync(h.at('restless.pdf'), 'the end');
  await offered;
  t.pass();
});

test('a file renamed into the folder is offered', async (t) => {
  const h = createHarness();
  t.teardown(h.close);
  h.watched.start();
  await h.watched.ready;
  const offered = h.until(() => h.offers.length === 1);
  h.putWhole('moved.pdf');
  await offered;
  t.is(h.offers[0]?.seen, 'event');
  t.is(h.offers[0]?.fileName, 'moved.pdf');
});

test('a file renamed from an ignored name is offered under its final name', async (t) => {
  const h = createHarness();
  t.teardown(h.close);
  h.watched.start();
  await h.watched.ready;
  h.put('report.pdf.part');
  await h.settled();
  renameSync(h.at('report.pdf.part'), h.at('report.pdf'));
  await h.settled();
  t.deepEqual(h.namesOffered(), ['report.pdf']);
});

test('a file rewritten after its offer is offered again with its new size', async (t) => {
  const h = createHarness();
  t.teardown(h.close);
  h.watched.start();
  await h.watched.ready;
  h.put('a.pdf', 'first');
  await h.until(() => h.offers.length === 1);
  const again = h.until(() => h.offers.length === 2);
  h.put('a.pdf', 'second, longer');
  await again;
  t.deepEqual(
    h.offers.map((offer) => offer.size),
    [5, 14],
  );
});

test('a file removed and recreated with the same name and time is offered again', async (t) => {
  const h = createHarness();
  t.teardown(h.close);
  h.watched.start();
  await h.watched.ready;
  const time = new Date(Date.now() - 60_000);
  writeFileSync(h.at('a.pdf'), 'content');
  utimesSync(h.at('a.pdf'), time, time);
  await h.until(() => h.offers.length === 1);
  const again = h.until(() => h.offers.length === 2);
  rmSync(h.at('a.pdf'));
  writeFileSync(h.at('a.pdf'), 'content');
  utimesSync(h.at('a.pdf'), time, time);
  await again;
  t.is(h.offers[0]?.mtimeMs, h.offers[1]?.mtimeMs);
});

test('a change that keeps size and time does not offer a file twice', async (t) => {
  const h = createHarness();
  t.teardown(h.close);
  h.watched.start();
  await h.watched.ready;
  h.put('a.pdf');
  await h.until(() => h.offers.length === 1);
  // What staging does to an input: one more name for the same bytes.
  linkSync(h.at('a.pdf'), join(h.base, 'staged'));
  await h.settled();
  t.is(h.offers.length, 1);
});

test('ignored names, directories, symbolic links and empty files are never offered', async (t) => {
  const h = createHarness();
  t.teardown(h.close);
  const make = (suffix: string) => {
    for (const name of ['a.tmp', 'a.TMP', 'a.pdf.Part', '.hidden.pdf', '~$office.docx'])
      h.put(name + suffix.slice(9));
    h.put(`${suffix}.swp`);
    h.put(`~$${suffix}`);
    h.put(`.${suffix}`);
    h.put(`${suffix}-empty.pdf`, '');
    mkdirSync(h.at(`${suffix}-directory.pdf`));
    symlinkSync(join(h.base, 'elsewhere.pdf'), h.at(`${suffix}-link.pdf`));
    symlinkSync(join(h.base, 'nowhere.pdf'), h.at(`${suffix}-dangling.pdf`));
  };
  writeFileSync(join(h.base, 'elsewhere.pdf'), 'content');
  make('existing');
  h.watched.start();
  await h.watched.ready;
  make('appearing');
  await h.settled();
  t.deepEqual(h.namesOffered(), []);
});

test('an empty file is offered once it has grown', async (t) => {
  const h = createHarness();
  t.teardown(h.close);
  h.put('empty.pdf', '');
  h.watched.start();
  await h.watched.ready;
  await h.settled();
  t.is(h.offers.length, 0);
  const offered = h.until(() => h.offers.length === 1);
  appendFileSync(h.at('empty.pdf'), 'now with content');
  await offered;
  t.is(h.offers[0]?.size, 16);
});

test('names with line breaks, 255 bytes and other scripts reach the offer unchanged', async (t) => {
  const h = createHarness();
  t.teardown(h.close);
  const names = [
    'two\nlines.pdf',
    `${'é'.repeat(125)}1.pdf`,
    '契約書.pdf',
    'with\uFFFDmark.pdf',
    ' leading and trailing ',
  ];
  for (const name of names) h.put(name);
  h.watched.start();
  await h.watched.ready;
  for (const name of names.slice(0, 4)) h.put(`${name.slice(5)}.xml`);
  await h.settled();
  t.deepEqual(
    h.namesOffered(),
    [...names, ...names.slice(0, 4).map((name) => `${name.slice(5)}.xml`)].sort(),
  );
});

test('a name that is not UTF-8 is skipped with one warning, and the others are offered', async (t) => {
  const h = createHarness({ settings: { sweepIntervalMs: 1 } });
  t.teardown(h.close);
  const bad = Buffer.concat([Buffer.from(`${h.folder}/`), Buffer.from([0xff, 0xfe]), Buffer.from('.pdf')]);
  writeFileSync(bad, 'content');
  h.put('good.pdf');
  h.watched.start();
  await h.watched.ready;
  // A file found by a later listing shows that the name was met again and stayed silent.
  h.answer = () => 'active';
  h.put('good-2.pdf');
  await h.until(() => h.offers.filter((offer) => offer.fileName === 'good-2.pdf').length === 3);
  const warnings = h.lines.filter((line) => line.text.includes('not UTF-8'));
  t.deepEqual(
    warnings.map((line) => line.properties['NameBytes']),
    ['fffe2e706466'],
  );
  t.regex(h.watched.state().error ?? '', /not UTF-8 .*: %FF%FE\.pdf$/);
  rmSync(bad);
  await h.until(() => h.watched.state().error === null);
  t.deepEqual([...new Set(h.namesOffered())], ['good-2.pdf', 'good.pdf']);
});

test('files created and removed quickly leave no state, and the remaining ones are offered once', async (t) => {
  const h = createHarness();
  t.teardown(h.close);
  h.watched.start();
  await h.watched.ready;
  for (let i = 0; i < 500; i += 1) {
    h.put(`quick-${i % 50}.pdf`, `content ${i}`);
    if (i % 10 === 9) await new Promise((resolve) => setImmediate(resolve));
    rmSync(h.at(`quick-${i % 50}.pdf`));
  }
  h.put('stays.pdf');
  await h.settled();
  t.deepEqual(h.namesOffered(), ['stays.pdf']);
  t.is(h.watched.state().error, null);
});

for (const answer of [
  { is: 'unreadable', code: 'EBUSY' },
  { is: 'gone' },
] as const satisfies readonly FileSample[])
  test(`a file that is ${answer.is} while it is offered and back afterwards is offered again unchanged`, async (t) => {
    const answers: OfferResult[] = [];
    const h = pickupByHand(t, async ({ isThere }) => {
      h.share.answer = answers.length === 0 ? answer : undefined;
      const isFound = await isThere?.();
      h.share.answer = undefined;
      answers.push(isFound ? 'enqueued' : 'declined');
      return isFound ? 'enqueued' : 'declined';
    });
    writeFileSync(h.at('a.txt'), 'content');
    h.pickup.observe('a.txt', 'event');
    await h.settled();
    await h.pass(3);
    t.deepEqual(answers, ['declined']);
    t.is(h.pickup.failures() === null, answer.is === 'gone');
    // As each listing does.
    h.pickup.observe('a.txt', 'sweep');
    h.pickup.retryUnreadable();
    await h.settled();
    await h.pass(3);
    t.deepEqual(answers, ['declined', 'enqueued']);
    t.is(h.pickup.failures(), null);
  });

test('an upload that has a job is neither sampled nor offered at its event, and offered when it changes later', async (t) => {
  const offered: string[] = [];
  const taken = new Set<string>();
  const h = pickupByHand(
    t,
    async ({ fileName }) => {
      offered.push(fileName);
      return 'enqueued';
    },
    (path) => taken.delete(path),
  );
  writeFileSync(h.at('upload'), 'content');
  taken.add(h.at('upload'));
  h.pickup.observe('upload', 'event');
  await h.settled();
  t.is(h.share.samples, 0);
  h.pickup.observe('upload', 'event');
  await h.pass(4);
  t.is(h.share.samples, 1);
  t.deepEqual(offered, []);
  writeFileSync(h.at('upload'), 'other content');
  h.pickup.observe('upload', 'event');
  await h.pass(4);
  t.deepEqual(offered, ['upload']);
});
