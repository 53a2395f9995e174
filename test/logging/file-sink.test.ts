import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SimulatedClock } from '@sealwright/runtime/testing';
import test, { type ExecutionContext } from 'ava';
import { createFileSink, createLogging, type FileSinkOptions } from '../../logging.ts';
import { reached } from '../project/waiting.ts';

const START = Date.UTC(2026, 4, 26, 15, 42, 11);
const HOUR = 3_600_000;
/** The file of the day of `START`. */
const NAME = 'batch-20260526.log';
/** Sinks live as long as their program; one that is forgotten has its file closed with a warning. */
const alive: unknown[] = [];

/** A sink in a folder of its own, on a simulated clock. */
async function fileSinkFixture(t: ExecutionContext, options: Partial<FileSinkOptions> = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'sealwright-log-'));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  const clock = new SimulatedClock(START);
  const troubles: (string | undefined)[] = [];
  const make = () => {
    const made = createFileSink({
      path: join(folder, 'logs', 'batch-.log'),
      interval: 'Day',
      sizeLimit: 65_536,
      retained: 14,
      least: 'Verbose',
      clock,
      onFailure: (why) => troubles.push(why),
      ...options,
    });
    alive.push(made);
    return made;
  };
  const logs = join(folder, 'logs');
  return {
    folder,
    logs,
    clock,
    troubles,
    make,
    sink: make(),
    files: () => readdirSync(logs).sort(),
    text: (name: string) => readFileSync(join(logs, name), 'utf8'),
  };
}

async function until(isSo: () => boolean): Promise<void> {
  await reached(isSo);
}

test('a file is named after the UTC day, and a new one starts at midnight', async (t) => {
  const { sink, clock, files, text } = await fileSinkFixture(t);
  sink.write('before\n', 'Information');
  clock.advance(9 * HOUR);
  sink.write('after\n', 'Information');
  await sink.flush();
  t.deepEqual(files(), ['batch-20260526.log', 'batch-20260527.log']);
  t.is(text('batch-20260526.log'), 'before\n');
  t.is(text('batch-20260527.log'), 'after\n');
});

for (const [interval, names] of [
  ['Hour', ['batch-2026052615.log', 'batch-2026052616.log']],
  ['Minute', ['batch-202605261542.log', 'batch-202605261642.log']],
  ['Infinite', ['batch-.log']],
] as const) {
  test(`rolling by ${interval} gives files named accordingly`, async (t) => {
    const { sink, clock, files } = await fileSinkFixture(t, { interval });
    sink.write('one\n', 'Information');
    clock.advance(HOUR);
    sink.write('two\n', 'Information');
    await sink.flush();
    t.deepEqual(files(), [...names]);
  });
}

test('a file stays below its limit, with _001 and _002 after it and whole lines in order', async (t) => {
  const { sink, files, text } = await fileSinkFixture(t);
  const line = (number: number) => `${String(number).padStart(6, '0')} ${'é'.repeat(100)}\n`;
  for (let number = 0; number < 900; number += 1) sink.write(line(number), 'Information');
  await sink.flush();
  t.deepEqual(files(), ['batch-20260526.log', 'batch-20260526_001.log', 'batch-20260526_002.log']);
  const texts = files().map(text);
  for (const each of texts) t.true(Buffer.byteLength(each) <= 65_536);
  t.is(texts.join(''), Array.from({ length: 900 }, (_, number) => line(number)).join(''));
});

test('a file that was moved away or removed is made anew, with all later lines', async (t) => {
  const { sink, clock, logs, files, text } = await fileSinkFixture(t);
  const say = async (line: string) => {
    clock.advance(1_000);
    sink.write(`${line}\n`, 'Warning');
    await sink.flush();
  };
  await say('one');
  await say('two');
  renameSync(join(logs, NAME), join(logs, 'moved'));
  await say('three');
  t.is(text(NAME), 'three\n');
  rmSync(join(logs, NAME));
  await say('four');
  await say('five');
  t.deepEqual(files(), [NAME, 'moved']);
  t.is(text(NAME), 'four\nfive\n');
  t.is(text('moved'), 'one\ntwo\n');
});

test('lines below Warning are buffered for a moment, and a Warning writes them at once', async (t) => {
  const { sink, clock, logs, text } = await fileSinkFixture(t);
  sink.write('one\n', 'Information');
  sink.write('two\n', 'Information');
  await new Promise(setImmediate);
  t.false(existsSync(logs));
  clock.advance(100);
  await until(() => existsSync(join(logs, NAME)) && text(NAME) === 'one\ntwo\n');
  sink.write('three\n', 'Information');
  sink.write('four\n', 'Warning');
  await until(() => text(NAME) === 'one\ntwo\nthree\nfour\n');
  t.pass();
});

test('a restart continues the newest file of the day', async (t) => {
  const { sink, make, files, text } = await fileSinkFixture(t);
  for (let number = 0; number < 70; number += 1) sink.write(`${'x'.repeat(999)}\n`, 'Information');
  await sink.flush();
  const again = make();
  again.write('second run\n', 'Information');
  await again.flush();
  t.deepEqual(files(), ['batch-20260526.log', 'batch-20260526_001.log']);
  t.true(text('batch-20260526_001.log').endsWith('x\nsecond run\n'));
});

