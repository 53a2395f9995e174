/** Verify, then encrypt when the profile says so, then publish. */
import { join } from 'node:path';
import { ENVELOPE_NONCE_BYTES } from '../../../crypto/index.ts';
import { outputName, outputNames, stagedName } from '../../file-names.ts';
import { makeDirectories } from '../../files/directories.ts';
import { publish } from '../../files/publish.ts';
import { sealed } from '../../files/seal.ts';
import { TaskFailure } from '../task-failure.ts';
import type { PoolResults, ReleaseTask } from '../tasks.ts';
import { verifyOutput } from '../verify-output.ts';
import type { ThreadProfile } from '../worker-profiles.ts';
import { type JobThread, profileNamed } from './thread.ts';

/** What releasing needs to know of a job, whoever asks for it. */
export type ReleaseOrder = Omit<ReleaseTask, 'task'>;

export function release(
  order: ReleaseOrder,
  thread: JobThread,
): PoolResults['release'] | Promise<PoolResults['release']> {
  const { profiles, folders, clock } = thread;
  const profile = profileNamed(thread, order.profile);
  const folder = folders.pathOf(order.jobId);
  const signed = join(folder, outputName(order.fileName));
  if (!profile.verify) return publishOutput(order, thread, profile, signed, undefined);
  const start = clock.elapsed();
  const checked = verifyOutput({
    format: order.format,
    path: signed,
    stagedPath: join(folder, stagedName(order.fileName)),
    content: order.content,
    profile,
    trust: profiles.trust,
    remote: order.remote,
    at: order.at,
  });
  const publishNow = () => publishOutput(order, thread, profile, signed, clock.elapsed() - start);
  return checked === undefined ? publishNow() : checked.then(publishNow);
}

/** @param verifyMs undefined: it was not verified */
function publishOutput(
  order: ReleaseOrder,
  thread: JobThread,
  { form }: ThreadProfile,
  signed: string,
  verifyMs: number | undefined,
): PoolResults['release'] {
  const { setup, clock, faults } = thread;
  const start = clock.elapsed();
  const envelope = form.encrypted ? seal(signed, thread) : undefined;
  const encryptMs = clock.elapsed() - start;
  const [wanted, beside] = outputNames(order.fileName, order.jobId, order.format, form);
  const names = order.collision === 'suffix' ? [wanted, beside] : [wanted];
  const folder = join(setup.output, order.subfolder);
  if (order.subfolder !== '') makeDirectories(folder, 0o750);
  const name = publish(envelope?.path ?? signed, folder, names);
  faults.atSync('pool.release.linked', order.fileName);
  return {
    outputFileName: join(order.subfolder, name),
    verified: verifyMs !== undefined,
    ...(envelope && { encrypted: { sha256: envelope.sha256, length: envelope.length } }),
    times: {
      ...(verifyMs !== undefined && { verify: verifyMs }),
      ...(envelope && { encrypt: encryptMs }),
      output: clock.elapsed() - start,
    },
  };
}

/** The cleartext stays in the working folder. */
function seal(signed: string, { setup: { encryptionKey }, ids }: JobThread): ReturnType<typeof sealed> {
  if (!encryptionKey) throw new TaskFailure('encryption.no-key', 'There is no key to encrypt outputs with.');
  return sealed(signed, encryptionKey, () => ids.bytes(ENVELOPE_NONCE_BYTES));
}
