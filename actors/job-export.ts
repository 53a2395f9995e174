/** Every job of a store, one after the other, for reports. */
import type { ActorStore } from '../runtime/index.ts';
import type { JobDetail, JobFilter } from './api.ts';
import { JobCounts } from './job-counts.ts';
import { matchingJobs } from './job-list.ts';
import { jobDetail } from './job-view.ts';
import { JOB } from './registry.ts';

/**
 * The jobs a filter matches with their history, newest first. The store may be at work: a job that is cleared
 * meanwhile is left out.
 */
export async function* exportJobs(
  store: Pick<ActorStore, 'load' | 'journal' | 'rows' | 'counters'>,
  filter: JobFilter,
): AsyncGenerator<JobDetail> {
  const counts = new JobCounts(await store.counters('jobs/'));
  for await (const id of matchingJobs(store, counts, filter)) {
    const address = { kind: JOB, id };
    const actor = await store.load(address);
    if (actor === undefined) continue;
    yield jobDetail({ id, state: actor.state, context: actor.context }, await store.journal(address));
  }
}
