/** What the machine itself can do, measured by programs that do nothing else. */
import { spawnSync } from 'node:child_process';
import { existsSync, statfsSync } from 'node:fs';

/**
 * Signatures in a second of processor time, by openssl itself; undefined without it.
 * @param together so many processes at once; then in a second of the clock
 */
export function opensslSpeed(
  algorithm: 'rsa2048' | 'ecdsap256',
  seconds: number,
  together?: { readonly processes: number },
): number | undefined {
  const many = together ? ['-elapsed', '-multi', String(together.processes)] : [];
  const words = ['speed', '-seconds', String(Math.ceil(seconds)), ...many, algorithm];
  const run = spawnSync('openssl', words, { encoding: 'utf8', timeout: 120_000 });
  // The table's last line: …, seconds per signature, seconds per check, signatures a second, checks a second.
  const fields = run.stdout?.trim().split('\n').at(-1)?.trim().split(/\s+/) ?? [];
  const rate = Number(fields.at(-2));
  return Number.isFinite(rate) ? rate : undefined;
}

/** Seconds of processor time `sha256sum` takes for a file; undefined without it. */
export function sha256sum(path: string): number | undefined {
  const script = 'sha256sum "$1" >/dev/null && times';
  const { status, stdout } = spawnSync('bash', ['-c', script, 'bash', path], { encoding: 'utf8' });
  if (status !== 0) return undefined;
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

const SHM = '/dev/shm';

/** A folder in memory with so many free bytes; undefined where there is none. */
export function memoryFolder(bytes: number): string | undefined {
  if (!existsSync(SHM)) return undefined;
  const { bavail, bsize } = statfsSync(SHM);
  return bavail * bsize >= bytes ? SHM : undefined;
}
