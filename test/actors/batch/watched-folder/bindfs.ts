/** A mount that answers from memory for a while, as shares do, over a folder in which another program writes. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, statfsSync } from 'node:fs';
import { join } from 'node:path';
import type { ExecutionContext } from 'ava';
import { folderFor } from '../../../runtime/folder.ts';

const FUSE = 0x65735546;

export interface Share {
  /** As the service sees it. */
  readonly mount: string;
  /** As the server has it. */
  readonly server: string;
}

/**
 * Undefined where nothing can be mounted; the test has then said so, or failed when SEALWRIGHT_REQUIRE_TOOLS=1.
 * @param seconds for which the mount remembers attributes and names
 */
export function mountShare(t: ExecutionContext, seconds: number): Share | undefined {
  const base = folderFor(t);
  const mount = join(base, 'mount');
  const server = join(base, 'server');
  for (const folder of [mount, server]) mkdirSync(folder);
  const made = spawnSync('bindfs', ['-o', `attr_timeout=${seconds},entry_timeout=${seconds}`, server, mount]);
  if (made.status !== 0 || statfsSync(mount).type !== FUSE) {
    const why = made.error?.message ?? String(made.stderr);
    if (process.env['SEALWRIGHT_REQUIRE_TOOLS'] === '1') t.fail(`Missing: bindfs (${why}).`);
    else t.log(`Skipped: bindfs (${why}).`);
    t.pass();
    return undefined;
  }
  t.teardown(() => execFileSync('umount', ['-l', mount]));
  return { mount, server };
}
