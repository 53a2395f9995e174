/**
 * `sealwright backup <dir>`: a copy of the store, of the portal's files and of the program's own keys, while the service
 * runs or not. Put under a `Storage:Root`, it is what that service knew.
 *
 * Source: docs/batch-values.md §13.
 */
import {
  chmodSync,
  constants,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  rmSync,
  statSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { describeFailure, Fatal } from '@sealwright/runtime';
import { backupLmdbStore, noteBackup } from '@sealwright/runtime/lmdb';
import { storageLayout } from '../actors/index.ts';
import { escapeControls } from '../logging.ts';
import { ANCHOR_FILE } from '../service/history-anchor.ts';
import { ERASURES_FILE } from '../service/portal-setup.ts';
import type { Settings } from '../settings.ts';
import { EXIT, type ExitCode, exitCodeOf } from './exit-codes.ts';
import type { Terminal } from './terminal.ts';

/** The files of documents and uploads, whole and never changed. */
const PORTAL_FILES = join('portal', 'blobs');
const IN_BUCKET =
  'sealwright backup: The files of the portal are in the bucket and not in this copy. Keep earlier versions of its objects for as long as copies.\n';

/** Makes `target`, which must be missing or empty; when it fails, nothing is left in it. */
export async function backup(
  settings: Settings,
  target: string,
  terminal: Pick<Terminal, 'out' | 'err'>,
): Promise<ExitCode> {
  const layout = storageLayout(settings.storage.root);
  const isInBucket = settings.storage.objects.kind === 'S3';
  if (settings.runtime.store === 'postgres') {
    const folders = isInBucket ? '`keys/`' : '`keys/` and `portal/`';
    terminal.err(
      `sealwright backup: The actors are stored in PostgreSQL. Back up the database with pg_dump, then copy ${folders} below Storage:Root.\n${isInBucket ? IN_BUCKET : ''}`,
    );
    return EXIT.refused;
  }
  let isStarted = false;
  try {
    // Keys are in it.
    mkdirSync(target, { recursive: true, mode: 0o700 });
    if (readdirSync(target).length > 0)
      throw new Fatal('folder.not-empty', `${target} is not empty; nothing is overwritten.`);
    isStarted = true;
    await backupLmdbStore(layout.db, join(target, 'db'));
    mkdirSync(join(target, 'keys'), { mode: 0o700 });
    // What the program changed is in the second, and counts.
    for (const folder of new Set([settings.storage.keysPath, layout.keys]))
      copyKeys(folder, join(target, 'keys'));
    // After the store: what it refers to was there before it was copied.
    if (isInBucket) terminal.err(IN_BUCKET);
    else copyFiles(join(layout.root, PORTAL_FILES), join(target, PORTAL_FILES));
    noteBackup(layout.db, resolve(target));
    terminal.out(`${escapeControls(target)}\n`);
    return EXIT.good;
  } catch (error) {
    if (isStarted)
      for (const name of ['db', 'keys', 'portal'])
        rmSync(join(target, name), { recursive: true, force: true });
    const { code, message } = describeFailure(error);
    terminal.err(`sealwright backup: ${escapeControls(message)}\n`);
    return code === 'ENOENT' || code === 'EEXIST' ? EXIT.unavailable : exitCodeOf(error);
  }
}

function copyKeys(from: string, to: string): void {
  for (const name of readdirSync(from)) {
    // Files in progress have temporary names.
    if (name.startsWith('.') || !statSync(join(from, name)).isFile()) continue;
    // It may be newer than the copied store. Erasures outlive what is restored.
    if (name.startsWith(ANCHOR_FILE) || name === ERASURES_FILE) continue;
    copyFileSync(join(from, name), join(to, name));
    chmodSync(join(to, name), 0o600);
  }
}

function copyFiles(from: string, to: string): void {
  if (!existsSync(from)) return;
  mkdirSync(to, { recursive: true, mode: 0o750 });
  for (const shard of readdirSync(from)) {
    mkdirSync(join(to, shard), { mode: 0o750 });
    for (const name of readdirSync(join(from, shard))) {
      copyIfThere(join(from, shard, name), join(to, shard, name));
    }
  }
}

/** Ignores files that were removed during the copy: the store does not refer to them. */
function copyIfThere(from: string, to: string): void {
  try {
    copyFileSync(from, to, constants.COPYFILE_FICLONE);
  } catch (error) {
    if ((error as { code?: unknown }).code !== 'ENOENT') throw error;
  }
}
