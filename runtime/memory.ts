/** Stores in memory, for tests and trials: they end with the process. */
import type { StoreSource } from './model/ports.ts';
import { MemoryStore, MemoryTables } from './store/memory/memory-store.ts';

/** Stores actors in memory. A source that is opened again has what was stored: a test can stop and start a runtime. */
export function memory(): StoreSource {
  const tables = new MemoryTables();
  return {
    open: () => {
      // A lease ends with its runtime.
      tables.leased.clear();
      return new MemoryStore(tables);
    },
  };
}
