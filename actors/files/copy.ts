/** Copies that somebody will rely on once the original is gone. Synchronous: pool threads and recovery only. */
import { closeSync, constants, copyFileSync, fsyncSync, openSync, rmSync } from 'node:fs';
import { fileDigest } from './digest.ts';

/** What was written is not what was read: a failing disk, or a file that changed meanwhile. */
class CopyDamaged extends Error {
  readonly code = 'copy.damaged';
  constructor(from: string, to: string) {
    super(`The copy ${to} is not what ${from} holds; it was removed.`);
    this.name = 'CopyDamaged';
  }
}

/**
 * Copies a file to a name that is free, makes its bytes durable and compares both. When it throws, `to` is gone
 * again; its directory is the caller's to sync.
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
