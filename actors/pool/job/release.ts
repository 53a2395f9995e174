/** Verifies a signed file, encrypts it when the profile requires it, and publishes it. */
import { dirname, join } from 'node:path';
import { NONCE_BYTES } from '@sealwright/signatures';
import type { IndependentOutcome } from '../../../machines/batch/job-context.ts';
import { inFolder, makeDirectories } from '../../shared/files/directories.ts';
import { encryptOutput } from '../../shared/files/encrypt-output.ts';
import {
  type OutputFormat,
  outputName,
  outputNames,
  PLAIN_FORM,
  shortFileName,
} from '../../shared/files/output-names.ts';
import { publish } from '../../shared/files/publish.ts';
import { coSignedForm } from '../co-sign.ts';
import { checkIndependently } from '../independent-check.ts';
import { revocationSource } from '../portal/revocation-answers.ts';
import { assertQualified } from '../qualification-check.ts';
import { TaskFailure } from '../task-failure.ts';
import type { PoolResults, ReleaseTask } from '../tasks.ts';
import { type OutputCheck, verifyOutput } from '../verify-output.ts';
import type { WorkerProfileRuntime } from '../worker-profiles.ts';
import { type JobTaskContext, profileNamed } from './job-task-context.ts';
import { profileOfUpload } from './signing-request.ts';

/** Data of a job needed for its release. */
type ReleaseRequest = Omit<ReleaseTask, 'task'>;

/** Verifies, encrypts when the profile requires it, and publishes the output. */
export function release(
  order: ReleaseRequest,
  thread: JobTaskContext,
): PoolResults['release'] | Promise<PoolResults['release']> {
  const { profiles, folders, clock } = thread;
  const profile = profileOfUpload(profileNamed(thread, order.profile), order.parameters);
  const folder = folders.pathOf(order.jobId);
  const signed = inFolder(folder, outputName(order.fileName));
  if (!profile.verify) return publishOutput(order, thread, { profile, signed, verifyMs: undefined });
  const start = clock.elapsed();
  const check: OutputCheck = {
    format: order.format,
    path: signed,
    stagedPath: inFolder(folder, shortFileName(order.fileName)),
    content: order.content,
    fileName: order.fileName,
    profile,
    trust: profiles.trust,
    remote: order.remote,
    at: order.at,
    ...(order.files && { files: order.files }),
    ...(order.operation && { operation: order.operation }),
    ...passwordFor(order, profile),
  };
  const verified = verifyOutput(check);
  const checked =
    profile.demand === undefined
      ? verified
      : Promise.resolve(verified).then(() => assertQualified(check, profiles, revocationSource(thread)));
  const publishNow = (independent?: IndependentOutcome) =>
    publishOutput(order, thread, { profile, signed, verifyMs: clock.elapsed() - start, independent });
  if (profile.verifyIndependently)
    return Promise.resolve(checked)
      .then(() => checkIndependently(check))
      .then(publishNow);
  return checked === undefined ? publishNow() : checked.then(() => publishNow());
}

function publishOutput(
  order: ReleaseRequest,
  thread: JobTaskContext,
  {
    profile,
    signed,
    verifyMs,
    independent,
  }: {
    readonly profile: WorkerProfileRuntime;
    readonly signed: string;
    /** Undefined: not verified. */
    readonly verifyMs: number | undefined;
    readonly independent?: IndependentOutcome | undefined;
  },
): PoolResults['release'] {
  const { setup, clock, faults } = thread;
  const form = formOfOutput(profile, order, inFolder(dirname(signed), shortFileName(order.fileName)));
  const start = clock.elapsed();
  const envelope = form.encrypted ? encryptSigned(signed, thread) : undefined;
  const encryptMs = clock.elapsed() - start;
  const all = outputNames(order.fileName, order.jobId, order.format, form);
  const [wanted] = all;
  const names = order.collision === 'suffix' ? all : [wanted];
  const path = envelope?.path ?? signed;
  const isElsewhere = setup.publishesElsewhere === true;
  const name = isElsewhere ? wanted : publishHere(path, names, order, setup.output);
  if (!isElsewhere) faults.atSync('pool.release.linked', order.fileName);
  const outputMs = clock.elapsed() - start;
  return {
    outputFileName: order.subfolder === '' ? name : join(order.subfolder, name),
    verified: verifyMs !== undefined,
    times: {
      output: outputMs,
      ...(verifyMs !== undefined && { verify: verifyMs }),
      ...(envelope && { encrypt: encryptMs }),
    },
    ...(isElsewhere && { unpublished: { path, names } }),
    ...(independent && { independent }),
    ...(envelope && { encrypted: { sha256: envelope.sha256, length: envelope.length } }),
  };
}

function publishHere(
  path: string,
  names: readonly string[],
  { subfolder }: Pick<ReleaseTask, 'subfolder'>,
  output: string,
): string {
  if (subfolder === '') return publish(path, output, names);
  const folder = join(output, subfolder);
  makeDirectories(folder, 0o750);
  return publish(path, folder, names);
}

/** The password of the upload or, without one, of the profile. */
function passwordFor(
  { password: own }: Pick<ReleaseTask, 'password'>,
  { choices }: WorkerProfileRuntime,
): { readonly password?: string } {
  const password = own ?? choices.password;
  return password === undefined ? {} : { password };
}

/** The format of a profile's outputs; a file that was signed already keeps its own. */
export function formOfOutput(
  profile: WorkerProfileRuntime,
  task: Pick<ReleaseTask, 'operation' | 'format' | 'files'>,
  staged: string,
): OutputFormat {
  const { form } = profile;
  const { operation } = task;
  if (operation === undefined && coSignedForm(staged, task, profile) !== undefined)
    return { ...PLAIN_FORM, encrypted: form.encrypted };
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
