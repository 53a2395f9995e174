/** Actor definitions of the batch service: machines, views (`job-index.ts`, `events.ts`), counters and unique names. */

import type { ActorAddress, ActorDefinition, ActorStore, ActorView } from '@sealwright/runtime';
import type { ShardModule } from '@sealwright/runtime/shards';
import { inputFolderMachine } from '../../machines/batch/input-folder.ts';
import { jobMachine } from '../../machines/batch/job.ts';
import { CLEARED, TERMINAL_STATES } from '../../machines/batch/job-context.ts';
import { OPERATION_FORGOTTEN, operationMachine } from '../../machines/batch/operation.ts';
import { pipelineMachine } from '../../machines/batch/pipeline.ts';
import { systemEventMachine } from '../../machines/batch/system-event.ts';
import { accessKeyDefinition } from './access/access-keys.ts';
import { endedSessionDefinition } from './access/ended-sessions.ts';
import { usedAnswerDefinition } from './access/used-answers.ts';
import { eventCounters, eventRows, SYSTEM_EVENT } from './job-records/events.ts';
import { type JobActor, jobIdOf, jobRowOf, jobRows, ownsPath } from './job-records/job-index.ts';
import { INPUT_FOLDER, JOB, OPERATION, PIPELINE, uploadKeyName } from './job-records/kinds.ts';
import { processedPathDefinition } from './jobs/processed-paths.ts';
import { outputClaimDefinition } from './objects/output-claims.ts';
import { jobDeliveryDefinition } from './webhooks/job-deliveries.ts';

/** Counter `jobs/<state>/<profile>/<format>`. */
function jobCounters({ state, context }: JobActor): { readonly [name: string]: number } {
  return { [`jobs/${state}/${context.profileName}/${context.format}`]: 1 };
}

/** Unique name of an input path. */
function pathName(key: string): string {
  return `path:${key}`;
}

/** Unique names of a job: its input path while it is active, its upload key until that expires. */
function jobNames(job: JobActor): readonly string[] {
  const { pathKey, uploadKey } = job.context;
  const names = ownsPath(job) ? [pathName(pathKey)] : [];
  return uploadKey ? [...names, uploadKeyName(uploadKey)] : names;
}

/** Parent of a job: the retried job, or the folder of its file. */
function jobParent({ context }: JobActor): ActorAddress | undefined {
  const { parentJobId, folder } = context;
  if (parentJobId !== null) return { kind: JOB, id: parentJobId };
  return folder === null ? undefined : { kind: INPUT_FOLDER, id: folder };
}

async function jobRetries({ id }: ActorView, store: Pick<ActorStore, 'rows'>, limit: number) {
  const rows = await store.rows({ view: 'jobs-of', prefix: [id], reverse: true, limit });
  return rows.map((row) => ({ kind: JOB, id: jobIdOf(row) }));
}

/** Jobs of a folder among the newest jobs: an index of all would cost every job a row. */
async function folderJobs({ id }: ActorView, store: Pick<ActorStore, 'rows'>, limit: number) {
  const rows = await store.rows({ view: 'jobs', reverse: true, limit });
  return rows
    .filter(({ value }) => jobRowOf(value).folder === id)
    .map((row) => ({ kind: JOB, id: jobIdOf(row) }));
}

export const definitions: readonly ActorDefinition[] = [
  {
    kind: JOB,
    machine: jobMachine,
    version: 1,
    rows: jobRows,
    parent: jobParent,
    children: jobRetries,
    ends: ({ state }) => state === CLEARED,
    restsIn: TERMINAL_STATES,
    names: jobNames,
    counters: jobCounters,
  },
  { kind: PIPELINE, machine: pipelineMachine, version: 1 },
  { kind: INPUT_FOLDER, machine: inputFolderMachine, version: 1, children: folderJobs },
  {
    kind: SYSTEM_EVENT,
    machine: systemEventMachine,
    version: 1,
    restsIn: ['Recorded'],
    rows: eventRows,
    counters: eventCounters,
  },
  processedPathDefinition,
  outputClaimDefinition,
  jobDeliveryDefinition,
  accessKeyDefinition,
  endedSessionDefinition,
  usedAnswerDefinition,
  {
    kind: OPERATION,
    machine: operationMachine,
    version: 1,
    rows: ({ id, context }) => [{ view: 'operations', key: [context.createdAt, id], value: null }],
    counters: ({ state }) => ({ [`operations/${state}`]: 1 }),
    ends: ({ state }) => state === OPERATION_FORGOTTEN,
  },
];

/** Functions for the partition of an effect, by its name; the handlers use the same. */
export const batchPartitions: ShardModule['partitions'] = {
  callJobWebhook: ({ webhookId }) => String(webhookId),
};
