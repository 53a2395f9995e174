/** A mount that answers from memory for a while, as shares do, over a folder in which another program writes. */
import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { ExecutionContext } from 'ava';
import { folderFor } from '../../../runtime/folder.ts';

export interface Share {
  /** As the service sees it. */
  readonly mount: string;
  /** As the server has it. */
  readonly server: string;
}

/** @param seconds for which the mount remembers attributes and names */
export function mountShare(t: ExecutionContext, seconds: number): Share {
  const base = folderFor(t);
  const mount = join(base, 'mount');
  const server = join(base, 'server');
  for (const folder of [mount, server]) mkdirSync(folder);
  execFileSync('bindfs', ['-o', `attr_timeout=${seconds},entry_timeout=${seconds}`, server, mount]);
  t.teardown(() => execFileSync('umount', ['-l', mount]));
  return { mount, server };
}
