/**
 * The pool's side of the wire: one task after the other, synchronously. System calls made one by one in two
 * threads beat the same calls spread over libuv's threads (runtime facts §0 row 12). Only what waits for the disk or for
 * authorities, or goes through full validation, is asynchronous.
 */
import { getPriority, platform, setPriority } from 'node:os';
import { threadId, workerData } from 'node:worker_threads';
import { LeaseDeadline } from '../../../base/lease-deadline.ts';
import { Faults, machineTime, systemClock, systemIds } from '../../../runtime/clocks-and-failures.ts';
import '../../shared/faults.ts';
import '../../shared/document-faults.ts';
import '../../shared/request-faults.ts';
import { DiskSync } from '../../shared/disk-sync.ts';
import { WorkingFolders } from '../../shared/files/working-folders.ts';
import { describeDiskError } from '../disk-errors.ts';
import { HeartbeatCell } from '../heartbeat-cell.ts';
import { performJob } from '../job/index.ts';
import type { JobTaskContext } from '../job/job-task-context.ts';
import { isPortalTask, performPortal } from '../portal/index.ts';
import type { PoolReply, PoolResults, PoolTask } from '../tasks.ts';
import { warmUp } from '../warm-up.ts';
import { createWorkerProfiles } from '../worker-profiles.ts';
import type { ThreadData } from '../worker-setup.ts';
import { validate } from './validate.ts';

/** Milliseconds between two beats of a thread whose tasks wait. */
const BEAT_EVERY = 1000;

/** Nice value, 0 to 19: below the threads that answer requests, above background work. */
const PROCESS_PRIORITY = 5;
// Elsewhere this would be said of the whole process; here it is of this thread. A process that is nicer stays so.
if (platform() === 'linux' && getPriority() < PROCESS_PRIORITY) setPriority(PROCESS_PRIORITY);

const { setup, heartbeat: memory, isWarmedUp } = workerData as ThreadData;
const heartbeat = new HeartbeatCell(memory);
const faults = Faults.parse(setup.faults);
const clock = systemClock;
const profiles = createWorkerProfiles(setup);
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
const work = [setup.processing, setup.output];

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
  const bad = (error: unknown): PoolReply => ({
    ok: false,
    ...describeDiskError(error, isPortalTask(task) ? [] : work),
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
 * The entry Piscina calls: a batch of tasks, answered in their order. Tasks that wait for the disk or for authorities
 * do so side by side; where none does, the answer is there at once. A batch without tasks asks whether the thread is
 * ready for the first one.
 */
export function run(tasks: readonly PoolTask[]): readonly PoolReply[] | Promise<readonly PoolReply[]> {
  if (tasks.length === 0 && isWarmedUp) return warmUp(setup, profiles).then(() => []);
  const answers = tasks.map(answer);
  const ready = answers.filter((one): one is PoolReply => !(one instanceof Promise));
  return ready.length === answers.length ? ready : beating(Promise.all(answers));
}

/** Batches that wait for the disk or for authorities. */
let waiting = 0;

/** Beats while tasks wait, which shows that the thread itself does not hang. */
async function beating<Value>(work: Promise<Value>): Promise<Value> {
  waiting += 1;
  if (waiting === 1) beat();
  return work.finally(() => {
    waiting -= 1;
  });
}

function beat(): void {
  if (waiting === 0) return;
  heartbeat.beat(clock.now());
  clock.after(BEAT_EVERY, beat);
}
