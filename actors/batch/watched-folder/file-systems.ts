/**
 * How long a file of a watched folder must stay unchanged, by the file system of the folder. Pure.
 *
 * Clients of shares answer from memory for seconds (NFS `acregmin` 3 s, FUSE `attr_timeout` 1 s and more), so a file that is
 * written looks unchanged for that long. A file system that the table does not name counts as a share.
 *
 * Source: docs/decisions/0316-files-on-shares.md.
 */
import type { StabilityRules } from './stability.ts';

/** Configured rules; the file system decides the others. */
export interface StabilitySettings extends Omit<StabilityRules, 'quietMs' | 'quietWithHolesMs'> {
  /** Milliseconds (`Storage:Inputs[].StabilitySeconds`). @default by the file system */
  readonly quietMs?: number | undefined;
  /** True: the folder is listed often because its mount reports no changes; it counts as a share. @default false */
  readonly isShare?: boolean;
}

/**
 * Local file systems by `f_type` of statfs(2). `whole`: a written file has all its blocks, so that fewer mean one that is
 * sparse or not yet written. `packed`: it may compress, and blocks tell nothing.
 */
export const LOCAL_FILE_SYSTEMS: ReadonlyMap<number, 'whole' | 'packed'> = new Map([
  [0xef53, 'whole'], // ext2, ext3, ext4
  [0x58465342, 'whole'], // xfs
  [0x01021994, 'whole'], // tmpfs
  [0x858458f6, 'whole'], // ramfs
  [0x794c7630, 'whole'], // overlayfs
  [0x61756673, 'whole'], // aufs
  [0x3153464a, 'whole'], // jfs
  [0x4d44, 'whole'], // vfat
  [0x2011bab0, 'whole'], // exfat
  [0x52654973, 'packed'], // reiserfs, packs tails
  [0xf15f, 'packed'], // ecryptfs
  [0x9123683e, 'packed'], // btrfs
  [0x2fc12fc1, 'packed'], // zfs
  [0xf2f52010, 'packed'], // f2fs
  [0xca451a4e, 'packed'], // bcachefs
  [0x7366746e, 'packed'], // ntfs3
]);

/** Longer than the usual memory of mounts and a pause of the writer together, milliseconds. */
const SHARE_QUIET_MS = 10_000;
/** Wait of a file with holes, as a multiple. */
const HOLES_FACTOR = 3;
/** Least wait of such a file where nothing is configured, milliseconds. */
const MIN_HOLES_MS = 10_000;

/** @param fileSystem `f_type` of statfs(2); undefined where the system has none, as outside of Linux: it counts as local */
export function stabilityRules(
  { quietMs, isShare = false, ...rules }: StabilitySettings,
  fileSystem: number | undefined,
): StabilityRules {
  const { requiredSamples, intervalMs } = rules;
  const blocks = fileSystem === undefined ? 'packed' : LOCAL_FILE_SYSTEMS.get(fileSystem);
  const asked = quietMs ?? (isShare || blocks === undefined ? SHARE_QUIET_MS : 0);
  const gaps = Math.max(1, requiredSamples - 1);
  // A long wait needs no more samples than a short one.
  const every = Math.max(intervalMs, asked / gaps);
  const quiet = Math.max(asked, requiredSamples > 1 ? every * gaps : 0);
  const withHoles = HOLES_FACTOR * quiet;
  return {
    ...rules,
    intervalMs: every,
    quietMs: asked,
    quietWithHolesMs:
      blocks === 'packed' ? asked : quietMs === undefined ? Math.max(MIN_HOLES_MS, withHoles) : withHoles,
  };
}
