/**
 * Stages and signs in the working folder; verifies and publishes a small file in the same task.
 *
 * Waits for the sync of the signed file between signing and release. The thread processes the other files of its batch
 * meanwhile, and their syncs share commits of the file system.
 *
 * Signs the files of a job into an ASiC container. Source: docs/batch-values.md §6.1, `Container`.
 */
import { statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import {
  NONCE_BYTES,
  type SignedFile,
  type SignFileRequest,
  type SigningServices,
  signAsic,
  signFile,
  signFileAtLevel,
} from '@sealwright/signatures';
import type { IndependentOutcome } from '../../../machines/batch/job-context.ts';
import {
  bytesOfOutputName,
  NAME_LIMIT,
  type OutputFormat,
  outputName,
  outputNames,
  PLAIN_FORM,
  shortFileName,
} from '../../shared/file-names.ts';
import { fileDigest } from '../../shared/files/digest.ts';
import { emptyFolder, inFolder, makeDirectories } from '../../shared/files/directories.ts';
import { encryptOutput } from '../../shared/files/encrypt-output.ts';
import { publish } from '../../shared/files/publish.ts';
import { type Staged, stage } from '../../shared/files/stage.ts';
import { withdrawOutput } from '../../shared/files/tidy.ts';
import { coSign, coSignedForm } from '../co-sign.ts';
import { describeDiskError, INPUT_BUSY, isMomentary, isStorageCode } from '../disk-errors.ts';
import { extend } from '../extend.ts';
import { checkIndependently } from '../independent-check.ts';
import { withoutPaths } from '../pool-failures.ts';
import { TaskFailure } from '../task-failure.ts';
import type { PoolResults, ReleaseTask, SignTask } from '../tasks.ts';
import { type OutputCheck, verifyOutput } from '../verify-output.ts';
import type { WorkerProfileRuntime } from '../worker-profiles.ts';
import { type JobTaskContext, leaseHeld, profileNamed } from './job-task-context.ts';
import { type OriginalWatch, watchOriginal } from './original-watch.ts';
import { possibleOutput } from './quarantine.ts';
import { profileOfUpload, signingRequest } from './signing-request.ts';

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
  const checked = verifyOutput(check);
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
function formOfOutput(
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

/** @throws {CryptoError} those of `signAsic`; {TaskFailure} `request.invalid` for the format Pades */
async function signIntoContainer(
  { fileName, files }: Pick<SignTask, 'fileName' | 'files'>,
  request: SignFileRequest,
  kind: 'S' | 'E',
  services: SigningServices,
): Promise<SignedFile> {
  const { format, input } = request;
  if (format === 'Pades')
    throw new TaskFailure('request.invalid', 'A container holds Cades or Xades signatures, not Pades.');
  const inputs = files === undefined ? [{ path: input, name: fileName }] : rangesOf(input, files);
  const made = await signAsic({ ...request, kind, format, inputs }, services);
  const [only] = made.inputs;
  return { input: files === undefined && only ? only : fingerprintOf(input), output: made.output };
}

function rangesOf(path: string, files: NonNullable<SignTask['files']>) {
  let start = 0;
  return files.map(({ name, length }) => {
    const range = { start, length };
    start += length;
    return { path, name, range };
  });
}

function fingerprintOf(path: string): SignedFile['input'] {
  const { size: length, mtimeMs, ino, dev } = statSync(path);
  return { sha256: fileDigest(path), length, mtimeMs, inode: `${dev}:${ino}` };
}

type Signed = PoolResults['sign'];

/** Maximum size of a signed file that is released in the signing task: the others of its batch wait for it. */
const MAX_INLINE_BYTES = 1 << 20;

/** Synchronous at level B for a large file; otherwise resolves after the disk or the authorities have answered. */
export function sign(task: SignTask, thread: JobTaskContext): Signed | Promise<Signed> {
  const { folders, setup } = thread;
  // An earlier attempt may have published before its thread was lost; its working folder proves it.
  const folder = folders.open(task.jobId, (left) => withdrawOutput(left, possibleOutput(task, left, setup)));
  // Nothing is published yet. Removes the partial file: the store needs the space on a full disk.
  const discard = (error: unknown): never => {
    if (isStorageCode(describeDiskError(error).code)) emptyFolder(folder);
    throw error;
  };
  try {
    // After the folder is there: a node that takes the job over from now on moves it, and nothing is published.
    const held = leaseHeld(thread);
    const signed = held?.then(() => stageAndSign(task, thread, folder)) ?? stageAndSign(task, thread, folder);
    return signed instanceof Promise ? signed.catch(discard) : signed;
  } catch (error) {
    return discard(error);
  }
}

function stageInput({ originalPath, fileName }: SignTask, folder: string): Staged {
  try {
    return stage(originalPath, folder, fileName);
  } catch (error) {
    if (!isMomentary(error, originalPath)) throw error;
    throw new TaskFailure(INPUT_BUSY, describeDiskError(error).message);
  }
}

function stageAndSign(task: SignTask, thread: JobTaskContext, folder: string): Signed | Promise<Signed> {
  const { clock, faults } = thread;
  const readAt = clock.now();
  const start = clock.elapsed();
  const staged = stageInput(task, folder);
  const stageMs = clock.elapsed() - start;
  faults.atSync('pool.sign.staged', task.fileName);
  const watch = watchOriginal(task);
  const sign = () => signStaged(task, thread, { folder, staged, readAt, start, stageMs, watch });
  if (watch === undefined) return sign();
  const blame = (error: unknown): never => {
    throw watch.blame(error);
  };
  try {
    const signed = sign();
    return signed instanceof Promise ? signed.catch(blame) : signed;
  } catch (error) {
    return blame(error);
  }
}

/** An input in the working folder. */
interface StagedJob {
  readonly folder: string;
  readonly staged: Staged;
  readonly readAt: number;
  /** Monotonic time at which staging began. */
  readonly start: number;
  readonly stageMs: number;
  readonly watch: OriginalWatch | undefined;
}

function signStaged(
  task: SignTask,
  thread: JobTaskContext,
  { folder, staged, readAt, start, stageMs, watch }: StagedJob,
): Signed | Promise<Signed> {
  const { clock, faults } = thread;
  const profile = profileOfUpload(profileNamed(thread, task.profile), task.parameters);
  refuseLongNames(task, profile, staged.path);
  const request = signingRequest(task, profile, staged.path, inFolder(folder, outputName(task.fileName)));
  const answer = (file: SignedFile): Signed => {
    faults.atSync('pool.sign.signed', task.fileName);
    const signMs = clock.elapsed() - start;
    const { input, signed } = digests(file, staged, readAt);
    watch?.confirm(input);
    const { warnings } = file;
    return { input, signed, ...(warnings && { warnings }), stageMs, signMs, workMs: signMs };
  };
  if (task.operation === 'Extend') return extend(task, request, profile.services).then(answer);
  const signedAlready = coSignedForm(staged.path, task, profile);
  if (signedAlready !== undefined)
    return coSign(request, signedAlready, profile.services)
      .then(answer)
      .then((made) => releaseSmall(task, thread, request.output, made));
  const { container } = profile.form;
  if (container !== undefined) {
    const { level = 'B' } = request;
    const signed = signIntoContainer(task, request, container, profile.services).then(answer);
    return level === 'B' ? signed.then((made) => releaseSmall(task, thread, request.output, made)) : signed;
  }
  if ((request.level ?? 'B') !== 'B') return signFileAtLevel(request, profile.services).then(answer);
  const signed = answer(signFile(request));
  return releaseSmall(task, thread, request.output, signed);
}

function releaseSmall(
  task: SignTask,
  thread: JobTaskContext,
  output: string,
  signed: Signed,
): Signed | Promise<Signed> {
  return signed.signed.length > MAX_INLINE_BYTES ? signed : releaseSigned(task, thread, output, signed);
}

async function releaseSigned(
  task: SignTask,
  thread: JobTaskContext,
  output: string,
  signed: Signed,
): Promise<Signed> {
  const { disk, clock } = thread;
  // A copy that this disk may lose.
  if (thread.setup.publishesElsewhere !== true) await disk.file(output);
  const start = clock.elapsed();
  const { sha256, length } = signed.input;
  const order = { remote: false, content: { sha256, length }, ...task, at: clock.now() };
  try {
    const result = await release(order, thread);
    return { release: { ok: true, result }, ...signed, workMs: signed.signMs + clock.elapsed() - start };
  } catch (error) {
    const { code, message } = describeDiskError(error, [thread.setup.processing, thread.setup.output]);
    return {
      ...signed,
      release: { ok: false, code, message: withoutPaths(message, task, thread.folders.pathOf(task.jobId)) },
    };
  }
}

function refuseLongNames(task: SignTask, profile: WorkerProfileRuntime, staged: string): void {
  const bytes = bytesOfOutputName(task.fileName, task.format, formOfOutput(profile, task, staged));
  if (bytes <= NAME_LIMIT) return;
  throw new TaskFailure(
    'output.name-too-long',
    `The signed file would be called ${bytes} bytes long; the file system takes ${NAME_LIMIT}. Give the input a shorter name.`,
  );
}

function digests(
  { input: { sha256, length }, output }: SignedFile,
  { mtimeMs, inode }: Staged,
  readAt: number,
): Pick<Signed, 'input' | 'signed'> {
  return { input: { sha256, length, mtimeMs, inode, readAt }, signed: output };
}
