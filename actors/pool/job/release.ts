/** Verifies, encrypts when the profile requires it, and publishes the output. */
import { join } from 'node:path';
import { NONCE_BYTES } from '@sealwright/signatures';
import type { IndependentOutcome } from '../../../machines/batch/job-context.ts';
import {
  type OutputFormat,
  outputName,
  outputNames,
  PLAIN_FORM,
  shortFileName,
} from '../../shared/file-names.ts';
import { makeDirectories } from '../../shared/files/directories.ts';
import { encryptOutput } from '../../shared/files/encrypt-output.ts';
import { publish } from '../../shared/files/publish.ts';
import { checkIndependently } from '../independent-check.ts';
import { TaskFailure } from '../task-failure.ts';
import type { PoolResults, ReleaseTask } from '../tasks.ts';
import { type OutputCheck, verifyOutput } from '../verify-output.ts';
import type { WorkerProfileRuntime } from '../worker-profiles.ts';
import { type JobTaskContext, profileNamed } from './job-task-context.ts';

/** Data of a job needed for its release. */
export type ReleaseRequest = Omit<ReleaseTask, 'task'>;

export function release(
  order: ReleaseRequest,
  thread: JobTaskContext,
): PoolResults['release'] | Promise<PoolResults['release']> {
  const { profiles, folders, clock } = thread;
  const profile = profileNamed(thread, order.profile);
  const folder = folders.pathOf(order.jobId);
  const signed = join(folder, outputName(order.fileName));
  if (!profile.verify) return publishOutput(order, thread, profile, signed, undefined);
  const start = clock.elapsed();
  const check: OutputCheck = {
    format: order.format,
    path: signed,
    stagedPath: join(folder, shortFileName(order.fileName)),
    content: order.content,
    fileName: order.fileName,
    ...(order.files && { files: order.files }),
    ...(order.operation && { operation: order.operation }),
    ...passwordFor(order, profile),
    profile,
    trust: profiles.trust,
    remote: order.remote,
    at: order.at,
  };
  const checked = verifyOutput(check);
  const publishNow = (independent?: IndependentOutcome) =>
    publishOutput(order, thread, profile, signed, clock.elapsed() - start, independent);
  if (profile.verifyIndependently)
    return Promise.resolve(checked)
      .then(() => checkIndependently(check))
      .then(publishNow);
  return checked === undefined ? publishNow() : checked.then(() => publishNow());
}

/** @param verifyMs undefined: not verified */
function publishOutput(
  order: ReleaseRequest,
  thread: JobTaskContext,
  profile: WorkerProfileRuntime,
  signed: string,
  verifyMs: number | undefined,
  independent?: IndependentOutcome,
): PoolResults['release'] {
  const { setup, clock, faults } = thread;
  const form = formOfOutput(profile, order);
  const start = clock.elapsed();
  const envelope = form.encrypted ? encryptSigned(signed, thread) : undefined;
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
    ...(independent && { independent }),
    ...(envelope && { encrypted: { sha256: envelope.sha256, length: envelope.length } }),
    times: {
      ...(verifyMs !== undefined && { verify: verifyMs }),
      ...(envelope && { encrypt: encryptMs }),
      output: clock.elapsed() - start,
    },
  };
}

/** The password of the upload or, without one, of the profile. */
function passwordFor(
  { password: own }: Pick<ReleaseTask, 'password'>,
  { choices }: WorkerProfileRuntime,
): { readonly password?: string } {
  const password = own ?? choices.password;
  return password === undefined ? {} : { password };
}

/** The format of a profile's outputs; an extended file keeps its own. */
export function formOfOutput(
  { form }: Pick<WorkerProfileRuntime, 'form'>,
  { operation }: Pick<ReleaseTask, 'operation'>,
): OutputFormat {
  return operation === 'Extend' ? { ...PLAIN_FORM, encrypted: form.encrypted, extended: true } : form;
}

/** Encrypts the output; the cleartext stays in the working folder. */
function encryptSigned(
  signed: string,
  { setup: { encryptionKey }, ids }: JobTaskContext,
): ReturnType<typeof encryptOutput> {
  if (!encryptionKey) throw new TaskFailure('encryption.no-key', 'There is no key to encrypt outputs with.');
  return encryptOutput(signed, encryptionKey, () => ids.bytes(NONCE_BYTES));
}
