/**
 * Benchmark of time and memory for very large files: each is signed and validated in a separate process, compared
 * with `sha256sum` of the same file.
 */
import { rmSync, statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import type { SignFileRequest } from '../crypto/core/types.ts';
import { type Bench, type BenchContext, Unverified } from './frame/bench.ts';
import { memoryFolder, sha256sum } from './frame/limits.ts';
import { largePdf, largeSigner, largeXml, runLargeJob, zeros } from './large-files.ts';

const MIB = 1 << 20;
const TARGET = 'docs/engine-targets.md, "Very large files"';
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
    one({ ...file, name, size: file.size * share }, folder, context);
  }
  context.progress('done', FILES.length, FILES.length);
}

function one({ name, size, make, form }: LargeFile, folder: string, context: BenchContext): void {
  const input = join(folder, 'input');
  const output = join(folder, 'output');
  make(input, Math.round(size * MIB));
  const mebibytes = statSync(input).size / MIB;
  const hashing = sha256sum(input);
  const limit = `sha256sum, ${name}`;
  if (hashing !== undefined) context.limit({ name: limit, value: mebibytes / hashing, unit: 'MiB/CPU s' });
  const at = context.clock.now();
  const signer = largeSigner(at);
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
    context.figure({
      name: figure,
      value: mebibytes / ((user + system) / 1000),
      unit: 'MiB/CPU s',
      better: 'more',
      cpu: { user, system },
      limit,
      aim: { of: 'share', atLeast: 0.6, source: TARGET },
    });
    context.figure({
      name: `${figure}, peak memory`,
      value: peak,
      unit: 'MiB',
      better: 'less',
      aim: { of: 'value', atMost: 200, source: TARGET },
    });
  }
  for (const path of [input, output]) rmSync(path);
}
