/**
 * The least work that could be done for each file: two threads read, hash, sign once with RSA-2048, write, fdatasync, link
 * and unlink, and do nothing else.
 */
import { generateKeyPairSync } from 'node:crypto';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { Cpu } from '../frame/bench.ts';
import { fill } from './inputs.ts';

export const BARE_LOOP = 'the bare loop of file work, two threads';

export const THREADS = 2;

export interface BareRun {
  readonly perSecond: number;
  /** Of one file. */
  readonly cpu: Cpu;
}

/** @param folder does not exist yet, and does not afterwards */
export async function bareLoop(folder: string, files: number): Promise<BareRun> {
  await fill(join(folder, 'in'), 'document', files);
  await mkdir(join(folder, 'work'));
  await mkdir(join(folder, 'out'));
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const key = privateKey.export({ type: 'pkcs8', format: 'pem' });
  const before = process.cpuUsage();
  const start = performance.now();
  await Promise.all(
    Array.from({ length: THREADS }, (_, part) => {
      const worker = new Worker(new URL('./bare-thread.js', import.meta.url), {
        workerData: { folder, files, part, of: THREADS, key },
      });
      return new Promise((resolve, reject) => worker.on('exit', resolve).on('error', reject));
    }),
  );
  const seconds = (performance.now() - start) / 1000;
  const { user, system } = process.cpuUsage(before);
  await rm(folder, { recursive: true });
  return { perSecond: files / seconds, cpu: { user: user / 1000 / files, system: system / 1000 / files } };
}
