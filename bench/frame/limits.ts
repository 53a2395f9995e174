/** Limits of the machine, measured by independent programs. */
import { spawnSync } from 'node:child_process';
import { existsSync, statfsSync } from 'node:fs';

/**
 * Measures signatures per second of processor time by openssl; undefined without it.
 * @param together number of concurrent processes; then per second of wall-clock time
 */
export function opensslSpeed(
  algorithm: 'rsa2048' | 'ecdsap256',
  seconds: number,
  together?: { readonly processes: number },
): number | undefined {
  const many = together ? ['-elapsed', '-multi', String(together.processes)] : [];
  const words = ['speed', '-seconds', String(Math.ceil(seconds)), ...many, algorithm];
  const run = spawnSync('openssl', words, { encoding: 'utf8', timeout: 120_000 });
  // Last line of the table: …, seconds per signature, seconds per verification, signatures per second, verifications
  // per second.
  const fields = run.stdout?.trim().split('\n').at(-1)?.trim().split(/\s+/) ?? [];
  const rate = Number(fields.at(-2));
  return Number.isFinite(rate) ? rate : undefined;
}

/** Measures the processor time of `sha256sum` for a file in seconds; undefined without it. */
export function sha256sum(path: string): number | undefined {
  const script = 'sha256sum "$1" >/dev/null && times';
  const { status, stdout } = spawnSync('bash', ['-c', script, 'bash', path], { encoding: 'utf8' });
  if (status !== 0) return undefined;
  // The second line is about child processes: minutes and seconds of user and system time.
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

const SHM = '/dev/shm';

/** Returns a memory folder with that many free bytes; undefined when there is none. */
export function memoryFolder(bytes: number): string | undefined {
  if (!existsSync(SHM)) return undefined;
  const { bavail, bsize } = statfsSync(SHM);
  return bavail * bsize >= bytes ? SHM : undefined;
}
