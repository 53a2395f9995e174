/** Stores a small upload: hashes, writes, places and inspects it in one task. */
import { hash } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import type { DocumentFormat } from '../../../machines/portal/portal-types.ts';
import type { PortalResults, StoreTask } from '../portal-tasks.ts';
import { inspect } from './inspect.ts';
import { beginSync, placeOutput } from './place-output.ts';
import type { PortalTaskContext } from './portal-task-context.ts';

/** For the service and its group. */
const FILE_MODE = 0o640;

/** Resolves when the file is durable under the name of its content. */
export async function storeBytes(
  task: StoreTask,
  thread: PortalTaskContext,
): Promise<PortalResults['portal.store']> {
  const { bytes, output } = task;
  const blob = { sha256: hash('sha256', bytes), length: bytes.length };
  const md5 = hash('md5', bytes, 'base64');
  try {
    writeFileSync(output, bytes, { mode: FILE_MODE });
    const synced = beginSync(task, thread);
    const format = formatOf(task, thread);
    await placeOutput(task, blob, thread, synced);
    return { blob, md5, ...(format !== undefined && { format }) };
  } catch (error) {
    rmSync(output, { force: true });
    throw error;
  }
}

/** Undefined: it is not to be inspected, or cannot be signed; the reason is found when a document is made of it. */
function formatOf(task: StoreTask, thread: PortalTaskContext): DocumentFormat | undefined {
  if (task.inspect === undefined) return undefined;
  const { documentId, output: path } = task;
  const whole = { documentId, path, forceCades: false, xades: [], countPagesTo: 0 } as const;
  try {
    return inspect({ task: 'portal.inspect', ...whole, ...task.inspect }, thread).format;
  } catch {
    return undefined;
  }
}
