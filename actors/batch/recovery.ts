/**
 * Startup recovery: fails jobs found in flight, renames uploads whose job was committed, moves the rest of interrupted
 * work to error/. Idempotent.
 *
 * Runs after the store is open and before any effect, watcher or worker. The outbox runs pending effects of earlier
 * steps afterwards (those of the failed jobs are dropped with them).
 *
 * Source: docs/batch-values.md §0, §7.
 */
import { mkdtemp, readdir, rename, rm, rmdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type ActorStore, describeFailure } from '@sealwright/runtime';
import { IN_FLIGHT_STATES } from '../../machines/batch/job-context.ts';
import type { SystemEventContext } from '../../machines/batch/system-event.ts';
import { type Millis, parseJobId } from '../../machines/ids.ts';
import { statIfPresent, syncDirectory } from '../shared/files/directories.ts';
import { move } from '../shared/files/move.ts';
import {
  pathKey,
  pathOfUpload,
  type StorageLayout,
  uploadName,
  VOLUME_FOLDER,
} from '../shared/files/storage-layout.ts';
import { SPARE_PREFIX } from '../shared/files/working-folders.ts';
import type { BatchRuntime } from './job-records/job-counts.ts';
import { jobIdOf } from './job-records/job-index.ts';
import { JOB } from './job-records/kinds.ts';
import { INPUT_COPIES_FOLDER } from './objects/bucket-originals.ts';
import { COPIES_FOLDER } from './objects/job-objects.ts';

type RecoveryRuntime = Pick<BatchRuntime, 'actors' | 'store' | 'counts' | 'log' | 'objects'>;

export interface RecoveryReport {
  /** Jobs in flight that were failed. */
  readonly failed: number;
  /** Uploads with a committed job, renamed to their final name. */
  readonly uploadsKept: number;
  /** Uploads without a job, removed; no client received an answer. */
  readonly uploadsDropped: number;
  /** Folders in processing/ without a job, moved to error/. */
  readonly orphans: number;
}

const BATCH_SIZE = 256;

export async function recover(runtime: RecoveryRuntime, layout: StorageLayout): Promise<RecoveryReport> {
  // First, while every job still owns the path of its input.
  const uploads = await settleUploads(runtime.store, layout);
  const failed = await failJobsInFlight(runtime);
  const orphans = await moveOrphans(runtime, layout);
  await runtime.store.flushed();
  return { failed, ...uploads, orphans };
}

async function failJobsInFlight({ store, actors, counts, log }: RecoveryRuntime): Promise<number> {
  let failed = 0;
  for (const profile of counts.profiles()) {
    for (const state of IN_FLIGHT_STATES) {
      const stuck = new Set<string>();
      for (;;) {
        const rows = await store.rows({
          view: 'jobs-by',
          prefix: [profile, state],
          limit: BATCH_SIZE + stuck.size,
        });
        const found = rows.map(jobIdOf).filter((id) => !stuck.has(id));
        if (found.length === 0) break;
        const ids: string[] = [];
        for (const id of found) {
          if (await isInterrupted(store, id)) ids.push(id);
          else stuck.add(id);
        }
        const outcomes = await Promise.all(ids.map((id) => actors.send(JOB, id, { type: 'RESTARTED' })));
        for (const [index, outcome] of outcomes.entries()) {
          const id = ids[index] ?? '';
          if (outcome.accepted) {
            failed += 1;
            log.warn('A job was in flight when the service stopped; it is marked Failed.', { JobId: id });
          } else {
            stuck.add(id);
            log.error('A job in flight could not be recovered.', { JobId: id, Reason: outcome.reason });
          }
        }
      }
    }
  }
  return failed;
}

/** True for a job in flight that no living node works on: where several nodes run, its effects were taken over. */
async function isInterrupted(store: ActorStore, id: string): Promise<boolean> {
  if (store.nodes === undefined || store.nodes.count === 1) return true;
  const effects = await store.pendingEffects({ kind: JOB.kind, id });
  return effects.some(({ isTakenOver }) => isTakenOver);
}

/** Age of an upload without a job that another node may still be receiving, milliseconds. */
const UPLOAD_MS = 60 * 60_000;

/** True for an upload that another node may still be receiving. */
async function mayArrive(store: ActorStore, layout: StorageLayout, path: string): Promise<boolean> {
  if (store.nodes === undefined || store.nodes.count === 1) return false;
  const stats = await stat(path).catch(() => undefined);
  return stats === undefined || (await timeOf(layout.input)) - stats.mtimeMs < UPLOAD_MS;
}

