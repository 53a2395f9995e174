/**
 * Watches an original that others may still write, from its staging until what was made of it may be published.
 *
 * Source: docs/decisions/0316-files-on-shares.md.
 */

import { mtimeOf } from '../../shared/files/directories.ts';
import { hasChanged, type OriginalState, stateOfOriginal } from '../../shared/files/stage.ts';
import { INPUT_CHANGED } from '../disk-errors.ts';
import { TaskFailure } from '../task-failure.ts';
import type { SignTask } from '../tasks.ts';

export interface OriginalWatch {
  /** @throws {TaskFailure} `input.changed` unless the original still is what was read */
  confirm(read: { readonly sha256: string; readonly length: number }): void;
  /** The failure of a file that is not complete is that it changes. */
  blame(error: unknown): unknown;
}

/**
 * Begins after staging, which may make a link; undefined for an original that nobody else writes.
 * @throws {TaskFailure} `input.changed` when the original is not as it was seen
 */
export function watchOriginal({
  originalPath,
  seen,
}: Pick<SignTask, 'originalPath' | 'seen'>): OriginalWatch | undefined {
  if (seen === undefined) return undefined;
  const state = stateOfOriginal(originalPath);
  if (!isAsSeen(state, seen)) throw changed();
  return {
    confirm(read) {
      if (hasChanged(originalPath, state, read)) throw changed();
    },
    blame(error) {
      try {
        return isAsSeen(stateOfOriginal(originalPath), seen) ? error : changed();
      } catch {
        return error;
      }
    },
  };
}

/** False for an empty file, which the watcher would not offer: its writer has begun anew. */
function isAsSeen(state: OriginalState, { size, mtimeMs }: NonNullable<SignTask['seen']>): boolean {
  return size > 0 && Number(state.size) === size && mtimeOf(state) === mtimeMs;
}

function changed(): TaskFailure {
  return new TaskFailure(
    INPUT_CHANGED,
    'The file changed while its job worked on it: it is still being written.',
  );
}
