/** Checks for free space: before a store is created, and after a write to it failed. */
import { existsSync, mkdirSync, readFileSync, rmSync, statfsSync, statSync, writeFileSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import { describeFailure, Fatal } from '../../model/failures.ts';

/** Several times the bytes that a new store writes first. */
const NEEDED = Buffer.alloc(1 << 20);

/**
 * Writes a test file of the size of a new store. The engine maps its files into memory before they have blocks on the
 * disk, and on a full one the process would end with SIGBUS. An existing store has its blocks.
 * @throws {Fatal} `store.full`, `store.unwritable`
 */
export function assertRoomForStore(folder: string): void {
  if (existsSync(join(folder, 'data.mdb')) && existsSync(join(folder, 'lock.mdb'))) return;
  const probe = join(folder, 'room.probe');
  try {
    mkdirSync(folder, { recursive: true });
    writeFileSync(probe, NEEDED, { mode: 0o640, flush: true });
  } catch (error) {
    throw refusalOf(folder, error);
  } finally {
    // Below a file there is none, and removing it would fail with an error of its own.
    if (existsSync(probe)) rmSync(probe);
  }
}

/** Says why a store cannot be opened, after a write to its folder failed. */
export function refusalOf(folder: string, error: unknown): Fatal {
  const { code } = describeFailure(error);
  return code === 'ENOSPC' || code === 'EDQUOT'
    ? new Fatal(
        'store.full',
        `The disk of ${folder} has no room for a store (${code}). Free some space on it, or name a folder on another disk.`,
      )
    : new Fatal('store.unwritable', `The folder of the store cannot be written: ${folder} (${code}).`);
}

/**
 * True when an error of the engine means that the disk is full, or that a quota or the limit of file sizes is reached.
 * The code is the system's error number; a write that took only a part of the bytes has EIO, as a broken disk has.
 */
export function isOutOfRoom(error: unknown, folder: string): boolean {
  const { code } = error as { readonly code?: unknown };
  const { ENOSPC, EDQUOT, EFBIG, EIO } = constants.errno;
  if (code === ENOSPC || code === EDQUOT || code === EFBIG) return true;
  return code === EIO && roomFor(folder) < NEEDED.length;
}

/** Bytes by which the database file can still grow; Infinity when that cannot be read. */
function roomFor(folder: string): number {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return Math.min(bavail * bsize, fileSizeLimit() - statSync(join(folder, 'data.mdb')).size);
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

/** The limit of the process (`ulimit -f`), bytes. Only Linux tells it. */
function fileSizeLimit(): number {
  const limits = '/proc/self/limits';
  if (!existsSync(limits)) return Number.POSITIVE_INFINITY;
  const [, bytes] = /^Max file size +(\d+)/m.exec(readFileSync(limits, 'utf8')) ?? [];
  return bytes === undefined ? Number.POSITIVE_INFINITY : Number(bytes);
}
