/**
 * How long do very large files take, and how much memory?
 *
 *   node dist/bench/large.js [--folder /tmp] [--share 1]
 *
 * Each file is signed and validated in a process of its own, beside `sha256sum` of the same file; the ratio is of
 * processor times, hashing over signing. `--share 0.1` takes files of a tenth of the size.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { SignFileRequest } from '../crypto/types.ts';
import { largePdf, largeSigner, largeXml, runLargeJob, zeros } from './large-files.ts';

const { values } = parseArgs({
  options: {
    // Outputs are as large as inputs, and no disk is to be measured here.
    folder: { type: 'string', default: existsSync('/dev/shm') ? '/dev/shm' : tmpdir() },
    share: { type: 'string', default: '1' },
  },
});
const MIB = 1 << 20;
const folder = mkdtempSync(join(values.folder, 'sealwright-large-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

type Form = Pick<SignFileRequest, 'format' | 'cades' | 'xades'>;

interface LargeFile {
  readonly name: string;
  readonly bytes: number;
  readonly make: (path: string, bytes: number) => void;
  readonly form: Form;
}

const FILES: readonly LargeFile[] = [
  { name: 'CAdES', bytes: 1024 * MIB, make: zeros, form: { format: 'Cades' } },
  {
    name: 'CAdES detached',
    bytes: 1024 * MIB,
    make: zeros,
    form: { format: 'Cades', cades: { detached: true } },
  },
  { name: 'PAdES', bytes: 500 * MIB, make: largePdf, form: { format: 'Pades' } },
  { name: 'PAdES', bytes: 1024 * MIB, make: largePdf, form: { format: 'Pades' } },
  { name: 'XAdES', bytes: 100 * MIB, make: largeXml, form: { format: 'Xades' } },
  {
    name: 'XAdES detached',
    bytes: 1024 * MIB,
    make: zeros,
    form: { format: 'Xades', xades: { packaging: 'detached' } },
  },
];

const at = Date.now();
const signer = largeSigner(at);
const rows: { [column: string]: string | number }[] = [];
for (const { name, bytes, make, form } of FILES) {
  const input = join(folder, 'input');
  const output = join(folder, 'output');
  make(input, Math.round(bytes * Number(values.share)));
  const size = statSync(input).size;
  const hashing = sha256sum(input);
  const request = { ...form, input, output };
  for (const work of ['sign', 'validate'] as const) {
    const { processor, clock, peak, indication } = runLargeJob({ work, request, at, signer });
    if (work === 'validate' && indication !== 'TOTAL-PASSED') throw new Error(`${name}: ${indication}`);
    rows.push({
      file: `${name}, ${Math.round(size / MIB)} MiB`,
      work,
      'CPU s': Number(processor.toFixed(2)),
      'clock s': Number(clock.toFixed(2)),
      'MiB/s': Math.round(size / MIB / processor),
      'of sha256sum': `${Math.round((100 * hashing) / processor)} %`,
      'peak MiB': Math.round(peak),
    });
  }
  for (const path of [input, output]) rmSync(path);
}
console.table(rows);

/** Seconds of processor time. */
function sha256sum(path: string): number {
  const script = 'sha256sum "$1" >/dev/null; times';
  const { stdout } = spawnSync('bash', ['-c', script, 'bash', path], { encoding: 'utf8' });
  // The second line is about the children: minutes and seconds, of the program and of the system.
  const times =
    stdout
      .trim()
      .split('\n')
      .at(-1)
      ?.matchAll(/(\d+)m([\d.]+)s/g) ?? [];
  let seconds = 0;
  for (const [, minutes, rest] of times) seconds += 60 * Number(minutes) + Number(rest);
  return seconds;
}
