/**
 * What the service does about its last run before it begins the next: jobs found in flight fail, uploads whose
 * job was committed get their name, the rest of interrupted work is put aside. Running it twice changes nothing.
 *
 * Runs after the store is open and before any effect, watcher or worker. Effects that earlier steps still owe
 * (publish aside, which fails with its job) are done afterwards by the outbox.
 *
 * Source: Batch Signing Service API, "States and transitions"; batch-gaps §7; architecture §5.
 */
import { readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { parseJobId } from '../machines/ids.ts';
import { IN_FLIGHT_STATES, type JobContext } from '../machines/job-context.ts';
import { type ActorStore, type ActorSystem, describeFailure, type Log } from '../runtime/index.ts';
import { statIfPresent, syncDirectory } from './files/directories.ts';
import { move } from './files/move.ts';
import { SPARE_PREFIX } from './files/working-folders.ts';
import type { JobCounts } from './job-counts.ts';
import { jobIdOf } from './job-index.ts';
import { JOB } from './registry.ts';
import { pathKey, pathOfUpload, type StorageLayout, uploadName } from './storage-layout.ts';

export interface RecoveryParts {
  readonly system: ActorSystem;
  readonly store: ActorStore;
  readonly counts: JobCounts;
  readonly layout: StorageLayout;
  readonly log: Log;
}

export interface RecoveryReport {
  /** Jobs that were in flight and failed. */
  readonly failed: number;
  /** Uploads whose job existed and whose file got its final name. */
  readonly uploadsKept: number;
  /** Uploads nobody was told of; removed. */
  readonly uploadsDropped: number;
  /** Folders in processing/ that no job accounts for; moved to error/. */
  readonly orphans: number;
}

const PIECE = 256;

export async function recover(parts: RecoveryParts): Promise<RecoveryReport> {
  // First, while every job still owns the path of its input.
  const uploads = await settleUploads(parts);
  const failed = await failJobsInFlight(parts);
  const orphans = await moveOrphans(parts);
  await parts.store.flushed();
  return { failed, ...uploads, orphans };
}

async function failJobsInFlight({ store, system, counts, log }: RecoveryParts): Promise<number> {
  let failed = 0;
  for (const profile of counts.profiles()) {
    for (const state of IN_FLIGHT_STATES) {
      const stuck = new Set<string>();
      for (;;) {
        const rows = await store.rows({
          view: 'jobs-by',
          prefix: [profile, state],
          limit: PIECE + stuck.size,
        });
        const ids = rows.map(jobIdOf).filter((id) => !stuck.has(id));
        if (ids.length === 0) break;
        const outcomes = await Promise.all(
          ids.map((id) => system.tell({ kind: JOB, id }, { type: 'RESTARTED' })),
        );
        for (const [index, outcome] of outcomes.entries()) {
          const id = ids[index] ?? '';
          if (outcome.accepted) {
            failed += 1;
            log.warn('A job was in flight when the service stopped; it is marked Failed.', { JobId: id });
          } else {
            stuck.add(id);
            log.error('A job in flight could not be recovered.', { JobId: id, Because: outcome.because });
          }
        }
      }
    }
  }
  return failed;
}

/**
 * An upload is kept when its job was committed, however that job has fared since: the input of a failed or
 * canceled one stays in place. Otherwise its client never got an answer.
 */
async function settleUploads({
  store,
  layout,
}: RecoveryParts): Promise<{ uploadsKept: number; uploadsDropped: number }> {
  let uploadsKept = 0;
  let uploadsDropped = 0;
  for (const name of await readdir(layout.input)) {
    const path = pathOfUpload(layout.input, name);
    if (path === undefined) continue;
    const jobs = await store.rows({ view: 'paths', prefix: [pathKey(path)], limit: 1 });
    if (jobs.length > 0) {
      await rename(uploadName(path), path);
      uploadsKept += 1;
    } else {
      await rm(uploadName(path), { force: true });
      uploadsDropped += 1;
    }
  }
  if (uploadsKept > 0) syncDirectory(layout.input);
  return { uploadsKept, uploadsDropped };
}

/** Made by the file system at the root of a volume, which processing/ may be; no concern of ours. */
const VOLUME_FOLDER = 'lost+found';

/**
 * A working folder belongs to a job that is queued, waiting for a signer, or still has it to put away. What
 * cannot be moved is a matter for somebody to look at, and no reason not to start.
 */
async function moveOrphans({ system, layout, log }: RecoveryParts): Promise<number> {
  let orphans = 0;
  for (const name of await readdir(layout.processing)) {
    if (name === VOLUME_FOLDER) continue;
    const path = join(layout.processing, name);
    if (name.startsWith(SPARE_PREFIX)) {
      await rm(path, { recursive: true, force: true });
      continue;
    }
    const id = parseJobId(name);
    const job = id && (await system.read({ kind: JOB, id }));
    const owned =
      job && (job.state === 'Queued' || job.state === 'AwaitingSigner' || (job.context as JobContext).untidy);
    if (owned) continue;
    try {
      move(path, freeName(layout.error, name));
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

/** Never over something that is there: a second one of the same name gets a number. */
function freeName(folder: string, name: string): string {
  for (let attempt = 0; ; attempt += 1) {
    const path = join(folder, attempt === 0 ? name : `${name}.${attempt}`);
    if (statIfPresent(path) === undefined) return path;
  }
}
