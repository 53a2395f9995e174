/**
 * Stage and sign in the working folder; a small file is verified and published in the same piece of work.
 *
 * What stands between the two is the sync of the signed file, which is waiting and no work: the thread goes on with the
 * other files of its batch meanwhile, and their syncs share the file system's commits.
 */
import { join } from 'node:path';
import { type SignedFile, type SignFileRequest, signFile, signFileAtLevel } from '../../../crypto/index.ts';
import { NAME_LIMIT, outputName, outputNames } from '../../file-names.ts';
import { type Staged, stage } from '../../files/stage.ts';
import { takeBack } from '../../files/tidy.ts';
import { describeTrouble } from '../disk-trouble.ts';
import { TaskFailure } from '../task-failure.ts';
import type { PoolResults, SignTask } from '../tasks.ts';
import type { ThreadProfile } from '../worker-profiles.ts';
import { maybePublished } from './put-aside.ts';
import { release } from './release.ts';
import { type JobThread, profileNamed } from './thread.ts';

type Signed = PoolResults['sign'];

/** Bytes of a signed file up to which others of its batch may wait for it to be released. */
const SMALL = 1 << 20;

/** At level B of a large file done when this returns; else once the disk, or the authorities, have answered. */
export function sign(task: SignTask, thread: JobThread): Signed | Promise<Signed> {
  const { folders, clock, faults, setup } = thread;
  // An earlier try may have published before its thread was lost, and its working folder is what proves that.
  const folder = folders.open(task.jobId, (left) => takeBack(left, maybePublished(task, left, setup)));
  const readAt = clock.now();
  const start = clock.elapsed();
  const staged = stage(task.originalPath, folder, task.fileName);
  const stageMs = clock.elapsed() - start;
  faults.atSync('pool.sign.staged', task.fileName);
  const profile = profileNamed(thread, task.profile);
  refuseLongNames(task, profile);
  const request = signingRequest(task, profile, staged.path, join(folder, outputName(task.fileName)));
  const answer = (file: SignedFile): Signed => {
    faults.atSync('pool.sign.signed', task.fileName);
    const signMs = clock.elapsed() - start;
    return { ...digests(file, staged, readAt), stageMs, signMs, workMs: signMs };
  };
  if ((request.level ?? 'B') !== 'B') return signFileAtLevel(request, profile.services).then(answer);
  const signed = answer(signFile(request));
  return signed.signed.length > SMALL ? signed : andRelease(task, thread, request.output, signed);
}

async function andRelease(
  task: SignTask,
  thread: JobThread,
  output: string,
  signed: Signed,
): Promise<Signed> {
  const { disk, clock } = thread;
  await disk.file(output);
  const start = clock.elapsed();
  const { sha256, length } = signed.input;
  const order = { ...task, remote: false, content: { sha256, length }, at: clock.now() };
  try {
    const result = await release(order, thread);
    return { ...signed, release: { ok: true, result }, workMs: signed.signMs + clock.elapsed() - start };
  } catch (error) {
    return { ...signed, release: { ok: false, ...describeTrouble(error) } };
  }
}

function refuseLongNames({ fileName, jobId, format }: SignTask, { form }: ThreadProfile): void {
  const [wanted] = outputNames(fileName, jobId, format, form);
  const bytes = Math.max(Buffer.byteLength(outputName(fileName)), Buffer.byteLength(wanted));
  if (bytes <= NAME_LIMIT) return;
  throw new TaskFailure(
    'output.name-too-long',
    `The signed file would be called ${bytes} bytes long; the file system takes ${NAME_LIMIT}. Give the input a shorter name.`,
  );
}

function signingRequest(
  { format, profile: name, at }: SignTask,
  { signer, choices, form }: ThreadProfile,
  input: string,
  output: string,
): SignFileRequest {
  if (!signer) throw new TaskFailure('profile.not-found', `The profile ${name} has no certificate here.`);
  const { timestamp: _, pades, xades, ...parameters } = choices;
  return {
    ...parameters,
    format,
    input,
    output,
    signer,
    at,
    sync: false,
    ...(format === 'Pades' && pades && { pades }),
    ...(format === 'Xades' && xades && { xades }),
    ...(format === 'Cades' && {
      cades: { detached: form.detached, armor: form.saveAsPem ? 'pem' : 'der' } as const,
    }),
  };
}

function digests(
  { input: { sha256, length }, output }: SignedFile,
  { mtimeMs, inode }: Staged,
  readAt: number,
): Pick<Signed, 'input' | 'signed'> {
  return { input: { sha256, length, mtimeMs, inode, readAt }, signed: output };
}
