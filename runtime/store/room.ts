/** Checks for free space before a store is created. */
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describeFailure, Fatal } from '../failures.ts';

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
    const { code } = describeFailure(error);
    if (code === 'ENOSPC' || code === 'EDQUOT')
      throw new Fatal(
        'store.full',
        `The disk of ${folder} has no room for a store (${code}). Free some space on it, or set Storage:Root to a folder on another disk.`,
      );
    throw new Fatal('store.unwritable', `The folder of the store cannot be written: ${folder} (${code}).`);
  } finally {
    rmSync(probe, { force: true });
  }
}
