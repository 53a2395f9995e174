/** A small file system of its own at a folder, for tests of disks that fill up or turn read-only. */
import { execFileSync } from 'node:child_process';
import { closeSync, fstatSync, ftruncateSync, mkdirSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ExecutionContext } from 'ava';

export interface SmallDisk {
  /** Takes up all that is left but so many bytes. @default 0 */
  fill(left?: number): void;
  /** Gives back what `fill` took. */
  empty(): void;
  /** Once no file of it is open for writing. */
  readOnly(): Promise<void>;
  writable(): void;
}

/** Mounted at `folder`, which is made. */
export function smallDisk(t: ExecutionContext, folder: string, megabytes: number): SmallDisk {
  mkdirSync(folder, { recursive: true });
  mount(['-t', 'tmpfs', '-o', `size=${megabytes}m,mode=0750`, 'tmpfs', folder]);
  t.teardown(() => execFileSync('umount', ['-l', folder]));
  const ballast = join(folder, '.ballast');
  return {
    fill(left = 0) {
      const fd = openSync(ballast, 'a');
      try {
        for (let piece = Buffer.alloc(1 << 20); piece.length > 0; ) {
          try {
            writeSync(fd, piece);
          } catch {
            piece = piece.subarray(0, piece.length >> 1);
          }
        }
        ftruncateSync(fd, fstatSync(fd).size - left);
      } finally {
        closeSync(fd);
      }
    },
    empty: () => rmSync(ballast, { force: true }),
    async readOnly() {
      for (const end = Date.now() + 60_000; ; await sleep(20)) {
        try {
          mount(['-o', 'remount,ro', folder]);
          return;
        } catch (error) {
          if (!/is busy/.test(String(error)) || Date.now() > end) throw error;
        }
      }
    },
    writable: () => mount(['-o', 'remount,rw', folder]),
  };
}

function mount(args: readonly string[]): void {
  execFileSync('mount', args, { stdio: 'pipe' });
}
