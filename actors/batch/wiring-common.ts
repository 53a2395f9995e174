/** Parts of the batch service that most of its other parts use. */
import type { ServiceRuntime } from '../hosting/service-plan.ts';
import { DiskSync } from '../shared/files/disk-sync.ts';
import { SecretBox } from '../shared/secrets/secret-box.ts';
import { Profiles } from '../shared/signing/profiles.ts';
import type { BatchOptions } from './batch-options.ts';
import { EventLog } from './job-records/events.ts';
import { type BatchRuntime, JobCounts } from './job-records/job-counts.ts';
import { BucketOriginals } from './objects/bucket-originals.ts';
import { JobObjects } from './objects/job-objects.ts';
import type { BatchObserver } from './observer.ts';
import { JobWebhooks } from './webhooks/job-webhooks.ts';

export type BatchCommon = Awaited<ReturnType<typeof createCommon>>;

export async function createCommon(options: BatchOptions, service: ServiceRuntime, observer: BatchObserver) {
  const { store, ids } = service;
  const { layout, secretKey } = options;
  const runtime: BatchRuntime = {
    ...service,
    counts: new JobCounts(await store.counters('jobs/')),
    objects: options.objects && new JobObjects(options.objects, service, layout),
    originals: options.inputBuckets && new BucketOriginals(options.inputBuckets, ids, layout.processing),
  };
  return {
    options,
    runtime,
    observer,
    profiles: new Profiles(options.profiles),
    disk: new DiskSync(),
    secrets: secretKey && new SecretBox(secretKey, ids),
    events: new EventLog(runtime),
    webhooks: new JobWebhooks(options.webhooks ?? [], runtime, observer),
  };
}
