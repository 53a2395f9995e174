/** The actors of the batch service that several of its parts send messages to, and the names that they are found by. */

import { type ActorAddress, type ActorStore, type ActorView, defineActor } from '@sealwright/runtime';
import { inputFolderMachine } from '../../../machines/batch/input-folder.ts';
import { jobMachine } from '../../../machines/batch/job.ts';
import { CLEARED, TERMINAL_STATES } from '../../../machines/batch/job-context.ts';
import { JOB_EFFECTS } from '../../../machines/batch/job-effects.ts';
import { OPERATION_FORGOTTEN, operate, operationMachine } from '../../../machines/batch/operation.ts';
import { pipelineMachine } from '../../../machines/batch/pipeline.ts';
import { recordEvent } from '../../../machines/batch/system-event.ts';
import { type JobActor, jobIdOf, jobRowOf, jobRows, ownsPath } from './job-index.ts';

/** Unique name of a client's upload key. */
export function uploadKeyName(key: string): string {
  return `upload-key:${key}`;
}

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
  if (parentJobId !== null) return { kind: JOB.kind, id: parentJobId };
  return folder === null ? undefined : { kind: INPUT_FOLDER.kind, id: folder };
}

async function jobRetries(
  { id }: ActorView,
  store: Pick<ActorStore, 'rows'>,
  limit: number,
): Promise<readonly ActorAddress[]> {
  const rows = await store.rows({ view: 'jobs-of', prefix: [id], reverse: true, limit });
  return rows.map((row) => ({ kind: JOB.kind, id: jobIdOf(row) }));
}

/** Jobs of a folder among the newest jobs: an index of all would cost every job a row. */
async function folderJobs(
  { id }: ActorView,
  store: Pick<ActorStore, 'rows'>,
  limit: number,
): Promise<readonly ActorAddress[]> {
  const rows = await store.rows({ view: 'jobs', reverse: true, limit });
  return rows
    .filter(({ value }) => jobRowOf(value).folder === id)
    .map((row) => ({ kind: JOB.kind, id: jobIdOf(row) }));
}

export const JOB = defineActor('job', {
  machine: jobMachine,
  effects: JOB_EFFECTS,
  version: 1,
  rows: jobRows,
  parent: jobParent,
  children: jobRetries,
  ends: ({ state }) => state === CLEARED,
  restsIn: TERMINAL_STATES,
  names: jobNames,
  counters: jobCounters,
});

export const PIPELINE = defineActor('pipeline', {
  machine: pipelineMachine,
  effects: [recordEvent],
  version: 1,
});

/** The only pipeline of a store. */
export const PIPELINE_ID = 'main';

export const INPUT_FOLDER = defineActor('input-folder', {
  machine: inputFolderMachine,
  effects: [recordEvent],
  version: 1,
  children: folderJobs,
});

export const OPERATION = defineActor('operation', {
  machine: operationMachine,
  effects: [operate, recordEvent],
  version: 1,
  rows: ({ id, context }) => [{ view: 'operations', key: [context.createdAt, id], value: null }],
  counters: ({ state }) => ({ [`operations/${state}`]: 1 }),
  ends: ({ state }) => state === OPERATION_FORGOTTEN,
});
