/**
 * Which actors there are: their machines, and what each shows in lists (`job-index.ts`, `events.ts`), counts and
 * unique names.
 */
import { inputFolderMachine } from '../machines/input-folder.ts';
import { jobMachine } from '../machines/job.ts';
import { CLEARED } from '../machines/job-context.ts';
import { pipelineMachine } from '../machines/pipeline.ts';
import { systemEventMachine } from '../machines/system-event.ts';
import type { ActorAddress, ActorDefinition, ActorStore, ActorView } from '../runtime/index.ts';
import { eventCounters, eventRows, SYSTEM_EVENT } from './events.ts';
import { factsOf, type JobActor, jobIdOf, jobRows, ownsPath } from './job-index.ts';
import { keptPathDefinition } from './kept-paths.ts';

export const JOB = 'job';
export const PIPELINE = 'pipeline';
export const INPUT_FOLDER = 'input-folder';

/** The one pipeline of a store. */
export const PIPELINE_ADDRESS = { kind: PIPELINE, id: 'main' } as const;

/** `jobs/<state>/<profile>/<format>`. */
function jobCounters({ state, context }: JobActor): { readonly [name: string]: number } {
  return { [`jobs/${state}/${context.profileName}/${context.format}`]: 1 };
}

/** Unique name of an input path. */
export function pathName(key: string): string {
  return `path:${key}`;
}

/** Unique name of a client's upload key. */
export function uploadKeyName(key: string): string {
  return `upload-key:${key}`;
}

/** A job is the only one of its input while it is active, and the only one of its upload key until that expires. */
function jobNames(job: JobActor): readonly string[] {
  const { pathKey, uploadKey } = job.context;
  const names = ownsPath(job) ? [pathName(pathKey)] : [];
  return uploadKey ? [...names, uploadKeyName(uploadKey)] : names;
}

/** The job it repeats, or the folder whose file it is. */
function jobParent({ context }: JobActor): ActorAddress | undefined {
  const { parentJobId, folder } = context;
  if (parentJobId !== null) return { kind: JOB, id: parentJobId };
  return folder === null ? undefined : { kind: INPUT_FOLDER, id: folder };
}

async function jobRetries({ id }: ActorView, store: Pick<ActorStore, 'rows'>, limit: number) {
  const rows = await store.rows({ view: 'jobs-of', prefix: [id], reverse: true, limit });
  return rows.map((row) => ({ kind: JOB, id: jobIdOf(row) }));
}

/** Of the newest jobs those of the folder: an index of all that ever were would be paid for by every job. */
async function folderJobs({ id }: ActorView, store: Pick<ActorStore, 'rows'>, limit: number) {
  const rows = await store.rows({ view: 'jobs', reverse: true, limit });
  return rows
    .filter(({ value }) => factsOf(value).folder === id)
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
    names: jobNames,
    counters: jobCounters,
  },
  { kind: PIPELINE, machine: pipelineMachine, version: 1 },
  { kind: INPUT_FOLDER, machine: inputFolderMachine, version: 1, children: folderJobs },
  {
    kind: SYSTEM_EVENT,
    machine: systemEventMachine,
    version: 1,
    rows: eventRows,
    counters: eventCounters,
  },
  keptPathDefinition,
];
