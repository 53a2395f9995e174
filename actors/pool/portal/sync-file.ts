import { closeSync, fsyncSync, openSync } from 'node:fs';

/** Syncs a file to disk. */
export function syncFile(path: string): void {
  const file = openSync(path, 'r');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
