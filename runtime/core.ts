/**
 * The public names of the runtime that need neither actors nor a store: clocks, ids, failures, fault points,
 * processes. Threads without actors load only these.
 */

export { machineTime, systemClock, threadClock } from './model/clock.ts';
export { describeFailure, Fatal, isRetryable, Retryable } from './model/failures.ts';
export { declareFaultPoints, Faults } from './model/faults.ts';
export { ownMark, type ProcessMark, runs, systemIds } from './model/ids.ts';
export { LeaseDeadline } from './model/lease-deadline.ts';
export type { Clock, Ids, Json, Log, LogProperties, Millis, StoreNodes } from './model/ports.ts';
export { SCHEMA_VERSION, STORE_FORMAT } from './model/store-formats.ts';
