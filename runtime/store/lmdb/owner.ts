/**
 * Ensures one process per folder. Each process that opens a folder creates a claim, a file whose name identifies the
 * process, and then checks the claims of others: of two concurrent processes at least one sees the other, and withdraws
 * if that one is alive. Claims of dead processes are removed.
 *
 * Limit: processes that cannot see each other (two containers with process tables of their own, sharing the folder)
 * consider each other dead.
 */
import { closeSync, mkdirSync, openSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Fatal } from '../../model/failures.ts';
import { ownMark, runs } from '../../model/ids.ts';
import { refusalOf } from './room.ts';

const CLAIM = /^owner\.(\d+)\.([0-9a-z]+)$/;

/** Releases the folder. */
export type Release = () => void;

/** Throws `store.locked`, naming the process that owns the folder. */
export function claimFolder(folder: string): Release {
  mkdirSync(folder, { recursive: true });
  const { pid: ownPid, birth: ownBirth } = ownMark();
  const own = `owner.${ownPid}.${ownBirth}`;
  const path = join(folder, own);
  try {
    closeSync(openSync(path, 'wx'));
  } catch (error) {
    if ((error as { code?: unknown }).code === 'EEXIST') throw locked(folder, process.pid);
    // Some file systems need a free block, or a free inode, for an empty file too.
    throw refusalOf(folder, error);
  }
  for (const name of readdirSync(folder)) {
    const [, pid, birth] = CLAIM.exec(name) ?? [];
    if (pid === undefined || birth === undefined || name === own) continue;
    if (runs({ pid: Number(pid), birth })) {
      rmSync(path, { force: true });
      throw locked(folder, Number(pid));
    }
    rmSync(join(folder, name), { force: true });
  }
  return () => rmSync(path, { force: true });
}

/** Returns the living process that owns a folder, if any. Claims nothing. */
export function folderOwner(folder: string): number | undefined {
  let names: readonly string[];
  try {
    names = readdirSync(folder);
  } catch {
    return undefined;
  }
  for (const name of names) {
    const [, pid, birth] = CLAIM.exec(name) ?? [];
    if (pid !== undefined && birth !== undefined && runs({ pid: Number(pid), birth })) return Number(pid);
  }
  return undefined;
}

function locked(folder: string, pid: number): Fatal {
  return new Fatal('store.locked', `${folder} is in use by process ${pid}.`);
}
