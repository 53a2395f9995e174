/**
 * Entry module of a pool thread. Performs one task after the other, synchronously: two threads that make their system
 * calls themselves are faster than the same calls on libuv's threads. Only syncs, requests to authorities and full
 * validation are asynchronous.
 *
 * Validates a signed file and writes its report (ETSI TS 119 102-2).
 */
import '../../shared/failures/batch-fault-points.ts';
import '../../shared/failures/document-fault-points.ts';
import '../../shared/failures/request-fault-points.ts';
import { getPriority, platform, setPriority } from 'node:os';
import { threadId, workerData } from 'node:worker_threads';
import {
  Faults,
  LeaseDeadline,
  machineTime,
  systemClock,
  systemIds,
  threadClock,
} from '@sealwright/runtime/core';
import { certificatesInBundle, validateFile, validationReportXml } from '@sealwright/signatures';
import { fileDigest, filesDigests } from '../../shared/files/digest.ts';
import { DiskSync } from '../../shared/files/disk-sync.ts';
import { WorkingFolders } from '../../shared/files/working-folders.ts';
import { describeDiskError } from '../disk-errors.ts';
import { HeartbeatCell } from '../heartbeat-cell.ts';
import { performJob } from '../job/index.ts';
import type { JobTaskContext } from '../job/job-task-context.ts';
import { withoutPaths } from '../pool-failures.ts';
import { isPortalTask, performPortal } from '../portal/index.ts';
import type { PortalTaskContext } from '../portal/portal-task-context.ts';
import { revocationSource } from '../portal/revocation-answers.ts';
import { signedFormat } from '../portal/signed-format.ts';
import { TaskFailure } from '../task-failure.ts';
import type { PoolReply, PoolResults, PoolTask, ValidateResult, ValidateTask } from '../tasks.ts';
import { warmUp } from '../warm-up.ts';
import { createWorkerProfiles } from '../worker-profiles.ts';
import type { ThreadData } from '../worker-setup.ts';

/**
 * Trusts `Signing:Trust:Roots` and the anchors of all profiles.
 * @throws {TaskFailure} `upload.format-unsupported` for a file of no supported format; {CryptoError} of the parser
 */
async function validate(
  { path, fileName, files, format: wanted, at, password, certificates }: ValidateTask,
  thread: PortalTaskContext,
): Promise<ValidateResult> {
  const format = wanted ?? signedFormat(path, null);
  if (format === undefined)
    throw new TaskFailure(
      'upload.format-unsupported',
      'The file is no PDF, XML, CMS or container file. Send the signed file, or name its format.',
    );
  const { roots, intermediates, revocation } = thread.profiles.trust;
  const anchors = [...thread.profiles.byName.values()].flatMap((profile) => profile.anchors);
  const online = revocationSource(thread);
  const report = await validateFile({
    format,
    path,
    ...(files !== undefined && { files }),
    ...(password !== undefined && { password }),
    ...(certificates !== undefined && { certificates: certificatesInBundle(Buffer.from(certificates)) }),
    trust: {
      anchors: [...roots, ...anchors],
      intermediates,
      revocation,
      lists: thread.profiles.lists?.(),
      ...(online !== undefined && { online }),
    },
    at,
  });
  const [signed, ...contents] = files === undefined ? [] : filesDigests(path, files);
  const sha256 = signed?.sha256 ?? fileDigest(path);
  return { report, xml: validationReportXml(report, { name: fileName, sha256, at, contents }) };
}

/** Interval between two heartbeats of a thread whose tasks wait, milliseconds. */
const HEARTBEAT_MS = 1000;

/** Nice value, 0 to 19: below the threads that answer requests, above background work. */
const NICE_VALUE = 5;
// Linux has a priority for each thread; other systems would change that of the process. A lower priority is kept.
if (platform() === 'linux' && getPriority() < NICE_VALUE) setPriority(NICE_VALUE);

const { setup, heartbeat: memory, isWarmedUp } = workerData as ThreadData;
const heartbeat = new HeartbeatCell(memory);
const faults = Faults.parseDeclared(setup.faults);
const clock = setup.clock === undefined ? systemClock : threadClock(setup.clock);
const profiles = createWorkerProfiles(setup, clock);
const disk = new DiskSync();
const portalContext = { profiles, clock, faults, disk };
const jobContext: JobTaskContext = {
  lease: setup.lease && new LeaseDeadline(machineTime, setup.lease),
  setup,
  profiles,
  folders: new WorkingFolders(setup.processing, threadId, setup.allProcessing),
  disk,
  clock,
  ids: systemIds,
  faults,
};

/** Folders that jobs write to. */
const jobFolders = [setup.processing, setup.output];

type Result = PoolResults[keyof PoolResults];

function perform(task: PoolTask): Result | Promise<Result> {
  if (task.task === 'validate') return validate(task, portalContext);
  return isPortalTask(task) ? performPortal(task, portalContext) : performJob(task, jobContext);
}

function answer(task: PoolTask): PoolReply | Promise<PoolReply> {
  const start = clock.elapsed();
  heartbeat.beat(clock.now());
  const good = (result: Result): PoolReply => ({
    ok: true,
    result,
    ms: 'workMs' in result ? result.workMs : clock.elapsed() - start,
  });
  const bad = (error: unknown): PoolReply => {
    const isJob = task.task !== 'validate' && !isPortalTask(task);
    const { code, message } = describeDiskError(error, isJob ? jobFolders : []);
    const folder = isJob ? jobContext.folders.pathOf(task.jobId) : undefined;
    return { ok: false, code, message: withoutPaths(message, task, folder), ms: clock.elapsed() - start };
  };
  try {
    const result = perform(task);
    return result instanceof Promise ? result.then(good, bad) : good(result);
  } catch (error) {
    return bad(error);
  }
}

/**
 * Performs a batch of tasks, as Piscina calls it; the replies are in the order of the tasks. Tasks that wait for the disk
 * or for authorities do so concurrently; if none does, the result is synchronous. A batch without tasks resolves when
 * the thread is ready for the first one. Never rejects because of a task.
 */
export function run(tasks: readonly PoolTask[]): readonly PoolReply[] | Promise<readonly PoolReply[]> {
  if (tasks.length === 0 && isWarmedUp) return warmUp(setup, profiles).then(() => []);
  const answers = tasks.map(answer);
  const ready = answers.filter((one): one is PoolReply => !(one instanceof Promise));
  return ready.length === answers.length ? ready : withHeartbeat(Promise.all(answers));
}

/** Batches that wait for the disk or for authorities. */
let waiting = 0;

/** Keeps the heartbeat going while tasks wait, which shows that the thread itself does not hang. */
async function withHeartbeat<Value>(work: Promise<Value>): Promise<Value> {
  waiting += 1;
  if (waiting === 1) beat();
  return work.finally(() => {
    waiting -= 1;
  });
}

function beat(): void {
  if (waiting === 0) return;
  heartbeat.beat(clock.now());
  clock.after(HEARTBEAT_MS, beat);
}
