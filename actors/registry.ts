/**
 * Which actors there are: their machines, and what each shows in lists, counts and unique names.
 *
 * Views written here:
 * - `jobs`      [order] → id                       all jobs, by their making;
 * - `jobs-by`   [profile, state, order] → id       the same, told apart; `[profile, 'Queued']` is the queue;
 * - `paths`     [path key] → PathRow               the newest job of an input path that still matters.
 */

import { inputFolderMachine } from '../machines/input-folder.ts';
import type { FileStamp, JobContext, JobState } from '../machines/job.ts';
import { ACTIVE_STATES, CLEARED, jobMachine } from '../machines/job.ts';
import { pipelineMachine } from '../machines/pipeline.ts';
import { systemEventMachine } from '../machines/system-event.ts';
import type { ActorDefinition, Row } from '../runtime/index.ts';
import { eventCounters, eventRows, SYSTEM_EVENT } from './events.ts';

export const JOB = 'job';
export const PIPELINE = 'pipeline';
export const INPUT_FOLDER = 'input-folder';

/** The one pipeline of a store. */
export const PIPELINE_ADDRESS = { kind: PIPELINE, id: 'main' } as const;

/** What the newest job of a path left for the watcher to know. */
export interface PathRow {
  readonly id: string;
  /** True: the job ended without taking the file away, so the same content is not taken again. */
  readonly closed: boolean;
  readonly size: number;
  readonly mtimeMs: number;
}

interface JobActor {
  readonly id: string;
  readonly state: string;
  readonly context: JobContext;
}

/** A completed job keeps its path until the input is put away: nobody may take the file a second time. */
function ownsPath({ state, context }: JobActor): boolean {
  return ACTIVE_STATES.includes(state as JobState) || (state === 'Completed' && context.untidy);
}

function jobRows(job: JobActor): readonly Row[] {
  const { id, state, context } = job;
  const rows: Row[] = [
    { view: 'jobs', key: [context.order], value: id },
    { view: 'jobs-by', key: [context.profileName, state, context.order], value: id },
  ];
  const closed = state === 'Failed' || state === 'Canceled' || context.inputLeft;
  if (closed || ownsPath(job)) {
    const value: PathRow = { id, closed, ...stampOf(context) };
    rows.push({ view: 'paths', key: [context.pathKey], value: { ...value } });
  }
  return rows;
}

/** What the path held: as it was signed where it was left behind, else as it was when the job was made. */
function stampOf({ inputLeft, input, seen }: JobContext): FileStamp {
  if (inputLeft && input) return { size: input.length, mtimeMs: input.mtimeMs };
  return { size: seen?.size ?? -1, mtimeMs: seen?.mtimeMs ?? -1 };
}

/** `jobs/<state>/<profile>/<format>`. */
function jobCounters({ state, context }: JobActor): { readonly [name: string]: number } {
  return { [`jobs/${state}/${context.profileName}/${context.format}`]: 1 };
}

/** Unique name of an input path. */
export function pathName(key: string): string {
  return `path:${key}`;
}

export const definitions: readonly ActorDefinition[] = [
  {
    kind: JOB,
    machine: jobMachine,
    version: 1,
    rows: jobRows,
    ends: ({ state }) => state === CLEARED,
    names: (job: JobActor) => (ownsPath(job) ? [pathName(job.context.pathKey)] : []),
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
];
