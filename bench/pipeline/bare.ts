/**
 * Minimal work per file: two threads read, hash, sign once, write, fdatasync, link and unlink.
 */
import { spawnSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { SignatureFormat } from '@sealwright/signatures';
import type { Cpu } from '../frame/bench.ts';
import { noise, samplePdf, sampleXml } from '../samples.ts';

export const BARE_LOOP = 'the bare loop of file work, two threads';

export const THREADS = 2;

export interface BareRun {
  readonly perSecond: number;
  /** Processor time of one file. */
  readonly cpu: Cpu;
}

/**
 * Creates a folder whose subfolders ext4 places far from each other. Without a journal it looks at each inode removed in the
 * last minutes near to a new file: with inputs that are removed beside outputs that are made, half of a file's processor time
 * here (bench/lessons.md). Other file systems ignore the flag.
 */
export function makeSpread(folder: string): void {
  mkdirSync(folder, { recursive: true });
  spawnSync('chattr', ['+T', folder], { stdio: 'ignore' });
}

/**
 * Runs the loop.
 * @param folder is created, and left to the caller: its removal would slow what is measured next
 */
export async function bareLoop(
  folder: string,
  files: number,
  kind: InputKind = INPUTS.Pades,
  algorithm: 'rsa2048' | 'p256' = 'rsa2048',
): Promise<BareRun> {
  makeSpread(folder);
  await fill(join(folder, 'in'), 'document', files, kind);
  await mkdir(join(folder, 'work'));
  await mkdir(join(folder, 'out'));
  const { privateKey } =
    algorithm === 'p256'
      ? generateKeyPairSync('ec', { namedCurve: 'P-256' })
      : generateKeyPairSync('rsa', { modulusLength: 2048 });
  const key = privateKey.export({ type: 'pkcs8', format: 'pem' });
  const before = process.cpuUsage();
  const start = performance.now();
  await Promise.all(
    Array.from({ length: THREADS }, (_, part) => {
      const worker = new Worker(new URL('./bare-thread.js', import.meta.url), {
        workerData: { folder, files, part, of: THREADS, key, extension: kind.extension },
      });
      return new Promise((resolve, reject) => worker.on('exit', resolve).on('error', reject));
    }),
  );
  const seconds = (performance.now() - start) / 1000;
  const { user, system } = process.cpuUsage(before);
  return { perSecond: files / seconds, cpu: { user: user / 1000 / files, system: system / 1000 / files } };
}

/** One kind of input; the extension decides the format of its signature. */
export interface InputKind {
  readonly format: SignatureFormat;
  readonly extension: string;
  content(): Buffer;
}

/** Business documents of 28 KB, XML of 2 KB, other files of 28 KB. */
export const INPUTS = {
  Pades: { format: 'Pades', extension: 'pdf', content: () => samplePdf() },
  Xades: { format: 'Xades', extension: 'xml', content: () => sampleXml(2_000) },
  Cades: { format: 'Cades', extension: 'bin', content: () => noise(28_000, 'cades') },
} as const satisfies { readonly [format: string]: InputKind };

/** Fills the folder, creating it when it is missing. */
export async function fill(folder: string, name: string, count: number, kind: InputKind): Promise<void> {
  await mkdir(folder, { recursive: true });
  const content = kind.content();
  for (let index = 0; index < count; index += 1)
    await writeFile(join(folder, `${name}-${index}.${kind.extension}`), content);
}
