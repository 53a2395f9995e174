/**
 * How many small PDFs a second come out of a watched folder, signed, verified and published, beside the least work
 * that could be done for each: the bare loop.
 *
 * The bare loop is two threads that for each file read, hash, sign once with RSA-2048, write, fdatasync, link and
 * unlink, and nothing else. Both run in one process run, on the same folder's file system, so that their ratio
 * holds where the figures do not.
 *
 * Processor time is told by who used it, so that a figure holds on a machine that others use too.
 *
 * Usage: node dist/bench/pipeline.js [files] [--folder DIR] [--concurrency N] [--warm-up FILES] [--alone]
 *   --warm-up  files that go through before the measured ones, since compiling what runs costs seconds once
 *   --alone    leaves the bare loop out, for profiles
 */
import { spawnSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Worker } from 'node:worker_threads';
import { Services, storageLayout } from '../actors/index.ts';
import { loadSigner, makeDevelopmentCertificates, verifyFile } from '../crypto/index.ts';
import type { FolderName, ProfileName } from '../machines/ids.ts';
import { type ActorStore, Faults, openLmdbStore, systemClock, systemIds } from '../runtime/index.ts';
import { samplePdf } from './samples.ts';
import { ThreadTimes } from './thread-times.ts';

const THREADS = 2;
/** Files of the run whose syncs are counted: enough that those of the start do not show. */
const COUNTED_FILES = 400;
/** Counts the transactions of the store, each of which passes a named point. */
class CountingFaults extends Faults {
  groups = 0;
  override at(name: string, subject?: string): void | Promise<void> {
    if (name === 'store.group.before-transaction') this.groups += 1;
    return super.at(name, subject);
  }
}

const silent = { debug() {}, info() {}, warn() {}, error: console.error };

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    folder: { type: 'string', default: '.' },
    concurrency: { type: 'string', default: '16' },
    'warm-up': { type: 'string', default: '1000' },
    alone: { type: 'boolean', default: false },
  },
});
const files = Number(positionals[0] ?? 5000);
const concurrency = Number(values.concurrency);
const warmUp = Number(values['warm-up']);
const room = await mkdtemp(join(values.folder, '.bench-pipeline-'));
try {
  const before = values.alone ? undefined : await bareLoop();
  const pipeline = await batchService();
  const after = values.alone ? undefined : await bareLoop();
  const beside =
    before === undefined || after === undefined
      ? {}
      : {
          bareBefore: round(before.perSecond),
          bareAfter: round(after.perSecond),
          bareCpuMsPerFile: round((before.cpuMsPerFile + after.cpuMsPerFile) / 2),
          ratio: round(pipeline.perSecond / ((before.perSecond + after.perSecond) / 2)),
        };
  report({ files, concurrency, ...beside, ...pipeline });
} finally {
  await rm(room, { recursive: true, force: true });
}

async function inputs(folder: string, name = 'document', count = files): Promise<void> {
  await mkdir(folder, { recursive: true });
  const pdf = samplePdf();
  for (let index = 0; index < count; index += 1) await writeFile(join(folder, `${name}-${index}.pdf`), pdf);
}

async function bareLoop(): Promise<{ readonly perSecond: number; readonly cpuMsPerFile: number }> {
  const folder = join(room, 'bare');
  await inputs(join(folder, 'in'));
  await mkdir(join(folder, 'work'));
  await mkdir(join(folder, 'out'));
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const key = privateKey.export({ type: 'pkcs8', format: 'pem' });
  const cpu = process.cpuUsage();
  const start = performance.now();
  await Promise.all(
    Array.from({ length: THREADS }, (_, part) => {
      const worker = new Worker(new URL('./bare-loop.js', import.meta.url), {
        workerData: { folder, files, part, of: THREADS, key },
      });
      return new Promise((resolve, reject) => worker.on('exit', resolve).on('error', reject));
    }),
  );
  const seconds = (performance.now() - start) / 1000;
  const { user, system } = process.cpuUsage(cpu);
  await rm(folder, { recursive: true });
  return { perSecond: files / seconds, cpuMsPerFile: (user + system) / 1000 / files };
}

