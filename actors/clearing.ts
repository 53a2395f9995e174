/**
 * Forgets finished jobs. Each goes in a step of its own, in pieces between which others get their turn; a clearing that
 * was cut short is gone on with by the next one.
 * Source: batch-gaps §14, "Clear finished jobs".
 */
import { stat } from 'node:fs/promises';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { JobId } from '../machines/ids.ts';
import { ACTIVE_STATES, type JobContext, TERMINAL_STATES } from '../machines/job.ts';
import type { SystemEventContext } from '../machines/system-event.ts';
import type { ActorStore, ActorSystem, Clock, Row } from '../runtime/index.ts';
import type { ClearReport } from './api.ts';
import type { JobCounts } from './job-counts.ts';
import { isClosed, jobIdOf, stampOf } from './job-index.ts';
import { keepPath } from './kept-paths.ts';
import { JOB } from './registry.ts';
import { holdsUploadKey } from './upload-keys.ts';

/** Jobs forgotten side by side. */
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
        const outcomes = await Promise.all(rows.map((row) => clearOne(parts, jobIdOf(row))));
        deleted += outcomes.filter((outcome) => outcome === 'deleted').length;
        kept += outcomes.filter((outcome) => outcome === 'kept').length;
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

/** `gone`: somebody else forgot it in the meantime. */
async function clearOne({ system, clock }: ClearingParts, id: JobId): Promise<'deleted' | 'kept' | 'gone'> {
  const address = { kind: JOB, id };
  const job = await system.read(address);
  if (job === undefined) return 'gone';
  const context = job.context as JobContext;
  // A client that does not know whether its upload arrived may still ask.
  if (context.untidy || holdsUploadKey(context, clock.now())) return 'kept';
  // First, so that at no moment a watcher takes a canceled file for a new one.
  if (isClosed(job) && (await isFile(context.originalPath))) {
    await keepPath(system, context.pathKey, id, stampOf(context));
  }
  const outcome = await system.tell(address, { type: 'CLEAR' });
  if (outcome.accepted) return 'deleted';
  return outcome.because === 'unknown-actor' ? 'gone' : 'kept';
}

async function isFile(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isFile() === true;
}
