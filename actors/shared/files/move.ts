/**
 * Moves files and folders, also to another device. Synchronous: pool threads and recovery only.
 */
import { lstatSync, mkdirSync, readdirSync, readlinkSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { copyWhole } from './copy.ts';
import { errno, syncDirectory } from './directories.ts';
import { cutToBytes, NAME_LIMIT } from './output-names.ts';

/** Neither file, folder nor link: cannot be copied. */
class NotMovable extends Error {
  readonly code = 'move.unsupported';
  constructor(path: string) {
    super(`${path} is neither a file nor a folder and cannot be moved to another device.`);
    this.name = 'NotMovable';
  }
}

/**
 * Moves a file or a folder with its content durably. To another device it copies under a hidden name, syncs, renames
 * and then removes the source, so that a crash leaves one complete copy. Like `rename`, refuses an existing folder that
 * is not empty.
 */
export function move(from: string, target: string): void {
  try {
    renameSync(from, target);
  } catch (error) {
    if (errno(error) !== 'EXDEV') throw error;
    const hidden = join(dirname(target), `.${cutToBytes(basename(target), NAME_LIMIT - 6)}.part`);
    rmSync(hidden, { recursive: true, force: true });
    copyTree(from, hidden);
    renameSync(hidden, target);
    syncDirectory(dirname(target));
    rmSync(from, { recursive: true, force: true });
    return;
  }
  syncDirectory(dirname(target));
}

function copyTree(from: string, to: string): void {
  const stat = lstatSync(from);
  if (stat.isFile()) copyWhole(from, to);
  else if (stat.isSymbolicLink()) symlinkSync(readlinkSync(from), to);
  else if (stat.isDirectory()) {
    mkdirSync(to, { mode: 0o750 });
    for (const name of readdirSync(from)) copyTree(join(from, name), join(to, name));
    syncDirectory(to);
  } else throw new NotMovable(from);
}
