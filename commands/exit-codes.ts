/** Exit codes of the process. Source: docs/operations.md. */
import { describeFailure } from '@sealwright/runtime/core';

export const EXIT = {
  good: 0,
  /** A check failed, or something unexpected happened. */
  failed: 1,
  /** Configuration or usage refused. */
  refused: 2,
  /** A store, port or folder is not available. */
  unavailable: 3,
} as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** Beginnings of failure codes that name something outside the program which is not there or not free. */
const UNAVAILABLE = ['store.', 'keys.', 'folder.', 'listen.'];
/** System errors of the same kind. */
const SYSTEM = ['EADDRINUSE', 'EADDRNOTAVAIL', 'EACCES', 'EPERM', 'EROFS', 'ENOSPC', 'ENOTDIR', 'EMFILE'];
/** Beginnings of failure codes that name something in the configuration. */
const REFUSED = ['settings.', 'key.', 'certificate.', 'signing.'];

/** The exit code for a failure that kept the service from starting. */
export function exitCodeOf(error: unknown): ExitCode {
  const { code } = describeFailure(error);
  if (REFUSED.some((start) => code.startsWith(start))) return EXIT.refused;
  if (SYSTEM.includes(code) || UNAVAILABLE.some((start) => code.startsWith(start))) return EXIT.unavailable;
  return EXIT.failed;
}
