/**
 * The public names of the runtime that need neither actors nor a store: clocks, ids, failures, fault points,
 * processes. Pool threads load only these; `index.ts` would load LMDB into each of them.
 */

export { machineTime, systemClock, threadClock } from './clock.ts';
export { describeFailure, Fatal, isRetryable, Retryable } from './failures.ts';
export { declareFaultPoints, Faults } from './faults.ts';
export { ownMark, type ProcessMark, runs, systemIds } from './ids.ts';
export { LeaseDeadline } from './model/lease-deadline.ts';
export type { Clock, Ids, Json, Log, LogProperties, Millis, StoreNodes } from './ports.ts';
