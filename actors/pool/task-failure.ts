/** A failure with a code, thrown inside a task and passed on as data. */
export class TaskFailure extends Error {
  readonly code: string;
  constructor(code: string, message: string) {
    super(message);
    this.name = 'TaskFailure';
    this.code = code;
  }
}

/** Code of a task that did not begin, because other nodes may have its job. */
export const LEASE_NOT_HELD = 'store.unavailable';
