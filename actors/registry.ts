/**
 * Which actors there are: their machines, and what each shows in lists (`job-index.ts`, `events.ts`), counts and
 * unique names.
 */
import { inputFolderMachine } from '../machines/input-folder.ts';
import { CLEARED, jobMachine } from '../machines/job.ts';
import { pipelineMachine } from '../machines/pipeline.ts';
import { systemEventMachine } from '../machines/system-event.ts';
import type { ActorDefinition } from '../runtime/index.ts';
import { eventCounters, eventRows, SYSTEM_EVENT } from './events.ts';
import { type JobActor, jobRows, ownsPath } from './job-index.ts';
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

export const definitions: readonly ActorDefinition[] = [
  {
    kind: JOB,
    machine: jobMachine,
    version: 1,
    rows: jobRows,
    relatives: ({ context }) =>
      context.parentJobId ? { parent: { kind: JOB, id: context.parentJobId } } : {},
    ends: ({ state }) => state === CLEARED,
    names: jobNames,
    counters: jobCounters,
  },
  { kind: PIPELINE, machine: pipelineMachine, version: 1 },
  { kind: INPUT_FOLDER, machine: inputFolderMachine, version: 1 },
  {
    kind: SYSTEM_EVENT,
    machine: systemEventMachine,
    version: 1,
    rows: eventRows,
    counters: eventCounters,
  },
  keptPathDefinition,
];
