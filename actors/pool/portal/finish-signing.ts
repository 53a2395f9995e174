/** Second of two steps: embeds a signature value that was computed elsewhere. */
import { readFileSync, rmSync } from 'node:fs';
import { finishSigning, joinCadesSigners } from '@sealwright/signatures';
import { removeIfPresent } from '../../shared/files/directories.ts';
import type { FinishSigningTask, PortalResults } from '../portal-tasks.ts';
import { passesFinalCheck } from './check.ts';
import { beginSync, placeOutput } from './place-output.ts';
import { type PortalTaskContext, profileOf } from './portal-task-context.ts';

export async function finishParticipantSigning(
  task: FinishSigningTask,
  thread: PortalTaskContext,
): Promise<PortalResults['portal.finish']> {
  const { format, input, signatures, output } = task;
  const { services } = profileOf(thread, task.profile);
  const state = readFileSync(task.state, 'utf8');
  const value = Buffer.from(task.value, 'base64');
  // A detached signature was made without the existing ones and is merged with them afterwards.
  const joins = format === 'Cades' && signatures !== null;
  const single = joins ? `${output}.single` : output;
  removeIfPresent(output);
  removeIfPresent(single);
  const signed = await finishSigning({ format, input, output: single, state, value, sync: false }, services);
  thread.faults.atSync('portal.finish.signed');
  try {
    const made = joins
      ? joinCadesSigners({ input: signatures, added: single, content: input, output }).output
      : signed.output;
    const synced = beginSync(task, thread);
    const isChecked = await passesFinalCheck(task, task.check?.certificate ?? '', thread);
    await placeOutput(task, made, thread, synced);
    return { output: made, isChecked };
  } finally {
    if (joins) rmSync(single, { force: true });
  }
}
