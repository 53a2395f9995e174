import { closeSync, fsyncSync, openSync } from 'node:fs';

/** Returns when what was written to a file is on the disk. */
export function syncFile(path: string): void {
  const file = openSync(path, 'r');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
