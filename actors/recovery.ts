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
import { IN_FLIGHT_STATES, type JobContext } from '../machines/job.ts';
import type { ActorStore, ActorSystem, Log } from '../runtime/index.ts';
import { SPARE_PREFIX } from './files/working-folders.ts';
import type { JobCounts } from './job-counts.ts';
import { JOB, pathName } from './registry.ts';
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
  const failed = await failJobsInFlight(parts);
  const uploads = await settleUploads(parts);
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
        const ids = rows.map((row) => row.value as string).filter((id) => !stuck.has(id));
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

/** An upload is kept when its job was committed; otherwise its client never got an answer. */
async function settleUploads({
  store,
  layout,
}: RecoveryParts): Promise<{ uploadsKept: number; uploadsDropped: number }> {
  let uploadsKept = 0;
  let uploadsDropped = 0;
  for (const name of await readdir(layout.input)) {
    const path = pathOfUpload(layout.input, name);
    if (path === undefined) continue;
    if (await store.holder(pathName(pathKey(path)))) {
      await rename(uploadName(path), path);
      uploadsKept += 1;
    } else {
      await rm(uploadName(path), { force: true });
      uploadsDropped += 1;
    }
  }
  return { uploadsKept, uploadsDropped };
}

/** A working folder belongs to a job that is queued, waiting for a signer, or still has it to put away. */
async function moveOrphans({ system, layout, log }: RecoveryParts): Promise<number> {
  let orphans = 0;
  for (const name of await readdir(layout.processing)) {
    if (name.startsWith(SPARE_PREFIX)) {
      await rm(join(layout.processing, name), { recursive: true, force: true });
      continue;
    }
    const id = parseJobId(name);
    const job = id && (await system.read({ kind: JOB, id }));
    const owned =
      job && (job.state === 'Queued' || job.state === 'AwaitingSigner' || (job.context as JobContext).untidy);
    if (owned) continue;
    orphans += 1;
    log.warn('A working folder belongs to no job; it is moved to the error folder.', { Folder: name });
    await moveAside(join(layout.processing, name), layout.error, name);
  }
  return orphans;
}

/** Never over something that is there: a second folder of the same name gets a number. */
async function moveAside(from: string, folder: string, name: string): Promise<void> {
  for (let attempt = 0; ; attempt += 1) {
    const target = join(folder, attempt === 0 ? name : `${name}.${attempt}`);
    try {
      await rename(from, target);
      return;
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code;
      if (code !== 'ENOTEMPTY' && code !== 'EEXIST') throw error;
    }
  }
}
