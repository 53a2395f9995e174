/** Exports all jobs of a store for reports. */

import { type ActorStore, contextOf, type JournalLine } from '@sealwright/runtime';
import { type HistoryProof, HistoryProofs } from '@sealwright/runtime/history';
import type { JobDetail } from '../../../contracts/batch/jobs.ts';
import { JobCounts } from '../job-records/job-counts.ts';
import { jobDetail } from '../job-records/job-view.ts';
import { JOB } from '../job-records/kinds.ts';
import type { JobFilter } from './job-columns.ts';
import { matchingJobs } from './job-list.ts';

export interface ExportedJob {
  readonly job: JobDetail;
  /** Entries of the hash chain of its history. */
  readonly journal: readonly JournalLine[];
  /** Proof of its history; undefined while no checkpoint covers it. */
  readonly proof: HistoryProof | undefined;
}

/**
 * Yields the matching jobs with their history, newest first. Works while the service runs: jobs cleared meanwhile are
 * left out.
 */
export async function* exportJobs(
  store: Pick<ActorStore, 'load' | 'journal' | 'rows' | 'counters'>,
  filter: JobFilter,
): AsyncGenerator<ExportedJob> {
  const counts = new JobCounts(await store.counters('jobs/'));
  const proofs = new HistoryProofs(store);
  for await (const id of matchingJobs(store, counts, filter)) {
    const address = { kind: JOB, id };
    const actor = await store.load(address);
    const context = actor && contextOf(JOB, actor);
    if (actor === undefined || context === undefined) continue;
    const journal = await store.journal(address);
    const job = jobDetail({ id, state: actor.state, context }, journal);
    yield { job, journal, proof: await proofs.of(address) };
  }
}