/** The time by the clock of the file server that gives the files of a folder their times. */
async function timeOf(folder: string): Promise<Millis> {
  const probe = await mkdtemp(join(folder, '.time-'));
  try {
    return (await stat(probe)).mtimeMs;
  } finally {
    await rmdir(probe);
  }
}

/**
 * Keeps an upload with a committed job, in any state: the input of a failed or canceled job stays in place. Removes the
 * others, whose clients never received an answer.
 */
async function settleUploads(
  store: ActorStore,
  layout: StorageLayout,
): Promise<{ uploadsKept: number; uploadsDropped: number }> {
  let uploadsKept = 0;
  let uploadsDropped = 0;
  for (const name of await readdir(layout.input)) {
    const path = pathOfUpload(layout.input, name);
    if (path === undefined) continue;
    const jobs = await store.rows({ view: 'paths', prefix: [pathKey(path)], limit: 1 });
    if (jobs.length > 0) {
      await renameIfPresent(uploadName(path), path);
      uploadsKept += 1;
    } else if (!(await mayArrive(store, layout, uploadName(path)))) {
      await rm(uploadName(path), { force: true });
      uploadsDropped += 1;
    }
  }
  if (uploadsKept > 0) syncDirectory(layout.input);
  return { uploadsKept, uploadsDropped };
}

/** Another node, or the staging of the job, may have renamed it. */
async function renameIfPresent(from: string, to: string): Promise<void> {
  try {
    await rename(from, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}

/**
 * Moves working folders without a job that is queued, waits for a signer or still cleans up. A folder that cannot be
 * moved is logged and does not prevent the start.
 */
async function moveOrphans(
  { store, actors, log, objects }: RecoveryRuntime,
  layout: StorageLayout,
): Promise<number> {
  let orphans = 0;
  const hasOthers = store.nodes !== undefined && store.nodes.count > 1;
  for (const name of await readdir(layout.processing)) {
    if ([VOLUME_FOLDER, COPIES_FOLDER, INPUT_COPIES_FOLDER].includes(name)) continue;
    const path = join(layout.processing, name);
    if (name.startsWith(SPARE_PREFIX)) {
      try {
        await rm(path, { recursive: true, force: true });
      } catch (error) {
        // A pool thread of this process may be writing to it; it removes the folder itself, or the next start does.
        log.debug('A spare folder is in use and stays.', {
          Folder: name,
          Error: describeFailure(error).message,
        });
      }
      continue;
    }
    const id = parseJobId(name);
    const job = id && (await actors.read(JOB, id));
    const owned = job && (job.state === 'Queued' || job.state === 'AwaitingSigner' || job.context.untidy);
    // The node that cleans up by now has a disk of its own, and would leave this folder here until the next start.
    const isLeft =
      objects !== undefined && hasOthers && (job?.state === 'Failed' || job?.state === 'Canceled');
    if (owned && !isLeft) continue;
    try {
      // Another node has completed it, with a copy of its own.
      if (objects !== undefined && (job === undefined || job.state === 'Completed')) {
        await rm(path, { recursive: true, force: true });
        continue;
      }
      move(path, freeName(layout.error, name));
      if (owned) continue;
      orphans += 1;
      log.warn('A working folder belongs to no job; it is moved to the error folder.', { Folder: name });
    } catch (error) {
      log.error('A working folder belongs to no job and cannot be moved to the error folder; it stays.', {
        Folder: name,
        Error: describeFailure(error).message,
      });
    }
  }
  return orphans;
}

/** Returns a name that does not exist yet, with a number appended where necessary. */
function freeName(folder: string, name: string): string {
  for (let attempt = 0; ; attempt += 1) {
    const path = join(folder, attempt === 0 ? name : `${name}.${attempt}`);
    if (statIfPresent(path) === undefined) return path;
  }
}

/** The system event of a start that found work of the last run. */
export function recoveryEvent({ failed, orphans }: RecoveryReport, at: Millis): SystemEventContext {
  const message = `Startup recovery: jobs in flight that were failed: ${failed}; working folders without a job, moved to error/: ${orphans}.`;
  return { at, kind: 'RecoverySwept', actor: 'system', jobId: null, code: null, message };
}
