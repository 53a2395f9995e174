/** Parts by which jobs are made, found, waited for and counted. */
import type { Clock } from '@sealwright/runtime';
import { StepWaits } from '../shared/coordination/step-waits.ts';
import { OrderNumbers } from '../shared/ids/order-numbers.ts';
import type { BatchRuntime } from './job-records/job-counts.ts';
import { JobFactory } from './job-records/job-factory.ts';
import { UploadKeys } from './job-records/upload-idempotency.ts';
import { JobColumns } from './jobs/job-columns.ts';
import { JobService } from './jobs/jobs.ts';
import { StatisticsService } from './jobs/statistics.ts';
import { OperationService } from './operations.ts';
import { JobUploads } from './uploads/job-uploads.ts';
import { UploadStorage } from './uploads/upload-storage.ts';
import type { BatchCommon } from './wiring-common.ts';

/** Requests that wait for the ends of jobs; further ones are answered at once. */
const MAX_WAITING = 1000;

export async function createJobServices({
  options,
  runtime,
  profiles,
  disk,
  secrets,
  webhooks,
}: BatchCommon) {
  const { store, clock, ids, counts } = runtime;
  const { layout } = options;
  const factory = new JobFactory(runtime, await orderNumbers(runtime), webhooks.areConfigured);
  const files = new UploadStorage(layout.input, ids, disk, runtime.objects);
  const uploads = new JobUploads({
    runtime,
    maker: factory,
    profiles,
    uploads: files,
    uploadKeys: new UploadKeys(runtime),
    secrets,
  });
  const waits = new StepWaits(clock, MAX_WAITING);
  const columns = new JobColumns(store, counts);
  const service = new JobService({ runtime, columns, waits, maker: factory, profiles, layout, uploads });
  return {
    factory,
    files,
    uploads,
    waits,
    columns,
    service,
    operations: new OperationService(runtime, service),
    statistics: new StatisticsService(runtime),
  };
}

/** Continues after the newest job of the store. */
async function orderNumbers({
  store,
  clock,
}: {
  readonly store: BatchRuntime['store'];
  readonly clock: Clock;
}) {
  const [newest] = await store.rows({ view: 'jobs', reverse: true, limit: 1 });
  return new OrderNumbers(clock, (newest?.key[0] as number | undefined) ?? 0, store.nodes?.slot);
}
