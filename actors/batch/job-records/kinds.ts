/** Kinds of the actors of the batch service, and the names that they are found by. */

import { actorKind } from '@sealwright/runtime';
import type { inputFolderMachine } from '../../../machines/batch/input-folder.ts';
import type { jobMachine } from '../../../machines/batch/job.ts';
import type { operationMachine } from '../../../machines/batch/operation.ts';
import type { pipelineMachine } from '../../../machines/batch/pipeline.ts';

export const JOB = actorKind<typeof jobMachine>('job');
export const PIPELINE = actorKind<typeof pipelineMachine>('pipeline');
export const INPUT_FOLDER = actorKind<typeof inputFolderMachine>('input-folder');
export const OPERATION = actorKind<typeof operationMachine>('operation');

/** The only pipeline of a store. */
export const PIPELINE_ADDRESS = { kind: PIPELINE, id: 'main' } as const;

/** Unique name of a client's upload key. */
export function uploadKeyName(key: string): string {
  return `upload-key:${key}`;
}
