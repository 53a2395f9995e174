/** Equipment for tests: a simulated clock, repeatable ids, a store in memory and simulated nodes on one database. */

export { seededIds } from './model/ids.ts';
export { MemoryStore } from './store/memory/memory-store.ts';
export { type TestRuntime, testRuntime } from './test-runtime.ts';
export { MemoryDatabase } from './testing/memory-database.ts';
export { type Link, openMemoryNode } from './testing/memory-node.ts';
export { SimulatedClock } from './testing/simulated-clock.ts';
