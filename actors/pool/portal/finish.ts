/** Second of two steps: puts a value that was made elsewhere into the file. */
import { readFileSync, rmSync } from 'node:fs';
import { finishSigning, joinCadesSigners } from '../../../crypto/index.ts';
import type { FinishTask, PortalResults } from '../portal-tasks.ts';
import { type PortalThread, sealingProfile } from './thread.ts';

export async function finish(
  task: FinishTask,
  thread: PortalThread,
): Promise<PortalResults['portal.finish']> {
  const { format, input, signatures, output } = task;
  const { services } = sealingProfile(thread, task.profile);
  const state = readFileSync(task.state, 'utf8');
  const value = Buffer.from(task.value, 'base64');
  // A signature that stands beside others was made without a look at them, and is joined to them afterwards.
  const joins = format === 'Cades' && signatures !== null;
  const single = joins ? `${output}.single` : output;
  rmSync(output, { force: true });
  rmSync(single, { force: true });
  const signed = await finishSigning({ format, input, output: single, state, value, sync: !joins }, services);
  thread.faults.atSync('portal.finish.signed');
  if (!joins) return { output: signed.output };
  try {
    return { output: joinCadesSigners({ input: signatures, added: single, content: input, output }).output };
  } finally {
    rmSync(single, { force: true });
  }
}