async function batchService() {
  const clock = systemClock;
  const layout = storageLayout(join(process.cwd(), room, 'service'));
  const drop = join(room, 'drop');
  await inputs(drop);
  const threads = new ThreadTimes();
  const faults = new CountingFaults();
  const store = openLmdbStore({ folder: layout.db, faults });
  const steps = countSteps(store);
  threads.name('store');
  const made = await makeDevelopmentCertificates({
    label: 'bench',
    now: clock.now(),
    random: (n) => systemIds.bytes(n),
  });
  const keyFile = join(room, 'signer.pem');
  await writeFile(keyFile, `${made.certificate}\n${made.caCertificate}\n${made.key}`, { mode: 0o600 });
  const signer = await loadSigner({ source: 'Pem', certificatePath: keyFile, keyPath: keyFile }, clock.now());
  const services = await Services.open(
    {
      batch: {
        layout,
        folders: [
          {
            name: 'default' as FolderName,
            path: layout.input,
            profile: 'default' as ProfileName,
            budget: 10,
            settings: {
              stability: { intervalMs: 500, requiredSamples: 3, timeoutMs: 60_000 },
              concurrency: 64,
              ignoredExtensions: ['.part'],
              ignoredPrefixes: ['.'],
              sweepIntervalMs: 30_000,
            },
          },
        ],
        profiles: [
          {
            method: 'Local',
            verify: true,
            encrypt: false,
            name: 'default' as ProfileName,
            format: undefined,
            signer,
            anchors: signer.root ? [signer.root] : [],
            validTo: signer.notAfter,
            certificate: signer.subject,
          },
        ],
        maxConcurrency: concurrency,
        pollEvery: 2000,
        outputCollision: 'suffix',
        threads: THREADS,
      },
    },
    { store, clock, ids: systemIds, log: silent, faults, faultsText: '' },
  );
  // The threads of the pool load what they run; nothing is measured of that.
  await clock.sleep(1500);
  threads.name('pool');
  const { batch } = services;
  await services.start();
  const ended = () => batch.count(['Completed', 'Failed']);
  await inputs(layout.input, 'warm-up', warmUp);
  while (ended() < warmUp || (await readdir(layout.input)).length > 0) await clock.sleep(20);
  const before = { steps: steps(), groups: faults.groups, stages: new Map(copied(services.stages)) };
  const peak = peakMemory();
  const cpu = process.cpuUsage();
  const usedBefore = threads.read();
  const loop = performance.eventLoopUtilization();
  const start = performance.now();
  let queuedAfter = 0;
  let firstClaim = 0;
  for (const name of await readdir(drop)) await rename(join(drop, name), join(layout.input, name));
  const all = () => batch.count(['Queued', 'Processing', 'Verifying']) + ended() - warmUp;
  while (ended() < warmUp + files) {
    await clock.sleep(20);
    if (firstClaim === 0 && all() > 0) firstClaim = performance.now();
    if (queuedAfter === 0 && all() === files) queuedAfter = performance.now() - start;
  }
  const end = performance.now();
  const used = process.cpuUsage(cpu);
  const usedBy = threads.since(usedBefore);
  const counted = { steps: steps(), groups: faults.groups };
  const busy = performance.eventLoopUtilization(loop).utilization;
  let poolTasks = 0;
  const stages: Record<string, object> = {};
  for (const [name, now] of services.stages) {
    const then = before.stages.get(name) ?? { tasks: 0, busyMs: 0, wholeMs: 0 };
    const tasks = now.tasks - then.tasks;
    poolTasks += tasks;
    stages[name] = {
      tasks,
      busyMsEach: round((now.busyMs - then.busyMs) / tasks),
      wholeMsEach: round((now.wholeMs - then.wholeMs) / tasks),
    };
  }
  const failed = batch.count(['Failed']);
  await services.stop(10_000);
  await store.close();
  const outputs = await readdir(layout.output);
  for (const name of outputs.filter((_, index) => index % 97 === 0)) {
    const verdict = verifyFile({
      format: 'Pades',
      path: join(layout.output, name),
      signer: signer.fingerprint,
      at: clock.now(),
    });
    if (!verdict.ok) throw new Error(`${name} does not verify: ${JSON.stringify(verdict.checks)}`);
  }
  if (failed > 0 || outputs.length !== files + warmUp || (await readdir(layout.input)).length > 0) {
    throw new Error(
      `${failed} failed, ${outputs.length} outputs of ${files + warmUp}, inputs left: ${(await readdir(layout.input)).length}`,
    );
  }
  return {
    perSecond: round(files / ((end - firstClaim) / 1000)),
    perSecondFromDrop: round(files / ((end - start) / 1000)),
    allQueuedAfterSeconds: round(queuedAfter / 1000),
    cpuMsPerFile: round((used.user + used.system) / 1000 / files),
    cpuMsPerFileBy: Object.fromEntries([...usedBy].map(([role, ms]) => [role, round(ms / files)])),
    mainThreadBusy: round(busy),
    stepsPerJob: round((counted.steps - before.steps) / files),
    storeGroupsPerJob: round((counted.groups - before.groups) / files),
    poolTasksPerJob: round(poolTasks / files),
    syncsPerJob: values.alone ? undefined : countSyncs(),
    peakMemoryMb: peak(),
    stages,
  };
}

function* copied<Name, Cost extends object>(costs: ReadonlyMap<Name, Cost>): Iterable<[Name, Cost]> {
  for (const [name, cost] of costs) yield [name, { ...cost }];
}

/** Committed steps from the call on. */
function countSteps(store: ActorStore): () => number {
  let steps = 0;
  const commit = store.commit.bind(store);
  store.commit = (step) => {
    steps += 1;
    return commit(step);
  };
  return () => steps;
}

/** Syncs of files, folders and the store for each file, in a small run of its own; undefined without strace. */
function countSyncs(): number | undefined {
  const summary = join(room, 'syncs.txt');
  const run = spawnSync('strace', [
    ...['-f', '--seccomp-bpf', '-c', '-e', 'trace=fsync,fdatasync,msync,sync_file_range', '-o', summary],
    ...[process.execPath, fileURLToPath(import.meta.url), String(COUNTED_FILES), '--alone', '--warm-up', '0'],
    ...['--folder', values.folder, '--concurrency', values.concurrency],
  ]);
  if (run.status !== 0) return undefined;
  const total = /(\d+)\s+(?:\d+\s+)?total\s*$/.exec(readFileSync(summary, 'utf8'));
  return total === null ? undefined : round(Number(total[1]) / COUNTED_FILES);
}

/** Megabytes of the process's largest size while it was watched. */
function peakMemory(): () => number {
  let peak = 0;
  const timer = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage.rss());
  }, 50);
  return () => {
    clearInterval(timer);
    return Math.round(peak / 1048576);
  };
}

function round(value: number): number {
  return Math.round(value * 1000) / 1000;
}

function report(result: object): void {
  console.log(
    JSON.stringify(
      { bench: 'pipeline', node: process.version, cores: availableParallelism(), ...result },
      null,
      2,
    ),
  );
}
