/** Syncs of files, folders and the store for each file, counted from outside. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ALONE = fileURLToPath(new URL('./alone.js', import.meta.url));
const CALLS = 'trace=fsync,fdatasync,msync,sync_file_range';

/** @param files enough that the syncs of the start do not show. Undefined without strace. */
export function syncsPerFile(folder: string, files: number): number | undefined {
  const summary = join(folder, 'syncs.txt');
  const words = ['-f', '--seccomp-bpf', '-c', '-e', CALLS, '-o', summary, process.execPath, ALONE, folder];
  const { status } = spawnSync('strace', [...words, String(files)], { stdio: 'ignore' });
  if (status !== 0) return undefined;
  // Share, seconds, microseconds a call, calls, errors if there were any, name.
  const calls = /^\s*[\d.]+\s+[\d.]+\s+[\d.]+\s+(\d+).*total\s*$/m.exec(readFileSync(summary, 'utf8'))?.[1];
  return calls === undefined ? undefined : Number(calls) / files;
}
