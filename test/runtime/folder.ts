import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ExecutionContext } from 'ava';

/**
 * A folder of its own for one test, removed afterwards.
 * @param inside where it is made. @default the system's folder for temporary files
 */
export function folderFor(t: Pick<ExecutionContext, 'teardown'>, inside: string = tmpdir()): string {
  const folder = mkdtempSync(join(inside, 'sealwright-runtime-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
