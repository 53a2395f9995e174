/**
 * How long until files of an input folder are all offered, and what does it cost?
 *
 *   node dist/bench/watch.js [files per drop = 10000] [files at rest = 100000]
 *
 * With the settings a fresh installation has (3 looks 500 ms apart, 64 in flight), and offers that are taken at
 * once: what follows an offer is measured elsewhere. The baseline is one thread that lists the same folder
 * and takes the state of each file, and nothing else.
 */
import { spawn } from 'node:child_process';
import { lstatSync, mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { createWatchedFolder, type WatchedFolder } from '../actors/adapters/watched-folder/index.ts';
import { createLooker } from '../actors/adapters/watched-folder/look.ts';
import { createOfferMemory } from '../actors/adapters/watched-folder/memory.ts';
import { sweep } from '../actors/adapters/watched-folder/sweep.ts';
import { systemClock } from '../runtime/clock.ts';
import type { Log } from '../runtime/ports.ts';

const DROPPED = Number(process.argv[2] ?? 10_000);
const AT_REST = Number(process.argv[3] ?? 100_000);
const BYTES = 1_024;

const silent: Log = { debug() {}, info() {}, warn: say, error: say };
function say(text: string, properties?: object): void {
  console.log(`  log: ${text} ${JSON.stringify(properties ?? {})}`);
}

interface Meter {
  stop(): string;
}

function meter(): Meter {
  const cpu = process.cpuUsage();
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  let peak = process.memoryUsage().rss;
  const before = peak;
  const timer = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage().rss);
  }, 50);
  return {
    stop() {
      clearInterval(timer);
      delay.disable();
      const used = process.cpuUsage(cpu);
      const milliseconds = Math.round((used.user + used.system) / 1_000);
      const at = (percentile: number) => Math.max(0, delay.percentile(percentile) / 1e6 - 1).toFixed(1);
      const loop = `loop delay p99 ${at(99)} ms, max ${Math.max(0, delay.max / 1e6 - 1).toFixed(1)} ms`;
      return `cpu ${milliseconds} ms, ${loop}, memory +${((peak - before) / 2 ** 20).toFixed(0)} MB`;
    },
  };
}

interface Watch {
  readonly folder: WatchedFolder;
  offered: number;
  readonly names: Set<string>;
  all(count: number): Promise<void>;
}

function watch(path: string, sweepIntervalMs: number): Watch {
  let wait: { count: number; resolve: () => void } | undefined;
  const result: Watch = {
    offered: 0,
    names: new Set(),
    all: (count) =>
      result.offered >= count ? Promise.resolve() : new Promise((resolve) => (wait = { count, resolve })),
    folder: createWatchedFolder({
      name: 'bench',
      path,
      settings: {
        stability: { intervalMs: 500, requiredSamples: 3, timeoutMs: 60_000 },
        concurrency: 64,
        ignoredExtensions: ['.tmp', '.part', '.crdownload', '.swp'],
        ignoredPrefixes: ['.', '~$'],
        sweepIntervalMs,
      },
      clock: systemClock,
      log: silent,
      offer({ fileName }) {
        result.offered += 1;
        result.names.add(fileName);
        if (wait !== undefined && result.offered >= wait.count) wait.resolve();
        return Promise.resolve('enqueued');
      },
      onState() {},
    }),
  };
  return result;
}

const WRITER = `
const { writeFileSync } = require('node:fs');
const [folder, count, bytes] = process.argv.slice(1);
const content = Buffer.alloc(Number(bytes), 1);
for (let i = 0; i < Number(count); i += 1) writeFileSync(folder + '/drop-' + i + '.pdf', content);
`;

/** Another process writes as fast as it can; resolves when it is done. */
function dropFrom(folder: string, count: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const writer = spawn(process.execPath, ['-e', WRITER, folder, String(count), String(BYTES)], {
      stdio: 'inherit',
    });
    writer.once('exit', (code) =>
      code === 0 ? resolve() : reject(new Error(`the writer ended with ${code}`)),
    );
  });
}

const seconds = (from: number): string => `${((performance.now() - from) / 1_000).toFixed(2)} s`;

const base = mkdtempSync(join(tmpdir(), 'sealwright-bench-watch-'));
try {
  console.log(
    `${new Date(Date.now()).toISOString()} Node ${process.version}, ${cpus().length} x ${cpus()[0]?.model}`,
  );

  const drop = join(base, 'drop');
  mkdirSync(drop);
  const dropped = watch(drop, 30_000);
  dropped.folder.start();
  await dropped.folder.ready;
  const dropMeter = meter();
  const began = performance.now();
  const written = dropFrom(drop, DROPPED).then(() => performance.now());
  await dropped.all(DROPPED);
  console.log(`drop of ${DROPPED} files: all offered ${seconds(began)} after the first write began,`);
  console.log(
    `  ${seconds(await written)} after the last; offers ${dropped.offered}, files ${dropped.names.size}`,
  );
  console.log(`  ${dropMeter.stop()}`);
  await dropped.folder.stop();

  const rest = join(base, 'rest');
  mkdirSync(rest);
  const content = Buffer.alloc(16, 1);
  const old = new Date(Date.now() - 3_600_000);
  for (let i = 0; i < AT_REST; i += 1) {
    const path = join(rest, `rest-${i}.pdf`);
    writeFileSync(path, content);
    utimesSync(path, old, old);
  }
  const bareCpu = process.cpuUsage();
  const bareBegan = performance.now();
  for (const fileName of readdirSync(rest)) lstatSync(join(rest, fileName));
  const bare = process.cpuUsage(bareCpu);
  console.log(
    `bare listing of ${AT_REST} files: ${seconds(bareBegan)}, cpu ${Math.round((bare.user + bare.system) / 1_000)} ms`,
  );

  const resting = watch(rest, 3_600_000);
  const startMeter = meter();
  const startBegan = performance.now();
  resting.folder.start();
  await resting.folder.ready;
  console.log(
    `start over ${AT_REST} old files: all offered after ${seconds(startBegan)}; offers ${resting.offered}`,
  );
  console.log(`  ${startMeter.stop()}`);

  const onTopMeter = meter();
  const onTopBegan = performance.now();
  await dropFrom(rest, DROPPED);
  await resting.all(AT_REST + DROPPED);
  console.log(
    `drop of ${DROPPED} beside ${AT_REST}: all offered after ${seconds(onTopBegan)}; offers ${resting.offered}`,
  );
  console.log(`  ${onTopMeter.stop()}`);
  await resting.folder.stop();

  const memory = createOfferMemory();
  const looker = createLooker(rest, 64);
  const listing = {
    folder: rest,
    rules: { recursive: false, ignored: () => false, unlistable() {} },
    memory,
    looker,
    limit: 64,
    stopped: () => false,
    notice: () => {},
  };
  await sweep({
    ...listing,
    notice(fileName) {
      const { size, mtimeMs, ino, birthtimeMs } = lstatSync(join(rest, fileName));
      memory.remember(fileName, { size, mtimeMs, inode: ino, bornMs: birthtimeMs }, 'enqueued');
    },
  });
  const listMeter = meter();
  const listBegan = performance.now();
  await sweep(listing);
  console.log(`listing ${memory.size} files that were all offered before: ${seconds(listBegan)}`);
  console.log(`  ${listMeter.stop()}`);
} finally {
  rmSync(base, { recursive: true, force: true });
}
