/**
 * Stages and signs in the working folder; verifies and publishes a small file in the same task. Waits for the sync of the
 * signed file between signing and release: the thread processes the other files of its batch meanwhile, and their syncs
 * share commits of the file system.
 */
import { type SignedFile, signFile, signFileAtLevel } from '@sealwright/signatures';
import { emptyFolder, inFolder } from '../../shared/files/directories.ts';
import { bytesOfOutputName, NAME_LIMIT, outputName } from '../../shared/files/output-names.ts';
import { type Staged, stage } from '../../shared/files/stage.ts';
import { withdrawOutput } from '../../shared/files/tidy.ts';
import { coSign, coSignedForm } from '../co-sign.ts';
import { describeDiskError, INPUT_BUSY, isMomentary, isStorageCode } from '../disk-errors.ts';
import { extend } from '../extend.ts';
import { withoutPaths } from '../pool-failures.ts';
import { TaskFailure } from '../task-failure.ts';
import type { PoolResults, SignTask } from '../tasks.ts';
import type { WorkerProfileRuntime } from '../worker-profiles.ts';
import { signIntoContainer } from './container.ts';
import { type JobTaskContext, profileNamed, whileLeased } from './job-task-context.ts';
import { type OriginalWatch, watchOriginal } from './original-watch.ts';
import { possibleOutput } from './quarantine.ts';
import { formOfOutput, release } from './release.ts';
import { profileOfUpload, signingRequest } from './signing-request.ts';

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
    const signed = whileLeased(thread, () => stageAndSign(task, thread, folder));
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
  const { signer, level = 'B' } = request;
  if (level !== 'B') return signFileAtLevel(request, profile.services).then(answer);
  if (!('key' in signer))
    return signFileAtLevel(request)
      .then(answer)
      .then((made) => releaseSmall(task, thread, request.output, made));
  const signed = answer(signFile({ ...request, signer }));
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
    `The name of the signed file would have ${bytes} bytes; the file system takes at most ${NAME_LIMIT}. Give the input a shorter name.`,
  );
}

function digests(
  { input: { sha256, length }, output }: SignedFile,
  { mtimeMs, inode }: Staged,
  readAt: number,
): Pick<Signed, 'input' | 'signed'> {
  return { input: { sha256, length, mtimeMs, inode, readAt }, signed: output };
}
