/**
 * How many small PDFs a second come out of a watched folder, signed, verified and published, beside the least work
 * that could be done for each: the bare loop.
 *
 * The bare loop is two threads that for each file read, hash, sign once with RSA-2048, write, fdatasync, link and
 * unlink, and nothing else. Both run in one process run, on the same folder's file system, so that their ratio
 * holds where the figures do not.
 *
 * Usage: node dist/bench/pipeline.js [files] [--folder DIR] [--concurrency N]
 */
import { generateKeyPairSync } from 'node:crypto';
import { mkdir, mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Worker } from 'node:worker_threads';
import { Services, storageLayout } from '../actors/index.ts';
import { loadSigner, makeDevelopmentCertificates, verifyFile } from '../crypto/index.ts';
import type { FolderName, ProfileName } from '../machines/ids.ts';
import { Faults, openLmdbStore, systemClock, systemIds } from '../runtime/index.ts';
import { samplePdf } from './samples.ts';

const THREADS = 2;
const silent = { debug() {}, info() {}, warn() {}, error: console.error };

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { folder: { type: 'string', default: '.' }, concurrency: { type: 'string', default: '16' } },
});
const files = Number(positionals[0] ?? 5000);
const concurrency = Number(values.concurrency);
const room = await mkdtemp(join(values.folder, '.bench-pipeline-'));
try {
  const before = await bareLoop();
  const pipeline = await batchService();
  const after = await bareLoop();
  const bare = (before + after) / 2;
  report({
    files,
    concurrency,
    bareBefore: before,
    bareAfter: after,
    ratio: pipeline.perSecond / bare,
    ...pipeline,
  });
} finally {
  await rm(room, { recursive: true, force: true });
}

async function inputs(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  const pdf = samplePdf();
  for (let index = 0; index < files; index += 1) await writeFile(join(folder, `document-${index}.pdf`), pdf);
}

/** Files a second. */
async function bareLoop(): Promise<number> {
  const folder = join(room, 'bare');
  await inputs(join(folder, 'in'));
  await mkdir(join(folder, 'work'));
  await mkdir(join(folder, 'out'));
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const key = privateKey.export({ type: 'pkcs8', format: 'pem' });
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
  await rm(folder, { recursive: true });
  return files / seconds;
}

async function batchService() {
  const clock = systemClock;
  const layout = storageLayout(join(process.cwd(), room, 'service'));
  const drop = join(room, 'drop');
  await inputs(drop);
  const store = openLmdbStore({ folder: layout.db });
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
    { store, clock, ids: systemIds, log: silent, faults: new Faults(), faultsText: '' },
  );
  const { batch } = services;
  await services.start();
  const peak = peakMemory();
  const cpu = process.cpuUsage();
  const loop = performance.eventLoopUtilization();
  const start = performance.now();
  let queuedAfter = 0;
  let firstClaim = 0;
  for (const name of await readdir(drop)) await rename(join(drop, name), join(layout.input, name));
  const all = () => batch.count(['Queued', 'Processing', 'Verifying', 'Completed', 'Failed']);
  while (batch.count(['Completed', 'Failed']) < files) {
    await clock.sleep(5);
    if (firstClaim === 0 && all() > 0) firstClaim = performance.now();
    if (queuedAfter === 0 && all() === files) queuedAfter = performance.now() - start;
  }
  const end = performance.now();
  const used = process.cpuUsage(cpu);
  const busy = performance.eventLoopUtilization(loop).utilization;
  const stages = Object.fromEntries(
    [...services.stages].map(([name, { tasks, busyMs, wholeMs }]) => [
      name,
      { tasks, busyMsEach: round(busyMs / tasks), wholeMsEach: round(wholeMs / tasks) },
    ]),
  );
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
  if (failed > 0 || outputs.length !== files || (await readdir(layout.input)).length > 0) {
    throw new Error(
      `${failed} failed, ${outputs.length} outputs of ${files}, inputs left: ${(await readdir(layout.input)).length}`,
    );
  }
  return {
    perSecond: files / ((end - firstClaim) / 1000),
    perSecondFromDrop: files / ((end - start) / 1000),
    allQueuedAfterSeconds: queuedAfter / 1000,
    cpuMsPerFile: (used.user + used.system) / 1000 / files,
    mainThreadBusy: busy,
    peakMemoryMb: peak(),
    stages,
  };
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
