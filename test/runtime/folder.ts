import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ExecutionContext } from 'ava';

/** A folder of its own for one test, removed afterwards. */
export function folderFor(t: ExecutionContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'sealwright-runtime-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
