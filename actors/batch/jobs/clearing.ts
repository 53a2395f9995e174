/**
 * Deletes finished jobs in batches, one transaction per batch, and yields to other work between batches. A later run
 * continues an interrupted one. Source: docs/batch-values.md §14.
 */
import { ACTIVE_STATES, type FileStamp, TERMINAL_STATES } from '../../../machines/batch/job-context.ts';
import type { JobId } from '../../../machines/ids.ts';
import { rowPieces } from '../../shared/lists/stored-rows.ts';
import type { EventLog } from '../job-records/events.ts';
import type { BatchRuntime } from '../job-records/job-counts.ts';
import { fileStampOf, isClosed, jobIdOf } from '../job-records/job-index.ts';
import { JOB } from '../job-records/kinds.ts';
import { holdsUploadKey } from '../job-records/upload-idempotency.ts';
import { isInBucket } from '../objects/bucket-originals.ts';
import { stampOfOriginal } from '../objects/originals.ts';
import { recordProcessedPath } from './processed-paths.ts';

/** Jobs per batch; less than the store's limit per transaction. */
const BATCH_SIZE = 128;

/** Deletes all clearable jobs; resolves when durable. `skipped`: unfinished jobs, and finished ones that are still needed. */
export async function clearJobs(runtime: BatchRuntime, events: EventLog, actor: string) {
  const { store, counts, clock } = runtime;
  let deleted = 0;
  let kept = 0;
  for (const profile of counts.profiles()) {
    for (const state of TERMINAL_STATES) {
      const range = { view: 'jobs-by', prefix: [profile, state] };
      for await (const rows of rowPieces(store, range, { most: BATCH_SIZE })) {
        const outcomes = await clearBatch(runtime, rows.map(jobIdOf));
        deleted += outcomes.deleted;
        kept += outcomes.kept;
      }
    }
  }
  const skipped = kept + counts.count(ACTIVE_STATES);
  await events.record({
    at: clock.now(),
    kind: 'JobsCleared',
    actor,
    jobId: null,
    code: null,
    message: `Finished jobs cleared: ${deleted} deleted, ${skipped} skipped.`,
  });
  await store.flushed();
  return { deleted, skipped };
}

/** Deletes the finished ones of these jobs; resolves with the ids of those that remain. */
export async function clearTheseJobs(
  runtime: BatchRuntime,
  ids: readonly JobId[],
): Promise<readonly JobId[]> {
  return (await clearBatch(runtime, ids)).staying;
}

async function clearBatch(
  runtime: BatchRuntime,
  ids: readonly JobId[],
): Promise<{ readonly deleted: number; readonly kept: number; readonly staying: readonly JobId[] }> {
  const looks = await Promise.all(ids.map((id) => clearCandidate(runtime, id)));
  const clearable = looks.filter((look) => look.may === 'go');
  // Recorded first, so that a watcher never sees a canceled file as new.
  await Promise.all(
    clearable.map(
      ({ id, remember }) =>
        remember && recordProcessedPath(runtime.actors, remember.pathKey, id, remember.stamp),
    ),
  );
  // All in one turn of the event loop: the store writes them in one transaction.
  const outcomes = await Promise.all(
    clearable.map(({ id }) => runtime.actors.send(JOB, id, { type: 'CLEAR' })),
  );
  const deleted = outcomes.filter(({ accepted }) => accepted).length;
  const refused = clearable.filter((_, index) => {
    const outcome = outcomes[index];
    // Another request may have deleted it in the meantime.
    return outcome?.accepted === false && outcome.reason !== 'unknown-actor';
  });
  const staying = [...looks.filter((look) => look.may === 'stay'), ...refused].map(({ id }) => id);
  return { deleted, kept: staying.length, staying };
}

interface ClearCandidate {
  readonly id: JobId;
  readonly may: 'go' | 'stay' | 'nothing';
  /** Input file that watchers keep ignoring. */
  readonly remember?: { readonly pathKey: string; readonly stamp: FileStamp };
}

async function clearCandidate(runtime: BatchRuntime, id: JobId): Promise<ClearCandidate> {
  const { actors, clock } = runtime;
  const job = await actors.read(JOB, id);
  if (job === undefined) return { id, may: 'nothing' };
  const context = job.context;
  // A client that is unsure whether its upload arrived may still repeat it.
  const isBusy = context.untidy || context.webhooksPending === true;
  if (isBusy || holdsUploadKey(context, clock.now())) return { id, may: 'stay' };
  if (!isClosed(job) || !(await mayBeLeft(context.originalPath, runtime))) return { id, may: 'go' };
  return { id, may: 'go', remember: { pathKey: context.pathKey, stamp: fileStampOf(context) } };
}

/** True also for an original whose bucket cannot be asked, or is no input now: it may be one again. */
async function mayBeLeft(originalPath: string, runtime: BatchRuntime): Promise<boolean> {
  if (!isInBucket(originalPath)) return (await stampOfOriginal(originalPath, runtime)) !== undefined;
  if (runtime.originals === undefined) return true;
  return runtime.originals.stampOf(originalPath).then(
    (stamp) => stamp !== undefined,
    () => true,
  );
}
