/** File-system helpers of staging, publishing and cleanup. Synchronous: pool threads only. */
import {
  type BigIntStats,
  closeSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  rmSync,
} from 'node:fs';
import { dirname, join, sep } from 'node:path';

/** `code` of a file-system error; empty for anything else. */
export function errno(error: unknown): string {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' ? code : '';
}

const LINK_REFUSALS = new Set(['EXDEV', 'EPERM', 'EMLINK', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS']);

/** True when the file system does not support the hard link. */
export function linksRefused(code: string): boolean {
  return LINK_REFUSALS.has(code);
}

/** Path of a file in a folder, both as they are: `join` looks at each of their characters again, a µs for each path. */
export function inFolder(folder: string, fileName: string): string {
  return `${folder}${sep}${fileName}`;
}

/** Removes what is in a directory. */
export function emptyFolder(path: string): void {
  for (const name of readdirSync(path)) rmSync(join(path, name), { recursive: true, force: true });
}

/** Removes a file that is usually not there: `rmSync` takes several times as long to find that. */
export function removeIfPresent(path: string): void {
  if (statIfPresent(path) !== undefined) rmSync(path, { force: true });
}

/** Makes the entries of a directory durable. */
export function syncDirectory(path: string): void {
  const fd = openSync(path, 'r');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

/** Makes a directory and those above it, where they are missing, and makes their entries durable. */
export function makeDirectories(path: string, mode: number): void {
  const first = mkdirSync(path, { recursive: true, mode });
  if (first === undefined) return;
  for (let made = path; made.length >= first.length; made = dirname(made)) syncDirectory(dirname(made));
}

/** Stat of the name itself (links are not followed); undefined when it does not or cannot exist. */
export function statIfPresent(path: string): BigIntStats | undefined {
  try {
    return lstatSync(path, { bigint: true, throwIfNoEntry: false });
  } catch (error) {
    if (errno(error) === 'ENAMETOOLONG') return undefined;
    throw error;
  }
}

/** `<device>:<inode>` as decimal text. */
export function inodeOf(stat: BigIntStats): string {
  return `${stat.dev}:${stat.ino}`;
}

/** Modification time in milliseconds with fraction, computed like `fs.Stats`, so that both compare equal. */
export function mtimeOf({ mtimeNs }: Pick<BigIntStats, 'mtimeNs'>): number {
  return Number(mtimeNs / 1_000_000_000n) * 1000 + Number(mtimeNs % 1_000_000_000n) / 1e6;
}

/** True when both names refer to the same file. */
export function sameFile(one: string, other: string): boolean {
  const a = statIfPresent(one);
  const b = statIfPresent(other);
  return a !== undefined && b !== undefined && a.dev === b.dev && a.ino === b.ino;
}
