/**
 * The pool's side of the wire: one task after the other, synchronously. System calls made one by one in two
 * threads beat the same calls spread over libuv's threads (runtime facts §0 row 12). Only what waits for the disk or for
 * authorities, or goes through full validation, is asynchronous.
 */
import { getPriority, platform, setPriority } from 'node:os';
import { threadId, workerData } from 'node:worker_threads';
import { Faults, systemClock, systemIds } from '../../runtime/index.ts';
import '../faults.ts';
import '../portal/document-faults.ts';
import '../portal/request-faults.ts';
import { DiskSync } from '../disk-sync.ts';
import { WorkingFolders } from '../files/working-folders.ts';
import { describeTrouble } from './disk-trouble.ts';
import { performJob } from './job/index.ts';
import type { JobThread } from './job/thread.ts';
import { isPortalTask, performPortal } from './portal/index.ts';
import type { WorkerSetup } from './setup.ts';
import type { PoolAnswer, PoolResults, PoolTask } from './tasks.ts';
import { threadProfiles } from './worker-profiles.ts';

/** How nice, from 0 to 19: behind whoever answers people, before what has no hurry at all. */
const NICE = 5;
// Elsewhere this would be said of the whole process; here it is of this thread. A process that is nicer stays so.
if (platform() === 'linux' && getPriority() < NICE) setPriority(NICE);

const setup = workerData as WorkerSetup;
const faults = Faults.parse(setup.faults);
const clock = systemClock;
const profiles = threadProfiles(setup);
const portalThread = { profiles, clock, faults };
const jobThread: JobThread = {
  setup,
  profiles,
  folders: new WorkingFolders(setup.processing, threadId),
  disk: new DiskSync(),
  clock,
  ids: systemIds,
  faults,
};

type Result = PoolResults[keyof PoolResults];

function perform(task: PoolTask): Result | Promise<Result> {
  return isPortalTask(task) ? performPortal(task, portalThread) : performJob(task, jobThread);
}

function answer(task: PoolTask): PoolAnswer | Promise<PoolAnswer> {
  const start = clock.elapsed();
  const good = (result: Result): PoolAnswer => ({
    ok: true,
    result,
    ms: 'workMs' in result ? result.workMs : clock.elapsed() - start,
  });
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
 * The entry Piscina calls: a batch of tasks, answered in their order. Tasks that wait for the disk or for authorities
 * do so side by side; where none does, the answer is there at once.
 */
export function run(tasks: readonly PoolTask[]): readonly PoolAnswer[] | Promise<readonly PoolAnswer[]> {
  const answers = tasks.map(answer);
  const ready = answers.filter((one): one is PoolAnswer => !(one instanceof Promise));
  return ready.length === answers.length ? ready : Promise.all(answers);
}
