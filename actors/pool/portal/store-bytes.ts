/** Stores a small upload: hashes, writes and places it in one task. */
import { createHash } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import type { PortalResults, StoreTask } from '../portal-tasks.ts';
import { placeOutput } from './place-output.ts';
import type { PortalTaskContext } from './portal-task-context.ts';

/** For the service and its group. */
const FILE_MODE = 0o640;

/** Resolves when the file is durable under the name of its content. */
export async function storeBytes(
  task: StoreTask,
  thread: PortalTaskContext,
): Promise<PortalResults['portal.store']> {
  const { bytes, output } = task;
  const blob = { sha256: createHash('sha256').update(bytes).digest('hex'), length: bytes.length };
  const md5 = createHash('md5').update(bytes).digest('base64');
  try {
    writeFileSync(output, bytes, { mode: FILE_MODE });
    await placeOutput(task, blob, thread);
  } catch (error) {
    rmSync(output, { force: true });
    throw error;
  }
  return { blob, md5 };
}
