/**
 * `sealwright backup <dir>`: a copy of the store and of the program's own keys, while the service runs or not. Put
 * under a `Storage:Root`, it is what that service knew.
 *
 * Source: batch-gaps §13, "Backup" and "Restore".
 */
import { chmodSync, copyFileSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { storageLayout } from '../actors/index.ts';
import { escapeControls } from '../logging.ts';
import { backupLmdbStore, describeFailure, Fatal } from '../runtime/index.ts';
import type { Settings } from '../settings.ts';
import { EXIT, type ExitCode, exitCodeOf } from './exit-codes.ts';
import type { Terminal } from './terminal.ts';

/** Makes `target`, which must be missing or empty; when it fails, nothing is left in it. */
export async function backup(
  settings: Settings,
  target: string,
  terminal: Pick<Terminal, 'out' | 'err'>,
): Promise<ExitCode> {
  const layout = storageLayout(settings.storage.root);
  let begun = false;
  try {
    // Keys are in it.
    mkdirSync(target, { recursive: true, mode: 0o700 });
    if (readdirSync(target).length > 0)
      throw new Fatal('folder.not-empty', `${target} is not empty; nothing is overwritten.`);
    begun = true;
    await backupLmdbStore(layout.db, join(target, 'db'));
    copyKeys(layout.keys, join(target, 'keys'));
    terminal.out(`${escapeControls(target)}\n`);
    return EXIT.good;
  } catch (error) {
    if (begun)
      for (const name of ['db', 'keys']) rmSync(join(target, name), { recursive: true, force: true });
    const { code, message } = describeFailure(error);
    terminal.err(`sealwright backup: ${escapeControls(message)}\n`);
    return code === 'ENOENT' || code === 'EEXIST' ? EXIT.unavailable : exitCodeOf(error);
  }
}

function copyKeys(from: string, to: string): void {
  mkdirSync(to, { mode: 0o700 });
  for (const name of readdirSync(from)) {
    // What is being written this moment has a name of its own.
    if (name.startsWith('.') || !statSync(join(from, name)).isFile()) continue;
    copyFileSync(join(from, name), join(to, name));
    chmodSync(join(to, name), 0o600);
  }
}
