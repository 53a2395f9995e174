/**
 * Benchmark of the time and cost until all files of an input folder are offered.
 *
 * With the default settings of a new installation (3 probes 500 ms apart, 64 in flight); offers are accepted at once,
 * since later steps are measured elsewhere.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { lstatSync, mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { systemClock } from '#runtime/model/clock.js';
import { createFileReader } from '../actors/batch/watched-folder/file-reader.ts';
import { createWatchedFolder, type WatchedFolder } from '../actors/batch/watched-folder/index.ts';
import { createKnownFiles } from '../actors/batch/watched-folder/known-files.ts';
import { sweep } from '../actors/batch/watched-folder/sweep.ts';
import type { Bench, BenchContext } from './frame/bench.ts';

/** Existing files per dropped file. */
const AT_REST = 10;
const BYTES = 1_024;
const HOUR = 3_600_000;

export const bench: Bench = {
  name: 'watch',
  question: 'how soon all files dropped into a folder are offered, and at what cost',
  limits: ['one thread that lists the same folder and takes the state of each file'],
  run,
};

async function run(context: BenchContext): Promise<void> {
  const dropped = context.settings.files;
  const resting = dropped * AT_REST;
  const base = context.temporaryFolder();

  context.progress('a drop', 0, 4);
  const drop = join(base, 'drop');
  mkdirSync(drop);
  const watched = watch(drop, 30_000);
  watched.folder.start();
  await watched.folder.ready;
  const stop = meter(context, `a drop of ${dropped}`);
  const written = dropFrom(drop, dropped).then(() => performance.now());
  await watched.all(dropped);
  stop();
  const after = (performance.now() - (await written)) / 1000;
  context.figure(`a drop of ${dropped}: all offered after the last write`, Math.max(0, after), 's');
  await watched.folder.stop();

  context.progress('files at rest', 1, 4);
  const rest = join(base, 'rest');
  fill(rest, resting);
  const limit = `list ${resting} files and take the state of each`;
  const from = performance.now();
  for (const fileName of readdirSync(rest)) lstatSync(join(rest, fileName));
  context.limit(limit, (performance.now() - from) / 1000, 's');

  const over = watch(rest, HOUR);
  const started = meter(context, `started over ${resting} old files`, limit);
  over.folder.start();
  await over.folder.ready;
  started();
  context.progress('a drop beside them', 2, 4);
  const onTop = meter(context, `a drop of ${dropped} beside ${resting}`);
  await dropFrom(rest, dropped);
  await over.all(resting + dropped);
  onTop();
  await over.folder.stop();
  context.progress('listing', 3, 4);
  await listing(rest, limit, context);
  context.progress('done', 4, 4);
}

/** Starts measuring time, memory and event loop; the returned function reports the figures. */
function meter({ figure }: BenchContext, name: string, limit?: string): () => void {
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  const cpu = process.cpuUsage();
  const from = performance.now();
  return () => {
    const seconds = (performance.now() - from) / 1000;
    const { user, system } = process.cpuUsage(cpu);
    delay.disable();
    const used = { user: user / 1000, system: system / 1000 };
    figure(name, seconds, 's', { cpu: used, ...(limit && { limit }) });
    const late = Math.max(0, delay.percentile(99) / 1e6 - 1);
    figure(`${name}: event loop delay p99`, late, 'ms');
  };
}

interface Watch {
  readonly folder: WatchedFolder;
  /** Resolves when that many files are offered. */
  all(count: number): Promise<void>;
}

function watch(path: string, sweepIntervalMs: number): Watch {
  let wait: { count: number; resolve: () => void } | undefined;
  let offered = 0;
  return {
    all: (count) =>
      offered >= count ? Promise.resolve() : new Promise((resolve) => (wait = { count, resolve })),
    folder: createWatchedFolder({
      name: 'bench',
      path,
      settings: {
        stability: { intervalMs: 500, requiredSamples: 3, timeoutMs: 60_000 },
        concurrency: 64,
        ignoredExtensions: ['.tmp', '.part', '.crdownload', '.swp'],
        ignoredPrefixes: ['.', '~$'],
        ignoredNames: [],
        sweepIntervalMs,
      },
      clock: systemClock,
      log: { debug() {}, info() {}, warn: console.error, error: console.error },
      offer() {
        offered += 1;
        if (wait !== undefined && offered >= wait.count) wait.resolve();
        return Promise.resolve('enqueued');
      },
      onState() {},
    }),
  };
}

const WRITER = `
const { writeFileSync } = require('node:fs');
const [folder, count, bytes] = process.argv.slice(1);
const content = Buffer.alloc(Number(bytes), 1);
for (let i = 0; i < Number(count); i += 1) writeFileSync(folder + '/drop-' + i + '.pdf', content);
`;

/** Writes files from another process as fast as possible; resolves when it is done. */
async function dropFrom(folder: string, count: number): Promise<void> {
  const words = ['-e', WRITER, folder, String(count), String(BYTES)];
  const [code] = await once(spawn(process.execPath, words, { stdio: 'inherit' }), 'exit');
  if (code !== 0) throw new Error(`The writer ended with ${code}.`);
}

/** Creates files that were last changed an hour ago. */
function fill(folder: string, count: number): void {
  mkdirSync(folder);
  const content = Buffer.alloc(16, 1);
  const old = new Date(Date.now() - HOUR);
  for (let i = 0; i < count; i += 1) {
    const path = join(folder, `rest-${i}.pdf`);
    writeFileSync(path, content);
    utimesSync(path, old, old);
  }
}

/** Measures a scan of a folder whose files were all offered before. */
async function listing(folder: string, limit: string, context: BenchContext): Promise<void> {
  const memory = createKnownFiles();
  const sweeping = {
    folder,
    rules: { recursive: false, ignored: () => false, unlistable() {} },
    memory,
    fileReader: createFileReader(folder, { limit: 64, clock: systemClock }),
    limit: 64,
    stopped: () => false,
    observe: () => {},
  };
  await sweep({
    ...sweeping,
    observe(fileName) {
      const { size, mtimeMs, ino, birthtimeMs } = lstatSync(join(folder, fileName));
      memory.add(fileName, { size, mtimeMs, inode: ino, bornMs: birthtimeMs }, 'enqueued');
    },
  });
  const stop = meter(context, `listing ${memory.size} files that were all offered before`, limit);
  await sweep(sweeping);
  stop();
}
