/**
 * Benchmark of time and memory for very large files: each is signed and validated in a separate process, compared
 * with `sha256sum` of the same file.
 */
import { spawnSync } from 'node:child_process';
import { createPrivateKey, randomBytes, X509Certificate } from 'node:crypto';
import { closeSync, openSync, rmSync, statSync, truncateSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { makeDevelopmentCertificates } from '@sealwright/signatures';
import type { SignFileRequest } from '#crypto/core/types.js';
import { type Bench, type BenchContext, Unverified } from './frame/bench.ts';
import { memoryFolder, sha256sum } from './frame/limits.ts';
import type { LargeJob, LargeResult } from './large-job.ts';
import { samplePdf, sampleXml } from './samples.ts';

const MIB = 1 << 20;
const TARGET = 'bench/engine-targets.md, "Very large files"';
/** Share of the full sizes in a quick run. */
const QUICK_SHARE = 0.02;

type Form = Pick<SignFileRequest, 'format' | 'cades' | 'xades'>;

interface LargeFile {
  readonly name: string;
  /** MiB. */
  readonly size: number;
  readonly make: (path: string, bytes: number) => void;
  readonly form: Form;
}

const FILES: readonly LargeFile[] = [
  { name: 'CAdES', size: 1024, make: zeros, form: { format: 'Cades' } },
  { name: 'CAdES detached', size: 1024, make: zeros, form: { format: 'Cades', cades: { detached: true } } },
  { name: 'PAdES', size: 500, make: largePdf, form: { format: 'Pades' } },
  { name: 'PAdES', size: 1024, make: largePdf, form: { format: 'Pades' } },
  { name: 'XAdES', size: 100, make: largeXml, form: { format: 'Xades' } },
  {
    name: 'XAdES detached',
    size: 1024,
    make: zeros,
    form: { format: 'Xades', xades: { packaging: 'detached' } },
  },
];

export const bench: Bench = {
  name: 'large',
  question:
    'MiB of a very large file signed or validated in a second of processor time, and in how much memory',
  limits: ['`sha256sum` of the same file'],
  run,
};

async function run(context: BenchContext): Promise<void> {
  const share = context.settings.quick ? QUICK_SHARE : 1;
  // Outputs are as large as inputs; a memory folder avoids measuring the disk.
  const memory = memoryFolder(3 * 1024 * MIB * share);
  const folder = context.temporaryFolder(memory);
  for (const [n, file] of FILES.entries()) {
    const name = `${file.name} ${Math.max(1, Math.round(file.size * share))} MiB`;
    context.progress(name, n, FILES.length);
    await one({ ...file, name, size: file.size * share }, folder, context);
  }
  context.progress('done', FILES.length, FILES.length);
}

async function one(
  { name, size, make, form }: LargeFile,
  folder: string,
  context: BenchContext,
): Promise<void> {
  const input = join(folder, 'input');
  const output = join(folder, 'output');
  make(input, Math.round(size * MIB));
  const mebibytes = statSync(input).size / MIB;
  const hashing = sha256sum(input);
  const limit = `sha256sum, ${name}`;
  if (hashing !== undefined) context.limit(limit, mebibytes / hashing, 'MiB/CPU s');
  const at = context.clock.now();
  const signer = await largeSigner(at);
  for (const work of ['sign', 'validate'] as const) {
    if (work === 'validate' && context.settings.damage) truncateSync(output, statSync(output).size - 1);
    const { user, system, peak, indication } = runLargeJob({
      work,
      request: { ...form, input, output },
      at,
      signer,
    });
    context.spent({ user, system, peak });
    if (work === 'validate') {
      if (indication !== 'TOTAL-PASSED') throw new Unverified(`${name}: ${indication}`);
      context.verified('the engine', 1);
    }
    const figure = `${work} ${name}`;
    context.figure(figure, mebibytes / ((user + system) / 1000), 'MiB/CPU s', {
      cpu: { user, system },
      limit,
      aim: { of: 'share', atLeast: 0.6, source: TARGET },
    });
    context.figure(`${figure}, peak memory`, peak, 'MiB', {
      aim: { of: 'value', atMost: 200, source: TARGET },
    });
  }
  for (const path of [input, output]) rmSync(path);
}

/** Creates a sparse file of zeros. */
export function zeros(path: string, bytes: number): void {
  writeFileSync(path, '');
  truncateSync(path, bytes);
}

/** Creates a PDF whose first object is an embedded file of zeros. */
export function largePdf(path: string, bytes: number): void {
  const pdf = samplePdf(2000);
  const text = pdf.toString('latin1');
  const at = text.indexOf('1 0 obj');
  const head = `${text.slice(0, at)}7 0 obj\n<< /Type /EmbeddedFile /Length ${bytes} >>\nstream\n`;
  const added = head.length - at + bytes + '\nendstream\nendobj\n'.length;
  const moved = (offset: string): string => String(Number(offset) + added);
  const start = head.length + bytes;
  const tail = Buffer.from(
    `\nendstream\nendobj\n${text
      .slice(at)
      .replace(/\d{10}(?= 00000 n)/g, (offset) => moved(offset).padStart(10, '0'))
      .replace(/xref\n0 7\n/, 'xref\n0 8\n')
      .replace('trailer', `${String(at).padStart(10, '0')} 00000 n \ntrailer`)
      .replace('/Size 7', '/Size 8')
      .replace(/startxref\n(\d+)/, (_all, offset: string) => `startxref\n${moved(offset)}`)}`,
    'latin1',
  );
  const fd = openSync(path, 'w');
  writeSync(fd, head, 0, 'latin1');
  writeSync(fd, tail, 0, tail.length, start);
  closeSync(fd);
}

export function largeXml(path: string, bytes: number): void {
  writeFileSync(path, sampleXml(bytes));
}

/** Creates a signer below its own root, valid around `at` (milliseconds since the epoch). */
export async function largeSigner(at: number): Promise<LargeJob['signer']> {
  const made = await makeDevelopmentCertificates({
    label: 'bench',
    now: at,
    random: (length) => randomBytes(length),
  });
  const der = (pem: string): string => new X509Certificate(pem).raw.toString('base64');
  return {
    certificate: der(made.certificate),
    privateKey: createPrivateKey(made.key).export({ type: 'pkcs8', format: 'der' }).toString('base64'),
    root: der(made.caCertificate),
  };
}

/** Runs one job in a separate process. Throws with its output when it fails. */
export function runLargeJob(job: LargeJob): LargeResult {
  const script = fileURLToPath(new URL('./large-job.js', import.meta.url));
  const { status, stdout, stderr } = spawnSync(process.execPath, [script], {
    input: JSON.stringify(job),
    encoding: 'utf8',
    timeout: 600_000,
  });
  if (status !== 0) throw new Error(stderr);
  return JSON.parse(stdout) as LargeResult;
}
