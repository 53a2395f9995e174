/**
 * The pool's side of the wire: one task after the other, synchronously. System calls made one by one in two
 * threads beat the same calls spread over libuv's threads (runtime facts §0 row 12).
 */
import { mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { threadId, workerData } from 'node:worker_threads';
import { deserializeSigner, type Signer, signFile, verifyFile } from '../../crypto/index.ts';
import { describeFailure, Faults, systemClock } from '../../runtime/index.ts';
import '../faults.ts';
import { NAME_LIMIT, outputName, outputNames } from '../file-names.ts';
import { fileDigest } from '../files/digest.ts';
import { publish } from '../files/publish.ts';
import { stage } from '../files/stage.ts';
import { quarantine, removeOriginal } from '../files/tidy.ts';
import { WorkingFolders } from '../files/working-folders.ts';
import type { WorkerSetup } from './setup.ts';
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

const setup = workerData as WorkerSetup;
const faults = Faults.parse(setup.faults);
const clock = systemClock;
const folders = new WorkingFolders(setup.processing, threadId);

interface Profile {
  readonly signer: Signer | undefined;
  readonly anchors: readonly Buffer[];
}

const profiles: ReadonlyMap<string, Profile> = new Map(
  setup.profiles.map((profile) => [
    profile.name,
    {
      signer: profile.signer && deserializeSigner(profile.signer),
      anchors: profile.anchors.map((der) => Buffer.from(der)),
    },
  ]),
);

/** A failure with a code, thrown inside a task and sent as data. */
class TaskFailure extends Error {
  readonly code: string;
  constructor(code: string, message: string) {
    super(message);
    this.name = 'TaskFailure';
    this.code = code;
  }
}

function profileNamed(name: string): Profile {
  const profile = profiles.get(name);
  if (!profile) throw new TaskFailure('profile.not-found', `No signing profile is called ${name}.`);
  return profile;
}

function sign(task: SignTask): PoolResults['sign'] {
  const folder = folders.open(task.jobId);
  const readAt = clock.now();
  const staged = stage(task.originalPath, folder, task.fileName);
  faults.atSync('pool.sign.staged');
  const name = outputName(task.fileName);
  if (Buffer.byteLength(name) > NAME_LIMIT) {
    throw new TaskFailure(
      'output.name-too-long',
      `The signed file would be called ${Buffer.byteLength(name)} bytes long; the file system takes ${NAME_LIMIT}. Give the input a shorter name.`,
    );
  }
  const { signer } = profileNamed(task.profile);
  if (!signer)
    throw new TaskFailure('profile.not-found', `The profile ${task.profile} has no certificate here.`);
  const file = signFile({
    format: task.format,
    input: staged.path,
    output: join(folder, name),
    signer,
    at: task.at,
    sync: false,
  });
  faults.atSync('pool.sign.signed');
  const { sha256, length } = file.input;
  const { mtimeMs, inode } = staged;
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

function release(task: ReleaseTask): PoolResults['release'] {
  const [wanted, beside] = outputNames(task.fileName, task.jobId);
  const signed = join(folders.pathOf(task.jobId), wanted);
  verify(task, signed);
  const names = task.collision === 'suffix' ? [wanted, beside] : [wanted];
  const outputFileName = publish(signed, setup.output, names);
  faults.atSync('pool.release.linked');
  return { outputFileName };
}

/** @throws {TaskFailure} `verification.failed`, naming every check that missed */
function verify(task: ReleaseTask, path: string): void {
  const { signer, anchors } = profileNamed(task.profile);
  const report = verifyFile({
    format: task.format,
    path,
    ...(signer && !task.remote && { signer: signer.fingerprint }),
    at: task.at,
    ...(task.content && !task.remote && { content: task.content }),
    ...(anchors.length > 0 && { anchors }),
  });
  if (report.ok) return;
  const misses = report.checks.filter((check) => !check.ok).map((check) => `${check.name}: ${check.detail}`);
  throw new TaskFailure('verification.failed', `Verification failed. ${misses.join('; ')}`);
}

function tidy(task: TidyTask): PoolResults['tidy'] {
  const outcome = task.input ? removeOriginal(task.originalPath, task.input) : 'gone';
  faults.atSync('pool.tidy.removed');
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
          output: setup.output,
          names: outputNames(task.fileName, task.jobId),
          signedName: outputName(task.fileName),
        }
      : null,
  );
  faults.atSync('pool.quarantine.moved');
  return {};
}

function perform(task: PoolTask): PoolResults[keyof PoolResults] {
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

function answer(task: PoolTask): PoolAnswer {
  const start = clock.elapsed();
  try {
    return { ok: true, result: perform(task), ms: clock.elapsed() - start };
  } catch (error) {
    return { ok: false, ...describeFailure(error), ms: clock.elapsed() - start };
  }
}

/** The entry Piscina calls: a batch of tasks, answered in their order. */
export function run(tasks: readonly PoolTask[]): readonly PoolAnswer[] {
  return tasks.map(answer);
}
