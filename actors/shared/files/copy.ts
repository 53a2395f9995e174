/** Copies files durably before the original is removed. Synchronous: pool threads and recovery only. */
import { closeSync, constants, copyFileSync, fsyncSync, openSync, rmSync } from 'node:fs';
import { fileDigest } from './digest.ts';

/** The copy differs from the original: a failing disk, or a concurrent change. */
class CopyDamaged extends Error {
  readonly code = 'copy.damaged';
  constructor(from: string, to: string) {
    super(`The copy ${to} is not what ${from} holds; it was removed.`);
    this.name = 'CopyDamaged';
  }
}

/**
 * Copies a file to a free name, syncs it and compares both. Removes `to` on failure; the caller syncs its directory.
 * @throws {CopyDamaged}
 */
export function copyWhole(from: string, to: string): void {
  try {
    copyFileSync(from, to, constants.COPYFILE_EXCL);
    syncFile(to);
    if (fileDigest(to) !== fileDigest(from)) throw new CopyDamaged(from, to);
  } catch (error) {
    rmSync(to, { force: true });
    throw error;
  }
}

function syncFile(path: string): void {
  const fd = openSync(path, 'r');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}
