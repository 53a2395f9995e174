/**
 * Forgets finished jobs, a piece at a time, with a turn for others in between. The jobs of a piece go in one transaction:
 * their steps are handed to the store together. A clearing that was cut short is gone on with by the next one.
 * Source: batch-gaps §14, "Clear finished jobs".
 */
import { stat } from 'node:fs/promises';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { JobId } from '../machines/ids.ts';
import { ACTIVE_STATES, type FileStamp, type JobContext, TERMINAL_STATES } from '../machines/job-context.ts';
import type { SystemEventContext } from '../machines/system-event.ts';
import type { ActorStore, ActorSystem, Clock, Row } from '../runtime/index.ts';
import type { ClearReport } from './api.ts';
import type { JobCounts } from './job-counts.ts';
import { isClosed, jobIdOf, stampOf } from './job-index.ts';
import { keepPath } from './kept-paths.ts';
import { JOB } from './registry.ts';
import { holdsUploadKey } from './upload-keys.ts';

/** Jobs forgotten together; fewer than the store takes in one transaction. */
const PIECE = 128;

export interface ClearingParts {
  readonly system: ActorSystem;
  readonly store: ActorStore;
  readonly counts: JobCounts;
  readonly clock: Pick<Clock, 'now'>;
  readonly record: (event: SystemEventContext) => Promise<void>;
}

/** Resolves when all of it is durable. */
export async function clearJobs(parts: ClearingParts): Promise<ClearReport> {
  const { store, counts, clock, record } = parts;
  let deleted = 0;
  let kept = 0;
  for (const profile of counts.profiles()) {
    for (const state of TERMINAL_STATES) {
      let after: Row['key'] | undefined;
      for (;;) {
        const prefix = [profile, state];
        const rows = await store.rows({ view: 'jobs-by', prefix, limit: PIECE, ...(after && { after }) });
        const outcomes = await clearPiece(parts, rows.map(jobIdOf));
        deleted += outcomes.deleted;
        kept += outcomes.kept;
        after = rows.at(-1)?.key;
        if (rows.length < PIECE) break;
        await nextTurn();
      }
    }
  }
  const skipped = kept + counts.count(ACTIVE_STATES);
  await record({
    at: clock.now(),
    kind: 'JobsCleared',
    actor: 'operator',
    jobId: null,
    code: null,
    message: `Finished jobs cleared: ${deleted} deleted, ${skipped} skipped.`,
  });
  await store.flushed();
  return { deleted, skipped };
}

async function clearPiece(
  parts: ClearingParts,
  ids: readonly JobId[],
): Promise<{ readonly deleted: number; readonly kept: number }> {
  const looks = await Promise.all(ids.map((id) => lookAt(parts, id)));
  const clearable = looks.filter((look) => look.may === 'go');
  // First, so that at no moment a watcher takes a canceled file for a new one.
  await Promise.all(
    clearable.map(
      ({ id, remember }) => remember && keepPath(parts.system, remember.pathKey, id, remember.stamp),
    ),
  );
  // In one turn of the event loop, and nothing awaited before: the store writes them as one group.
  const outcomes = await Promise.all(
    clearable.map(({ id }) => parts.system.tell({ kind: JOB, id }, { type: 'CLEAR' })),
  );
  const deleted = outcomes.filter(({ accepted }) => accepted).length;
  // Somebody else may have forgotten it in the meantime.
  const gone = outcomes.filter((outcome) => !outcome.accepted && outcome.because === 'unknown-actor').length;
  const staying = looks.filter((look) => look.may === 'stay').length;
  return { deleted, kept: staying + outcomes.length - deleted - gone };
}

interface Look {
  readonly id: JobId;
  readonly may: 'go' | 'stay' | 'nothing';
  /** What no watcher is to take again. */
  readonly remember?: { readonly pathKey: string; readonly stamp: FileStamp };
}

async function lookAt({ system, clock }: ClearingParts, id: JobId): Promise<Look> {
  const job = await system.read({ kind: JOB, id });
  if (job === undefined) return { id, may: 'nothing' };
  const context = job.context as JobContext;
  // A client that does not know whether its upload arrived may still ask.
  if (context.untidy || holdsUploadKey(context, clock.now())) return { id, may: 'stay' };
  if (!isClosed(job) || !(await isFile(context.originalPath))) return { id, may: 'go' };
  return { id, may: 'go', remember: { pathKey: context.pathKey, stamp: stampOf(context) } };
}

async function isFile(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isFile() === true;
}
