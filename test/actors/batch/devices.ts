/** Folders on two devices, for tests of what `rename` and `link` cannot do. */
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Held in memory on Linux, and so on another device than any disk. */
const IN_MEMORY = '/dev/shm';

/** A fresh folder on another device than the temporary one; undefined, and the test passed, where there is none. */
export function otherDevice(t: {
  teardown(task: () => void): void;
  log(text: string): void;
  pass(): void;
}): string | undefined {
  const device = statSync(IN_MEMORY, { throwIfNoEntry: false })?.dev;
  if (device === undefined || device === statSync(tmpdir()).dev) {
    t.log('There is no second device here; nothing was tested.');
    t.pass();
    return undefined;
  }
  const folder = mkdtempSync(join(IN_MEMORY, 'sealwright-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
