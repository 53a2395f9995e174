/**
 * The pool's side of the wire: one task after the other, synchronously. System calls made one by one in two
 * threads beat the same calls spread over libuv's threads (runtime facts §0 row 12). Only what waits for authorities,
 * or goes through full validation, is asynchronous.
 */
import { mkdirSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { threadId, workerData } from 'node:worker_threads';
import {
  ENVELOPE_NONCE_BYTES,
  type SignedFile,
  type SignFileRequest,
  signFile,
  signFileAtLevel,
} from '../../crypto/index.ts';
import { Faults, systemClock, systemIds } from '../../runtime/index.ts';
import '../faults.ts';
import '../portal/document-faults.ts';
import '../portal/request-faults.ts';
import { NAME_LIMIT, outputName, outputNames, possibleOutputNames, stagedName } from '../file-names.ts';
import { fileDigest } from '../files/digest.ts';
import { makeDirectories } from '../files/directories.ts';
import { publish } from '../files/publish.ts';
import { envelopePath, sealed } from '../files/seal.ts';
import { type Staged, stage } from '../files/stage.ts';
import { quarantine, removeOriginal } from '../files/tidy.ts';
import { WorkingFolders } from '../files/working-folders.ts';
import { describeTrouble } from './disk-trouble.ts';
import { isPortalTask, performPortal } from './portal/index.ts';
import type { WorkerSetup } from './setup.ts';
import { TaskFailure } from './task-failure.ts';
import type {
  PoolAnswer,
  PoolResults,
  PoolTask,
  QuarantineTask,
  ReleaseTask,
  SignTask,
  StageTask,
  TidyTask,
} from './tasks.ts';
import { verifyOutput } from './verify-output.ts';
import { type ThreadProfile, threadProfiles } from './worker-profiles.ts';

const setup = workerData as WorkerSetup;
const faults = Faults.parse(setup.faults);
const clock = systemClock;
const folders = new WorkingFolders(setup.processing, threadId);
const profiles = threadProfiles(setup);

function profileNamed(name: string): ThreadProfile {
  const profile = profiles.byName.get(name);
  if (!profile) throw new TaskFailure('profile.not-found', `No signing profile is called ${name}.`);
  return profile;
}

/** At level B done when this returns; above it, once the authorities have answered. */
function sign(task: SignTask): PoolResults['sign'] | Promise<PoolResults['sign']> {
  const folder = folders.open(task.jobId);
  const readAt = clock.now();
  const start = clock.elapsed();
  const staged = stage(task.originalPath, folder, task.fileName);
  const stageMs = clock.elapsed() - start;
  faults.atSync('pool.sign.staged', task.fileName);
  const profile = profileNamed(task.profile);
  refuseLongNames(task, profile);
  const request = signingRequest(task, profile, staged.path, join(folder, outputName(task.fileName)));
  if ((request.level ?? 'B') === 'B') return { ...signedResult(signFile(request), staged, readAt), stageMs };
  return signFileAtLevel(request, profile.services).then((file) => ({
    ...signedResult(file, staged, readAt),
    stageMs,
  }));
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

function signedResult(
  file: SignedFile,
  { mtimeMs, inode }: Staged,
  readAt: number,
): Omit<PoolResults['sign'], 'stageMs'> {
  faults.atSync('pool.sign.signed');
  const { sha256, length } = file.input;
  return { input: { sha256, length, mtimeMs, inode, readAt }, signed: file.output };
}

/** The staged bytes are hashed and synced: the portal may take days, and what it signs is compared with them. */
function stageOnly(task: StageTask): PoolResults['stage'] {
  const folder = folders.open(task.jobId);
  const readAt = clock.now();
  const { path, mtimeMs, inode } = stage(task.originalPath, folder, task.fileName);
  const sha256 = fileDigest(path);
  const length = statSync(path).size;
  if (length === 0) throw new TaskFailure('input.empty', 'The file to sign is empty.');
  return { input: { sha256, length, mtimeMs, inode, readAt }, path };
}

/** Verify, then encrypt when the profile says so, then publish. */
function release(task: ReleaseTask): PoolResults['release'] | Promise<PoolResults['release']> {
  const profile = profileNamed(task.profile);
  const folder = folders.pathOf(task.jobId);
  const signed = join(folder, outputName(task.fileName));
  if (!profile.verify) return publishOutput(task, profile, signed, undefined);
  const start = clock.elapsed();
  const checked = verifyOutput({
    format: task.format,
    path: signed,
    stagedPath: join(folder, stagedName(task.fileName)),
    content: task.content,
    profile,
    trust: profiles.trust,
    remote: task.remote,
    at: task.at,
  });
  const publishNow = () => publishOutput(task, profile, signed, clock.elapsed() - start);
  return checked === undefined ? publishNow() : checked.then(publishNow);
}

/** @param verifyMs undefined: it was not verified */
function publishOutput(
  task: ReleaseTask,
  { form }: ThreadProfile,
  signed: string,
  verifyMs: number | undefined,
): PoolResults['release'] {
  const start = clock.elapsed();
  const envelope = form.encrypted ? seal(signed) : undefined;
  const encryptMs = clock.elapsed() - start;
  const [wanted, beside] = outputNames(task.fileName, task.jobId, task.format, form);
  const names = task.collision === 'suffix' ? [wanted, beside] : [wanted];
  const folder = join(setup.output, task.subfolder);
  if (task.subfolder !== '') makeDirectories(folder, 0o750);
  const name = publish(envelope?.path ?? signed, folder, names);
  faults.atSync('pool.release.linked', task.fileName);
  return {
    outputFileName: join(task.subfolder, name),
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
function seal(signed: string): ReturnType<typeof sealed> {
  const { encryptionKey } = setup;
  if (!encryptionKey) throw new TaskFailure('encryption.no-key', 'There is no key to encrypt outputs with.');
  return sealed(signed, encryptionKey, () => systemIds.bytes(ENVELOPE_NONCE_BYTES));
}

function tidy(task: TidyTask): PoolResults['tidy'] {
  const outcome = task.input ? removeOriginal(task.originalPath, task.input) : 'gone';
  faults.atSync('pool.tidy.removed', task.fileName);
  folders.close(task.jobId);
  return { diverged: outcome === 'diverged' };
}

function putAside(task: QuarantineTask): PoolResults['quarantine'] {
  mkdirSync(setup.error, { recursive: true, mode: 0o750 });
  quarantine(
    folders.pathOf(task.jobId),
    join(setup.error, task.jobId),
    task.mayBePublished
      ? {
          output: join(setup.output, task.subfolder),
          names: possibleOutputNames(task.fileName, task.jobId),
          signedNames: [outputName(task.fileName), basename(envelopePath(folders.pathOf(task.jobId)))],
        }
      : null,
  );
  faults.atSync('pool.quarantine.moved', task.fileName);
  return {};
}

type Result = PoolResults[keyof PoolResults];

function perform(task: PoolTask): Result | Promise<Result> {
  if (isPortalTask(task)) return performPortal(task, { profiles, clock, faults });
  switch (task.task) {
    case 'sign':
      return sign(task);
    case 'stage':
      return stageOnly(task);
    case 'release':
      return release(task);
    case 'tidy':
      return tidy(task);
    case 'quarantine':
      return putAside(task);
  }
}

function answer(task: PoolTask): PoolAnswer | Promise<PoolAnswer> {
  const start = clock.elapsed();
  const good = (result: Result): PoolAnswer => ({ ok: true, result, ms: clock.elapsed() - start });
  const bad = (error: unknown): PoolAnswer => ({
    ok: false,
    ...describeTrouble(error),
    ms: clock.elapsed() - start,
  });
  try {
    const result = perform(task);
    return result instanceof Promise ? result.then(good, bad) : good(result);
  } catch (error) {
    return bad(error);
  }
}

/**
 * The entry Piscina calls: a batch of tasks, answered in their order. Tasks that wait for authorities do so side by
 * side; where none does, the answer is there at once.
 */
export function run(tasks: readonly PoolTask[]): readonly PoolAnswer[] | Promise<readonly PoolAnswer[]> {
  const answers = tasks.map(answer);
  const ready = answers.filter((one): one is PoolAnswer => !(one instanceof Promise));
  return ready.length === answers.length ? ready : Promise.all(answers);
}
