/** Every job of the service with its history, read over the API. */
import type { Job, Service } from '../service.ts';

export interface FullJob extends Job {
  readonly folder: string | null;
  readonly parentJobId: string | null;
  readonly profileName: string;
  readonly outputEncrypted: boolean;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly history: readonly {
    readonly id: number;
    readonly timestamp: string;
    readonly status: string;
    readonly message: string;
  }[];
}

/** Asked for at once. */
const CONCURRENCY = 32;

/** Oldest first. */
export async function allJobs(service: Service): Promise<readonly FullJob[]> {
  const ids: string[] = (await service.jobs()).map(({ id }) => id);
  const jobs = new Array<FullJob>(ids.length);
  let next = 0;
  const reader = async () => {
    for (let at = next++; at < ids.length; at = next++)
      jobs[at] = (await service.job(ids[at] ?? '')) as FullJob;
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, reader));
  return jobs;
}

export interface Event {
  readonly id: string;
  readonly timestamp: string;
  readonly kind: string;
  readonly jobId: string | null;
  readonly message: string;
}

/** Newest first. */
export async function allEvents(service: Service): Promise<readonly Event[]> {
  const events: Event[] = [];
  for (let page = 1; ; page += 1) {
    const { items } = await service.json<{ items: Event[] }>(`/api/events?page=${page}&pageSize=200`);
    events.push(...items);
    if (items.length < 200) return events;
  }
}