test('the oldest files over the retained number are removed, and files of others are kept', async (t) => {
  const { sink, clock, logs, files } = await fileSinkFixture(t, { retained: 3 });
  mkdirSync(logs);
  for (const name of [
    'batch-20260401.log',
    'batch-20260402.log',
    'batch-20260402_001.log',
    'batch-notes.log',
    'other-20260401.log',
    'batch-20260401.log.gz',
  ]) {
    writeFileSync(join(logs, name), 'old\n');
  }
  sink.write('now\n', 'Information');
  await sink.flush();
  const foreign = ['batch-20260401.log.gz', 'batch-notes.log', 'other-20260401.log'];
  t.deepEqual(
    files(),
    [...foreign, 'batch-20260402.log', 'batch-20260402_001.log', 'batch-20260526.log'].sort(),
  );
  clock.advance(24 * HOUR);
  sink.write('tomorrow\n', 'Information');
  await sink.flush();
  t.deepEqual(
    files(),
    [...foreign, 'batch-20260402_001.log', 'batch-20260526.log', 'batch-20260527.log'].sort(),
  );
});

test('files older than the retention are removed, whatever their number', async (t) => {
  const { sink, clock, logs, files } = await fileSinkFixture(t, { maxAge: 48 * HOUR });
  mkdirSync(logs);
  for (const [name, hours] of [
    ['batch-20260522.log', 49],
    ['batch-20260523.log', 47],
  ] as const) {
    writeFileSync(join(logs, name), 'old\n');
    const at = (clock.now() - hours * HOUR) / 1000;
    utimesSync(join(logs, name), at, at);
  }
  sink.write('now\n', 'Information');
  await sink.flush();
  t.deepEqual(files(), ['batch-20260523.log', 'batch-20260526.log']);
});

test('lines below the minimum level are omitted from the file', async (t) => {
  const { sink, files, text } = await fileSinkFixture(t, { least: 'Warning' });
  sink.write('small\n', 'Information');
  sink.write('big\n', 'Warning');
  await sink.flush();
  t.is(text(files()[0] ?? ''), 'big\n');
  t.is(sink.dropped, 0);
});

test('an unavailable folder loses no line on the console, and is reported once for each failure', async (t) => {
  const { sink, clock, folder, troubles, files, text } = await fileSinkFixture(t);
  const obstacle = join(folder, 'logs');
  writeFileSync(obstacle, '');
  sink.write('one\n', 'Information');
  await sink.flush();
  t.deepEqual(troubles, ['EEXIST']);
  sink.write('two\n', 'Information');
  clock.advance(2000);
  await sink.flush();
  t.deepEqual(troubles, ['EEXIST']);
  await rm(obstacle);
  clock.advance(2000);
  await sink.flush();
  t.deepEqual(troubles, ['EEXIST', undefined]);
  t.is(text(files()[0] ?? ''), 'one\ntwo\n');
});

(existsSync('/dev/full') ? test : test.skip)(
  'a line that the disk cannot take whole is completed later',
  async (t) => {
    // The one file that always says the disk is full.
    const { sink, clock, troubles } = await fileSinkFixture(t, { path: '/dev/full', interval: 'Infinite' });
    sink.write('one\n', 'Information');
    await sink.flush();
    t.deepEqual(troubles, ['ENOSPC']);
    for (let tries = 0; tries < 3; tries += 1) {
      clock.advance(2000);
      await sink.flush();
    }
    t.deepEqual(troubles, ['ENOSPC']);
    return undefined;
  },
);

test('memory stays bounded while writing fails, Information is dropped first, and the loss is reported', async (t) => {
  const { sink, clock, folder, files, text } = await fileSinkFixture(t, { sizeLimit: 1_000_000_000 });
  writeFileSync(join(folder, 'logs'), '');
  const log = createLogging({ clock, sinks: [sink] });
  const much = 'x'.repeat(100_000);
  for (let count = 0; count < 100; count += 1) log.info(much);
  t.true(sink.dropped > 50 && sink.dropped < 70, String(sink.dropped));
  const before = sink.dropped;
  log.error('an error still fits');
  t.is(sink.dropped, before);
  await sink.flush();
  await rm(join(folder, 'logs'));
  clock.advance(2000);
  await sink.flush();
  log.info('back again');
  await sink.flush();
  const written = text(files()[0] ?? '');
  t.regex(written, /an error still fits/);
  t.regex(written, /\[WRN\] Log lines were dropped .*\{DroppedSoFar: \d+\}\n/);
});

test('the last lines of a process are on the disk before it ends', async (t) => {
  const { sink, files, text } = await fileSinkFixture(t);
  sink.write('first\n', 'Information');
  await sink.flush();
  sink.write('last words\n', 'Fatal');
  sink.flushSync();
  t.regex(text(files()[0] ?? ''), /^first\n(last words\n)+$/);
});

test('two programs that write one file keep the lines of both whole', async (t) => {
  const { sink, make, files, text } = await fileSinkFixture(t);
  const other = make();
  for (let count = 0; count < 50; count += 1) {
    sink.write(`left ${count}\n`, 'Information');
    other.write(`right ${count}\n`, 'Information');
    if (count % 10 === 0) await Promise.all([sink.flush(), other.flush()]);
  }
  await Promise.all([sink.flush(), other.flush()]);
  const lines = text(files()[0] ?? '')
    .trimEnd()
    .split('\n');
  t.is(lines.length, 100);
  t.true(lines.every((line) => /^(left|right) \d+$/.test(line)));
});
