/**
 * Equipment for tests: a runtime with a simulated clock, fault points and a recorder, the contract of stores, repeatable
 * ids, a store in memory and simulated nodes on one database.
 */
import { EFFECT_PROMISES } from './testing/effect-promises.ts';
import { STEP_PROMISES } from './testing/step-promises.ts';
import type { StorePromise } from './testing/store-promises.ts';

export { type CheckReport, check, type Finding, type Misfit } from './check.ts';
export { Faults, RUNTIME_FAULT_POINTS, type RuntimeFaultPoint } from './model/faults.ts';

export { seededIds } from './model/ids.ts';
export { MemoryStore } from './store/memory/memory-store.ts';
export { type TestRuntime, testRuntime } from './test-runtime.ts';
export { MemoryDatabase } from './testing/memory-database.ts';
export { type Link, openMemoryNode } from './testing/memory-node.ts';
export { SimulatedClock } from './testing/simulated-clock.ts';
export type { StorePromise, StoreUnderTest } from './testing/store-promises.ts';

/** Promises that every `ActorStore` keeps; the tests of a store check each of them on a new store. */
export const storeContract: readonly StorePromise[] = [...STEP_PROMISES, ...EFFECT_PROMISES];
