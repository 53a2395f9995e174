/** Syncs of files, folders and the store per file, counted by strace. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ALONE = fileURLToPath(new URL('./alone.js', import.meta.url));
const CALLS = 'trace=fsync,fdatasync,msync,sync_file_range';

/** @param files enough to make the syncs of the start negligible. Undefined without strace. */
export function syncsPerFile(folder: string, files: number): number | undefined {
  const summary = join(folder, 'syncs.txt');
  const words = ['-f', '--seccomp-bpf', '-c', '-e', CALLS, '-o', summary, process.execPath, ALONE, folder];
  const { status } = spawnSync('strace', [...words, String(files)], { stdio: 'ignore' });
  if (status !== 0) return undefined;
  // Columns: share, seconds, microseconds per call, calls, errors if any, name.
  const calls = /^\s*[\d.]+\s+[\d.]+\s+[\d.]+\s+(\d+).*total\s*$/m.exec(readFileSync(summary, 'utf8'))?.[1];
  return calls === undefined ? undefined : Number(calls) / files;
}
