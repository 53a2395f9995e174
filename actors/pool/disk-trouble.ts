/** What a failed system call says about the disk, in words for the one who reads a failed job. */
import { describeFailure } from '../../runtime/index.ts';

interface Trouble {
  readonly code: string;
  readonly says: string;
}

const FULL: Trouble = { code: 'disk.full', says: 'The disk has no room left' };
const CLOSED: Trouble = { code: 'disk.not-writable', says: 'The disk does not let the file be written' };
const BROKEN: Trouble = { code: 'disk.failed', says: 'The disk failed' };

const TROUBLES: ReadonlyMap<string, Trouble> = new Map([
  ['ENOSPC', FULL],
  ['EDQUOT', FULL],
  ['EROFS', CLOSED],
  ['EIO', BROKEN],
]);

/** Code and message of a failure; a full, closed or broken disk gets a code that does not change with the system's words. */
export function describeTrouble(error: unknown): { readonly code: string; readonly message: string } {
  const failure = describeFailure(error);
  const trouble = TROUBLES.get(failure.code);
  if (trouble === undefined) return failure;
  return {
    code: trouble.code,
    message: `${trouble.says} (${failure.message}). The input stays where it is; retry the job once that is mended.`,
  };
}
