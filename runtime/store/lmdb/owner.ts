/**
 * Ensures one process per folder. Each process that opens a folder creates a claim, a file whose name identifies the
 * process, and then checks the claims of others: of two concurrent processes at least one sees the other, and withdraws
 * if that one is alive. Claims of dead processes are removed.
 *
 * Limit: processes that cannot see each other (two containers with process tables of their own, sharing the folder)
 * consider each other dead.
 */
import { closeSync, mkdirSync, openSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Fatal } from '../../failures.ts';

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
    throw error;
  }
  for (const name of readdirSync(folder)) {
    const [, pid, birth] = CLAIM.exec(name) ?? [];
    if (pid === undefined || birth === undefined || name === own) continue;
    if (isAlive(Number(pid), birth)) {
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
    if (pid !== undefined && birth !== undefined && isAlive(Number(pid), birth)) return Number(pid);
  }
  return undefined;
}

/** Identifies a process also after its pid was given to another one. */
export interface ProcessMark {
  readonly pid: number;
  /** Start time; see `birthOf`. */
  readonly birth: string;
}

export function ownMark(): ProcessMark {
  return { pid: process.pid, birth: birthOf(process.pid) ?? 'unknown' };
}

/** True when that process runs on this machine. */
export function runs({ pid, birth }: ProcessMark): boolean {
  return isAlive(pid, birth);
}

function locked(folder: string, pid: number): Fatal {
  return new Fatal('store.locked', `${folder} is in use by process ${pid}.`);
}

function isAlive(pid: number, birth: string): boolean {
  const current = birthOf(pid);
  if (current !== undefined) return current === birth;
  if (hasProcessTable()) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as { code?: unknown }).code === 'EPERM';
  }
}

/**
 * Returns the start time of a process: id of this boot plus clock ticks since. Two processes never share it with their
 * pid, also across a reboot. Undefined when there is no such process, or no /proc.
 */
function birthOf(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The name in parentheses may contain anything, so fields are counted from its end. Source: proc(5), field 22.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').slice(0, 8);
    // A zombie holds no resources.
    return fields[0] === 'Z' || fields[0] === 'X' ? undefined : `${boot}${fields[19]}`;
  } catch {
    return undefined;
  }
}

function hasProcessTable(): boolean {
  return birthOf(process.pid) !== undefined;
}
