/** Folders on two devices, for tests of what `rename` and `link` cannot do. */
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { IN_MEMORY } from '../../verifiers/tool.ts';

/** A fresh folder on another device than the temporary one. */
export function otherDevice(t: { teardown(task: () => void): void }): string {
  const folder = mkdtempSync(join(IN_MEMORY, 'sealwright-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
